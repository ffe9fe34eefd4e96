//! What the domain needs of the world, as traits: a store, agents, the time, fresh ids.

mod purge;
mod webhooks;
mod work;

pub use purge::{Purge, PurgeStep};
pub use webhooks::{Delivery, Webhooks};
pub use work::{
    Asked, AskedOffer, DueWork, Epoch, Granted, Lease, MOST_ANSWERS, MOST_ASKED, NumberedAsk, Renewed,
    RunAnswer, RunAsk, RunGrant, RunPut, Settled, Taken, Terms, Work, WorkKey, WorkKind, WorkNews,
};

use std::{fmt, sync::Arc};

use async_trait::async_trait;
use tokio::sync::watch;

use crate::{
    ArtifactId, ContextId, Cursor, Error, LogEntry, Message, MessageId, PushNotificationConfigId,
    PushNotificationConfigRow, Revision, Scope, TaskId, TaskSnapshot, TaskState, TaskStatus, Tenant,
    Timestamp,
    json::Object,
    page::TaskPosition,
    push::StoredConfig,
    repeats::{FirstSend, SendClaim, SendKey},
    request::{AgentAction, TaskFilter},
};

/// Keeps tasks, their logs, their push-notification configurations, and the work that is due for them.
///
/// Every method is atomic. What has been answered is kept, and is seen by every later call on every replica.
#[async_trait]
pub trait Store: Work {
    /// The id under which a fresh task is to be created. A store that has several places writes into it where the task
    /// lies.
    fn name_task(&self, fresh: TaskId, _origin: Origin<'_>) -> TaskId {
        fresh
    }

    /// Stores a new task with its first entry, its configuration if it has one, and the work that it brings.
    async fn create(&self, creation: Creation) -> Result<Granted, CreateError>;

    /// Removes a task that is still hidden, as if it had never been, and forgets the send that made it; says whether
    /// it did.
    async fn discard(&self, id: &TaskId) -> Result<bool, StoreError>;

    /// The same where the agent answered with a message: if the send that made the task is remembered, so is its
    /// answer from now on.
    async fn discard_answered(&self, id: &TaskId, answer: &Arc<Message>) -> Result<bool, StoreError>;

    /// What is remembered at a moment of the send of a key.
    async fn first_send(&self, key: &SendKey, now: Timestamp) -> Result<Option<FirstSend>, StoreError>;

    /// Forgets the send of a key: the next one is a first one again.
    async fn forget_send(&self, key: &SendKey) -> Result<(), StoreError>;

    /// What deciding needs of a task; costs the same however large the task is.
    async fn head(&self, id: &TaskId) -> Result<Option<Arc<TaskHead>>, StoreError>;

    /// A task as it stands, with its head.
    async fn read(&self, id: &TaskId) -> Result<Option<StoredTask>, StoreError>;

    /// Applies a change, if the task is still at the revision it was decided on.
    async fn commit(&self, change: Change) -> Result<Granted, CommitError>;

    /// Entries after a place, oldest first, at most so many.
    async fn log(&self, id: &TaskId, after: Cursor, most: usize) -> Result<LogRead, StoreError>;

    /// Tells of every change of a task from now on; nothing where there is no such task. The channel closes when
    /// the task is gone.
    async fn follow(&self, id: &TaskId) -> Result<Option<watch::Receiver<Pulse>>, StoreError>;

    /// A page of the visible tasks of a scope, newest status first, ties by id, descending too.
    async fn list(&self, query: ListQuery) -> Result<Listing, StoreError>;

    /// Every task, hidden ones included, by id: those after an id, at most so many.
    async fn all(&self, after: Option<TaskId>, most: usize) -> Result<Vec<StoredTask>, StoreError>;

    /// Takes tasks away, whether they have ended or not, with every trace and with what is due for them: looks at so
    /// many at most, from where the step before ended. One after the other the steps look at every task once.
    async fn purge(&self, what: &Purge, after: Option<TaskId>, most: usize) -> Result<PurgeStep, StoreError>;

    /// Stores a configuration; answers with the grant of its delivery, where that is put with it.
    async fn put_config(&self, put: ConfigPut) -> Result<Option<Epoch>, PutConfigError>;

