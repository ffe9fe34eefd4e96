//! What is refused before anything is carried out.

use std::sync::Arc;

use axum::body::Body;
use gateway_domain::{Actor, Error, ErrorKind, reply};
use gateway_edge::{Face, Settings};
use http::{Method, Request};
use http_body_util::BodyExt;

use super::{Fake, Object, post, send, task};
use crate::{RpcFace, envelope::MAX_ID_BYTES, matches, service};

fn fake() -> Fake {
    Fake::answering(|| reply::Body::Task(task()))
}

/// Posts each body and expects the code, the id and HTTP 200, and that the gateway heard nothing.
async fn all_refused(code: i64, cases: &[(&str, &str)]) {
    let fake = fake();
    for (body, id) in cases {
        let answered = fake.post(*body).await;
        let object = answered.object();
        assert_eq!((object.code(), &*object.id), (Some(code), *id), "{body}");
        assert_eq!(answered.status, 200, "{body}");
    }
    assert_eq!(fake.seen().len(), 0);
}

#[tokio::test]
async fn what_is_no_json_is_a_parse_error() {
    let deep = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{}1{}}}"#,
        r#"{"a":"#.repeat(64),
        "}".repeat(64)
    );
    all_refused(
        -32700,
        &[
            (r#"{"jsonrpc":"2.0","#, "null"),
            ("", "null"),
            (" \n", "null"),
            ("not json", "null"),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"\ud800"}}"#,
                "null",
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"unknown":"\udc00"}}"#,
                "null",
            ),
            (r#"{"jsonrpc":"2.0","id":01,"method":"GetTask"}"#, "null"),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":NaN}}"#,
                "null",
            ),
            (r#"{"jsonrpc":"2.0","id":1,"method":"GetTask"} x"#, "null"),
            (r#"{"jsonrpc":"2.0","id":1,"method":"GetTask"}{}"#, "null"),
            ("[1,", "null"),
            ("\u{feff}{}", "null"),
            (&deep, "null"),
        ],
    )
    .await;
}

#[tokio::test]
async fn bytes_that_are_no_text_are_a_parse_error() {
    let fake = fake();
    for body in [
        &b"\xff\xfe"[..],
        b"{\"jsonrpc\":\"2.0\",\"id\":\"\xc3\",\"method\":\"GetTask\"}",
    ] {
        assert_eq!(fake.post(body).await.object().code(), Some(-32700));
    }
    assert_eq!(fake.seen().len(), 0);
}

