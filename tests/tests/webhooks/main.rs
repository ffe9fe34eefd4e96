//! Webhooks (§4.3): where they may lead, what they get, and when they get nothing more.

#![allow(clippy::unwrap_used, reason = "what must not be absent fails the test")]

mod configs;
mod delivery;
mod guard;
mod replicas;
mod secrets;

use gateway_domain::Operation;
use gateway_testkit::receiver::Receiver;
use gateway_tests::{
    client::{Ask, Driver},
    gateway::Gateway,
    profile::Profile,
    samples,
};
use serde_json::{Value, json};

/// Webhooks may lead to this machine, and what fails is tried again soon.
fn profile() -> Profile {
    Profile::plain()
        .set("push.allowed_ranges", r#"["127.0.0.0/8"]"#)
        .set("push.first_pause", r#""10 ms""#)
        .set("push.longest_pause", r#""50 ms""#)
}

async fn gateway() -> Gateway {
    Gateway::start(profile()).await
}

/// A send that is answered at once, with a configuration.
fn send_with(text: &str, config: Value) -> Value {
    let mut params = samples::at_once(text);
    params["configuration"]["taskPushNotificationConfig"] = config;
    params
}

async fn call(client: &dyn Driver, operation: Operation, params: Value) -> Value {
    client.call(&Ask::new(operation, params)).await.json()
}

async fn begin(client: &dyn Driver, params: Value) -> String {
    let made = call(client, Operation::SendMessage, params).await;
    made["task"]["id"].as_str().unwrap().to_owned()
}

async fn configure(client: &dyn Driver, config: Value) -> Value {
    call(client, Operation::CreateTaskPushNotificationConfig, config).await
}

/// The state that a call tells of, if it tells of one.
fn state(body: &Value) -> Option<&str> {
    let state = body.pointer("/task/status/state");
    state
        .or_else(|| body.pointer("/statusUpdate/status/state"))?
        .as_str()
}

/// What a receiver got, once it got a state.
async fn bodies_up_to(receiver: &Receiver, last: &str) -> Vec<Value> {
    let mut least = 1;
    loop {
        let calls = receiver.calls(least).await;
        let bodies: Vec<_> = calls.into_iter().map(|call| call.body).collect();
        if bodies.iter().any(|body| state(body) == Some(last)) {
            return bodies;
        }
        least = bodies.len() + 1;
    }
}

/// The only member of an event.
fn kind(body: &Value) -> &str {
    let members: Vec<_> = body.as_object().unwrap().keys().collect();
    assert_eq!(members.len(), 1, "exactly one member: {body}");
    members[0]
}

fn config(url: &str) -> Value {
    json!({ "url": url })
}
