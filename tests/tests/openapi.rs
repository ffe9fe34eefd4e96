//! The OpenAPI document of HTTP+JSON as clients get it.

#![allow(clippy::unwrap_used, reason = "what must not be absent fails the test")]

use gateway_domain::Operation;
use gateway_tests::{client::Ask, gateway::Gateway, process, samples};
use http::Method;
use serde_json::Value;

const PATH: &str = "/openapi.json";

#[tokio::test]
async fn everybody_may_read_it_without_a_version_and_it_names_every_operation_of_clients() {
    let gateway = Gateway::plain().await;
    let answer = gateway.http().send(Method::GET, PATH, &[], "").await;
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("content-type"), Some("application/json"));
    let text = answer.json().to_string();
    for operation in Operation::CLIENT {
        assert!(
            text.contains(&format!("\"operationId\":\"{}\"", operation.name())),
            "{}",
            operation.name()
        );
    }
    for operation in Operation::AGENT {
        assert!(
            !text.contains(&format!("\"operationId\":\"{}\"", operation.name())),
            "{}",
            operation.name()
        );
    }
    let held = [(
        "if-none-match".to_owned(),
        answer.header("etag").unwrap().to_owned(),
    )];
    assert_eq!(
        gateway.http().send(Method::GET, PATH, &held, "").await.status,
        304
    );
}

#[tokio::test]
async fn no_tenant_has_the_name_of_the_document() {
    let gateway = Gateway::plain().await;
    let mut ask = Ask::new(Operation::SendMessage, samples::message("say hi"));
    ask.tenant = Some("openapi.json".to_owned());
    for client in gateway.clients() {
        client.call(&ask).await.refusal();
    }
}

#[test]
fn the_program_prints_what_it_serves() {
    let printed = process::output(&["openapi"], &[]);
    let document: Value = serde_json::from_slice(&printed.stdout).unwrap();
    assert!(document["paths"]["/message:send"]["post"].is_object());
}
