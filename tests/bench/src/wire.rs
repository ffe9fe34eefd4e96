//! Request bodies and the few response fields that the generator checks, in JSON.

use std::borrow::Cow;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Map, Value, json};

/// What a caller learns about one task.
#[derive(Debug, Clone)]
pub struct TaskInfo {
    pub id: String,
    pub completed: bool,
}

/// What a caller learns about one page of a task list.
#[derive(Debug, Clone, Default)]
pub struct ListInfo {
    pub count: usize,
    pub total: i64,
    pub next: String,
}

/// One event of a stream, reduced to what the measurements need.
#[derive(Debug, Clone, Default)]
pub struct Event {
    pub task_id: Option<String>,
    /// The task has reached a terminal state, or a plain message ended the stream.
    pub terminal: bool,
    pub artifact: bool,
    /// Emission time in microseconds since the Unix epoch, from a `t=…;` text prefix.
    pub stamp_us: Option<u64>,
}

/// Reads the emission time that the bench agent writes in front of an artifact's text.
pub fn stamp(text: &str) -> Option<u64> {
    let (digits, _) = text.strip_prefix("t=")?.split_once(';')?;
    digits.parse().ok()
}

fn is_terminal(state: &str) -> bool {
    matches!(
        state,
        "TASK_STATE_COMPLETED" | "TASK_STATE_FAILED" | "TASK_STATE_CANCELED" | "TASK_STATE_REJECTED"
    )
}

/// The `SendMessageRequest` object.
pub fn send_params(tenant: Option<&str>, message_id: &str, context: Option<&str>, text: &str) -> Value {
    let mut message = json!({
        "messageId": message_id,
        "role": "ROLE_USER",
        "parts": [{ "text": text }],
    });
    if let Some(context) = context {
        message["contextId"] = context.into();
    }
    let mut params = json!({ "message": message });
    if let Some(tenant) = tenant {
        params["tenant"] = tenant.into();
    }
    params
}

/// Parameters that name one task (`GetTask`, `SubscribeToTask`).
pub fn id_params(tenant: Option<&str>, id: &str) -> Value {
    let mut params = json!({ "id": id });
    if let Some(tenant) = tenant {
        params["tenant"] = tenant.into();
    }
    params
}

/// The `ListTasksRequest` object.
pub fn list_params(tenant: Option<&str>, context: Option<&str>, page_size: i32, token: &str) -> Value {
    let mut params = Map::new();
    params.insert("pageSize".into(), page_size.into());
    if let Some(context) = context {
        params.insert("contextId".into(), context.into());
    }
    if !token.is_empty() {
        params.insert("pageToken".into(), token.into());
    }
    if let Some(tenant) = tenant {
        params.insert("tenant".into(), tenant.into());
    }
    Value::Object(params)
}

/// A JSON-RPC 2.0 request.
pub fn rpc(method: &str, params: Value) -> Vec<u8> {
    json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params })
        .to_string()
        .into_bytes()
}

/// A JSON-RPC 2.0 response around a payload.
#[derive(Deserialize)]
pub struct RpcReply<T> {
    pub result: Option<T>,
    pub error: Option<RpcError>,
}

/// The error member of a JSON-RPC response.
#[derive(Deserialize)]
pub struct RpcError {
    pub code: i64,
    #[serde(default)]
    pub message: String,
}

impl<T> RpcReply<T> {
    pub fn into_result(self) -> anyhow::Result<T> {
        if let Some(error) = self.error {
            anyhow::bail!("JSON-RPC error {}: {}", error.code, error.message);
        }
        self.result
            .ok_or_else(|| anyhow::anyhow!("JSON-RPC reply has neither result nor error"))
    }
}

#[derive(Deserialize)]
pub struct TaskJson<'a> {
    #[serde(borrow)]
    id: Cow<'a, str>,
    #[serde(borrow)]
    status: StatusJson<'a>,
}

