//! Path, frame and message of gRPC: any body is answered with a status.
//!
//! An input is a line with the method, `0.3 ` before it where that version's is meant, and the body.

use axum::body::Body;
use gateway_domain::{Actor, Version};
use gateway_wire::operations;
use http_body_util::BodyExt;
use tokio::sync::OnceCell;
use tower::ServiceExt;

use crate::{bench, run::Target};

/// Any body, to the method that an input names or to none.
pub const GRPC: Target = Target {
    name: "grpc",
    tokens: &[
        b"SendMessage\n",
        b"ListTasks\n",
        b"CancelTask\n",
        b"UpdateArtifact\n",
        b"0.3 SendMessage\n",
        b"0.3 CreateTaskPushNotificationConfig\n",
        b"0.3 GetTask\n",
        b"tasks/",
        b"\x12\x00",
        b"\x2a\x00",
        b"\x0a\x01a",
        b"\x22\x00",
        b"\x32\x00",
        b"\xff\xff\xff\xff\x0f",
        b"\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01",
        b"\x0b",
        b"\x0c",
    ],
    check,
};

fn check(input: &[u8]) {
    let (method, message) = match input.iter().position(|byte| *byte == b'\n') {
        Some(end) => (&input[..end], &input[end + 1..]),
        None => (&b"SendMessage"[..], input),
    };
    let (version, method) = match method.strip_prefix(b"0.3 ") {
        Some(method) => (Version::V0_3, method),
        None => (Version::V1_0, method),
    };
    let row = operations::rows().find(|row| row.version == version && row.grpc_method.as_bytes() == method);
    let path = row.map_or_else(|| "/none/None".to_owned(), |row| row.grpc_path());
    let actor = row.map_or(Actor::Client, |row| row.operation.actor());
    // Framed as it should be, and taken for a frame itself.
    let length = u32::try_from(message.len()).unwrap().to_be_bytes();
    let framed = [&[0], &length[..], message].concat();
    for body in [framed, message.to_vec()] {
        bench::block_on(answer(&path, actor, body));
    }
}

async fn answer(path: &str, actor: Actor, body: Vec<u8>) {
    let server = server(actor).await;
    let request = http::Request::post(path)
        .version(http::Version::HTTP_2)
        .header("content-type", "application/grpc")
        .header("te", "trailers")
        .body(Body::from(body))
        .unwrap();
    let (parts, body) = server
        .oneshot(bench::arrived(request, actor))
        .await
        .unwrap()
        .into_parts();
    assert_eq!(parts.status, 200);
    let body = body.collect().await.unwrap();
    let headers = body.trailers().unwrap_or(&parts.headers);
    let status = headers
        .get("grpc-status")
        .expect("an answer has a status")
        .to_str()
        .unwrap();
    assert!(["0", "3", "5", "8", "12"].contains(&status), "{status}");
    if status != "0" {
        let text = headers
            .get("grpc-message")
            .expect("a refusal has a text")
            .as_bytes();
        let text = percent_encoding::percent_decode(text).decode_utf8().unwrap();
        assert!(!text.is_empty());
    }
}

/// Making one sets up reflection, which takes longer than all the rest; so each is made once.
async fn server(actor: Actor) -> gateway_grpc::Server {
    static SERVERS: [OnceCell<gateway_grpc::Server>; 2] = [OnceCell::const_new(), OnceCell::const_new()];
    let made = SERVERS[usize::from(actor == Actor::Agent)].get_or_init(|| async move {
        gateway_grpc::service(bench::gateway(), actor, Default::default())
            .await
            .0
    });
    made.await.clone()
}
