//! Redis loses its scripts, its connections, its memory, or hangs.

use std::time::Duration;

use gateway_domain::ports::{Change, CommitError, Creation, LogRead, RunGrant};
use gateway_testkit::build::{config, run, terms, user_message};
use tokio::time::{Instant, sleep};

use super::*;
use crate::link::PATIENCE;

/// How long a call may take when Redis is away: what is promised, and nothing for a machine that is busy.
const PROMISED: Duration = Duration::from_secs(2);

/// Tries until Redis answers again.
async fn back(store: &RedisStore) {
    while store.all(None, 1).await.is_err() {
        sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn scripts_that_redis_forgot_are_loaded_again() {
    let Replica { store, server } = Replica::new(Settings::default()).await;
    let id = create(&store, fresh(&store, "task")).await;
    for text in ["one", "two", "three"] {
        assert_eq!(server.say("SCRIPT FLUSH"), "+OK\r\n");
        append(&store, &id, text).await;
    }
    let task = store.read(&id).await.unwrap().unwrap().task;
    assert_eq!(task.artifacts[0].parts.len(), 3);
}

#[tokio::test]
async fn commits_go_on_while_connections_are_cut_and_each_is_applied_once() {
    let Replica { store, server } = Replica::new(Settings::default()).await;
    let id = create(&store, fresh(&store, "task")).await;
    for number in 0..60_i64 {
        if number % 3 == 0 {
            server.say("CLIENT KILL TYPE normal SKIPME yes");
        }
        append(&store, &id, "chunk").await;
    }
    let stored = store.read(&id).await.unwrap().unwrap();
    assert_eq!(
        (stored.head.cursor.revision, stored.task.artifacts[0].parts.len()),
        (61, 60)
    );
}

#[tokio::test]
async fn a_commit_whose_answer_was_lost_can_be_sent_again() {
    let Replica {
        store,
        server: _server,
    } = Replica::new(Settings::default()).await;
    let new = fresh(&store, "task");
    let id = new.id.clone();
    let again = || decide::create(new_task(id.clone()), &Limits::default(), stamp(0)).unwrap();
    store.create(again()).await.unwrap();
    store.create(again()).await.unwrap();
    let head = store.head(&id).await.unwrap().unwrap();
    let change = || decide::act(&head, chunk("text"), &Limits::default(), stamp(1)).unwrap();
    store.commit(change()).await.unwrap();
    store.commit(change()).await.unwrap();
    append(&store, &id, "more").await;
    let late = store.commit(change()).await;
    assert!(matches!(late, Err(CommitError::Conflict)), "{late:?}");
    let stored = store.read(&id).await.unwrap().unwrap();
    assert_eq!(
        (stored.head.cursor.revision, stored.task.artifacts[0].parts.len()),
        (3, 2)
    );
}

#[tokio::test]
async fn while_redis_is_away_every_call_says_so_in_time_and_when_it_is_back_calls_succeed() {
    let Replica { store, mut server } = Replica::new(Settings::default()).await;
    let id = create(&store, fresh(&store, "task")).await;
    server.kill();
    for _ in 0..5 {
        let begun = Instant::now();
        assert!(store.head(&id).await.is_err());
        assert!(store.follow(&id).await.is_err());
        let refused = try_act(&store, &id, chunk("text"), 0).await;
        assert!(matches!(refused, Err(CommitError::Store(_))), "{refused:?}");
        assert!(begun.elapsed() < 3 * PROMISED, "{:?}", begun.elapsed());
    }
    server.restart();
    back(&store).await;
    assert_eq!(store.head(&id).await.unwrap(), None, "this server kept nothing");
    create(&store, fresh(&store, "task")).await;
}

#[tokio::test]
async fn a_redis_that_hangs_is_not_waited_for() {
    let Replica { store, server } = Replica::new(Settings::default()).await;
    let id = create(&store, fresh(&store, "task")).await;
    server.hang();
    let begun = Instant::now();
    // More at once than are let through to Redis: those that wait for their turn wait no longer than the others.
    let calls = (0..2_000).map(|_| store.head(&id));
    let answers = futures::future::join_all(calls).await;
    assert!(answers.iter().all(Result::is_err));
    // The bound is the promise itself and not a guess: every one of these calls has one and the same timer.
    assert!(begun.elapsed() >= PATIENCE / 2);
    server.go_on();
    back(&store).await;
    assert!(store.head(&id).await.unwrap().is_some());
}

#[tokio::test]
async fn a_replica_is_not_ready_once_redis_has_been_away_for_seconds_and_ready_when_it_is_back() {
    let Replica { store, mut server } = Replica::new(Settings::default()).await;
    assert!(store.is_ready());
    server.kill();
    assert!(store.log(&TaskId::new("00-x"), Cursor::START, 1).await.is_err());
    assert!(store.is_ready(), "a short break is no reason");
    while store.is_ready() {
        sleep(Duration::from_millis(50)).await;
    }
    server.restart();
    // Nobody calls: the keeper finds out.
    while !store.is_ready() {
        sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test]
async fn a_store_that_finds_no_redis_says_so() {
    let mut server = RedisServer::start();
    server.kill();
    let url = server.url();
    let refused = RedisStore::open(Settings {
        url,
        ..Settings::default()
    })
    .await;
    assert!(refused.is_err_and(|error| error.cause.contains("Redis")));
}

#[tokio::test]
async fn a_log_entry_of_a_later_release_is_an_error_and_no_gap() {
    let Replica {
        store,
        server: _server,
    } = Replica::new(Settings::default()).await;
    let id = create(&store, fresh(&store, "task")).await;
    let bucket = store.inner.layout.bucket(&id).unwrap();
    let layout = &store.inner.layout;
    let mut later = redis::cmd("XADD");
    later.arg(layout.key(bucket, crate::keys::LOG, id.as_str()));
    later.arg("2-0").arg("m").arg("2{}").arg("p").arg("");
    let _added: String = raw(&store, &later).await;
    let mut raised = redis::cmd("HSET");
    raised
        .arg(layout.key(bucket, crate::keys::TASK, id.as_str()))
        .arg(&["rev", "2", "news", "2-00000000 1 1 0"]);
    let _set: i64 = raw(&store, &raised).await;
    let read = store.log(&id, place(1), 10).await;
    assert!(read.is_err_and(|error| error.cause.contains("format '2'")));
    assert!(
        matches!(store.log(&id, place(2), 10).await, Ok(LogRead::Entries(entries)) if entries.is_empty())
    );
}

#[tokio::test]
async fn a_step_that_puts_work_is_granted_the_same_when_it_is_sent_again() {
    let Replica {
        store,
        server: _server,
    } = Replica::new(Settings::default()).await;
    let new = fresh(&store, "task");
    let id = new.id.clone();
    let begin = || Creation {
        run: Some(run(1, "one", 0)),
        delivery: Some(terms("one", 0)),
        ..decide::create(
            NewTask {
                config: Some(config(&id, "hook")),
                ..new_task(id.clone())
            },
            &Limits::default(),
            stamp(0),
        )
        .unwrap()
    };
    let granted = store.create(begin()).await.unwrap();
    assert!(matches!(granted.run, Some(RunGrant::Begun { number: 1, .. })) && granted.webhook.is_some());
    assert_eq!(store.create(begin()).await.unwrap(), granted);
    let head = store.head(&id).await.unwrap().unwrap();
    let further = || Change {
        run: Some(run(2, "two", 0)),
        ..decide::take_message(&head, user_message("more"), &Limits::default(), stamp(1)).unwrap()
    };
    let granted = store.commit(further()).await.unwrap();
    assert!(matches!(&granted.run, Some(RunGrant::Asked(asked)) if asked.number == 2));
    assert_eq!(store.commit(further()).await.unwrap(), granted);
}
