//! The domain at work: each operation from a valid request to its reply, over the ports.
//!
//! The order of decision of TASKS: what the card says, then existence, then the tenant, then the state held, then the
//! rest. Version and extensions have been decided before a request comes here.

mod agent_side;
mod cards;
mod configs;
mod offers;
mod purge;
mod repeats;
mod replicas;
mod send;
mod stream;
mod tasks;
mod webhooks;

pub use purge::Purged;

use std::sync::Arc;

use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::{
    Cursor, Error, ErrorKind, Limits, Outcome, Principal, Reply, Request, Scope, TaskId, Tenant, Version,
    decide::Stamp,
    directory::{Directory, ServedAgent},
    error::metadata,
    page::PageKey,
    ports::{Change, Clock, CommitError, Epoch, Granted, Ids, Store, TaskHead, Webhooks},
    reply::Body,
    resume::{self, SentCursor},
    service::repeats::Stop,
    work::Keeper,
};

use replicas::{Replicas, RunWorker};

/// How often a command is decided again when others write to the same task at the same time.
const MOST_ATTEMPTS: usize = 1_000;

/// Everything a call brings besides its request.
#[derive(Clone)]
pub struct Context {
    /// Who calls.
    pub principal: Arc<Principal>,
    /// The agent that the call's tenant selects.
    pub agent: Arc<ServedAgent>,
    /// Extensions that the caller asked for, in their order.
    pub requested_extensions: Arc<[String]>,
    /// Where a stream is to go on, as sent.
    pub cursor: Option<SentCursor>,
}

impl Context {
    fn scope(&self, tenant: Option<&Tenant>) -> Scope {
        Scope {
            tenant: tenant.cloned(),
            owner: self.principal.subject.clone(),
        }
    }

    fn capable(
        &self,
        capability: Option<bool>,
        kind: ErrorKind,
        outcome: Outcome,
        what: &str,
    ) -> Result<(), Error> {
        if capability == Some(true) {
            return Ok(());
        }
        Err(Error::new(kind, format!("the agent's card does not declare {what}")).outcome(outcome))
    }

    /// Whether streams are to carry their cursors and may go on after one.
    fn resumable(&self) -> bool {
        let requested = self.requested_extensions.iter().any(|uri| uri == resume::URI);
        requested && self.agent.card.declares_extension(resume::URI)
    }

    /// What this caller's streams have to be like, by the rules of a version.
    fn rules(&self, version: Version) -> stream::Rules {
        stream::Rules {
            resumable: self.resumable(),
            version,
        }
    }

    /// Where a stream is to go on, which counts only where the extension is active.
    fn resumes_after(&self) -> Result<Option<Cursor>, Error> {
        let sent = self.cursor.as_ref().filter(|_| self.resumable());
        sent.map(SentCursor::read).transpose()
    }

    fn require_streaming(&self) -> Result<(), Error> {
        let declared = self.agent.card.capabilities.streaming;
        let (kind, outcome) = (ErrorKind::UnsupportedOperation, Outcome::StreamingNotSupported);
        self.capable(declared, kind, outcome, "capabilities.streaming")
    }

    fn require_push(&self) -> Result<(), Error> {
        let declared = self.agent.card.capabilities.push_notifications;
        let (kind, outcome) = (ErrorKind::PushNotificationNotSupported, Outcome::PushNotSupported);
        self.capable(declared, kind, outcome, "capabilities.pushNotifications")
    }
}

/// What the service is made of.
pub struct Parts {
    /// Keeps the tasks.
    pub store: Arc<dyn Store>,
    /// Knows the agents.
    pub directory: Arc<Directory>,
    /// Tells the time.
    pub clock: Arc<dyn Clock>,
    /// Makes ids.
    pub ids: Arc<dyn Ids>,
    /// Bounds.
    pub limits: Limits,
    /// Seals page tokens.
    pub page_key: PageKey,
}

/// The operations of the gateway. Cheap to clone.
#[derive(Clone)]
pub struct Service(Arc<Inner>);

struct Inner {
    parts: Parts,
    /// Delivers to push-notification configurations.
    webhooks: Arc<dyn Webhooks>,
    /// Where other replicas work on the same store.
    replicas: Option<Replicas>,
    /// Offers under way: they outlive the call that made them.
    offers: TaskTracker,
    /// Set when streams are to end with their cursor.
    streams_end: CancellationToken,
    /// Set when blocking sends are to answer with the task as it stands.
    waits_end: CancellationToken,
    /// How streams went on.
    resumed: stream::Counts,
}

