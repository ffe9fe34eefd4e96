//! A service with everything around it, and what tests ask of it again and again.

use std::{
    sync::{Arc, atomic::AtomicU64, atomic::Ordering},
    time::Duration,
};

use async_trait::async_trait;
use futures::StreamExt;
use gateway_domain::{
    Actor, AgentCard, Cursor, Error, Limits, Message, MessageId, Part, Principal, PushNotificationConfigId,
    ReplicaId, Reply, Request, Role, Service, StreamResponse, TaskId, TaskPushNotificationConfig,
    TaskSnapshot, TaskState, Timestamp, Version,
    card::AgentCapabilities,
    directory::{Directory, MediaTypes, ServedAgent},
    error::Violation,
    lifecycle::Move,
    page::PageKey,
    ports::{Clock, Delivery, Store, Terms, Webhooks, Work},
    reply::{Body, EventStream, Sent, StreamItem},
    request::{
        AgentAction, AgentCommand, CancelTask, GetTask, ListTasks, SendConfiguration, SendMessage,
        SubscribeToTask, TaskFilter,
    },
    resume::{self, SentCursor},
    service::{Context, Parts},
    work::Keeper,
};
use gateway_store_memory::{MemoryStore, Settings};
use gateway_testkit::{
    agent::Scripted,
    clock::{RuntimeClock, TickClock},
    ids::SequentialIds,
    severed::Severed,
};
use tokio_util::sync::DropGuard;

/// A service and whoever stands around it.
pub(crate) struct World {
    pub(crate) service: Service,
    pub(crate) agent: Arc<Scripted>,
    /// Where it is one of several.
    pub(crate) replica: Option<Replica>,
    context: Context,
    messages: AtomicU64,
}

/// What makes a service one of several over the same store.
pub(crate) struct Replica {
    pub(crate) keeper: Keeper,
    /// Its way to the store.
    pub(crate) way: Arc<Severed>,
    _alive: DropGuard,
}

/// A store that several services share, with the time and the ids.
pub(crate) struct Deployment {
    store: Arc<MemoryStore>,
    ids: Arc<SequentialIds>,
    clock: RuntimeClock,
    started: AtomicU64,
}

impl Deployment {
    pub(crate) fn new() -> Self {
        Self {
            store: Arc::default(),
            ids: Arc::default(),
            clock: RuntimeClock::default(),
            started: AtomicU64::new(0),
        }
    }

    /// One more service over the store.
    pub(crate) fn replica(&self) -> Arc<World> {
        let number = self.started.fetch_add(1, Ordering::Relaxed);
        let settings = gateway_domain::work::Settings::of(ReplicaId::new(format!("replica {number}")));
        let way = Arc::new(Severed::new(self.store.clone()));
        let keeper = Keeper::new(way.clone(), Arc::new(self.clock), self.ids.clone(), settings);
        let alive = keeper.stop_guard();
        let replica = Replica {
            keeper: keeper.clone(),
            way: way.clone(),
            _alive: alive,
        };
        let made = World::build(
            Setting::default(),
            way,
            (Arc::new(self.clock), self.ids.clone()),
            Some(replica),
        );
        keeper.start();
        made
    }

    /// Which leases there are, taken or not, of any task.
    pub(crate) async fn leases_left(&self) -> usize {
        let later = Timestamp::from_millis(self.clock.now().millis() + 3_600_000).unwrap();
        let terms = Terms {
            replica: ReplicaId::new("an auditor"),
            now: later,
            lease: Duration::from_secs(1),
        };
        self.store.take_due(&terms, 1_000).await.unwrap().len()
    }
}

/// A world may differ from the usual one.
#[derive(Default)]
pub(crate) struct Setting {
    pub(crate) limits: Limits,
    pub(crate) store: Settings,
    pub(crate) media_types: Option<Vec<String>>,
}

impl World {
    pub(crate) fn new() -> Arc<Self> {
        Self::with(Setting::default())
    }

