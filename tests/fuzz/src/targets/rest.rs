//! Verb, path, query and body of HTTP+JSON: any request is answered with a reply or with an error in the form of §11.6,
//! or in that of 0.3.
//!
//! An input is a line with verb and target, a line with the body's media type, and the body.

use axum::body::Body;
use gateway_domain::Actor;
use serde_json::Value;
use tower::ServiceExt;

use crate::{bench, run::Target};

/// Any request that gets past an HTTP parser.
pub const REST: Target = Target {
    name: "rest",
    tokens: &[
        b"/tasks",
        b"/pushNotificationConfigs",
        b"/message:send",
        b":cancel",
        b":subscribe",
        b":work",
        b"/extendedAgentCard",
        b"/v1",
        b"/card",
        b"\"content\":[",
        b"\"fileWithBytes\":\"",
        b"%2F",
        b"%00",
        b"%FF",
        b"%",
        b"//",
        b"?pageSize=",
        b"&historyLength=",
        b"&status=",
        b"&tenant=",
        b"&id=",
        b"&statusTimestampAfter=",
        b"GET ",
        b"POST ",
        b"DELETE ",
        b"\"id\":",
        b"\"message\":{",
        b"null",
        b"[[[[[[[[",
    ],
    check,
};

fn check(input: &[u8]) {
    let mut lines = input.splitn(3, |byte| *byte == b'\n');
    let line = String::from_utf8_lossy(lines.next().unwrap_or_default()).into_owned();
    let media_type = lines.next().unwrap_or_default();
    let body = lines.next().unwrap_or_default();
    let (verb, target) = line.split_once(' ').unwrap_or((&line, "/"));
    for actor in [Actor::Client, Actor::Agent] {
        let mut request = http::Request::builder().method(verb).uri(target);
        if !media_type.is_empty() {
            request = request.header("content-type", media_type);
        }
        // What is no request never gets past the HTTP parser.
        let Ok(request) = request.body(Body::from(body.to_vec())) else {
            return;
        };
        bench::block_on(answer(bench::arrived(request, actor), actor));
    }
}

async fn answer(request: http::Request<Body>, actor: Actor) {
    let service = gateway_rest::service(bench::gateway(), actor, Default::default(), Default::default());
    let (parts, body) = service.oneshot(request).await.unwrap().into_parts();
    let status = parts.status.as_u16();
    let body = bench::whole(body).await;
    if parts.headers["content-type"] == "text/event-stream" {
        assert_eq!(status, 200);
        return;
    }
    let json: Value = serde_json::from_slice(&body).expect("an answer is JSON");
    if status == 200 {
        assert!(json.get("error").is_none(), "{json}");
        return;
    }
    assert!(matches!(status, 400 | 404 | 405 | 413 | 415), "{json}");
    if json["message"].is_string() {
        assert!(json["code"].as_i64().is_some_and(|code| code != -32603), "{json}");
        assert_eq!(json.as_object().map(serde_json::Map::len), Some(2), "{json}");
        return;
    }
    let error = &json["error"];
    assert_eq!(error["code"], status, "{json}");
    assert!(error["status"].is_string(), "{json}");
    assert!(
        error["message"].as_str().is_some_and(|text| !text.is_empty()),
        "{json}"
    );
    assert!(error["details"].is_array(), "{json}");
}