impl Service {
    /// Puts the parts together. Push-notification configurations are kept, but nothing is delivered to them.
    pub fn new(parts: Parts) -> Self {
        Self::delivering(parts, Arc::new(webhooks::Undelivered))
    }

    /// Puts the parts together, with what delivers to push-notification configurations.
    pub fn delivering(parts: Parts, webhooks: Arc<dyn Webhooks>) -> Self {
        Self::build(parts, webhooks, None)
    }

    /// The same as one of several over one store: each run is held under a lease, and another replica goes on with it
    /// where this one ends. The keeper is to be started by its owner.
    pub fn replicated(parts: Parts, webhooks: Arc<dyn Webhooks>, keeper: Keeper) -> Self {
        let service = Self::build(parts, webhooks, Some(Replicas::new(keeper.clone())));
        keeper.runs_by(Arc::new(RunWorker::of(&service)));
        service
    }

    fn build(parts: Parts, webhooks: Arc<dyn Webhooks>, replicas: Option<Replicas>) -> Self {
        Self(Arc::new(Inner {
            parts,
            webhooks,
            replicas,
            offers: TaskTracker::new(),
            streams_end: CancellationToken::new(),
            waits_end: CancellationToken::new(),
            resumed: stream::Counts::default(),
        }))
    }

    /// The agents and their tenants.
    pub fn directory(&self) -> &Directory {
        &self.0.parts.directory
    }

    /// The bounds.
    pub fn limits(&self) -> &Limits {
        &self.0.parts.limits
    }

    /// How often streams went on after a cursor, and how often one started over, each by its name.
    pub fn resumed(&self) -> Vec<(&'static str, u64)> {
        self.0.resumed.all()
    }

    /// Ends every stream with its cursor, so that clients come back elsewhere.
    pub fn end_streams(&self) {
        self.0.streams_end.cancel();
    }

    /// Answers every blocking send with the task as it stands, so that clients go on polling elsewhere.
    pub fn end_waits(&self) {
        self.0.waits_end.cancel();
    }

    /// Waits for the offers under way.
    pub async fn drain(&self) {
        self.end_streams();
        self.end_waits();
        self.0.offers.close();
        self.0.offers.wait().await;
    }

    /// Carries out a request.
    ///
    /// # Errors
    /// The outcomes of the operation that are errors, and Unavailable where the store cannot be reached.
    pub async fn handle(&self, context: &Context, request: Request) -> Result<Reply, Error> {
        let (outcome, body) = match request {
            // Boxed: every call would make room for the largest of them, and copy it on its way here.
            Request::SendMessage(request) => Box::pin(self.send_message(context, request)).await?,
            Request::SendStreamingMessage(request) => {
                Box::pin(self.send_streaming_message(context, request)).await?
            }
            Request::GetTask(request) => self.get_task(context, request).await?,
            Request::ListTasks(request) => self.list_tasks(context, request).await?,
            Request::CancelTask(request) => self.cancel_task(context, request).await?,
            Request::SubscribeToTask(request) => self.subscribe_to_task(context, request).await?,
            Request::CreateTaskPushNotificationConfig(request) => {
                self.create_config(context, request).await?
            }
            Request::GetTaskPushNotificationConfig(request) => self.get_config(context, request).await?,
            Request::ListTaskPushNotificationConfigs(request) => self.list_configs(context, request).await?,
            Request::DeleteTaskPushNotificationConfig(request) => {
                self.delete_config(context, request).await?
            }
            Request::GetExtendedAgentCard(request) => self.extended_card(context, request.otherwise)?,
            Request::AgentCommand(command) => self.agent_command(command).await?,
            Request::AllTasks(page) => self.all_tasks(page).await?,
            Request::AllPushNotificationConfigs(page) => self.all_configs(page).await?,
        };
        Ok(Reply {
            body,
            outcome,
            activated: activated(context),
        })
    }
}

type Answered = Result<(Outcome, Body), Error>;

/// Extensions that were asked for and that the card declares.
fn activated(context: &Context) -> Vec<String> {
    let card = &context.agent.card;
    context
        .requested_extensions
        .iter()
        .filter(|uri| card.declares_extension(uri))
        .cloned()
        .collect()
}