    /// One configuration of a task.
    async fn config(
        &self,
        task: &TaskId,
        id: &PushNotificationConfigId,
    ) -> Result<Option<StoredConfig>, StoreError>;

    /// The configurations of a task by id: those after an id, at most so many.
    async fn configs(
        &self,
        task: &TaskId,
        after: Option<PushNotificationConfigId>,
        most: usize,
    ) -> Result<Vec<StoredConfig>, StoreError>;

    /// Removes a configuration; says whether there was one.
    async fn delete_config(&self, task: &TaskId, id: &PushNotificationConfigId) -> Result<bool, StoreError>;

    /// Every configuration by row: those after a row, at most so many.
    async fn all_configs(
        &self,
        after: Option<PushNotificationConfigRow>,
        most: usize,
    ) -> Result<Vec<StoredConfig>, StoreError>;
}

/// What deciding needs of a task.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskHead {
    /// Identity.
    pub id: TaskId,
    /// The conversation.
    pub context_id: ContextId,
    /// Who can see it.
    pub scope: Scope,
    /// Whether no client sees it yet.
    pub hidden: bool,
    /// How it stands.
    pub status: TaskStatus,
    /// The place of its newest entry.
    pub cursor: Cursor,
    /// The revision at which the status last changed or was repeated.
    pub status_revision: Revision,
    /// Messages of clients in the history.
    pub client_messages: usize,
    /// Messages of the agent in the history.
    pub agent_messages: usize,
    /// Bytes of clients' messages.
    pub client_bytes: usize,
    /// Bytes of the agent's messages, an estimate once messages have been pushed out.
    pub agent_bytes: usize,
    /// The artifacts held, in their order.
    pub artifacts: Arc<Vec<ArtifactHead>>,
}

impl TaskHead {
    /// Messages in the history.
    pub fn history_messages(&self) -> usize {
        self.client_messages + self.agent_messages
    }

    /// Bytes stored for the task, roughly.
    pub fn stored_bytes(&self) -> usize {
        let status = self.status.message.as_ref().map_or(0, |message| message.weight());
        let artifacts = self
            .artifacts
            .iter()
            .map(|artifact| artifact.weight)
            .sum::<usize>();
        self.client_bytes + self.agent_bytes + status + artifacts
    }

    /// What followers are told.
    pub fn pulse(&self) -> Pulse {
        Pulse {
            cursor: self.cursor,
            status_revision: self.status_revision,
            state: self.status.state,
            hidden: self.hidden,
        }
    }
}

/// What deciding needs of an artifact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArtifactHead {
    /// Identity within the task.
    pub id: ArtifactId,
    /// Whether the last chunk came.
    pub closed: bool,
    /// Bytes stored, roughly.
    pub weight: usize,
}

/// The news of a task, small enough to copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pulse {
    /// The place of its newest entry.
    pub cursor: Cursor,
    /// The revision of its latest status.
    pub status_revision: Revision,
    /// The state held.
    pub state: TaskState,
    /// Whether no client sees it yet.
    pub hidden: bool,
}

/// A task as it is kept.
#[derive(Debug, Clone)]
pub struct StoredTask {
    /// What deciding needs.
    pub head: Arc<TaskHead>,
    /// What clients see, at the head's revision.
    pub task: TaskSnapshot,
}

/// What a fresh task comes from. A store that has several places for the tasks of a tenant finds by it the same one again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Origin<'a> {
    /// Whose task it is.
    pub tenant: Option<&'a Tenant>,
    /// What it is kept together with, as far as it can be: the other tasks of the context that its message names, or else
    /// repetitions of the message.
    pub placed_by: &'a str,
}

impl<'a> Origin<'a> {
    /// Of the task that a message begins.
    pub fn of(tenant: Option<&'a Tenant>, message: &'a MessageId, context: Option<&'a ContextId>) -> Self {
        let placed_by = context.map_or(message.as_str(), ContextId::as_str);
        Self { tenant, placed_by }
    }
}

