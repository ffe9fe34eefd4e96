//! Tasks, and what streams and sends answer.

use gateway_domain::{
    StreamResponse, TaskSnapshot, TaskStatus, Version,
    event::{TaskArtifactUpdateEvent, TaskStatusUpdateEvent},
    reply::Sent,
};

use super::{artifact, message};
use crate::{
    encode::{object, timestamp},
    pb::v0_3,
};

/// Writes a task.
pub fn task(task: &TaskSnapshot) -> v0_3::Task {
    v0_3::Task {
        id: task.id.to_string(),
        context_id: task.context_id.to_string(),
        status: Some(status(&task.status)),
        artifacts: task.artifacts.iter().map(|shared| artifact(shared)).collect(),
        history: task.history.iter().map(|shared| message(shared)).collect(),
        metadata: task.metadata.as_ref().map(object),
    }
}

fn status(status: &TaskStatus) -> v0_3::TaskStatus {
    v0_3::TaskStatus {
        state: status.state.number(),
        update: status.message.as_deref().map(message),
        timestamp: Some(timestamp(status.timestamp)),
    }
}

/// Writes an event.
pub fn stream_response(event: &StreamResponse) -> v0_3::StreamResponse {
    use v0_3::stream_response::Payload;
    let payload = match event {
        StreamResponse::Task(shared) => Payload::Task(task(shared)),
        StreamResponse::Message(shared) => Payload::Msg(message(shared)),
        StreamResponse::StatusUpdate(event) => Payload::StatusUpdate(status_update(event)),
        StreamResponse::ArtifactUpdate(event) => Payload::ArtifactUpdate(artifact_update(event)),
    };
    v0_3::StreamResponse {
        payload: Some(payload),
    }
}

/// Writes the answer to a send.
pub fn sent(sent: &Sent) -> v0_3::SendMessageResponse {
    use v0_3::send_message_response::Payload;
    let payload = match sent {
        Sent::Task(snapshot) => Payload::Task(task(snapshot)),
        Sent::Message(shared) => Payload::Msg(message(shared)),
    };
    v0_3::SendMessageResponse {
        payload: Some(payload),
    }
}

fn status_update(event: &TaskStatusUpdateEvent) -> v0_3::TaskStatusUpdateEvent {
    v0_3::TaskStatusUpdateEvent {
        task_id: event.task_id.to_string(),
        context_id: event.context_id.to_string(),
        r#final: Version::V0_3.ends_streams_at(event.status.state),
        status: Some(status(&event.status)),
        metadata: event.metadata.as_ref().map(object),
    }
}

fn artifact_update(event: &TaskArtifactUpdateEvent) -> v0_3::TaskArtifactUpdateEvent {
    v0_3::TaskArtifactUpdateEvent {
        task_id: event.task_id.to_string(),
        context_id: event.context_id.to_string(),
        artifact: Some(artifact(&event.artifact)),
        append: event.append,
        last_chunk: event.last_chunk,
        metadata: event.metadata.as_ref().map(object),
    }
}
