//! What the contract of stores doesn't say, against a real server: what is left behind, what is bounded, and what
//! happens while Redis is away.

mod again;
mod away;
mod followed;
mod left_behind;
mod refused;
mod retention;
mod shared;
mod spread;

use gateway_domain::{
    Cursor, Limits, Scope, TaskId, decide,
    decide::{NewTask, Stamp},
    lifecycle::Move,
    ports::{CommitError, Origin, Store},
    request::AgentAction,
};
use gateway_testkit::{
    build::{agent_message, artifact, moment, new_task},
    redis::RedisServer,
};

use crate::{RedisStore, Settings};

/// A server and one replica on it.
struct Replica {
    store: RedisStore,
    server: RedisServer,
}

impl Replica {
    async fn new(settings: Settings) -> Self {
        let server = RedisServer::start();
        let store = open(&server, settings).await;
        Self { store, server }
    }
}

async fn open(server: &RedisServer, settings: Settings) -> RedisStore {
    let url = server.url();
    RedisStore::open(Settings { url, ..settings }).await.unwrap()
}

fn stamp(second: i64) -> Stamp {
    Stamp {
        now: moment(second),
        mark: u32::try_from(second).unwrap_or_default(),
    }
}

/// A place in a log whose entries were all made in second 0.
fn place(revision: u64) -> Cursor {
    Cursor { revision, mark: 0 }
}

fn origin_in(scope: &Scope) -> Origin<'_> {
    Origin {
        tenant: scope.tenant.as_ref(),
        ..Origin::default()
    }
}

/// A fresh task of nobody in particular.
fn fresh(store: &RedisStore, name: &str) -> NewTask {
    new_task(store.name_task(TaskId::new(name), Origin::default()))
}

async fn create(store: &RedisStore, new: NewTask) -> TaskId {
    let id = new.id.clone();
    let creation = decide::create(new, &Limits::default(), stamp(0)).unwrap();
    store.create(creation).await.unwrap();
    id
}

async fn act(store: &RedisStore, id: &TaskId, action: AgentAction, second: i64) {
    try_act(store, id, action, second).await.unwrap();
}

async fn try_act(
    store: &RedisStore,
    id: &TaskId,
    action: AgentAction,
    second: i64,
) -> Result<(), CommitError> {
    let head = store.head(id).await.map_err(CommitError::Store)?.unwrap();
    let change = decide::act(&head, action, &Limits::default(), stamp(second)).unwrap();
    store.commit(change).await.map(drop)
}

async fn append(store: &RedisStore, id: &TaskId, text: &str) {
    act(store, id, chunk(text), 0).await;
}

fn chunk(text: &str) -> AgentAction {
    AgentAction::UpdateArtifact {
        artifact: artifact("a", text),
        append: true,
        last_chunk: false,
    }
}

async fn finish(store: &RedisStore, id: &TaskId, second: i64) {
    let complete = AgentAction::Move(Move::Complete, Some(agent_message("done")));
    act(store, id, complete, second).await;
}

/// Asks the one server itself.
async fn raw<T: redis::FromRedisValue>(store: &RedisStore, command: &redis::Cmd) -> T {
    let anywhere = crate::link::Slot::of("");
    store.inner.link.ask(anywhere, command).await.unwrap()
}

/// The ids of all tasks that are held.
async fn held(store: &RedisStore) -> Vec<TaskId> {
    let tasks = store.all(None, 10_000).await.unwrap();
    tasks.into_iter().map(|stored| stored.task.id).collect()
}