/// A new task.
#[derive(Debug)]
pub struct Creation {
    /// Its head at revision 1.
    pub head: TaskHead,
    /// Its first entry, which holds the task.
    pub entry: Arc<LogEntry>,
    /// The task.
    pub task: Arc<TaskSnapshot>,
    /// A configuration to be stored in the same step.
    pub config: Option<StoredConfig>,
    /// On what terms the delivery to that configuration is begun, from the first event on; nothing where it is no work
    /// of the store's.
    pub delivery: Option<Terms>,
    /// The message for the agent; nothing where runs are no work of the store's.
    pub run: Option<Box<RunPut>>,
    /// How many tasks of its tenant may be live, this one included.
    pub live_limit: usize,
    /// The send that makes it, where it is to be remembered.
    pub send: Option<Arc<SendClaim>>,
}

/// One step of a task: its next head and the entry that tells what changed. The entry's revision is one more than
/// the revision decided on.
#[derive(Debug)]
pub struct Change {
    /// The head after the step.
    pub head: TaskHead,
    /// What changed.
    pub entry: Arc<LogEntry>,
    /// A configuration to be stored in the same step, or the step is not taken.
    pub config: Option<ConfigPut>,
    /// A message for the agent.
    pub run: Option<Box<RunPut>>,
    /// The grant of the run that takes the step: it is refused where that is not the task's newest.
    pub owner: Option<Epoch>,
    /// The send that it comes from, where it is to be remembered.
    pub send: Option<Arc<SendClaim>>,
}

/// A configuration to be stored: in place of the one of the same id, or as a further one within the limit.
#[derive(Debug, Clone)]
pub struct ConfigPut {
    /// The configuration.
    pub config: StoredConfig,
    /// How many the task may have, this one included.
    pub most: usize,
    /// On what terms delivery of what comes after it is begun; nothing where it is no work of the store's.
    pub delivery: Option<Terms>,
}

impl ConfigPut {
    /// A configuration without delivery.
    pub fn new(config: StoredConfig, most: usize) -> Self {
        Self {
            config,
            most,
            delivery: None,
        }
    }
}

/// A part of a log.
#[derive(Debug)]
pub enum LogRead {
    /// The entries that follow, without a gap; empty where the reader has all.
    Entries(Vec<Arc<LogEntry>>),
    /// The next entry is no longer held, or there is no such task.
    Gone,
    /// The place is none of this log: another entry stands there, or the log ends before it. A reader who was really
    /// there has seen commits that were lost since.
    Diverged,
}

/// Which page of which tasks.
#[derive(Debug, Clone)]
pub struct ListQuery {
    /// Whose tasks.
    pub scope: Scope,
    /// Which of them.
    pub filter: TaskFilter,
    /// After this one.
    pub after: Option<TaskPosition>,
    /// At most so many.
    pub most: usize,
    /// Messages of each; nothing means none.
    pub history_length: Option<u32>,
    /// Whether artifacts are shown.
    pub include_artifacts: bool,
}

/// A page of tasks.
#[derive(Debug)]
pub struct Listing {
    /// The tasks of the page.
    pub tasks: Vec<TaskSnapshot>,
    /// Whether more follow.
    pub more: bool,
    /// How many match on all pages.
    pub total: usize,
}

/// The store could not do it.
#[derive(Debug, Clone)]
pub struct StoreError {
    /// For the operator.
    pub cause: String,
}

impl StoreError {
    /// An inward text.
    pub fn new(cause: impl fmt::Display) -> Self {
        Self {
            cause: cause.to_string(),
        }
    }
}

impl From<StoreError> for Error {
    fn from(error: StoreError) -> Self {
        Self::unavailable(error.cause)
    }
}

/// Why a task was not created.
#[derive(Debug)]
pub enum CreateError {
    /// The tenant holds as many live tasks as are kept.
    LiveLimit,
    /// Such a send is remembered; nothing was stored.
    Repeated(FirstSend),
    /// The store could not do it.
    Store(StoreError),
}

/// Why a change was not applied.
#[derive(Debug)]
pub enum CommitError {
    /// The task moved on meanwhile: decide again.
    Conflict,
    /// There is no such task any more.
    Gone,
    /// The run that takes the step is another replica's now, or is over.
    Superseded,
    /// The task holds as many configurations as it may have; nothing of the change was applied.
    ConfigLimit,
    /// Such a send is remembered; nothing of the change was applied.
    Repeated(FirstSend),
    /// The store could not do it.
    Store(StoreError),
}

/// Why a configuration was not stored.
#[derive(Debug)]
pub enum PutConfigError {
    /// The task holds as many as are kept.
    Limit,
    /// There is no such task.
    NoTask,
    /// The store could not do it.
    Store(StoreError),
}