    pub(crate) fn with(setting: Setting) -> Arc<Self> {
        let ids = Arc::new(SequentialIds::default());
        let store = Arc::new(MemoryStore::new(setting.store.clone()));
        Self::build(setting, store, (Arc::new(TickClock::default()), ids), None)
    }

    fn build(
        setting: Setting,
        store: Arc<dyn Store>,
        (clock, ids): (Arc<dyn Clock>, Arc<SequentialIds>),
        replica: Option<Replica>,
    ) -> Arc<Self> {
        let agent = Arc::new(Scripted::new(ids.clone()));
        let capabilities = AgentCapabilities {
            streaming: Some(true),
            extensions: vec![resume::extension()],
            ..AgentCapabilities::default()
        };
        let served = Arc::new(ServedAgent {
            card: Arc::new(AgentCard {
                capabilities,
                ..AgentCard::default()
            }),
            extended_card: None,
            agent: agent.clone(),
            media_types: setting.media_types.map_or(MediaTypes::Any, MediaTypes::Only),
        });
        let parts = Parts {
            store,
            directory: Arc::new(Directory::any(served.clone(), 10, Vec::new())),
            clock,
            ids,
            limits: setting.limits,
            page_key: PageKey::new(b"a key of tests"),
        };
        let service = match &replica {
            Some(replica) => Service::replicated(parts, Arc::new(Unsent), replica.keeper.clone()),
            None => Service::new(parts),
        };
        let context = Context {
            principal: Arc::new(Principal::anonymous(Actor::Client)),
            agent: served,
            requested_extensions: Arc::default(),
            cursor: None,
        };
        Arc::new(Self {
            service,
            agent,
            replica,
            context,
            messages: AtomicU64::new(0),
        })
    }

    /// Ends it as if its process had been killed: nothing that it does reaches the store any more.
    pub(crate) fn kill(&self) {
        let replica = self.replica.as_ref().unwrap();
        replica.way.cut();
        drop(replica.keeper.stop_guard());
    }

    /// Ends it in order.
    pub(crate) async fn leave(&self) {
        self.service.end_streams();
        let replica = self.replica.as_ref().unwrap();
        replica.keeper.drain(Duration::from_secs(5)).await;
        self.agent.drain(Duration::ZERO).await;
        self.service.drain().await;
    }

    pub(crate) fn leases(&self) -> usize {
        self.replica.as_ref().unwrap().keeper.count()
    }

    pub(crate) async fn handle(&self, request: Request) -> Result<Reply, Error> {
        self.service.handle(&self.context, request).await
    }

    /// The same by somebody who declares extensions.
    pub(crate) async fn handle_with(&self, extensions: &[String], request: Request) -> Result<Reply, Error> {
        let context = Context {
            requested_extensions: extensions.into(),
            ..self.context.clone()
        };
        self.service.handle(&context, request).await
    }

    /// A message of a client; each has an id of its own.
    pub(crate) fn message(&self, text: &str, task: Option<&TaskId>) -> SendMessage {
        let number = self.messages.fetch_add(1, Ordering::Relaxed);
        SendMessage {
            tenant: None,
            message: Message {
                message_id: MessageId::new(format!("m-{number}")),
                context_id: None,
                task_id: task.cloned(),
                role: Role::User,
                parts: vec![Part::text(text)],
                metadata: None,
                extensions: Vec::new(),
                reference_task_ids: Vec::new(),
            },
            configuration: SendConfiguration::default(),
            metadata: None,
        }
    }

    /// A blocking send that has to be answered with a task.
    pub(crate) async fn send(&self, text: &str) -> TaskSnapshot {
        task_of(
            self.handle(Request::SendMessage(self.message(text, None)))
                .await
                .unwrap(),
        )
    }

    /// A further message, blocking.
    pub(crate) async fn answer(&self, task: &TaskId, text: &str) -> Result<TaskSnapshot, Error> {
        let request = self.message(text, Some(task));
        self.handle(Request::SendMessage(request)).await.map(task_of)
    }

