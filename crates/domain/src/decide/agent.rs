//! What an agent's commands make of a task.

use std::sync::Arc;

use super::{Stamp, change, status, with_status};
use crate::{
    Artifact, Entry, Error, ErrorKind, Message, Outcome,
    event::TaskArtifactUpdateEvent,
    lifecycle::Move,
    limits::Limits,
    ports::{ArtifactHead, Change, TaskHead},
    request::AgentAction,
};

/// Carries out an agent command.
///
/// # Errors
/// TaskStateConflict carrying the state held, ResourceExhausted where a bound is reached; then nothing changed.
pub fn act(head: &TaskHead, action: AgentAction, limits: &Limits, stamp: Stamp) -> Result<Change, Error> {
    match action {
        AgentAction::Move(step, message) => take_move(head, step, message, limits, stamp),
        AgentAction::ReportProgress(message) => report_progress(head, message, limits, stamp),
        AgentAction::UpdateArtifact {
            artifact,
            append,
            last_chunk,
        } => update_artifact(head, artifact, append, last_chunk, limits, stamp),
    }
}

/// Ends a live task as Failed, with a message of the gateway's own. It is exempt from the bound on bytes: a task
/// that reached the bound must still be able to say so.
///
/// # Errors
/// TaskStateConflict on a terminal task.
pub fn fail(head: &TaskHead, message: Message, limits: &Limits, stamp: Stamp) -> Result<Change, Error> {
    check_move(head, Move::Fail)?;
    Ok(with_status(
        head,
        status(head, Move::Fail.target(), Some(message), stamp),
        limits,
        stamp,
    ))
}

/// Completes a live task with an agent's direct message that came when the task was visible already.
///
/// # Errors
/// TaskStateConflict on a terminal task.
pub fn late_message(
    head: &TaskHead,
    message: Message,
    limits: &Limits,
    stamp: Stamp,
) -> Result<Change, Error> {
    take_move(head, Move::Complete, Some(message), limits, stamp)
}

fn take_move(
    head: &TaskHead,
    step: Move,
    message: Option<Message>,
    limits: &Limits,
    stamp: Stamp,
) -> Result<Change, Error> {
    check_move(head, step)?;
    check_bytes(head, message.as_ref().map_or(0, Message::weight), limits)?;
    Ok(with_status(
        head,
        status(head, step.target(), message, stamp),
        limits,
        stamp,
    ))
}

fn check_move(head: &TaskHead, step: Move) -> Result<(), Error> {
    if step.starts_from(head.status.state) {
        return Ok(());
    }
    let (from, to) = (head.status.state, step.target());
    let text = format!("the task is {} and cannot become {}", from.name(), to.name());
    Err(Error::task_state_conflict(from, text).outcome(Outcome::WrongState))
}

fn report_progress(
    head: &TaskHead,
    message: Option<Message>,
    limits: &Limits,
    stamp: Stamp,
) -> Result<Change, Error> {
    let state = head.status.state;
    if state.is_terminal() {
        let text = format!("the task is {} and has no progress to report", state.name());
        return Err(Error::task_state_conflict(state, text).outcome(Outcome::WrongState));
    }
    check_bytes(head, message.as_ref().map_or(0, Message::weight), limits)?;
    Ok(with_status(
        head,
        status(head, state, message, stamp),
        limits,
        stamp,
    ))
}

fn update_artifact(
    head: &TaskHead,
    artifact: Artifact,
    append: bool,
    last_chunk: bool,
    limits: &Limits,
    stamp: Stamp,
) -> Result<Change, Error> {
    let state = head.status.state;
    if state.is_terminal() {
        let text = format!(
            "the task is {} and its artifacts do not change any more",
            state.name()
        );
        return Err(Error::task_state_conflict(state, text).outcome(Outcome::ArtifactTerminal));
    }
    let mut next = head.clone();
    next.artifacts = Arc::new(next_artifacts(head, &artifact, append, last_chunk, limits)?);
    let event = Arc::new(TaskArtifactUpdateEvent {
        task_id: head.id.clone(),
        context_id: head.context_id.clone(),
        artifact: Arc::new(artifact),
        append,
        last_chunk,
        metadata: None,
    });
    Ok(change(next, Entry::ArtifactUpdated(event), stamp))
}

/// The index of artifacts after an update: one more, one replaced in its place and open again, or one longer.
fn next_artifacts(
    head: &TaskHead,
    artifact: &Artifact,
    append: bool,
    last_chunk: bool,
    limits: &Limits,
) -> Result<Vec<ArtifactHead>, Error> {
    let weight = artifact.weight();
    let held = head
        .artifacts
        .iter()
        .position(|held| held.id == artifact.artifact_id);
    let mut artifacts = Vec::clone(&head.artifacts);
    match held.map(|index| &mut artifacts[index]) {
        Some(held) if append => {
            if held.closed {
                let text = format!(
                    "artifact {:?} took its last chunk; nothing can be appended",
                    held.id.as_str()
                );
                return Err(
                    Error::task_state_conflict(head.status.state, text).outcome(Outcome::ArtifactClosed)
                );
            }
            check_bytes(head, weight, limits)?;
            held.weight += weight;
            held.closed = last_chunk;
        }
        Some(held) => {
            check_bytes(head, weight.saturating_sub(held.weight), limits)?;
            held.weight = weight;
            held.closed = last_chunk;
        }
        None => {
            check_bytes(head, weight, limits)?;
            if artifacts.len() >= limits.artifacts_per_task {
                return Err(exhausted(format!(
                    "a task holds at most {} artifacts",
                    limits.artifacts_per_task
                )));
            }
            artifacts.push(ArtifactHead {
                id: artifact.artifact_id.clone(),
                closed: last_chunk,
                weight,
            });
        }
    }
    Ok(artifacts)
}

fn check_bytes(head: &TaskHead, more: usize, limits: &Limits) -> Result<(), Error> {
    if more > 0 && head.stored_bytes() + more > limits.stored_bytes_per_task {
        return Err(exhausted(format!(
            "a task holds at most {} bytes",
            limits.stored_bytes_per_task
        )));
    }
    Ok(())
}

fn exhausted(text: String) -> Error {
    Error::new(ErrorKind::ResourceExhausted, text)
}