#[derive(Deserialize)]
struct StatusJson<'a> {
    #[serde(borrow, default)]
    state: Cow<'a, str>,
}

impl From<TaskJson<'_>> for TaskInfo {
    fn from(task: TaskJson<'_>) -> Self {
        TaskInfo {
            completed: task.status.state == "TASK_STATE_COMPLETED",
            id: task.id.into_owned(),
        }
    }
}

#[derive(Deserialize)]
pub struct SendReply<'a> {
    #[serde(borrow)]
    pub task: Option<TaskJson<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ListReply<'a> {
    #[serde(borrow, default)]
    tasks: Vec<TaskJson<'a>>,
    #[serde(borrow, default)]
    next_page_token: Cow<'a, str>,
    #[serde(default)]
    total_size: i64,
}

impl From<ListReply<'_>> for ListInfo {
    fn from(list: ListReply<'_>) -> Self {
        ListInfo {
            count: list.tasks.len(),
            total: list.total_size,
            next: list.next_page_token.into_owned(),
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StreamReply<'a> {
    #[serde(borrow)]
    task: Option<TaskJson<'a>>,
    message: Option<IgnoredAny>,
    #[serde(borrow)]
    status_update: Option<StatusUpdateJson<'a>>,
    #[serde(borrow)]
    artifact_update: Option<ArtifactUpdateJson<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct StatusUpdateJson<'a> {
    #[serde(borrow)]
    task_id: Cow<'a, str>,
    #[serde(borrow)]
    status: StatusJson<'a>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ArtifactUpdateJson<'a> {
    #[serde(borrow)]
    task_id: Cow<'a, str>,
    #[serde(borrow)]
    artifact: ArtifactJson<'a>,
}

#[derive(Deserialize)]
struct ArtifactJson<'a> {
    #[serde(borrow, default)]
    parts: Vec<PartJson<'a>>,
}

#[derive(Deserialize)]
struct PartJson<'a> {
    #[serde(borrow, default)]
    text: Option<Cow<'a, str>>,
}

impl From<StreamReply<'_>> for Event {
    fn from(reply: StreamReply<'_>) -> Self {
        let mut event = Event {
            terminal: reply.message.is_some(),
            ..Event::default()
        };
        if let Some(task) = reply.task {
            event.terminal = is_terminal(&task.status.state);
            event.task_id = Some(task.id.into_owned());
        } else if let Some(update) = reply.status_update {
            event.terminal = is_terminal(&update.status.state);
            event.task_id = Some(update.task_id.into_owned());
        } else if let Some(update) = reply.artifact_update {
            event.artifact = true;
            event.stamp_us = update
                .artifact
                .parts
                .first()
                .and_then(|part| part.text.as_deref())
                .and_then(stamp);
            event.task_id = Some(update.task_id.into_owned());
        }
        event
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_a_stamped_artifact_event() {
        let json = r#"{"artifactUpdate":{"taskId":"t","contextId":"c","artifact":{"artifactId":"a","parts":[{"text":"t=12;hi"}]}}}"#;
        let event: Event = serde_json::from_str::<StreamReply>(json).unwrap().into();
        assert!(event.artifact && !event.terminal);
        assert_eq!(event.stamp_us, Some(12));
    }

    #[test]
    fn reads_a_terminal_status_event_in_an_rpc_envelope() {
        let json = r#"{"jsonrpc":"2.0","id":1,"result":{"statusUpdate":{"taskId":"t","contextId":"c","status":{"state":"TASK_STATE_COMPLETED"}}}}"#;
        let reply: RpcReply<StreamReply> = serde_json::from_str(json).unwrap();
        let event: Event = reply.into_result().unwrap().into();
        assert!(event.terminal);
    }

    #[test]
    fn reports_rpc_errors() {
        let json = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32001,"message":"no"}}"#;
        let reply: RpcReply<SendReply> = serde_json::from_str(json).unwrap();
        assert!(reply.into_result().is_err());
    }
}