    /// A send that returns at once.
    pub(crate) async fn start(&self, text: &str) -> TaskId {
        self.start_in(text, None).await.unwrap().id
    }

    /// A first or further message, answered at once.
    pub(crate) async fn start_in(&self, text: &str, task: Option<&TaskId>) -> Result<TaskSnapshot, Error> {
        let mut request = self.message(text, task);
        request.configuration.return_immediately = true;
        self.handle(Request::SendMessage(request)).await.map(task_of)
    }

    pub(crate) async fn stream(&self, text: &str) -> EventStream {
        let request = Request::SendStreamingMessage(self.message(text, None));
        stream_of(self.handle(request).await.unwrap())
    }

    pub(crate) async fn subscribe(&self, task: &TaskId) -> Result<EventStream, Error> {
        let request = SubscribeToTask {
            tenant: None,
            id: task.clone(),
            version: Version::V1_0,
        };
        self.handle(Request::SubscribeToTask(request))
            .await
            .map(stream_of)
    }

    /// A stream whose extension is active, after a cursor if one is sent.
    pub(crate) async fn resume(&self, task: &TaskId, cursor: Option<&str>) -> Result<EventStream, Error> {
        self.resume_in(Version::V1_0, task, cursor).await
    }

    /// The same for a caller of this version.
    pub(crate) async fn resume_in(
        &self,
        version: Version,
        task: &TaskId,
        cursor: Option<&str>,
    ) -> Result<EventStream, Error> {
        let context = Context {
            requested_extensions: [resume::URI.to_owned()].into(),
            cursor: cursor.map(sent),
            ..self.context.clone()
        };
        let request = SubscribeToTask {
            tenant: None,
            id: task.clone(),
            version,
        };
        let reply = self
            .service
            .handle(&context, Request::SubscribeToTask(request))
            .await?;
        assert_eq!(reply.activated, [resume::URI]);
        Ok(stream_of(reply))
    }

    /// A stream after a cursor whose extension is not active.
    pub(crate) async fn subscribe_after(&self, task: &TaskId, cursor: &str) -> Result<EventStream, Error> {
        let context = Context {
            cursor: Some(sent(cursor)),
            ..self.context.clone()
        };
        let request = SubscribeToTask {
            tenant: None,
            id: task.clone(),
            version: Version::V1_0,
        };
        self.service
            .handle(&context, Request::SubscribeToTask(request))
            .await
            .map(stream_of)
    }

    pub(crate) async fn cancel(&self, task: &TaskId) -> Result<Reply, Error> {
        let request = CancelTask {
            tenant: None,
            id: task.clone(),
            metadata: None,
        };
        self.handle(Request::CancelTask(request)).await
    }

    pub(crate) async fn get(&self, task: &TaskId) -> Result<TaskSnapshot, Error> {
        let request = GetTask {
            tenant: None,
            id: task.clone(),
            history_length: None,
        };
        match self.handle(Request::GetTask(request)).await?.body {
            Body::Task(task) => Ok(task),
            other => panic!("{other:?} is no task"),
        }
    }

    pub(crate) async fn state(&self, task: &TaskId) -> TaskState {
        self.get(task).await.unwrap().status.state
    }

