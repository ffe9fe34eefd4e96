//! What tests with failing servers are made of: tasks whose chunks are numbered, written as a gateway writes them.
#![allow(
    clippy::unwrap_used,
    dead_code,
    reason = "for tests, which fail by panicking, and not every one needs all"
)]

use std::{sync::Arc, time::Duration};

use gateway_domain::{
    Limits, TaskId, decide,
    decide::{NewTask, Stamp},
    ports::{CommitError, Creation, Lease, Origin, RunGrant, RunPut, Store, Terms, WorkKey, WorkKind},
    request::AgentAction,
};
use gateway_store_redis::{Mode, RedisStore, Settings};
use gateway_testkit::{
    build::{artifact, moment, new_task, offer, scope},
    redis::{Cluster, SentinelDeployment},
};

/// The key prefix and the bucket of tasks without a tenant.
pub(crate) const BUCKET: &str = "a2a:{18}:";

pub(crate) fn by_sentinels(servers: &SentinelDeployment) -> Settings {
    Settings {
        url: servers.url(),
        mode: Mode::Sentinel {
            master: servers.name().to_owned(),
            user: None,
            password: None,
        },
        ..Settings::default()
    }
}

pub(crate) fn of_cluster(servers: &Cluster) -> Settings {
    Settings {
        url: servers.url(),
        mode: Mode::Cluster,
        ..Settings::default()
    }
}

pub(crate) async fn open(settings: Settings) -> Arc<RedisStore> {
    Arc::new(RedisStore::open(settings).await.unwrap())
}

fn stamp() -> Stamp {
    Stamp {
        now: moment(0),
        // Another one each time, as a gateway draws it.
        mark: u32::try_from(uniq() % 0xffff_ffff).unwrap(),
    }
}

fn uniq() -> u64 {
    use std::sync::atomic::{AtomicU64, Ordering};
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

pub(crate) async fn create(store: &RedisStore, name: &str) -> TaskId {
    let id = store.name_task(TaskId::new(name), Origin::default());
    let creation = decide::create(new_task(id.clone()), &Limits::default(), stamp()).unwrap();
    store.create(creation).await.unwrap();
    id
}

/// Creates a tenant's task with its run, which is leased on these terms.
pub(crate) async fn begin_leased(store: &RedisStore, tenant: &str, terms: Terms) -> Lease {
    let scope = scope(Some(tenant), None);
    let origin = Origin {
        tenant: scope.tenant.as_ref(),
        ..Origin::default()
    };
    let id = store.name_task(TaskId::new(tenant), origin);
    let new = NewTask {
        scope,
        ..new_task(id.clone())
    };
    let creation = decide::create(new, &Limits::default(), stamp()).unwrap();
    let run = Some(Box::new(RunPut {
        offer: offer(1),
        terms,
    }));
    let granted = store.create(Creation { run, ..creation }).await.unwrap();
    let Some(RunGrant::Begun { epoch, .. }) = granted.run else {
        panic!("{granted:?}");
    };
    Lease {
        key: WorkKey {
            task: id,
            kind: WorkKind::Run,
        },
        epoch,
    }
}

/// Writes a chunk as an agent's run does: decides anew after a conflict, and tells of everything else.
pub(crate) async fn try_chunk(store: &RedisStore, id: &TaskId, text: &str) -> Result<(), CommitError> {
    loop {
        let head = store.head(id).await.map_err(CommitError::Store)?;
        let head = head.ok_or(CommitError::Gone)?;
        let action = AgentAction::UpdateArtifact {
            artifact: artifact("a", text),
            append: true,
            last_chunk: false,
        };
        let change = decide::act(&head, action, &Limits::default(), stamp()).unwrap();
        match store.commit(change).await {
            Ok(_) => return Ok(()),
            Err(CommitError::Conflict) => {}
            Err(other) => return Err(other),
        }
    }
}

/// Writes a chunk, if need be again until it is acknowledged.
pub(crate) async fn chunk(store: &RedisStore, id: &TaskId, text: &str) {
    while try_chunk(store, id, text).await.is_err() {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Which numbers a task holds, in their order.
pub(crate) async fn numbers(store: &RedisStore, id: &TaskId) -> Vec<u32> {
    let mut read = store.read(id).await;
    while read.is_err() {
        tokio::time::sleep(Duration::from_millis(20)).await;
        read = store.read(id).await;
    }
    let task = read.unwrap().expect("the task is held").task;
    let artifact = serde_json::to_value(&*task.artifacts[0]).unwrap();
    let parts = artifact["parts"].as_array().unwrap();
    let text = |part: &serde_json::Value| part["text"].as_str().unwrap().parse().unwrap();
    parts.iter().map(text).collect()
}

/// Whether numbers rise from the first one on, each there once or, written again after a lost answer, twice.
pub(crate) fn has_all(numbers: &[u32], count: u32) -> bool {
    let mut once = numbers.to_vec();
    once.dedup();
    once.into_iter().eq(1..=count)
}
