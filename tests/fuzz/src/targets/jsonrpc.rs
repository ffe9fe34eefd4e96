//! The JSON-RPC envelope with its parameters: any body is answered with one response object.

use std::collections::BTreeMap;

use axum::body::Body;
use gateway_domain::Actor;
use serde_json::{Value, value::RawValue};
use tower::ServiceExt;

use crate::{bench, run::Target};

/// Any body, posted.
pub const JSONRPC: Target = Target {
    name: "jsonrpc",
    tokens: &[
        b"\"jsonrpc\":\"2.0\"",
        b"\"id\":",
        b"\"method\":\"SendMessage\"",
        b"\"method\":\"ListTasks\"",
        b"\"method\":\"message/send\"",
        b"\"method\":\"tasks/pushNotificationConfig/set\"",
        b"\"kind\":\"file\"",
        b"\"kind\":\"data\"",
        b"\"params\":{",
        b"\"params\":null",
        b"\"id\":null",
        b"null",
        b"true",
        b"{}",
        b"[]",
        b"[[[[[[[[",
        b"}}",
        b"\\ud800",
        b"\\u0000",
        b"\xef\xbb\xbf",
    ],
    check,
};

fn check(body: &[u8]) {
    for actor in [Actor::Client, Actor::Agent] {
        bench::block_on(answer(body, actor));
    }
}

async fn answer(body: &[u8], actor: Actor) {
    let service = gateway_jsonrpc::service(bench::gateway(), actor, Default::default());
    let request = http::Request::post("/rpc")
        .body(Body::from(body.to_vec()))
        .unwrap();
    let response = service.oneshot(bench::arrived(request, actor)).await.unwrap();
    let (parts, body) = response.into_parts();
    let body = bench::whole(body).await;
    if parts.headers["content-type"] == "text/event-stream" {
        assert_eq!(parts.status, 200);
        return;
    }
    // An id comes back as it was written, which may be a number that no reader of numbers takes.
    let object: BTreeMap<String, Box<RawValue>> =
        serde_json::from_slice(&body).expect("an answer is an object");
    let member = |name| object.get(name).map(|value| value.get());
    assert_eq!(member("jsonrpc"), Some("\"2.0\""));
    let id = member("id").expect("an answer has an id");
    assert!(!id.starts_with(['{', '[', 't', 'f']), "{id}");
    assert_ne!(member("result").is_some(), member("error").is_some());
    if let Some(error) = member("error") {
        let error: Value = serde_json::from_str(error).unwrap();
        assert!(
            error["message"].as_str().is_some_and(|text| !text.is_empty()),
            "{error}"
        );
        let code = error["code"].as_i64().expect("an error has a code");
        // Nothing that a caller writes is an internal error.
        assert_ne!(code, -32603, "{error}");
    }
}
