//! The port of due work: what has to be done for a task by one replica at a time, and what is asked of whoever does it.
//!
//! Work lies with its task. A replica holds it under a lease, which it renews; work whose lease has run out is due, and
//! whoever takes it raises its epoch, so that the former holder's commits are refused. Work is done at least once, never
//! promised to be done once only.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use tokio::sync::broadcast;

use super::{CancelAnswer, StoreError};
use crate::{Cursor, Error, Message, PushNotificationConfigId, ReplicaId, TaskId, Timestamp, json::Object};

/// Keeps due work. Every method is atomic, and is seen by every later call on every replica.
///
/// Work is put by [`Creation`](super::Creation), [`Change`](super::Change) and [`ConfigPut`](super::ConfigPut) in the
/// same step as what it is about. The run of a task goes away with the commit that ends the task, a webhook with its
/// configuration, everything with the task. Moments are the caller's; a store that many replicas share allows for what
/// their clocks differ.
#[async_trait]
pub trait Work: Send + Sync {
    /// Tells of what may concern this replica. These are hints: each may be lost or come twice, and renewing and taking
    /// find everything without them, only later.
    fn work_news(&self) -> broadcast::Receiver<WorkNews>;

    /// Takes work that is due on these terms: at most so much from each place that the store has, the longest due first.
    async fn take_due(&self, terms: &Terms, most: usize) -> Result<Vec<Taken>, StoreError>;

    /// Lets leases run from now. Answers for each in the order given.
    async fn renew(&self, leases: &[Lease], terms: &Terms) -> Result<Vec<Renewed>, StoreError>;

    /// Makes work due at a moment, and tells other replicas at least where that has come; says whether the lease was
    /// held.
    async fn give_back(&self, lease: &Lease, due: Timestamp) -> Result<bool, StoreError>;

    /// Removes work that is done, unless more was asked of the run than what its holder has seen.
    async fn settle(&self, lease: &Lease, seen: u64) -> Result<Settled, StoreError>;

    /// Asks for something that is no message of the run of a task. Nothing where the task has no run.
    async fn ask(&self, task: &TaskId, ask: RunAsk) -> Result<Option<Asked>, StoreError>;

    /// What was asked of a run after a number, in its order; nothing where the lease is lost.
    async fn asks(&self, lease: &Lease, after: u64) -> Result<Option<Vec<NumberedAsk>>, StoreError>;

    /// Leaves the answer to what was asked for whoever asked, and tells other replicas; says whether the lease was held.
    /// What was asked is forgotten, unless it is `kept` for the next who takes the run over. Of a task the latest
    /// [`MOST_ANSWERS`] are held.
    async fn answer(
        &self,
        lease: &Lease,
        number: u64,
        answer: RunAnswer,
        kept: bool,
    ) -> Result<bool, StoreError>;

    /// The answer to what was asked, if it is there and still held.
    async fn answer_to(&self, task: &TaskId, number: u64) -> Result<Option<RunAnswer>, StoreError>;

    /// Notes up to which entry a webhook was delivered, and lets its lease run from now; says whether it was held.
    async fn note_delivered(
        &self,
        lease: &Lease,
        delivered: Cursor,
        terms: &Terms,
    ) -> Result<bool, StoreError>;
}

/// What is asked of one run and not done: beyond it the oldest is forgotten, except for the first, which began the run.
pub const MOST_ASKED: usize = 16;

/// Answers that are held of a task; beyond it the oldest is forgotten.
pub const MOST_ANSWERS: u64 = 16;

/// The number of a grant of some work of a task; each is larger than all before. Commits of a holder carry it.
pub type Epoch = u64;

/// What kind of work, within its task.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WorkKind {
    /// The agent's run.
    Run,
    /// Delivery to a push-notification configuration.
    Webhook(PushNotificationConfigId),
}

impl WorkKind {
    /// For the log, which is not told what clients call their configurations.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Webhook(_) => "webhook",
        }
    }
}

/// Which work.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WorkKey {
    /// The task.
    pub task: TaskId,
    /// What is to be done for it.
    pub kind: WorkKind,
}

/// The right to do some work, as long as no other replica took it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    /// Which work.
    pub key: WorkKey,
    /// The grant.
    pub epoch: Epoch,
}

