//! Tenants that are spread over several buckets: what the deployment agrees on, and that nothing of them is overlooked.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use gateway_domain::{
    ContextId, TaskState, Tenant,
    decide::NewTask,
    page::TaskPosition,
    ports::{CreateError, Creation, ListQuery, Purge},
    request::TaskFilter,
};
use gateway_testkit::build::scope;

use super::*;
use crate::keys::Bucket;

/// Tenant acme over so many buckets.
fn over(parts: u16) -> Settings {
    Settings {
        spread: HashMap::from([(Some(Tenant::new("acme")), parts)]),
        ..Settings::default()
    }
}

/// A task of acme's in a context of its own.
fn task(store: &RedisStore, number: usize) -> NewTask {
    let scope = scope(Some("acme"), None);
    let context = format!("context {number}");
    let origin = Origin {
        tenant: scope.tenant.as_ref(),
        placed_by: &context,
    };
    let id = store.name_task(TaskId::new(format!("{number:04}")), origin);
    NewTask {
        scope,
        context_id: ContextId::new(context),
        ..new_task(id)
    }
}

async fn tasks(store: &RedisStore, numbers: std::ops::Range<usize>) -> Vec<TaskId> {
    let mut made = Vec::new();
    for number in numbers {
        made.push(create(store, task(store, number)).await);
    }
    made.sort();
    made
}

fn buckets(store: &RedisStore, ids: &[TaskId]) -> HashSet<Bucket> {
    ids.iter()
        .filter_map(|id| store.inner.layout.bucket(id))
        .collect()
}

fn all_of_acme() -> ListQuery {
    ListQuery {
        scope: scope(Some("acme"), None),
        filter: TaskFilter::default(),
        after: None,
        most: 1_000,
        history_length: None,
        include_artifacts: false,
    }
}

async fn listed(store: &RedisStore) -> Vec<TaskId> {
    let listing = store.list(all_of_acme()).await.unwrap();
    assert_eq!(listing.total, listing.tasks.len());
    let mut ids: Vec<_> = listing.tasks.into_iter().map(|task| task.id).collect();
    ids.sort();
    ids
}

async fn refusal(server: &RedisServer, settings: Settings) -> String {
    let url = server.url();
    let refused = RedisStore::open(Settings { url, ..settings }).await;
    refused.err().unwrap().cause
}