#[tokio::test]
async fn what_is_json_and_no_request_is_an_invalid_request_with_its_id() {
    all_refused(
        -32600,
        &[
            (r#"{"id":1,"method":"GetTask","params":{"id":"T1"}}"#, "1"),
            (r#"{"jsonrpc":"1.0","id":"a","method":"GetTask"}"#, r#""a""#),
            (r#"{"jsonrpc":2.0,"id":-5,"method":"GetTask"}"#, "-5"),
            (r#"{"jsonrpc":null,"id":1,"method":"GetTask"}"#, "1"),
            (r#"{"jsonrpc":"2.0","id":1}"#, "1"),
            (r#"{"jsonrpc":"2.0","id":1,"method":7}"#, "1"),
            (r#"{"jsonrpc":"2.0","id":null,"method":null}"#, "null"),
            (r#"{"jsonrpc":"2.0","id":{"a":1},"method":"GetTask"}"#, "null"),
            (r#"{"jsonrpc":"2.0","id":[1],"method":"GetTask"}"#, "null"),
            (r#"{"jsonrpc":"2.0","id":true,"method":"GetTask"}"#, "null"),
            (r#"{"jsonrpc":"2.0","id":false,"method":"GetTask"}"#, "null"),
            ("{}", "null"),
            ("null", "null"),
            ("7", "null"),
            (r#""text""#, "null"),
        ],
    )
    .await;
}

#[tokio::test]
async fn a_member_of_the_envelope_that_stands_twice_is_refused() {
    all_refused(
        -32600,
        &[
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"GetTask","method":"CancelTask"}"#,
                "1",
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{},"params":{}}"#,
                "1",
            ),
            (
                r#"{"jsonrpc":"2.0","jsonrpc":"2.0","id":1,"method":"GetTask"}"#,
                "1",
            ),
            (r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"GetTask"}"#, "null"),
            (
                r#"{"jsonrpc":"2.0","id":1,"\u0069d":1,"method":"GetTask"}"#,
                "null",
            ),
        ],
    )
    .await;
}

#[tokio::test]
async fn a_batch_is_refused_as_a_whole() {
    let two = r#"[{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"T1"}},
                  {"jsonrpc":"2.0","id":2,"method":"GetTask","params":{"id":"T2"}}]"#;
    all_refused(-32600, &[(two, "null"), ("[]", "null"), ("[1]", "null")]).await;
    assert!(fake().post(two).await.object().message().contains("batches"));
}

#[tokio::test]
async fn a_request_without_an_id_is_refused_whatever_it_asks_for() {
    all_refused(
        -32600,
        &[
            (
                r#"{"jsonrpc":"2.0","method":"CancelTask","params":{"id":"T1"}}"#,
                "null",
            ),
            (
                r#"{"jsonrpc":"2.0","method":"SubscribeToTask","params":{"id":"T1"}}"#,
                "null",
            ),
        ],
    )
    .await;
    // What version a method is of that is in none is not known here: the refusal comes after the version check.
    let fake = fake();
    let unknown = fake
        .post(r#"{"jsonrpc":"2.0","method":"no-such"}"#)
        .await
        .object();
    assert_eq!((&*unknown.id, unknown.code()), ("null", Some(-32600)));
    assert!(fake.seen()[0].request.is_err());
}

#[tokio::test]
async fn every_fault_of_an_envelope_is_named_at_once() {
    let object = fake().post(r#"{"id":{},"params":{}}"#).await.object();
    let error = object.outcome.unwrap_err();
    let fields: Vec<_> = error["data"][0]["fieldViolations"]
        .as_array()
        .unwrap()
        .iter()
        .map(|violation| violation["field"].as_str().unwrap())
        .collect();
    assert_eq!(fields, ["jsonrpc", "id", "method"]);
}

#[tokio::test]
async fn an_id_is_taken_up_to_its_bound() {
    let fake = fake();
    let request = |digits: usize| {
        let id = "7".repeat(digits);
        format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"GetTask","params":{{"id":"T1"}}}}"#)
    };
    assert_eq!(
        fake.post(request(MAX_ID_BYTES)).await.object().id.len(),
        MAX_ID_BYTES
    );
    let object = fake.post(request(MAX_ID_BYTES + 1)).await.object();
    assert_eq!((object.code(), &*object.id), (Some(-32600), "null"));
    assert!(object.message().contains(&MAX_ID_BYTES.to_string()), "{object:?}");
}

#[tokio::test]
async fn verbs_other_than_post_are_told_which_to_use() {
    let fake = fake();
    for method in [Method::GET, Method::PUT, Method::DELETE, Method::OPTIONS] {
        let request = Request::builder()
            .method(method)
            .uri("/rpc")
            .body(Body::empty())
            .unwrap();
        let answered = fake.send(request).await;
        assert_eq!(
            (answered.status.as_u16(), answered.header("allow")),
            (405, Some("POST"))
        );
        assert_eq!(answered.object().code(), Some(-32601));
    }
    assert_eq!(fake.seen().len(), 0);
}

#[tokio::test]
async fn only_json_is_read() {
    let fake = fake();
    for (media_type, taken) in [
        (None, true),
        (Some("application/json"), true),
        (Some("APPLICATION/JSON; Charset=UTF-8"), true),
        (Some("application/a2a+json"), true),
        (Some("text/plain"), false),
        (Some("application/x-www-form-urlencoded"), false),
        (Some(""), false),
    ] {
        let body = r#"{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"T1"}}"#;
        let mut request = post("/rpc", if taken { body } else { "not read" });
        if let Some(media_type) = media_type {
            request
                .headers_mut()
                .insert("content-type", media_type.parse().unwrap());
        }
        let answered = fake.send(request).await;
        let expected = if taken { (200, None) } else { (415, Some(-32005)) };
        assert_eq!(
            (answered.status.as_u16(), answered.object().code()),
            expected,
            "{media_type:?}"
        );
    }
    assert_eq!(fake.seen().len(), 4);
}

#[tokio::test]
async fn a_body_over_the_bound_is_refused_with_its_own_status() {
    let fake = fake();
    let settings = Settings {
        body_bytes: 32,
        ..Settings::default()
    };
    let rpc = service(fake.gateway(), Actor::Client, Arc::new(settings));
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"T1"}}"#;
    let answered = send(rpc, Actor::Client, post("/rpc", body)).await;
    assert_eq!(
        (answered.status.as_u16(), answered.object().code()),
        (413, Some(-32600))
    );
    assert_eq!(fake.seen().len(), 0);
}

#[tokio::test]
async fn what_the_front_refuses_has_the_form_of_this_binding() {
    let (parts, ()) = Request::get("/rpc").body(()).unwrap().into_parts();
    let error = Error::new(ErrorKind::Unauthenticated, "send a bearer token");
    let response = RpcFace.refuse(&parts, &error);
    assert_eq!(
        (
            response.status().as_u16(),
            &response.headers()["www-authenticate"]
        ),
        (401, &"Bearer".parse().unwrap())
    );
    let body = response.into_body().collect().await.unwrap().to_bytes();
    let object = Object::read(std::str::from_utf8(&body).unwrap());
    assert_eq!(
        (object.code(), &*object.id, object.message()),
        (Some(-32031), "null", "send a bearer token")
    );
}

#[test]
fn only_its_own_paths_are_this_bindings() {
    for (path, own) in [
        ("/rpc", true),
        ("/rpc/", true),
        ("/acme/rpc", true),
        ("/acme/rpc/", true),
        ("/a%2Fb/rpc", true),
        ("/", false),
        ("", false),
        ("rpc", false),
        ("//rpc", false),
        ("/rpc//", false),
        ("/acme//rpc", false),
        ("/acme/eu/rpc", false),
        ("/rpc/acme", false),
        ("/RPC", false),
        ("/tasks/rpc", false),
        ("/tasks", false),
    ] {
        assert_eq!(matches(path), own, "{path}");
    }
}