/// On what terms work is begun, taken or held on to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Terms {
    /// Who holds it.
    pub replica: ReplicaId,
    /// The present moment.
    pub now: Timestamp,
    /// How long it is held unless it is renewed.
    pub lease: Duration,
}

impl Terms {
    /// When the work is due if nobody renews the lease.
    pub fn due(&self) -> Timestamp {
        let lease = i64::try_from(self.lease.as_millis()).unwrap_or(i64::MAX);
        Timestamp::from_millis(self.now.millis().saturating_add(lease)).unwrap_or(self.now)
    }
}

/// A message for the agent, put in the same step as the message itself.
#[derive(Debug, Clone, PartialEq)]
pub struct RunPut {
    /// What has to be kept of the offer.
    pub offer: AskedOffer,
    /// On what terms the run is held where the task has none.
    pub terms: Terms,
}

/// What came of work that a creation, a change or a configuration put.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Granted {
    /// Of the run.
    pub run: Option<RunGrant>,
    /// Of the webhook: its grant.
    pub webhook: Option<Epoch>,
}

/// What came of a message for the agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunGrant {
    /// The task had no run; it is held by whoever put the message.
    Begun {
        /// The grant.
        epoch: Epoch,
        /// The message's number among what is asked.
        number: u64,
    },
    /// The task has a run already, and its holder finds the message among what is asked of it.
    Asked(Asked),
}

/// What was asked of a run that somebody holds, or held last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    /// Its number, by which it is answered.
    pub number: u64,
    /// Who has the run.
    pub holder: ReplicaId,
}

/// Something that is asked of a run, with its number. Numbers of a task rise and are never used again.
pub type NumberedAsk = (u64, RunAsk);

/// What is asked of a run.
#[derive(Debug, Clone, PartialEq)]
pub enum RunAsk {
    /// To take a message.
    Offer(AskedOffer),
    /// To stop, with the metadata of the request.
    Cancel(Option<Object>),
}

/// What is kept of an offer, so that it can be made again. The message itself stands in the task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AskedOffer {
    /// Which of the client's messages in the task's history, from 1.
    pub message: usize,
    /// Metadata of the request.
    pub metadata: Option<Object>,
    /// Media types that the client takes.
    pub accepted_output_modes: Vec<String>,
    /// Extensions that the client asked for.
    pub extensions: Vec<String>,
    /// Whether the task had begun before the message.
    pub follow_up: bool,
}

/// What came of what was asked.
#[derive(Debug, Clone)]
pub enum RunAnswer {
    /// The message is task work.
    Taken,
    /// The message was answered directly; there is no task.
    Message(Arc<Message>),
    /// The message was refused, or its agent failed. The cause stays where it happened.
    Failed(Error),
    /// The answer to a cancel.
    Cancel(CancelAnswer),
}

/// Work that was taken.
#[derive(Debug, Clone, PartialEq)]
pub struct Taken {
    /// The right to do it.
    pub lease: Lease,
    /// What is to be done.
    pub work: DueWork,
}

/// What is to be done.
#[derive(Debug, Clone, PartialEq)]
pub enum DueWork {
    /// The agent's run of a task.
    Run {
        /// 2 for the first time that it is taken over.
        attempt: u32,
        /// How many of those who held it lost it instead of giving it back.
        lost: u32,
        /// What was asked of it and is not done.
        asks: Vec<NumberedAsk>,
        /// The number of the latest that was ever asked.
        asked: u64,
    },
    /// Delivery to a webhook.
    Webhook {
        /// The entry up to which it was delivered; of revision 0 where nothing was.
        delivered: Cursor,
    },
}

/// What became of a lease that was to be renewed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Renewed {
    /// It is held on.
    Held {
        /// The number of the latest that was asked of the run; 0 for a webhook.
        asked: u64,
    },
    /// The work is done, gone, or somebody else's.
    Lost,
    /// The part of the store where it lies was not reached: it is held no longer than it was.
    Unknown,
}

/// What became of work that was to be removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Settled {
    /// It is removed.
    Done,
    /// Something was asked that the holder has not seen; the work stays with it.
    MoreAsked,
    /// The lease was lost before.
    Lost,
}

/// What may concern another replica.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WorkNews {
    /// Something was asked of the run of a task.
    Asked(TaskId),
    /// Something that was asked of the run of a task was answered.
    Answered(TaskId),
    /// Work was given back.
    Due,
    /// News may have been missed: everything wants looking at.
    Missed,
}
