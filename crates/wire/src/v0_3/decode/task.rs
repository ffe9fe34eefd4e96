//! Tasks, and what streams and sends answer: what a client of another gateway or agent reads. What `final` says follows
//! from the state.

use std::sync::Arc;

use gateway_domain::{
    ContextId, Error, StreamResponse, TaskId, TaskSnapshot, TaskStatus,
    event::{TaskArtifactUpdateEvent, TaskStatusUpdateEvent},
    reply::Sent,
};

use super::{
    At, Faults,
    message::{artifact_at, message_at, metadata},
    whole,
};
use crate::{
    decode::{each, state, timestamp},
    pb::v0_3,
};

/// Reads a task.
///
/// # Errors
/// InvalidParams with every fault of form; status, its state and its timestamp have to be there.
pub fn task(task: v0_3::Task) -> Result<TaskSnapshot, Error> {
    whole(|faults, at| task_at(task, faults, at))
}

/// Reads an event.
///
/// # Errors
/// InvalidParams with every fault of form; exactly one payload has to be there.
pub fn stream_response(event: v0_3::StreamResponse) -> Result<StreamResponse, Error> {
    use v0_3::stream_response::Payload;
    whole(|faults, at| match event.payload {
        None => faults.add(
            &at.field("payload"),
            "must be one of task, message, statusUpdate and artifactUpdate",
        ),
        Some(Payload::Task(task)) => {
            task_at(task, faults, &at.field("task")).map(|task| StreamResponse::Task(Arc::new(task)))
        }
        Some(Payload::Msg(message)) => message_at(message, faults, &at.field("message"))
            .map(|said| StreamResponse::Message(Arc::new(said))),
        Some(Payload::StatusUpdate(event)) => status_update_at(event, faults, &at.field("statusUpdate"))
            .map(|event| StreamResponse::StatusUpdate(Arc::new(event))),
        Some(Payload::ArtifactUpdate(event)) => {
            artifact_update_at(event, faults, &at.field("artifactUpdate"))
                .map(|event| StreamResponse::ArtifactUpdate(Arc::new(event)))
        }
    })
}

/// Reads the answer to a send.
///
/// # Errors
/// InvalidParams with every fault of form; exactly one payload has to be there.
pub fn sent(answer: v0_3::SendMessageResponse) -> Result<Sent, Error> {
    use v0_3::send_message_response::Payload;
    whole(|faults, at| match answer.payload {
        None => faults.add(&at.field("payload"), "must be one of task and message"),
        Some(Payload::Task(task)) => task_at(task, faults, &at.field("task")).map(Sent::Task),
        Some(Payload::Msg(message)) => {
            message_at(message, faults, &at.field("message")).map(|said| Sent::Message(Arc::new(said)))
        }
    })
}

fn task_at(task: v0_3::Task, faults: &mut Faults, at: &At<'_>) -> Option<TaskSnapshot> {
    let status = required_status(task.status, faults, at);
    let artifacts = each(task.artifacts, faults, &at.field("artifacts"), artifact_at);
    let history = each(task.history, faults, &at.field("history"), message_at);
    let metadata = metadata(task.metadata, faults, at);
    Some(TaskSnapshot {
        id: TaskId::new(task.id),
        context_id: ContextId::new(task.context_id),
        status: status?,
        artifacts: artifacts.into_iter().map(Arc::new).collect(),
        history: history.into_iter().map(Arc::new).collect(),
        metadata,
    })
}

fn status_update_at(
    event: v0_3::TaskStatusUpdateEvent,
    faults: &mut Faults,
    at: &At<'_>,
) -> Option<TaskStatusUpdateEvent> {
    let status = required_status(event.status, faults, at);
    let metadata = metadata(event.metadata, faults, at);
    Some(TaskStatusUpdateEvent {
        task_id: TaskId::new(event.task_id),
        context_id: ContextId::new(event.context_id),
        status: status?,
        metadata,
    })
}

fn artifact_update_at(
    event: v0_3::TaskArtifactUpdateEvent,
    faults: &mut Faults,
    at: &At<'_>,
) -> Option<TaskArtifactUpdateEvent> {
    let at_artifact = at.field("artifact");
    let artifact = faults
        .required(&at_artifact, event.artifact)
        .and_then(|artifact| artifact_at(artifact, faults, &at_artifact));
    let metadata = metadata(event.metadata, faults, at);
    Some(TaskArtifactUpdateEvent {
        task_id: TaskId::new(event.task_id),
        context_id: ContextId::new(event.context_id),
        artifact: Arc::new(artifact?),
        append: event.append,
        last_chunk: event.last_chunk,
        metadata,
    })
}

/// Reads the field `status` of the message at `at`.
fn required_status(status: Option<v0_3::TaskStatus>, faults: &mut Faults, at: &At<'_>) -> Option<TaskStatus> {
    let at = at.field("status");
    let status = faults.required(&at, status)?;
    let state = state(status.state, faults, &at.field("state"));
    let message = status
        .update
        .and_then(|message| message_at(message, faults, &at.field("message")));
    let timestamp = timestamp(status.timestamp, faults, &at.field("timestamp"));
    Some(TaskStatus {
        state: state?,
        message: message.map(Arc::new),
        timestamp: timestamp?,
    })
}
