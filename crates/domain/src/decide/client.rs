//! What a client's commands make of a task.

use std::sync::Arc;

use super::{Stamp, change, status, with_status};
use crate::{
    ContextId, Cursor, Entry, Error, ErrorKind, LogEntry, Message, Outcome, Scope, TaskId, TaskSnapshot,
    TaskState, TaskStatus,
    lifecycle::Move,
    limits::Limits,
    ports::{Change, Creation, TaskHead},
    push::StoredConfig,
};

/// What a new task is made of.
#[derive(Debug)]
pub struct NewTask {
    /// Fresh.
    pub id: TaskId,
    /// The message's, else fresh.
    pub context_id: ContextId,
    /// The request's.
    pub scope: Scope,
    /// The first message.
    pub message: Message,
    /// Whether clients see the task at once.
    pub hidden: bool,
    /// Stored with it.
    pub config: Option<StoredConfig>,
}

/// A task in Submitted whose history begins with the message, its ids filled in; metadata is empty.
///
/// # Errors
/// ResourceExhausted where the message alone is more than is stored for a task.
pub fn create(new: NewTask, limits: &Limits, stamp: Stamp) -> Result<Creation, Error> {
    let message = new.message.in_task(&new.id, &new.context_id);
    let client_bytes = message.weight();
    if client_bytes > limits.stored_bytes_per_task {
        return Err(history_full(
            "the message is larger than what is stored for a task",
        ));
    }
    let state = TaskStatus {
        state: TaskState::Submitted,
        message: None,
        timestamp: stamp.now,
    };
    let task = Arc::new(TaskSnapshot {
        id: new.id.clone(),
        context_id: new.context_id.clone(),
        status: state.clone(),
        artifacts: Vec::new(),
        history: vec![message],
        metadata: None,
    });
    let head = TaskHead {
        id: new.id,
        context_id: new.context_id,
        scope: new.scope,
        hidden: new.hidden,
        status: state,
        cursor: Cursor {
            revision: 1,
            mark: stamp.mark,
        },
        status_revision: 1,
        client_messages: 1,
        agent_messages: 0,
        client_bytes,
        agent_bytes: 0,
        artifacts: Arc::default(),
    };
    let entry = Arc::new(LogEntry::new(
        head.cursor,
        Cursor::START.mark,
        Entry::Created {
            task: task.clone(),
            hidden: new.hidden,
        },
    ));
    Ok(Creation {
        head,
        entry,
        task,
        config: new.config,
        delivery: None,
        run: None,
        live_limit: limits.live_tasks_per_tenant,
        send: None,
    })
}

/// Makes a hidden task visible. Nothing where it is visible already.
pub fn show(head: &TaskHead, task: Arc<TaskSnapshot>, stamp: Stamp) -> Option<Change> {
    if !head.hidden {
        return None;
    }
    let mut shown = head.clone();
    shown.hidden = false;
    Some(change(shown, Entry::Shown(task), stamp))
}

/// Takes a client's further message into the history.
///
/// # Errors
/// UnsupportedOperation on a terminal task, ContextMismatch, ResourceExhausted where the history is full. The order
/// of the checks is the order of decision; what lies between them asks the agent, see the service.
pub fn take_message(
    head: &TaskHead,
    message: Message,
    limits: &Limits,
    stamp: Stamp,
) -> Result<Change, Error> {
    check_continuable(head, message.context_id.as_ref())?;
    let message = message.in_task(&head.id, &head.context_id);
    let bytes = message.weight();
    if head.history_messages() >= limits.history_messages {
        return Err(history_full("the history of the task is full"));
    }
    if head.stored_bytes() + bytes > limits.stored_bytes_per_task {
        return Err(history_full("the task holds as many bytes as are stored for one"));
    }
    let mut next = head.clone();
    next.client_messages += 1;
    next.client_bytes += bytes;
    Ok(change(next, Entry::MessageTaken(message), stamp))
}

/// Whether a task takes further messages, and of this conversation.
///
/// # Errors
/// UnsupportedOperation on a terminal task, ContextMismatch.
pub fn check_continuable(head: &TaskHead, context: Option<&ContextId>) -> Result<(), Error> {
    if head.status.state.is_terminal() {
        let text = format!(
            "the task is {} and takes no further message",
            head.status.state.name()
        );
        return Err(Error::new(ErrorKind::UnsupportedOperation, text).outcome(Outcome::TaskTerminal));
    }
    match context {
        Some(context) if *context != head.context_id => {
            let text = format!(
                "message.contextId {context:?} differs from {:?}, the context of task {:?}",
                head.context_id.as_str(),
                head.id.as_str(),
                context = context.as_str()
            );
            let error = Error::new(ErrorKind::ContextMismatch, text).at("message.contextId");
            Err(error.outcome(Outcome::ContextMismatch))
        }
        _ => Ok(()),
    }
}

fn history_full(text: &'static str) -> Error {
    Error::new(ErrorKind::ResourceExhausted, text).outcome(Outcome::HistoryLimit)
}

/// The move cancel.
///
/// # Errors
/// TaskNotCancelable on a terminal task, Canceled included.
pub fn cancel(head: &TaskHead, message: Message, limits: &Limits, stamp: Stamp) -> Result<Change, Error> {
    check_cancelable(head)?;
    let canceled = status(head, Move::Cancel.target(), Some(message), stamp);
    Ok(with_status(head, canceled, limits, stamp))
}

/// Whether a task can still be canceled.
///
/// # Errors
/// TaskNotCancelable on a terminal task, Canceled included.
pub fn check_cancelable(head: &TaskHead) -> Result<(), Error> {
    if Move::Cancel.starts_from(head.status.state) {
        return Ok(());
    }
    let text = format!("the task is {} and cannot be canceled", head.status.state.name());
    Err(Error::new(ErrorKind::TaskNotCancelable, text).outcome(Outcome::NotCancelable))
}
