//! Redis answers, and does not do it: it is full, it is a replica, it is slow; or it has started again with nothing.

use std::time::Duration;

use tokio::time::{sleep, timeout};

use super::*;

/// Far beyond what anything here takes.
const PATIENCE: Duration = Duration::from_secs(30);

fn cause(refused: Result<(), CommitError>) -> String {
    match refused {
        Err(CommitError::Store(error)) => error.cause,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_redis_that_is_full_refuses_changes_whole_and_still_shows_what_it_has() {
    let Replica { store, server } = Replica::new(Settings::default()).await;
    let id = create(&store, fresh(&store, "task")).await;
    append(&store, &id, "text").await;
    let before = store.read(&id).await.unwrap().unwrap();
    server.say("CONFIG SET maxmemory 1");
    let refused = cause(try_act(&store, &id, chunk("more"), 1).await);
    assert!(refused.contains("maxmemory"), "{refused}");
    let complete = AgentAction::Move(Move::Complete, None);
    let refused = cause(try_act(&store, &id, complete, 2).await);
    assert!(refused.contains("maxmemory"), "{refused}");
    let creation = decide::create(fresh(&store, "other"), &Limits::default(), stamp(0)).unwrap();
    assert!(store.create(creation).await.is_err());
    let after = store.read(&id).await.unwrap().unwrap();
    assert_eq!((after.head, after.task), (before.head, before.task));
    assert_eq!(held(&store).await, std::slice::from_ref(&id));
    assert!(store.is_ready(), "it answers");
    server.say("CONFIG SET maxmemory 0");
    append(&store, &id, "more").await;
}

#[tokio::test]
async fn a_server_that_became_a_replica_takes_nothing_and_is_written_to_again_as_a_master() {
    let Replica { store, server } = Replica::new(Settings::default()).await;
    let id = create(&store, fresh(&store, "task")).await;
    server.say("REPLICAOF 127.0.0.1 1");
    for _ in 0..3 {
        let refused = cause(try_act(&store, &id, chunk("text"), 1).await);
        assert!(refused.contains("replica"), "{refused}");
    }
    let url = server.url();
    let late = RedisStore::open(Settings {
        url,
        ..Settings::default()
    });
    let refused = late.await.err().unwrap().cause;
    assert!(refused.contains("is a replica"), "{refused}");
    server.say("REPLICAOF NO ONE");
    while try_act(&store, &id, chunk("text"), 1).await.is_err() {
        sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(store.head(&id).await.unwrap().unwrap().cursor.revision, 2);
}

#[tokio::test]
async fn a_redis_that_is_slow_is_waited_for_and_what_it_does_is_done_once() {
    let Replica { store, server } = Replica::new(Settings::default()).await;
    let id = create(&store, fresh(&store, "task")).await;
    server.hang();
    let slow = async {
        sleep(Duration::from_millis(500)).await;
        server.go_on();
    };
    futures::future::join(append(&store, &id, "text"), slow).await;
    let task = store.read(&id).await.unwrap().unwrap().task;
    assert_eq!(task.artifacts[0].parts.len(), 1);
}

#[tokio::test]
async fn followers_of_a_task_that_redis_has_no_longer_hear_of_it_and_it_is_counted() {
    let Replica { store, mut server } = Replica::new(Settings::default()).await;
    let id = create(&store, fresh(&store, "task")).await;
    let mut follower = store.follow(&id).await.unwrap().unwrap();
    server.restart();
    let over = timeout(PATIENCE, follower.wait_for(|pulse| pulse.cursor.revision > 1));
    assert!(over.await.expect("the follower hears of it").is_err());
    assert_eq!(store.set_back(), 1);
}