impl Inner {
    fn store(&self) -> &dyn Store {
        &*self.parts.store
    }

    fn limits(&self) -> &Limits {
        &self.parts.limits
    }

    /// Whoever speaks, a message or artifact has a bounded number of parts.
    fn check_parts(&self, field: &'static str, parts: usize) -> Result<(), Error> {
        let most = self.limits().parts_per_message;
        if parts <= most {
            return Ok(());
        }
        Err(Error::invalid(
            field,
            format!("must have at most {most} parts, not {parts}"),
        ))
    }

    fn stamp(&self) -> Stamp {
        Stamp {
            now: self.parts.clock.now(),
            mark: self.parts.ids.mark(),
        }
    }

    /// The head of a task that a scope reaches. A task of somebody else, or one that is still hidden, is not there.
    async fn reach(&self, id: &TaskId, scope: &Scope) -> Result<Arc<TaskHead>, Error> {
        let head = self
            .store()
            .head(id)
            .await?
            .filter(|head| !head.hidden)
            .ok_or_else(Error::task_not_found)?;
        reachable(&head, scope)?;
        Ok(head)
    }

    async fn head(&self, id: &TaskId) -> Result<Arc<TaskHead>, Error> {
        self.store().head(id).await?.ok_or_else(Error::task_not_found)
    }

    /// Decides and commits, again and again while others write in between. A run commits under its grant.
    async fn commit_with(
        &self,
        id: &TaskId,
        owner: Option<Epoch>,
        decide: impl Fn(&TaskHead) -> Result<Change, Error>,
    ) -> Result<(TaskHead, Granted), Error> {
        let head = self.head(id).await?;
        self.commit_from(head, owner, decide).await
    }

    /// The same with a head that was read a moment ago.
    async fn commit_from(
        &self,
        head: Arc<TaskHead>,
        owner: Option<Epoch>,
        decide: impl Fn(&TaskHead) -> Result<Change, Error>,
    ) -> Result<(TaskHead, Granted), Error> {
        let committed = self.try_commit(head, owner, decide).await;
        committed.map_err(Stop::into_error)
    }

    /// The same for a change that may turn out to have been made by an earlier call.
    async fn try_commit(
        &self,
        mut head: Arc<TaskHead>,
        owner: Option<Epoch>,
        decide: impl Fn(&TaskHead) -> Result<Change, Error>,
    ) -> Result<(TaskHead, Granted), Stop> {
        for _ in 0..MOST_ATTEMPTS {
            let mut change = decide(&head)?;
            change.owner = owner;
            let next = change.head.clone();
            match self.store().commit(change).await {
                Ok(granted) => return Ok((next, granted)),
                Err(CommitError::Conflict) => head = self.head(&head.id).await?,
                Err(CommitError::Repeated(first)) => return Err(Stop::Repeated(first)),
                Err(error) => return Err(self.not_committed(error).into()),
            }
        }
        let cause = format_args!("{MOST_ATTEMPTS} commits in a row conflicted on one task");
        Err(Error::unavailable(cause).into())
    }
}

impl Inner {
    fn not_committed(&self, error: CommitError) -> Error {
        match error {
            CommitError::Conflict => Error::unavailable("a commit conflicted"),
            CommitError::Repeated(first) => Stop::Repeated(first).into_error(),
            CommitError::Gone => Error::task_not_found(),
            CommitError::Superseded => superseded(),
            CommitError::ConfigLimit => self.config_limit(),
            CommitError::Store(error) => error.into(),
        }
    }
}

/// The answer to a run that goes on although another replica has taken it over, or it is over. It is no other than to a
/// report that comes after the task's end: whoever reports is to stop.
fn superseded() -> Error {
    Error::new(
        ErrorKind::TaskStateConflict,
        "the run of the task is another replica's, or over",
    )
}

fn reachable(head: &TaskHead, scope: &Scope) -> Result<(), Error> {
    if head.scope == *scope {
        Ok(())
    } else {
        Err(Error::task_not_found().outcome(Outcome::OtherTenant))
    }
}

/// A stream that ends before its task does: the cursor tells where to go on.
fn cut(kind: ErrorKind, text: &'static str, cursor: Option<Cursor>) -> Error {
    let error = Error::new(kind, text).retry_after(std::time::Duration::from_secs(1));
    match cursor {
        Some(cursor) => error.with_metadata(metadata::CURSOR, cursor.to_string()),
        None => error,
    }
}