    /// Waits for a task to end. With time paused it costs nothing, else the task gets every chance to run.
    pub(crate) async fn ended(&self, task: &TaskId) -> TaskSnapshot {
        loop {
            let found = self.get(task).await.unwrap();
            if found.status.state.is_terminal() {
                return found;
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }

    /// How many tasks a client sees.
    pub(crate) async fn listed(&self) -> u32 {
        let request = ListTasks {
            filter: TaskFilter::default(),
            page_size: 1,
            page_token: String::new(),
            history_length: None,
            include_artifacts: false,
        };
        match self.handle(Request::ListTasks(request)).await.unwrap().body {
            Body::Tasks(page) => page.total_size,
            other => panic!("{other:?} is no page"),
        }
    }

    /// What somebody does to a task over the agent side.
    pub(crate) async fn command(&self, task: &TaskId, step: Move) -> Result<Reply, Error> {
        let command = AgentCommand {
            id: task.clone(),
            action: AgentAction::Move(step, None),
        };
        self.handle(Request::AgentCommand(command)).await
    }
}

fn sent(cursor: &str) -> SentCursor {
    SentCursor {
        field: "last-event-id",
        text: cursor.to_owned(),
    }
}

/// Takes every configuration and delivers nothing.
struct Unsent;

#[async_trait]
impl Webhooks for Unsent {
    fn check(&self, _: &TaskPushNotificationConfig) -> Result<(), Vec<Violation>> {
        Ok(())
    }

    fn reserve(&self) -> Option<Box<dyn Delivery>> {
        None
    }

    async fn deleted(&self, _: &TaskId, _: &PushNotificationConfigId) {}
}

pub(crate) fn task_of(reply: Reply) -> TaskSnapshot {
    match reply.body {
        Body::Sent(Sent::Task(task)) | Body::Task(task) => task,
        other => panic!("{other:?} is no task"),
    }
}

pub(crate) fn message_of(reply: Reply) -> Arc<Message> {
    match reply.body {
        Body::Sent(Sent::Message(message)) => message,
        other => panic!("{other:?} is no message"),
    }
}

pub(crate) fn stream_of(reply: Reply) -> EventStream {
    match reply.body {
        Body::Stream(events) => events,
        other => panic!("{other:?} is no stream"),
    }
}

/// Everything that a stream has to say, which must not be an error.
pub(crate) async fn all(events: EventStream) -> Vec<StreamItem> {
    events.map(Result::unwrap).collect().await
}

/// An event in short: `task WORKING`, `WORKING`, `artifact`, `append`, `last`, `message`.
pub(crate) fn short(event: &StreamResponse) -> String {
    let state = |state: TaskState| state.name().trim_start_matches("TASK_STATE_").to_owned();
    match event {
        StreamResponse::Task(task) => format!("task {}", state(task.status.state)),
        StreamResponse::Message(_) => "message".to_owned(),
        StreamResponse::StatusUpdate(update) => state(update.status.state),
        StreamResponse::ArtifactUpdate(update) => match (update.append, update.last_chunk) {
            (false, true) => "artifact".to_owned(),
            (false, false) => "first".to_owned(),
            (true, false) => "append".to_owned(),
            (true, true) => "last".to_owned(),
        },
    }
}

pub(crate) fn shorts(items: &[StreamItem]) -> Vec<String> {
    items.iter().map(|item| short(item.event.event())).collect()
}

/// The text of a task's status message.
pub(crate) fn said(task: &TaskSnapshot) -> &str {
    let message = task.status.message.as_ref();
    message
        .and_then(|message| message.first_text())
        .unwrap_or_default()
}

/// All texts of a task's artifacts, one after the other.
pub(crate) fn given(task: &TaskSnapshot) -> String {
    let parts = task.artifacts.iter().flat_map(|artifact| &artifact.parts);
    parts
        .filter_map(|part| match &part.content {
            Some(gateway_domain::Content::Text(text)) => Some(text.as_str()),
            _ => None,
        })
        .collect()
}

/// Where a stream that was cut can be resumed.
pub(crate) fn cut_at(error: &Error) -> Option<Cursor> {
    let cursor = error.facts().get(gateway_domain::error::metadata::CURSOR)?;
    Some(cursor.parse().unwrap())
}

/// The name of an operation's outcome that a reply or an error reports.
pub(crate) fn outcome(result: &Result<Reply, Error>) -> &'static str {
    let outcome = match result {
        Ok(reply) => Some(reply.outcome),
        Err(error) => error.decided_outcome(),
    };
    outcome.map_or("none", gateway_domain::Outcome::name)
}
