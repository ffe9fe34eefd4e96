//! Canned tasks and events, as JSON and as protobuf.

use serde_json::{Value, json};

use super::script::Step;
use crate::pb;

pub fn task_json(id: &str, state: &str) -> Value {
    json!({
        "id": id, "contextId": "ctx-1",
        "status": { "state": state, "timestamp": "2026-01-01T00:00:00Z" },
        "artifacts": [{ "artifactId": "a1", "name": "echo", "parts": [{ "text": "t=0;hello" }] }],
        "history": [{ "messageId": "m1", "role": "ROLE_USER", "parts": [{ "text": "hello" }] }],
    })
}

/// What a list shows of a task: no artifacts, no history (§3.1.4).
pub fn listed_json(id: &str, state: &str) -> Value {
    let mut task = task_json(id, state);
    if let Some(task) = task.as_object_mut() {
        task.retain(|field, _| !matches!(field.as_str(), "artifacts" | "history"));
    }
    task
}

/// The same as protobuf.
pub fn listed_pb(id: String, state: pb::TaskState) -> pb::Task {
    pb::Task {
        artifacts: Vec::new(),
        history: Vec::new(),
        ..task_pb(id, state)
    }
}

fn text_part(text: String) -> pb::Part {
    pb::Part {
        content: Some(pb::part::Content::Text(text)),
    }
}

fn status_pb(state: pb::TaskState) -> pb::TaskStatus {
    pb::TaskStatus {
        state: state.into(),
        message: None,
        timestamp: Some(prost_types::Timestamp {
            seconds: 1_767_225_600,
            nanos: 0,
        }),
    }
}

pub fn task_pb(id: String, state: pb::TaskState) -> pb::Task {
    pb::Task {
        id,
        context_id: "ctx-1".into(),
        status: Some(status_pb(state)),
        artifacts: vec![pb::Artifact {
            artifact_id: "a1".into(),
            name: "echo".into(),
            parts: vec![text_part("t=0;hello".into())],
        }],
        history: vec![pb::Message {
            message_id: "m1".into(),
            role: pb::Role::User.into(),
            parts: vec![text_part("hello".into())],
            ..Default::default()
        }],
    }
}

pub fn event_json(id: &str, step: &Step) -> Value {
    match step {
        Step::Working => {
            json!({ "statusUpdate": { "taskId": id, "contextId": "ctx-1", "status": { "state": "TASK_STATE_WORKING" } } })
        }
        Step::Completed => {
            json!({ "statusUpdate": { "taskId": id, "contextId": "ctx-1", "status": { "state": "TASK_STATE_COMPLETED" } } })
        }
        Step::Artifact { text, append, last } => json!({ "artifactUpdate": {
            "taskId": id, "contextId": "ctx-1", "append": append, "lastChunk": last,
            "artifact": { "artifactId": "a1", "name": "echo", "parts": [{ "text": &**text }] } } }),
    }
}

pub fn event_pb(id: &str, step: &Step) -> pb::StreamResponse {
    use pb::stream_response::Payload;
    let status = |state| {
        Payload::StatusUpdate(pb::TaskStatusUpdateEvent {
            task_id: id.into(),
            context_id: "ctx-1".into(),
            status: Some(status_pb(state)),
        })
    };
    let payload = match step {
        Step::Working => status(pb::TaskState::Working),
        Step::Completed => status(pb::TaskState::Completed),
        Step::Artifact { text, append, last } => Payload::ArtifactUpdate(pb::TaskArtifactUpdateEvent {
            task_id: id.into(),
            context_id: "ctx-1".into(),
            artifact: Some(pb::Artifact {
                artifact_id: "a1".into(),
                name: "echo".into(),
                parts: vec![text_part(text.to_string())],
            }),
            append: *append,
            last_chunk: *last,
        }),
    };
    pb::StreamResponse {
        payload: Some(payload),
    }
}
