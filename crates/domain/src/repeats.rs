//! Sends that are repeated: a client that did not hear the answer sends the same message again (§3.3.1), and gets the
//! first result instead of a second task.
//!
//! What is kept of a first send stands in the store, written in the same step as the task or the message. It is
//! bounded in time, number and bytes: a repetition that comes later than that is a new message.

mod content;

use std::{sync::Arc, time::Duration};

pub use content::ContentDigest;

use crate::{ContextId, Cursor, Message, MessageId, Scope, TaskId, Timestamp, ports::Origin};

/// Whose repeated sends are recognised, and how many first sends are remembered for that.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repeats {
    /// Whose.
    pub of: RepeatsOf,
    /// How long a send is remembered.
    pub window: Duration,
    /// Sends remembered of a tenant, or of all callers without one. Above it the oldest are forgotten.
    pub most: usize,
    /// Bytes that they take, roughly: the direct answers above all. Above it the oldest are forgotten.
    pub bytes: usize,
}

/// Whose repeated sends are recognised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RepeatsOf {
    /// Nobody's.
    Nobody,
    /// Those of callers with a name. Callers without one may be many who do not know of each other.
    Named,
    /// Everybody's; callers without a name count as one.
    Everybody,
}

impl Default for Repeats {
    fn default() -> Self {
        Self {
            of: RepeatsOf::Named,
            window: Duration::from_secs(600),
            most: 200_000,
            bytes: 64 << 20,
        }
    }
}

impl Repeats {
    /// Whether the sends of a scope are remembered.
    pub fn cover(&self, scope: &Scope) -> bool {
        match self.of {
            RepeatsOf::Nobody => false,
            RepeatsOf::Named => scope.owner.is_some(),
            RepeatsOf::Everybody => true,
        }
    }
}

/// What a send is remembered by: its sender and the id that they gave to the message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SendKey {
    /// Its sender.
    pub scope: Scope,
    /// The message.
    pub message: MessageId,
    /// The task that the message names. It and the context say no more than where to look: a store with several
    /// places finds by them the one where the task lies, or will lie.
    pub task: Option<TaskId>,
    /// The context that the message names.
    pub context: Option<ContextId>,
}

impl SendKey {
    /// What a task comes from that this send begins.
    pub fn origin(&self) -> Origin<'_> {
        Origin::of(self.scope.tenant.as_ref(), &self.message, self.context.as_ref())
    }
}

/// A send on its way into the store. The step that carries it is taken only if no such send is remembered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SendClaim {
    /// What it is remembered by.
    pub key: SendKey,
    /// What it says.
    pub content: ContentDigest,
    /// The present moment.
    pub now: Timestamp,
    /// How long it is remembered.
    pub until: Timestamp,
    /// Sends remembered of a tenant, this one included.
    pub most: usize,
    /// Bytes that they may take.
    pub bytes: usize,
}

impl SendClaim {
    /// Claims a send.
    pub fn new(key: SendKey, content: ContentDigest, now: Timestamp, repeats: &Repeats) -> Self {
        let window = i64::try_from(repeats.window.as_millis()).unwrap_or(i64::MAX);
        let until = Timestamp::from_millis(now.millis().saturating_add(window));
        Self {
            key,
            content,
            now,
            until: until.unwrap_or(now),
            most: repeats.most,
            bytes: repeats.bytes,
        }
    }
}

/// What is remembered of a send.
#[derive(Debug, Clone, PartialEq)]
pub struct FirstSend {
    /// What it said.
    pub content: ContentDigest,
    /// The task that it made or went into. It may be gone since.
    pub task: TaskId,
    /// The entry that it made there; the first one, where it made the task.
    pub cursor: Cursor,
    /// The message that it was answered with, where no task was needed.
    pub answer: Option<Arc<Message>>,
    /// How long it is remembered.
    pub until: Timestamp,
}

impl FirstSend {
    /// Roughly the bytes that it takes, with what it is remembered by.
    pub fn weight(&self, key: &SendKey) -> usize {
        let owner = key.scope.owner.as_ref().map_or(0, |owner| owner.as_str().len());
        let answer = self.answer.as_ref().map_or(0, |answer| answer.weight());
        128 + owner + key.message.as_str().len() + self.task.as_str().len() + answer
    }
}