/// Does the work.
#[async_trait]
pub trait Agent: Send + Sync {
    /// Whether it takes work into a conversation that the client named. Asked before anything is stored.
    async fn accepts_context(&self, _context: &ContextId) -> bool {
        true
    }

    /// Whether it refuses by itself, where it matters, what does not declare an extension that its card requires.
    /// Then nobody else does.
    fn enforces_extension(&self, _uri: &str) -> bool {
        false
    }

    /// Takes a message, the first of a task or a further one. Answers as soon as it knows what it will make of
    /// it; the work itself goes on afterwards, through the desk.
    ///
    /// # Errors
    /// See [`AgentFault`].
    async fn offer(&self, offer: Offer, desk: Arc<dyn Desk>) -> Result<Answer, AgentFault>;

    /// Asks it to stop a task. The caller bounds the wait.
    async fn cancel(&self, task: &TaskId, metadata: Option<&Object>) -> CancelAnswer;

    /// Has it stop its run of a task without an end, soon and without a word: another replica goes on with it. What the
    /// run still reports may be refused.
    fn release(&self, _task: &TaskId) {}
}

/// A message for an agent.
#[derive(Debug, Clone)]
pub struct Offer {
    /// The task as it stands with the message taken in.
    pub task: TaskSnapshot,
    /// The message.
    pub message: Arc<Message>,
    /// Metadata of the request.
    pub metadata: Option<Object>,
    /// Media types that the client takes.
    pub accepted_output_modes: Vec<String>,
    /// Extensions that the client asked for, but for the gateway's own.
    pub extensions: Vec<String>,
    /// Whether the task had begun before this message.
    pub follow_up: bool,
    /// 1 for the first time that this message is offered. From the second time on the task may hold what a former run
    /// made of it: the agent goes on from there, and does not begin again.
    pub attempt: u32,
}

/// What an agent makes of a message.
#[derive(Debug, Clone)]
pub enum Answer {
    /// It does the task.
    Accepted,
    /// It answers directly; no task is needed.
    Message(Message),
}

/// Why an agent did not take a message.
#[derive(Debug, Clone)]
pub enum AgentFault {
    /// It refuses, with an error for the client.
    Refused(Error),
    /// It answered outside the protocol; the text is for the operator.
    OutsideProtocol(String),
    /// It could not be reached; the text is for the operator.
    Unreachable(String),
}

/// What an agent says to a cancel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CancelAnswer {
    /// It has stopped.
    Agreed,
    /// It cannot stop at this stage.
    Refused,
    /// It knows of no such run.
    NoRun,
}

/// Where an agent's run reports: the agent commands for one task, and the task itself.
///
/// A run holds its desk as long as it may still act. When the last desk of a task is dropped the run is over: what the
/// gateway kept so that another replica could go on with it is then removed.
#[async_trait]
pub trait Desk: Send + Sync {
    /// Carries out an agent command.
    ///
    /// # Errors
    /// TaskStateConflict, ResourceExhausted, InvalidParams, TaskNotFound, Unavailable.
    async fn act(&self, action: AgentAction) -> Result<(), Error>;

    /// The task as it stands.
    ///
    /// # Errors
    /// TaskNotFound, Unavailable.
    async fn task(&self) -> Result<TaskSnapshot, Error>;

    /// The run cannot go on here, and is to be begun once more when its desk is dropped; says whether it will be. Where
    /// it will not, the task is the run's to end.
    fn give_back(&self) -> bool {
        false
    }
}

/// Tells the time.
pub trait Clock: Send + Sync {
    /// The present moment.
    fn now(&self) -> Timestamp;
}

/// Makes what must be fresh.
pub trait Ids: Send + Sync {
    /// A task's identity.
    fn task_id(&self) -> TaskId;
    /// A conversation's identity.
    fn context_id(&self) -> ContextId;
    /// A message's identity.
    fn message_id(&self) -> MessageId;
    /// A configuration's name.
    fn config_id(&self) -> PushNotificationConfigId;
    /// A configuration's identity.
    fn config_row(&self) -> PushNotificationConfigRow;
    /// The mark of a log entry: random.
    fn mark(&self) -> u32;
}
