//! The log of a task: one [`Entry`] a commit, and what of it goes out ([`StreamResponse`], §4.2 and §3.2.3).

use std::{
    fmt,
    sync::{Arc, OnceLock},
};

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use crate::{
    Artifact, ContextId, Cursor, Message, TaskId, TaskSnapshot, TaskState, TaskStatus, json, json::Object,
    notation::null_default, resume,
};

/// What one commit changed. A snapshot is the fold of these.
#[derive(Debug, Clone, PartialEq)]
pub enum Entry {
    /// A send was stored. While hidden no client sees the task.
    Created {
        /// The task in Submitted, with its first message.
        task: Arc<TaskSnapshot>,
        /// Whether it waits to be shown.
        hidden: bool,
    },
    /// The task became visible: TaskCreated.
    Shown(Arc<TaskSnapshot>),
    /// A client's message was taken into the history.
    MessageTaken(Arc<Message>),
    /// The status changed, by a move or by a report in the state held: TaskStatusUpdated.
    StatusUpdated {
        /// What goes out.
        event: Arc<TaskStatusUpdateEvent>,
        /// What becomes of the status message that it replaces.
        displaced: Keep,
    },
    /// An artifact was set, replaced or appended to: TaskArtifactUpdated.
    ArtifactUpdated(Arc<TaskArtifactUpdateEvent>),
}

/// What becomes of an agent's message that leaves the status, so that the history stays within its bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keep {
    /// It goes to the end of the history.
    Append,
    /// It goes there, and the oldest of the agent's messages leaves.
    AppendForOldestAgentMessage,
    /// It is gone: the history is full of the client's messages.
    Drop,
}

impl Entry {
    /// What goes out to streams and webhooks, if anything: at most one event in any vocabulary.
    pub fn outward(&self) -> Option<StreamResponse> {
        match self {
            Self::Created { hidden: true, .. } | Self::MessageTaken(_) => None,
            Self::Created { task, hidden: false } | Self::Shown(task) => {
                Some(StreamResponse::Task(task.clone()))
            }
            Self::StatusUpdated { event, .. } => Some(StreamResponse::StatusUpdate(event.clone())),
            Self::ArtifactUpdated(event) => Some(StreamResponse::ArtifactUpdate(event.clone())),
        }
    }

    /// The state that it ends the task in, if it does.
    pub fn ends_in(&self) -> Option<TaskState> {
        match self {
            Self::StatusUpdated { event, .. } => Some(event.status.state).filter(|state| state.is_terminal()),
            _ => None,
        }
    }

    /// Roughly the bytes that it takes in the log.
    pub fn weight(&self) -> usize {
        128 + match self {
            Self::Created { task, .. } | Self::Shown(task) => {
                task.history.iter().map(|m| m.weight()).sum::<usize>()
            }
            Self::MessageTaken(message) => message.weight(),
            Self::StatusUpdated { event, .. } => event.status.message.as_ref().map_or(0, |m| m.weight()),
            Self::ArtifactUpdated(event) => event.artifact.weight(),
        }
    }
}

/// An entry in its place.
#[derive(Debug)]
pub struct LogEntry {
    /// Its place.
    pub cursor: Cursor,
    /// The mark of the entry before it, so that whoever reads on sees whether it is the next of the same log.
    pub previous: u32,
    /// What changed.
    pub entry: Entry,
    /// What goes out, shared by every stream that shows it.
    pub outward: Option<SharedEvent>,
}

impl LogEntry {
    /// Puts an entry into its place, behind one of that mark. The first stands behind that of [`Cursor::START`].
    pub fn new(cursor: Cursor, previous: u32, entry: Entry) -> Self {
        let outward = entry.outward().map(SharedEvent::new);
        Self {
            cursor,
            previous,
            entry,
            outward,
        }
    }

    /// Whether it is the very next entry after a place.
    pub fn follows(&self, place: Cursor) -> bool {
        self.cursor.revision == place.revision.saturating_add(1) && self.previous == place.mark
    }
}

