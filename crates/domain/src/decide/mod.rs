//! The rules: what a command makes of a task. Pure functions from a head and an input to a change or a rejection;
//! ids, marks and the time are handed in. Deciding never looks at more of a task than its head.

mod agent;
mod client;

#[cfg(test)]
mod tests;

pub use agent::{act, fail, late_message};
pub use client::{NewTask, cancel, check_cancelable, check_continuable, create, show, take_message};

use std::sync::Arc;

use crate::{
    Cursor, Entry, LogEntry, Message, Revision, TaskStatus, Timestamp,
    event::{Keep, TaskStatusUpdateEvent},
    limits::Limits,
    ports::{Change, TaskHead},
};

/// What a decision is given of the world: the time, and the mark of the entry that it may make.
#[derive(Debug, Clone, Copy)]
pub struct Stamp {
    /// The present moment.
    pub now: Timestamp,
    /// The mark of the next entry.
    pub mark: u32,
}

fn change(mut head: TaskHead, entry: Entry, stamp: Stamp) -> Change {
    let previous = head.cursor.mark;
    head.cursor = next(&head, stamp);
    let entry = Arc::new(LogEntry::new(head.cursor, previous, entry));
    Change {
        head,
        entry,
        config: None,
        run: None,
        owner: None,
        send: None,
    }
}

fn next(head: &TaskHead, stamp: Stamp) -> Cursor {
    Cursor {
        revision: next_revision(head),
        mark: stamp.mark,
    }
}

fn next_revision(head: &TaskHead) -> Revision {
    head.cursor.revision + 1
}

/// A new status. The message that stood in the former one moves into the history.
fn with_status(head: &TaskHead, status: TaskStatus, limits: &Limits, stamp: Stamp) -> Change {
    let mut next = head.clone();
    let displaced = displace(&mut next, limits);
    next.status = status.clone();
    next.status_revision = next_revision(head);
    let event = Arc::new(TaskStatusUpdateEvent {
        task_id: head.id.clone(),
        context_id: head.context_id.clone(),
        status,
        metadata: None,
    });
    change(next, Entry::StatusUpdated { event, displaced }, stamp)
}

/// Counts what becomes of the message in the status. The history is bounded: clients' messages stay, the agent's
/// make room for each other. The bytes of one that leaves are the mean of those held, since deciding does not see it.
fn displace(head: &mut TaskHead, limits: &Limits) -> Keep {
    let Some(bytes) = head.status.message.as_ref().map(|message| message.weight()) else {
        return Keep::Append;
    };
    if head.history_messages() < limits.history_messages {
        head.agent_messages += 1;
        head.agent_bytes += bytes;
        return Keep::Append;
    }
    if head.agent_messages == 0 {
        return Keep::Drop;
    }
    head.agent_bytes = head.agent_bytes - head.agent_bytes / head.agent_messages + bytes;
    Keep::AppendForOldestAgentMessage
}

fn status(head: &TaskHead, state: crate::TaskState, message: Option<Message>, stamp: Stamp) -> TaskStatus {
    let message = message.map(|message| message.in_task(&head.id, &head.context_id));
    TaskStatus {
        state,
        message,
        // Another replica's clock may be ahead: nothing moves back in lists that callers page through.
        timestamp: stamp.now.max(head.status.timestamp),
    }
}
