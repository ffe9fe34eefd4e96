//! The profiles for the official compatibility suite, as far as they differ from a usual gateway. Whether the suite is
//! content is seen by running it.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::net::SocketAddr;

use gateway_server::{Assembly, Running, settings};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

const FULL: &str = include_str!("../../../deploy/conformance/full.toml");
const BARE: &str = include_str!("../../../deploy/conformance/bare.toml");

/// A gateway of a profile, at a port that the system chooses.
async fn gateway(profile: &str) -> (Running, SocketAddr) {
    let mut settings = settings::parse(profile).unwrap();
    let client = settings.listeners.client.as_mut().unwrap();
    client.address.set_port(0);
    let running = Assembly::new(settings).start().await.unwrap();
    let address = running.addresses().client.unwrap();
    (running, address)
}

/// The status of an answer over HTTP+JSON, and its body.
async fn call(address: SocketAddr, verb: &str, path: &str, body: &str) -> (u16, Value) {
    let mut connection = TcpStream::connect(address).await.unwrap();
    let request = format!(
        "{verb} {path} HTTP/1.1\r\nhost: gateway.test\r\nconnection: close\r\na2a-version: 1.0\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    connection.write_all(request.as_bytes()).await.unwrap();
    let mut text = String::new();
    connection.read_to_string(&mut text).await.unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    (status, serde_json::from_str(body).unwrap())
}

fn message(id: &str) -> String {
    json!({ "message": { "messageId": id, "role": "ROLE_USER", "parts": [{ "text": "hi" }] } }).to_string()
}

#[tokio::test]
async fn with_the_full_profile_everything_is_declared_and_one_message_needs_the_extension() {
    let (running, address) = gateway(FULL).await;
    let (_, card) = call(address, "GET", "/.well-known/agent-card.json", "").await;
    let declared = &card["capabilities"];
    assert_eq!(declared["streaming"], true);
    assert_eq!(declared["extendedAgentCard"], true);
    assert_eq!(declared["extensions"][0]["required"], true);
    assert_eq!(call(address, "GET", "/extendedAgentCard", "").await.0, 200);

    let (_, sent) = call(address, "POST", "/message:send", &message("tck-m-1")).await;
    assert_eq!(sent["task"]["status"]["state"], "TASK_STATE_COMPLETED");
    let cancel = format!("/tasks/{}:cancel", sent["task"]["id"].as_str().unwrap());
    assert_eq!(call(address, "POST", &cancel, "").await.0, 409, "as 1.0.0 had it");
    let (status, refused) = call(address, "POST", "/message:send", &message("tck-cap-ext-004-1")).await;
    assert_eq!(status, 400);
    assert_eq!(
        refused["error"]["details"][0]["reason"],
        "EXTENSION_SUPPORT_REQUIRED"
    );
    running.drain().await;
}

#[tokio::test]
async fn with_the_bare_profile_what_is_not_declared_is_refused() {
    let (running, address) = gateway(BARE).await;
    let push = r#"{"url":"https://example.com/hook"}"#;
    for (verb, path, body, reason) in [
        (
            "POST",
            "/message:stream",
            &*message("tck-m-1"),
            "UNSUPPORTED_OPERATION",
        ),
        ("GET", "/extendedAgentCard", "", "UNSUPPORTED_OPERATION"),
        (
            "POST",
            "/tasks/t/pushNotificationConfigs",
            push,
            "PUSH_NOTIFICATION_NOT_SUPPORTED",
        ),
    ] {
        let (status, refused) = call(address, verb, path, body).await;
        assert_eq!(status, 400, "{path}");
        assert_eq!(refused["error"]["details"][0]["reason"], reason, "{path}");
    }
    running.drain().await;
}

#[tokio::test]
async fn a_start_with_trial_settings_names_them() {
    let mut settings = settings::parse(FULL).unwrap();
    settings.listeners.client.as_mut().unwrap().address.set_port(0);
    let running = Assembly::new(settings.clone()).start().await.unwrap();
    let text = gateway_server::announcement(&settings, running.addresses());
    for setting in ["agent.kind", "wire.error_table", "card.extended.open"] {
        assert!(text.contains(&format!("for trial   {setting}")), "{text}");
    }
    running.drain().await;
}