/// Exactly one of the four things that a stream or a webhook carries (§3.2.3).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum StreamResponse {
    /// The task as it stands.
    Task(Arc<TaskSnapshot>),
    /// A direct message.
    Message(Arc<Message>),
    /// The status changed.
    StatusUpdate(Arc<TaskStatusUpdateEvent>),
    /// An artifact changed.
    ArtifactUpdate(Arc<TaskArtifactUpdateEvent>),
}

impl StreamResponse {
    /// The state that a stream which shows this event may end in.
    pub fn terminal_state(&self) -> Option<TaskState> {
        let state = match self {
            Self::Task(task) => task.status.state,
            Self::StatusUpdate(event) => event.status.state,
            Self::Message(_) | Self::ArtifactUpdate(_) => return None,
        };
        Some(state).filter(|state| state.is_terminal())
    }
}

/// The status of a task changed (§4.2.1).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskStatusUpdateEvent {
    /// Which task.
    #[serde(alias = "task_id")]
    pub task_id: TaskId,
    /// Its conversation.
    #[serde(alias = "context_id")]
    pub context_id: ContextId,
    /// How it stands now.
    pub status: TaskStatus,
    /// Free data.
    #[serde(
        default,
        deserialize_with = "json::optional_object",
        skip_serializing_if = "Option::is_none"
    )]
    pub metadata: Option<Object>,
}

/// An artifact of a task changed (§4.2.2).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskArtifactUpdateEvent {
    /// Which task.
    #[serde(alias = "task_id")]
    pub task_id: TaskId,
    /// Its conversation.
    #[serde(alias = "context_id")]
    pub context_id: ContextId,
    /// The whole artifact, or the chunk to append.
    pub artifact: Arc<Artifact>,
    /// Whether its parts go after those held.
    #[serde(
        default,
        deserialize_with = "null_default",
        skip_serializing_if = "std::ops::Not::not"
    )]
    pub append: bool,
    /// Whether nothing may be appended after it.
    #[serde(
        default,
        alias = "last_chunk",
        deserialize_with = "null_default",
        skip_serializing_if = "std::ops::Not::not"
    )]
    pub last_chunk: bool,
    /// Free data.
    #[serde(
        default,
        deserialize_with = "json::optional_object",
        skip_serializing_if = "Option::is_none"
    )]
    pub metadata: Option<Object>,
}

/// An event that many readers share, encoded once per notation.
#[derive(Clone)]
pub struct SharedEvent(Arc<Shared>);

struct Shared {
    event: StreamResponse,
    /// Made by those who ask: most logs are never read, and are held for a day.
    kept: OnceLock<Box<Kept>>,
    with_cursor: OnceLock<SharedEvent>,
}

/// An event in the notation of its first reader, and those of later readers. Few logs are read in more than one.
struct Kept {
    notation: usize,
    encoded: Bytes,
    next: OnceLock<Box<Self>>,
}

impl SharedEvent {
    /// Shares an event.
    pub fn new(event: StreamResponse) -> Self {
        Self(Arc::new(Shared {
            event,
            kept: OnceLock::new(),
            with_cursor: OnceLock::new(),
        }))
    }

    /// The event.
    pub fn event(&self) -> &StreamResponse {
        &self.0.event
    }

    /// The event in a notation, encoded by the first who asks. Which number means which notation is the bindings'
    /// agreement; there are few, since each is looked for after those that were asked for before it.
    pub fn encoded(&self, notation: usize, encode: impl Fn(&StreamResponse) -> Bytes) -> Bytes {
        let mut kept = &self.0.kept;
        loop {
            let one = kept.get_or_init(|| {
                Box::new(Kept {
                    notation,
                    // Copied, since JSON that grew as it was written takes up to twice its length, and this stays.
                    encoded: Bytes::copy_from_slice(&encode(&self.0.event)),
                    next: OnceLock::new(),
                })
            });
            if one.notation == notation {
                return one.encoded.clone();
            }
            kept = &one.next;
        }
    }

    /// The event with its cursor in its metadata, as the resume extension has it; made by the first who asks.
    pub(crate) fn with_cursor(&self, cursor: Cursor) -> Self {
        let make = || Self::new(resume::with_cursor(&self.0.event, cursor, None));
        self.0.with_cursor.get_or_init(make).clone()
    }
}

impl fmt::Debug for SharedEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.event.fmt(f)
    }
}
