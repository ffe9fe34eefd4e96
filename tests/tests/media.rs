//! Media types of bodies over HTTP+JSON (§11.1), and metadata of gRPC (§10.2).

#![allow(clippy::unwrap_used, reason = "what must not be absent fails the test")]

use gateway_domain::{Binding, ErrorKind, Operation};
use gateway_tests::{
    client::Ask,
    gateway::Gateway,
    profile::{Profile, REQUIRED_EXTENSION},
    raw::headers,
    samples,
};
use http::Method;

const SEND: &str = r#"{"message":{"messageId":"m-40","role":"ROLE_USER","parts":[{"text":"say hi"}]}}"#;

#[tokio::test]
async fn both_media_types_are_read_in_any_spelling_and_none_is_taken_for_json() {
    let gateway = Gateway::plain().await;
    for (sent, answered) in [
        (Some("application/a2a+json"), "application/a2a+json"),
        (Some("application/json"), "application/json"),
        (Some("application/json; charset=utf-8"), "application/json"),
        (Some("APPLICATION/JSON"), "application/json"),
        (None, "application/json"),
    ] {
        let mut asked = headers(&[("a2a-version", "1.0"), ("authorization", "Bearer A")]);
        asked.extend(sent.map(|of| ("content-type".to_owned(), of.to_owned())));
        let answer = gateway
            .http()
            .send(Method::POST, "/message:send", &asked, SEND)
            .await;
        assert_eq!(answer.status, 200, "{sent:?}");
        assert_eq!(answer.header("content-type"), Some(answered), "{sent:?}");
    }
}

#[tokio::test]
async fn a_body_of_another_media_type_is_refused_as_such() {
    let gateway = Gateway::plain().await;
    for sent in ["text/plain", "multipart/form-data"] {
        let asked = [
            ("a2a-version", "1.0"),
            ("authorization", "Bearer A"),
            ("content-type", sent),
        ];
        let answer = gateway
            .http()
            .send(Method::POST, "/message:send", &headers(&asked), SEND)
            .await;
        assert_eq!(answer.status, 415, "{sent}");
        assert_eq!(answer.json()["error"]["code"], 415, "{sent}");
        assert_eq!(
            answer.json()["error"]["details"][0]["reason"],
            "CONTENT_TYPE_NOT_SUPPORTED"
        );
    }
}

#[tokio::test]
async fn metadata_means_over_grpc_what_headers_mean_over_http() {
    let gateway = Gateway::start(Profile::named("extension")).await;
    let grpc = gateway.client(Binding::Grpc);
    let declared = format!("urn:a,{REQUIRED_EXTENSION}");
    let ask = |version: &str| {
        let mut ask = Ask::new(Operation::SendMessage, samples::message("say hi"));
        ask.version = Some(version.to_owned());
        ask.with("a2a-extensions", &declared)
    };
    grpc.call(&ask("99.0"))
        .await
        .refusal()
        .assert(ErrorKind::VersionNotSupported);
    let reply = grpc.call(&ask("1.0")).await.reply();
    assert_eq!(reply.headers["a2a-extensions"], REQUIRED_EXTENSION);
    assert!(reply.headers.values().all(|value| value.to_str().is_ok()));
    let ask = Ask::new(Operation::SendMessage, samples::message("say hi"));
    grpc.call(&ask)
        .await
        .refusal()
        .assert(ErrorKind::ExtensionSupportRequired);
}
