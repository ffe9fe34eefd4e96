//! Gateways on one Redis, and streams that remember where they are.

use gateway_domain::{Binding, Cursor, Operation, resume};
use gateway_testkit::redis::RedisServer;
use gateway_tests::{
    client::{Answer, Ask, Driver, LiveStream, Refusal},
    gateway::Gateway,
    profile::Profile,
    samples,
};
use gateway_wire::params::LAST_EVENT_ID;
use serde_json::{Value, json};

/// Two gateways on a Redis of their own.
pub(crate) struct Deployment {
    pub(crate) replicas: [Gateway; 2],
    pub(crate) redis: RedisServer,
}

impl Deployment {
    pub(crate) async fn start() -> Self {
        Self::with(|profile| profile).await
    }

    /// The same with settings changed.
    pub(crate) async fn with(change: impl Fn(Profile) -> Profile) -> Self {
        let redis = RedisServer::start();
        let replica = || Gateway::start(change(on(&redis)));
        Self {
            replicas: [replica().await, replica().await],
            redis,
        }
    }
}

/// A gateway on a Redis.
pub(crate) fn on(redis: &RedisServer) -> Profile {
    Profile::plain()
        .set("store.kind", "\"redis\"")
        .set("store.redis.url", &format!("{:?}", redis.url()))
}

/// A send of a text that nobody else sends, answered at once with the task's id.
pub(crate) async fn begin(gateway: &Gateway, text: &str) -> String {
    let mut params = samples::at_once(text);
    params["message"]["messageId"] = json!(gateway.next_request_id());
    let client = gateway.client(Binding::JsonRpc);
    let made = client
        .call(&Ask::new(Operation::SendMessage, params))
        .await
        .json();
    made["task"]["id"].as_str().unwrap().to_owned()
}

/// A further message, answered at once.
pub(crate) async fn answer(gateway: &Gateway, task: &str, text: &str) {
    let mut params = samples::further(task, text);
    params["message"]["messageId"] = json!(format!("to {}", gateway.next_request_id()));
    params["configuration"] = json!({ "returnImmediately": true });
    let client = gateway.client(Binding::HttpJson);
    client
        .call(&Ask::new(Operation::SendMessage, params))
        .await
        .json();
}

pub(crate) async fn read(client: &dyn Driver, task: &str) -> Value {
    client
        .call(&Ask::new(Operation::GetTask, json!({ "id": task })))
        .await
        .json()
}

/// A stream of a task as the protocol has it.
pub(crate) async fn subscribe(client: &dyn Driver, task: &str) -> LiveStream {
    let ask = Ask::new(Operation::SubscribeToTask, json!({ "id": task }));
    client.call(&ask).await.stream()
}

/// A stream that carries cursors, after one if there is one.
pub(crate) async fn resume(client: &dyn Driver, task: &str, cursor: Option<&str>) -> Answer {
    let mut ask = Ask::new(Operation::SubscribeToTask, json!({ "id": task }));
    ask.extensions = vec![resume::URI.to_owned()];
    if let Some(cursor) = cursor {
        ask = ask.with(LAST_EVENT_ID.header, cursor);
    }
    client.call(&ask).await
}

/// What an event carries for the extension.
pub(crate) fn carried(event: &Value) -> &Value {
    let (_, content) = event.as_object().unwrap().iter().next().unwrap();
    &content["metadata"][resume::URI]
}

pub(crate) fn cursor(event: &Value) -> String {
    carried(event)["cursor"].as_str().unwrap().to_owned()
}

pub(crate) fn revision(cursor: &str) -> u64 {
    cursor.parse::<Cursor>().unwrap().revision
}

/// Where a stream was cut.
pub(crate) fn cut_at(refusal: &Refusal) -> String {
    refusal.metadata["cursor"].clone()
}

/// The texts of an update's artifact.
pub(crate) fn texts(event: &Value) -> Vec<&str> {
    let parts = event["artifactUpdate"]["artifact"]["parts"].as_array();
    parts
        .into_iter()
        .flatten()
        .filter_map(|part| part["text"].as_str())
        .collect()
}
