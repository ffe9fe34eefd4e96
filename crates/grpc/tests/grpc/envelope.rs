//! Path and metadata: what of them reaches the gateway, and what of its answer goes into metadata.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use bytes::Bytes;
use gateway_domain::{Binding, Error, ErrorKind, Operation, reply::Body};
use gateway_edge::Face;
use gateway_grpc::GrpcFace;
use gateway_pipeline::{Gateway, Head, RequestedVersion};
use http::{Request, StatusCode};
use tonic::{Code, Status};
use tonic_types::StatusExt as _;

use crate::support::{answering, call, clients, framed, gateway, reply, send, task};

const GET_TASK: &str = "/lf.a2a.v1.A2AService/GetTask";

/// Bytes of a GetTaskRequest with an id.
fn some_id() -> Bytes {
    framed(b"\x12\x01t")
}

/// A gateway that keeps the head of the call.
fn keeping() -> (Gateway, Arc<Mutex<Option<Head>>>) {
    let kept = Arc::new(Mutex::new(None));
    let keep = kept.clone();
    let gateway = gateway(move |head, request| {
        *keep.lock().unwrap() = Some(head);
        request.map(|_| reply(Body::Task(task("task-1"))))
    });
    (gateway, kept)
}

/// What the gateway learns of a call with these fields.
async fn head(path: &str, fields: &[(&'static str, &str)]) -> (Head, Status) {
    let (gateway, kept) = keeping();
    let mut request = call(path, some_id());
    for (name, value) in fields {
        request.headers_mut().append(*name, value.parse().unwrap());
    }
    let status = send(&clients(gateway).await, request).await.status.unwrap();
    let head = kept.lock().unwrap().take().unwrap();
    (head, status)
}

#[tokio::test(start_paused = true)]
async fn what_the_metadata_says_reaches_the_gateway() {
    let fields = [
        ("a2a-version", "1.0"),
        ("a2a-extensions", "urn:a, urn:b"),
        ("a2a-extensions", "urn:c"),
        ("grpc-timeout", "1500m"),
    ];
    let (head, status) = head(GET_TASK, &fields).await;
    assert_eq!(status.code(), Code::Ok);
    assert_eq!(head.binding, Binding::Grpc);
    assert_eq!(head.operation, Some(Operation::GetTask));
    assert_eq!(head.version.header.as_deref(), Some("1.0"));
    assert_eq!(*head.extensions, ["urn:a", "urn:b", "urn:c"]);
    assert_eq!(&*head.request_id, "request-1");
    assert_eq!(head.principal.subject, None);
    let deadline = tokio::time::Instant::now() + Duration::from_millis(1_500);
    assert_eq!(head.deadline, Some(deadline.into_std()));
}

#[tokio::test]
async fn a_call_without_metadata_says_nothing_of_version_extensions_and_deadline() {
    let (head, _) = head(GET_TASK, &[]).await;
    assert_eq!(head.version, RequestedVersion::default());
    assert!(head.extensions.is_empty());
    assert_eq!(head.deadline, None);
}

#[tokio::test]
async fn a_method_that_does_not_exist_passes_through_the_gateway_to_its_refusal() {
    for path in [
        "/lf.a2a.v1.A2AService/Nope",
        "/a2a.v1.A2AService/ListTasks",
        "/gateway.agent.v1.AgentService/StartWorking",
        "/",
    ] {
        let (head, status) = head(path, &[("a2a-version", "9.9")]).await;
        assert_eq!(head.operation, None, "{path}");
        assert_eq!(head.version.header.as_deref(), Some("9.9"));
        assert_eq!(status.code(), Code::Unimplemented, "{path}");
        assert!(status.message().contains("lf.a2a.v1.A2AService"), "{status:?}");
    }
}

#[tokio::test]
async fn a_timeout_that_is_none_is_named() {
    let channel = clients(answering(|| Body::Task(task("task-1")))).await;
    let mut request = call(GET_TASK, some_id());
    request
        .headers_mut()
        .insert("grpc-timeout", "soon".parse().unwrap());
    let status = send(&channel, request).await.status.unwrap();
    assert_eq!(status.code(), Code::InvalidArgument);
    let violations = status.get_details_bad_request().unwrap().field_violations;
    assert_eq!(violations[0].field, "grpc-timeout");
}

#[tokio::test]
async fn what_was_activated_goes_back_and_else_nothing_does() {
    for (activated, expected) in [
        (vec![], None),
        (vec!["urn:a"], Some("urn:a")),
        (vec!["urn:a", "urn:b"], Some("urn:a, urn:b")),
    ] {
        let activated: Vec<_> = activated.into_iter().map(str::to_owned).collect();
        let gateway = gateway(move |_, request| {
            let mut reply = reply(Body::Task(task("task-1")));
            reply.activated.clone_from(&activated);
            request.map(|_| reply)
        });
        let answer = send(&clients(gateway).await, call(GET_TASK, some_id())).await;
        let sent = answer.headers.get("a2a-extensions");
        assert_eq!(sent.map(|value| value.to_str().unwrap()), expected);
    }
}

#[tokio::test]
async fn what_is_no_grpc_is_told_in_http() {
    let channel = clients(answering(|| Body::Task(task("task-1")))).await;
    for (content_type, expected) in [
        ("application/grpc", StatusCode::OK),
        ("application/grpc+proto", StatusCode::OK),
        ("application/grpc; charset=utf-8", StatusCode::OK),
        ("application/json", StatusCode::UNSUPPORTED_MEDIA_TYPE),
        ("application/grpc+json", StatusCode::UNSUPPORTED_MEDIA_TYPE),
        ("application/grpc-web", StatusCode::UNSUPPORTED_MEDIA_TYPE),
    ] {
        let mut request = call(GET_TASK, some_id());
        request
            .headers_mut()
            .insert("content-type", content_type.parse().unwrap());
        let answer = send(&channel, request).await;
        assert_eq!(answer.http, expected, "{content_type}");
        assert_eq!(answer.status.is_some(), expected == StatusCode::OK);
    }
    let mut request = call(GET_TASK, some_id());
    *request.version_mut() = http::Version::HTTP_11;
    let answer = send(&channel, request).await;
    assert_eq!(answer.http, StatusCode::HTTP_VERSION_NOT_SUPPORTED);
}

#[test]
fn a_refusal_before_the_binding_is_a_status_of_grpc() {
    let (parts, ()) = Request::post(GET_TASK).body(()).unwrap().into_parts();
    let error = Error::new(ErrorKind::Unauthenticated, "show who you are");
    let response = GrpcFace.refuse(&parts, &error);
    assert_eq!(response.status(), StatusCode::OK);
    assert_eq!(response.headers()["content-type"], "application/grpc");
    let status = Status::from_header_map(response.headers()).unwrap();
    assert_eq!(status.code(), Code::Unauthenticated);
    assert_eq!(status.message(), "show who you are");
    assert_eq!(status.get_details_error_info().unwrap().reason, "UNAUTHENTICATED");
}
