//! Bodies as large as may be, made of as many values as fit: what they take in memory is bounded before they are read.

#![allow(clippy::unwrap_used, reason = "what must not be absent fails the test")]

use axum::body::Body;
use gateway_domain::Actor;
use gateway_fuzz::{
    bench,
    run::{alone, most_held},
};
use tower::ServiceExt;

/// The bound on bodies.
const BODY: usize = 8 << 20;
/// What one request may hold at most: the values twice, since they are read from one form into another and answered,
/// and its text as often.
const MOST: usize = 2 * (gateway_domain::json::MAX_VALUE_BYTES + BODY);

/// As many of an item as fit into a body.
fn full(begin: &str, item: &str, end: &str) -> Vec<u8> {
    let room = BODY - begin.len() - end.len() - 8;
    let items = vec![item; room / (item.len() + 1)].join(",");
    format!("{begin}{items}{end}").into_bytes()
}

const MESSAGE: &str = r#"{"message":{"messageId":"m","role":"ROLE_USER","#;

fn json_bodies() -> Vec<(&'static str, Vec<u8>)> {
    let list = |name: &str, item: &str| full(&format!("{MESSAGE}{name}["), item, "]}}");
    let data = |item: &str| full(&format!("{MESSAGE}\"parts\":[{{\"data\":["), item, "]}]}}");
    vec![
        ("empty parts", list("\"parts\":", "{}")),
        ("parts", list("\"parts\":", r#"{"text":""}"#)),
        (
            "extensions",
            list("\"parts\":[{\"text\":\"x\"}],\"extensions\":", "\"\""),
        ),
        (
            "tasks",
            list("\"parts\":[{\"text\":\"x\"}],\"referenceTaskIds\":", "\"\""),
        ),
        ("numbers", data("0")),
        ("lists", data("[0]")),
        ("objects", data(r#"{"":0}"#)),
        (
            "members",
            full(
                &format!("{MESSAGE}\"parts\":[{{\"data\":{{\"x\":0,"),
                "\"\":0",
                "}}]}}",
            ),
        ),
        (
            "members nobody knows",
            full(&format!("{MESSAGE}\"x\":["), "{}", "]}}"),
        ),
    ]
}

async fn rest(body: Vec<u8>) -> u16 {
    let service = gateway_rest::service(
        bench::gateway(),
        Actor::Client,
        Default::default(),
        Default::default(),
    );
    let request = http::Request::post("/message:send")
        .body(Body::from(body))
        .unwrap();
    let response = service
        .oneshot(bench::arrived(request, Actor::Client))
        .await
        .unwrap();
    response.status().as_u16()
}

async fn rpc(params: &[u8]) -> u16 {
    let body = [
        br#"{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":"#,
        params,
        b"}",
    ]
    .concat();
    let service = gateway_jsonrpc::service(bench::gateway(), Actor::Client, Default::default());
    let request = http::Request::post("/rpc").body(Body::from(body)).unwrap();
    let response = service
        .oneshot(bench::arrived(request, Actor::Client))
        .await
        .unwrap();
    response.status().as_u16()
}

#[test]
fn a_json_body_of_as_many_values_as_fit_is_refused_before_it_is_read() {
    let _alone = alone();
    for (what, body) in json_bodies() {
        let mut statuses = (0, 0);
        let held = most_held(|| {
            statuses.0 = bench::block_on(rest(body.clone()));
            let most = body.len() - 64;
            statuses.1 = bench::block_on(rpc(&body[..most]));
        });
        assert_eq!(statuses.0, 413, "{what}");
        // Cut off, it is too much before it is broken.
        assert_eq!(statuses.1, 413, "{what}");
        assert!(held < 4 * BODY, "{what}: {held} bytes");
    }
}

#[test]
fn a_json_body_of_as_many_values_as_are_taken_holds_no_more_than_the_bound() {
    let _alone = alone();
    let begin = format!("{MESSAGE}\"parts\":[{{\"data\":[");
    for (what, item, count) in [
        ("objects", r#"{"":0}"#, 95_000),
        ("lists", "[0]", 340_000),
        ("numbers", "0", 1_040_000),
    ] {
        let body = format!("{begin}{}]}}]}}}}", vec![item; count].join(",")).into_bytes();
        let mut status = 0;
        let held = most_held(|| status = bench::block_on(rest(body.clone())));
        assert_eq!(status, 200, "{what}");
        assert!(held < MOST, "{what}: {held} bytes");
    }
}

/// A field of length-delimited content.
fn field(tag: u8, content: &[u8]) -> Vec<u8> {
    let mut bytes = vec![tag << 3 | 2];
    prost::encoding::encode_varint(content.len() as u64, &mut bytes);
    bytes.extend_from_slice(content);
    bytes
}

/// As many of a field as fit into a body, inside these fields.
fn full_message(inside: &[u8], item: &[u8]) -> Vec<u8> {
    let message = item.repeat((BODY - 128) / item.len());
    inside
        .iter()
        .rev()
        .fold(message, |inner, tag| field(*tag, &inner))
}

#[test]
fn a_message_of_as_many_values_as_fit_is_refused_before_it_is_decoded() {
    let _alone = alone();
    let (parts, values) = (field(5, b""), field(1, b""));
    let object = field(1, &field(5, &field(1, b"")));
    let list = field(1, &field(6, b""));
    for (what, message) in [
        ("empty parts", full_message(&[2], &parts)),
        ("extensions", full_message(&[2], &field(7, b""))),
        ("tasks", full_message(&[2], &field(8, b""))),
        ("output modes", full_message(&[3], &field(1, b""))),
        ("values", full_message(&[2, 5, 4, 6], &values)),
        ("objects", full_message(&[2, 5, 4, 6], &object)),
        ("lists", full_message(&[2, 5, 4, 6], &list)),
    ] {
        let length = u32::try_from(message.len()).unwrap().to_be_bytes();
        let body = [&[0], &length[..], &message].concat();
        let mut status = String::new();
        let held = most_held(|| status = bench::block_on(grpc(body.clone())));
        assert_eq!(status, "8", "{what}");
        assert!(held < 4 * BODY, "{what}: {held} bytes");
    }
}

async fn grpc(body: Vec<u8>) -> String {
    let (server, _) = gateway_grpc::service(bench::gateway(), Actor::Client, Default::default()).await;
    let request = http::Request::post("/lf.a2a.v1.A2AService/SendMessage")
        .version(http::Version::HTTP_2)
        .header("content-type", "application/grpc")
        .body(Body::from(body))
        .unwrap();
    let response = server
        .oneshot(bench::arrived(request, Actor::Client))
        .await
        .unwrap();
    response.headers()["grpc-status"].to_str().unwrap().to_owned()
}