#[tokio::test]
async fn a_deployment_cannot_be_opened_with_a_tenant_spread_otherwise() {
    let Replica {
        store: _store,
        server,
    } = Replica::new(over(4)).await;
    let gathered = refusal(&server, Settings::default()).await;
    assert!(
        gathered.contains(r#"tenant "acme" are spread over 4 buckets"#)
            && gathered.contains("found in 1: set parts to 4"),
        "{gathered}"
    );
    let otherwise = refusal(&server, over(8)).await;
    assert!(otherwise.contains("found in 8: set parts to 4"), "{otherwise}");
    // What is refused binds nobody.
    let mut wrong = over(8);
    wrong.spread.insert(Some(Tenant::new("globex")), 2);
    refusal(&server, wrong).await;
    open(&server, over(4)).await;
    let mut more = over(4);
    more.spread.insert(None, 2);
    open(&server, more).await;
    let forgotten = refusal(&server, over(4)).await;
    assert!(
        forgotten.contains("callers without a tenant are spread over 2"),
        "{forgotten}"
    );
}

#[tokio::test]
async fn a_replica_that_runs_while_others_spread_a_tenant_is_not_ready() {
    let Replica { store, server } = Replica::new(Settings::default()).await;
    assert!(store.is_ready());
    let other = open(&server, over(4)).await;
    while store.is_ready() {
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    assert!(other.is_ready());
}

#[tokio::test]
async fn a_tenant_that_is_spread_later_keeps_its_tasks() {
    let Replica { store, server } = Replica::new(Settings::default()).await;
    let before = tasks(&store, 0..20).await;
    assert_eq!(buckets(&store, &before).len(), 1);
    drop(store);
    let store = open(&server, over(4)).await;
    let mut all = tasks(&store, 20..100).await;
    assert_eq!(buckets(&store, &all).len(), 4);
    for id in &before {
        append(&store, id, "more").await;
        finish(&store, id, 1).await;
    }
    all.extend(before);
    all.sort();
    assert_eq!(listed(&store).await, all);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pages_are_full_and_miss_nothing_that_stays_while_others_leave_the_list() {
    let Replica {
        store,
        server: _server,
    } = Replica::new(over(4)).await;
    let made = tasks(&store, 0..120).await;
    let store = Arc::new(store);
    let (leave, stay): (Vec<_>, Vec<_>) = made
        .into_iter()
        .enumerate()
        .partition(|(place, _)| place % 2 == 0);
    let leaving = tokio::spawn({
        let store = store.clone();
        async move {
            for (_, id) in leave {
                finish(&store, &id, 1).await;
            }
        }
    });
    let (mut listed, mut after) = (Vec::new(), None);
    loop {
        let query = ListQuery {
            filter: TaskFilter {
                status: Some(TaskState::Submitted),
                ..TaskFilter::default()
            },
            after,
            most: 5,
            ..all_of_acme()
        };
        let page = store.list(query).await.unwrap();
        assert!(
            page.tasks.len() == 5 || !page.more,
            "a short page: {}",
            page.tasks.len()
        );
        after = page.tasks.last().map(|task| TaskPosition {
            timestamp: task.status.timestamp,
            id: task.id.clone(),
        });
        listed.extend(page.tasks.into_iter().map(|task| task.id));
        if !page.more {
            break;
        }
    }
    leaving.await.unwrap();
    let once: HashSet<_> = listed.iter().cloned().collect();
    assert_eq!(once.len(), listed.len(), "one is listed twice");
    assert!(
        stay.iter().all(|(_, id)| once.contains(id)),
        "one that stays is missing"
    );
}

#[tokio::test]
async fn the_purge_of_a_spread_tenant_takes_all_its_buckets_and_leaves_no_key() {
    // Round the last bucket: the order of ids is not that of the tenant's parts.
    let Replica {
        store,
        server: _server,
    } = Replica::new(Settings {
        buckets: 4,
        ..over(3)
    })
    .await;
    let made = tasks(&store, 0..60).await;
    assert_eq!(buckets(&store, &made).len(), 3);
    let (mut removed, mut after) = (0, None);
    loop {
        let what = Purge::Tenant(Some(Tenant::new("acme")));
        let step = store.purge(&what, after, 7).await.unwrap();
        removed += step.removed;
        after = step.next;
        if after.is_none() {
            break;
        }
    }
    assert_eq!(removed, 60);
    let left: Vec<String> = raw(&store, redis::cmd("KEYS").arg("*")).await;
    assert_eq!(left, [store.inner.layout.deployment()]);
}

#[tokio::test]
async fn the_parts_of_a_limit_are_no_more_than_the_limit() {
    let settings = Settings {
        finished_per_tenant: 20,
        ..over(4)
    };
    let Replica {
        store,
        server: _server,
    } = Replica::new(settings).await;
    let mut created = Vec::new();
    for number in 0..100 {
        let creation = Creation {
            live_limit: 40,
            ..decide::create(task(&store, number), &Limits::default(), stamp(0)).unwrap()
        };
        let id = creation.head.id.clone();
        match store.create(creation).await {
            Ok(_) => created.push(id),
            Err(CreateError::LiveLimit) => {}
            Err(other) => panic!("{other:?}"),
        }
    }
    // Every part was filled, so all of them together reach the limit.
    assert_eq!(created.len(), 40);
    for id in &created {
        finish(&store, id, 1).await;
    }
    assert_eq!(listed(&store).await.len(), 20);
}
