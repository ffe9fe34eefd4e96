//! Protocol 0.3, as far as loops of send, stream and get need it: names, bodies, and what JSON-RPC answers.

use anyhow::{Result, bail};
use serde::Deserialize;
use serde_json::{Value, json};

use super::message_id;
use crate::wire::{Event, TaskInfo};

/// `MessageSendParams`, in the notation of JSON-RPC.
pub fn rpc_params(context: Option<&str>, text: &str) -> Value {
    let mut message = json!({
        "kind": "message",
        "messageId": message_id(),
        "role": "user",
        "parts": [{ "kind": "text", "text": text }],
    });
    if let Some(context) = context {
        message["contextId"] = context.into();
    }
    json!({ "message": message })
}

/// `SendMessageRequest`, in the notation of HTTP+JSON.
pub fn rest_body(context: Option<&str>, text: &str) -> Value {
    let mut message = json!({
        "messageId": message_id(),
        "role": "ROLE_USER",
        "content": [{ "text": text }],
    });
    if let Some(context) = context {
        message["contextId"] = context.into();
    }
    json!({ "message": message })
}

/// A result of JSON-RPC, told apart by its `kind`.
#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", rename_all_fields = "camelCase")]
pub enum Kind {
    Task { id: String, status: Status },
    Message,
    StatusUpdate { task_id: String, status: Status },
    ArtifactUpdate { task_id: String },
}

#[derive(Deserialize)]
pub struct Status {
    state: String,
}

impl Status {
    fn terminal(&self) -> bool {
        matches!(
            self.state.as_str(),
            "completed" | "failed" | "canceled" | "rejected"
        )
    }
}

impl Kind {
    /// The task that a call has to be answered with.
    pub fn into_task(self) -> Result<TaskInfo> {
        match self {
            Kind::Task { id, status } => Ok(TaskInfo {
                completed: status.state == "completed",
                id,
            }),
            _ => bail!("answered with something other than a task"),
        }
    }
}

impl From<Kind> for Event {
    fn from(kind: Kind) -> Self {
        let (task_id, terminal, artifact) = match kind {
            Kind::Task { id, status } => (Some(id), status.terminal(), false),
            Kind::Message => (None, true, false),
            Kind::StatusUpdate { task_id, status } => (Some(task_id), status.terminal(), false),
            Kind::ArtifactUpdate { task_id } => (Some(task_id), false, true),
        };
        Event {
            task_id,
            terminal,
            artifact,
            stamp_us: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_told_apart_by_their_kind() {
        let event = |json| Event::from(serde_json::from_str::<Kind>(json).unwrap());
        let update = r#"{"kind":"status-update","taskId":"t","contextId":"c","final":true,"status":{"state":"completed"}}"#;
        assert!(event(update).terminal);
        let chunk = r#"{"kind":"artifact-update","taskId":"t","contextId":"c","artifact":{"artifactId":"a","parts":[]}}"#;
        assert!(event(chunk).artifact && !event(chunk).terminal);
        assert_eq!(event(chunk).task_id.as_deref(), Some("t"));
    }

    #[test]
    fn a_message_is_no_task() {
        let message = r#"{"kind":"message","messageId":"m","role":"agent","parts":[]}"#;
        assert!(
            serde_json::from_str::<Kind>(message)
                .unwrap()
                .into_task()
                .is_err()
        );
    }
}
