//! Tasks, and what streams and sends answer: what a client of another gateway or agent reads.

use std::sync::Arc;

use gateway_domain::{
    ContextId, Error, StreamResponse, TaskId, TaskSnapshot, TaskState, TaskStatus, Timestamp,
    event::{TaskArtifactUpdateEvent, TaskStatusUpdateEvent},
    reply::{Sent, TaskPage},
};

use super::{
    At, Faults, each,
    message::{artifact_at, message_at, metadata},
    whole,
};
use crate::pb::v1;

/// Reads a task.
///
/// # Errors
/// InvalidParams with every fault of form; status, its state and its timestamp have to be there.
pub fn task(task: v1::Task) -> Result<TaskSnapshot, Error> {
    whole(|faults, at| task_at(task, faults, at))
}

/// Reads an event.
///
/// # Errors
/// InvalidParams with every fault of form; exactly one payload has to be there.
pub fn stream_response(event: v1::StreamResponse) -> Result<StreamResponse, Error> {
    use v1::stream_response::Payload;
    whole(|faults, at| match event.payload {
        None => faults.add(
            &at.field("payload"),
            "must be one of task, message, statusUpdate and artifactUpdate",
        ),
        Some(Payload::Task(task)) => {
            task_at(task, faults, &at.field("task")).map(|task| StreamResponse::Task(Arc::new(task)))
        }
        Some(Payload::Message(message)) => message_at(message, faults, &at.field("message"))
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
pub fn sent(answer: v1::SendMessageResponse) -> Result<Sent, Error> {
    use v1::send_message_response::Payload;
    whole(|faults, at| match answer.payload {
        None => faults.add(&at.field("payload"), "must be one of task and message"),
        Some(Payload::Task(task)) => task_at(task, faults, &at.field("task")).map(Sent::Task),
        Some(Payload::Message(message)) => {
            message_at(message, faults, &at.field("message")).map(|said| Sent::Message(Arc::new(said)))
        }
    })
}

/// Reads a page of tasks.
///
/// # Errors
/// InvalidParams with every fault of form.
pub fn tasks(page: v1::ListTasksResponse) -> Result<TaskPage, Error> {
    whole(|faults, at| {
        let tasks = each(page.tasks, faults, &at.field("tasks"), task_at);
        let page_size = count(page.page_size, faults, &at.field("pageSize"));
        let total_size = count(page.total_size, faults, &at.field("totalSize"));
        Some(TaskPage {
            tasks,
            next_page_token: page.next_page_token,
            page_size: page_size?,
            total_size: total_size?,
        })
    })
}

fn task_at(task: v1::Task, faults: &mut Faults, at: &At<'_>) -> Option<TaskSnapshot> {
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
    event: v1::TaskStatusUpdateEvent,
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
    event: v1::TaskArtifactUpdateEvent,
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
fn required_status(status: Option<v1::TaskStatus>, faults: &mut Faults, at: &At<'_>) -> Option<TaskStatus> {
    let at = at.field("status");
    let status = faults.required(&at, status)?;
    let state = state(status.state, faults, &at.field("state"));
    let message = status
        .message
        .and_then(|message| message_at(message, faults, &at.field("message")));
    let timestamp = timestamp(status.timestamp, faults, &at.field("timestamp"));
    Some(TaskStatus {
        state: state?,
        message: message.map(Arc::new),
        timestamp: timestamp?,
    })
}

pub(crate) fn state(number: i32, faults: &mut Faults, at: &At<'_>) -> Option<TaskState> {
    match number {
        0 => faults.add(at, "is required"),
        _ => TaskState::from_number(number)
            .or_else(|| faults.add(at, format!("must be {}, not {number}", TaskState::choices()))),
    }
}

pub(crate) fn timestamp(
    moment: Option<prost_types::Timestamp>,
    faults: &mut Faults,
    at: &At<'_>,
) -> Option<Timestamp> {
    let moment = faults.required(at, moment)?;
    Timestamp::from_seconds_nanos(moment.seconds, moment.nanos).or_else(|| {
        faults.add(
            at,
            "must lie in the years 1 to 9999, with nanos from 0 to 999999999",
        )
    })
}

fn count(number: i32, faults: &mut Faults, at: &At<'_>) -> Option<u32> {
    u32::try_from(number)
        .ok()
        .or_else(|| faults.add(at, "must not be negative"))
}

#[cfg(test)]
mod tests {
    use super::{stream_response, task};
    use crate::pb::v1;

    #[test]
    fn a_task_without_status_is_refused_and_so_is_a_status_without_state_or_time() {
        let fields = |task: v1::Task| {
            let error = super::task(task).unwrap_err();
            error
                .violations()
                .iter()
                .map(|violation| violation.field.to_string())
                .collect::<Vec<_>>()
        };
        assert_eq!(fields(v1::Task::default()), ["status"]);
        let status = Some(v1::TaskStatus::default());
        assert_eq!(
            fields(v1::Task {
                status,
                ..v1::Task::default()
            }),
            ["status.state", "status.timestamp"]
        );
    }

    #[test]
    fn a_moment_that_protobuf_should_not_carry_is_refused() {
        let status = |seconds, nanos| v1::TaskStatus {
            state: 2,
            timestamp: Some(prost_types::Timestamp { seconds, nanos }),
            ..v1::TaskStatus::default()
        };
        let read = |status| {
            task(v1::Task {
                status: Some(status),
                ..v1::Task::default()
            })
        };
        assert!(read(status(0, 0)).is_ok());
        for bad in [
            status(253_402_300_800, 0),
            status(0, -1),
            status(0, 1_000_000_000),
        ] {
            assert_eq!(read(bad).unwrap_err().violations()[0].field, "status.timestamp");
        }
    }

    #[test]
    fn an_event_without_payload_is_refused() {
        let error = stream_response(v1::StreamResponse::default()).unwrap_err();
        assert_eq!(error.violations()[0].field, "payload");
    }
}
