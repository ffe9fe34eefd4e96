//! What stays as it is however many tasks come and go, and limits that hold whichever replica is asked.

use std::sync::Arc;

use futures::{StreamExt, stream};
use gateway_domain::{
    MessageId,
    decide::NewTask,
    ports::{ConfigPut, CreateError, Creation},
    repeats::{ContentDigest, Repeats, SendClaim, SendKey},
};
use gateway_testkit::build::{config, scope, user_message};

use super::*;

/// Tasks that are under way at once.
const AT_ONCE: usize = 16;

/// Bounds that a few hundred tasks reach.
fn narrow() -> Settings {
    Settings {
        finished_per_tenant: 100,
        log_entries: 20,
        ..Settings::default()
    }
}

/// Takes a task through its life: with a send that is remembered, a configuration, chunks, and an end.
async fn live(store: &RedisStore, number: i64) {
    let repeats = Repeats {
        most: 100,
        ..Repeats::default()
    };
    let key = SendKey {
        scope: scope(None, Some("ada")),
        message: MessageId::new(format!("message {number}")),
        task: None,
        context: None,
    };
    let content = ContentDigest::of(&user_message("hello"));
    let new = fresh(store, &number.to_string());
    let id = new.id.clone();
    let new = NewTask {
        scope: key.scope.clone(),
        context_id: gateway_domain::ContextId::new(format!("context {number}")),
        config: Some(config(&id, "hook")),
        ..new
    };
    let creation = Creation {
        send: Some(Arc::new(SendClaim::new(key, content, moment(number), &repeats))),
        ..decide::create(new, &Limits::default(), stamp(number)).unwrap()
    };
    store.create(creation).await.unwrap();
    for _ in 0..3 {
        append(store, &id, "some of it").await;
    }
    finish(store, &id, number).await;
}

async fn many(store: &RedisStore, numbers: std::ops::Range<i64>) {
    stream::iter(numbers)
        .for_each_concurrent(AT_ONCE, |number| live(store, number))
        .await;
}

/// How many keys there are, and the bytes that all content takes.
async fn taken(store: &RedisStore) -> (usize, usize) {
    let keys: usize = raw(store, &redis::cmd("DBSIZE")).await;
    let memory: String = raw(store, redis::cmd("INFO").arg("memory")).await;
    let bytes = memory
        .lines()
        .find_map(|line| line.strip_prefix("used_memory_dataset:"))
        .unwrap();
    (keys, bytes.trim().parse().unwrap())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn thousands_of_tasks_that_came_and_went_leave_no_more_than_hundreds_did() {
    let Replica {
        store,
        server: _server,
    } = Replica::new(narrow()).await;
    come_and_go(&store, 1_000, 3_000).await;

    assert_eq!(store.sweep(moment(1_000_000)).await.unwrap(), 100);
    assert_eq!(held(&store).await, []);
    // Sends go by themselves, a while after the last of them; nothing else is left of any task.
    let left: Vec<String> = raw(&store, redis::cmd("KEYS").arg("*")).await;
    for key in &left {
        let kept = key.contains(":sent") || key.ends_with(":deployment") || key.ends_with(":fence");
        let expires: i64 = raw(&store, redis::cmd("PTTL").arg(key)).await;
        assert!(kept && (!key.contains(":sent") || expires > 0), "{key}");
    }
    assert!(left.len() <= 4, "{left:?}");
}

#[ignore = "takes minutes"]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hundred_thousand_tasks_that_came_and_went_leave_no_more_than_a_thousand_did() {
    let Replica {
        store,
        server: _server,
    } = Replica::new(narrow()).await;
    come_and_go(&store, 1_000, 100_000).await;
}

/// So many tasks come and go, and then up to so many: that takes no more than the first of them did.
async fn come_and_go(store: &RedisStore, first: i64, all: i64) {
    many(store, 0..first).await;
    let (keys, bytes) = taken(store).await;
    many(store, first..all).await;
    let (keys_later, bytes_later) = taken(store).await;
    assert_eq!(keys_later, keys);
    assert!(
        bytes_later < bytes + bytes / 5 + (1 << 20),
        "{bytes_later} bytes after {bytes}"
    );
    assert_eq!(held(store).await.len(), 100);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn the_limits_are_exact_whichever_of_three_replicas_is_asked() {
    let server = RedisServer::start();
    let mut replicas = Vec::new();
    for _ in 0..3 {
        replicas.push(Arc::new(open(&server, Settings::default()).await));
    }
    let create = |number: usize| {
        let store = replicas[number % 3].clone();
        tokio::spawn(async move {
            let creation = Creation {
                live_limit: 40,
                ..decide::create(fresh(&store, &number.to_string()), &Limits::default(), stamp(0)).unwrap()
            };
            let id = creation.head.id.clone();
            store.create(creation).await.map(|_| id)
        })
    };
    let creations: Vec<_> = (0..120).map(create).collect();
    let mut made = Vec::new();
    for creation in creations {
        match creation.await.unwrap() {
            Ok(id) => made.push(id),
            Err(CreateError::LiveLimit) => {}
            Err(other) => panic!("{other:?}"),
        }
    }
    assert_eq!(made.len(), 40);
    assert_eq!(held(&replicas[0]).await.len(), 40);

    let task = made[0].clone();
    let puts: Vec<_> = (0..60)
        .map(|number| {
            let (store, task) = (replicas[number % 3].clone(), task.clone());
            tokio::spawn(async move {
                let put = ConfigPut::new(config(&task, &format!("hook {number}")), 10);
                store.put_config(put).await.is_ok()
            })
        })
        .collect();
    let mut put = 0;
    for done in puts {
        put += usize::from(done.await.unwrap());
    }
    assert_eq!(put, 10);
    assert_eq!(replicas[2].configs(&task, None, 100).await.unwrap().len(), 10);
}
