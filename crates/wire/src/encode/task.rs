//! Tasks, and what streams and sends answer.

use gateway_domain::{
    StreamResponse, TaskSnapshot, TaskStatus, Timestamp,
    event::{TaskArtifactUpdateEvent, TaskStatusUpdateEvent},
    reply::{Sent, TaskPage},
};

use super::{artifact, message, object};
use crate::pb::v1;

/// Writes a task.
pub fn task(task: &TaskSnapshot) -> v1::Task {
    v1::Task {
        id: task.id.to_string(),
        context_id: task.context_id.to_string(),
        status: Some(status(&task.status)),
        artifacts: task.artifacts.iter().map(|shared| artifact(shared)).collect(),
        history: task.history.iter().map(|shared| message(shared)).collect(),
        metadata: task.metadata.as_ref().map(object),
    }
}

/// Writes a status.
pub fn status(status: &TaskStatus) -> v1::TaskStatus {
    v1::TaskStatus {
        state: status.state.number(),
        message: status.message.as_deref().map(message),
        timestamp: Some(timestamp(status.timestamp)),
    }
}

/// Writes a moment.
pub fn timestamp(moment: Timestamp) -> prost_types::Timestamp {
    let (seconds, nanos) = moment.seconds_nanos();
    prost_types::Timestamp { seconds, nanos }
}

/// Writes an event.
pub fn stream_response(event: &StreamResponse) -> v1::StreamResponse {
    use v1::stream_response::Payload;
    let payload = match event {
        StreamResponse::Task(shared) => Payload::Task(task(shared)),
        StreamResponse::Message(shared) => Payload::Message(message(shared)),
        StreamResponse::StatusUpdate(event) => Payload::StatusUpdate(status_update(event)),
        StreamResponse::ArtifactUpdate(event) => Payload::ArtifactUpdate(artifact_update(event)),
    };
    v1::StreamResponse {
        payload: Some(payload),
    }
}

/// Writes the answer to a send.
pub fn sent(sent: &Sent) -> v1::SendMessageResponse {
    use v1::send_message_response::Payload;
    let payload = match sent {
        Sent::Task(snapshot) => Payload::Task(task(snapshot)),
        Sent::Message(shared) => Payload::Message(message(shared)),
    };
    v1::SendMessageResponse {
        payload: Some(payload),
    }
}

/// Writes a page of tasks. Sizes stop at what an `int32` holds.
pub fn tasks(page: &TaskPage) -> v1::ListTasksResponse {
    v1::ListTasksResponse {
        tasks: page.tasks.iter().map(task).collect(),
        next_page_token: page.next_page_token.clone(),
        page_size: i32::try_from(page.page_size).unwrap_or(i32::MAX),
        total_size: i32::try_from(page.total_size).unwrap_or(i32::MAX),
    }
}

fn status_update(event: &TaskStatusUpdateEvent) -> v1::TaskStatusUpdateEvent {
    v1::TaskStatusUpdateEvent {
        task_id: event.task_id.to_string(),
        context_id: event.context_id.to_string(),
        status: Some(status(&event.status)),
        metadata: event.metadata.as_ref().map(object),
    }
}

fn artifact_update(event: &TaskArtifactUpdateEvent) -> v1::TaskArtifactUpdateEvent {
    v1::TaskArtifactUpdateEvent {
        task_id: event.task_id.to_string(),
        context_id: event.context_id.to_string(),
        artifact: Some(artifact(&event.artifact)),
        append: event.append,
        last_chunk: event.last_chunk,
        metadata: event.metadata.as_ref().map(object),
    }
}
