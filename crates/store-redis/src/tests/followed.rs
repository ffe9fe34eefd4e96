//! Followers: that none misses the end whatever is cut, and that nothing stays when they leave.

use std::{sync::Arc, time::Duration};

use gateway_domain::{LogEntry, ports::LogRead, tail::Tail};
use tokio::time::sleep;

use super::*;

/// Waits for the server to know so many channels of tasks.
async fn channels(server: &RedisServer, count: usize) {
    while server.say("PUBSUB SHARDCHANNELS *:news:*").lines().next() != Some(&format!("*{count}")) {
        sleep(Duration::from_millis(20)).await;
    }
}

/// Waits until nothing is left of any follower: on this replica, which forgets a task once Redis was told, and there.
async fn nobody_follows(store: &RedisStore, server: &RedisServer) {
    let forgotten = async {
        while store.inner.followers.count() > 0 {
            sleep(Duration::from_millis(20)).await;
        }
        channels(server, 0).await;
    };
    tokio::time::timeout(Duration::from_secs(20), forgotten)
        .await
        .expect("nothing is left");
}

#[tokio::test]
async fn many_followers_of_a_task_have_one_subscription_that_ends_with_the_last_of_them() {
    let Replica { store, server } = Replica::new(Settings::default()).await;
    let id = create(&store, fresh(&store, "task")).await;
    let mut followers = Vec::new();
    for _ in 0..50 {
        followers.push(store.follow(&id).await.unwrap().unwrap());
    }
    channels(&server, 1).await;
    followers.truncate(1);
    append(&store, &id, "text").await;
    followers[0]
        .wait_for(|pulse| pulse.cursor.revision == 2)
        .await
        .unwrap();
    followers.clear();
    nobody_follows(&store, &server).await;
    let again = store.follow(&id).await.unwrap().unwrap();
    channels(&server, 1).await;
    assert_eq!(again.borrow().cursor.revision, 2);
}

#[tokio::test]
async fn following_what_is_not_there_leaves_no_subscription() {
    let Replica { store, server } = Replica::new(Settings::default()).await;
    let nobody = store.name_task(TaskId::new("nobody's"), Origin::default());
    assert!(store.follow(&nobody).await.unwrap().is_none());
    nobody_follows(&store, &server).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn readers_on_two_replicas_see_every_entry_once_and_in_order_while_their_news_are_cut() {
    let Replica { store, server } = Replica::new(Settings::default()).await;
    let other = open(&server, Settings::default()).await;
    let (store, other) = (Arc::new(store), Arc::new(other));
    let id = create(&store, fresh(&store, "task")).await;
    let mut readers = Vec::new();
    for number in 0..8 {
        let replica: Arc<dyn Store> = if number % 2 == 0 {
            store.clone()
        } else {
            other.clone()
        };
        let pulse = replica.follow(&id).await.unwrap().unwrap();
        let mut tail = Tail::new(replica, id.clone(), pulse, Cursor::START, 7);
        readers.push(tokio::spawn(async move {
            let mut seen = Vec::new();
            while !tail.is_over() || seen.len() < 202 {
                // The store is away for a moment each time that a connection is cut; the place is kept.
                match tail.next().await {
                    Ok(entry) => seen.push(entry.cursor.revision),
                    Err(gateway_domain::tail::Lost::Store(_)) => {}
                    Err(lost) => panic!("{lost:?}"),
                }
            }
            seen
        }));
    }
    for number in 0..200 {
        if number % 10 == 0 {
            server.say("CLIENT KILL TYPE pubsub");
        }
        append(&store, &id, "chunk").await;
    }
    finish(&store, &id, 1).await;
    for reader in readers {
        assert!(reader.await.unwrap().into_iter().eq(1..=202));
    }
}

#[tokio::test]
async fn readers_of_one_replica_share_what_is_decoded() {
    let Replica {
        store,
        server: _server,
    } = Replica::new(Settings::default()).await;
    let other = open(&_server, Settings::default()).await;
    let id = create(&store, fresh(&store, "task")).await;
    let mut follower = other.follow(&id).await.unwrap().unwrap();
    append(&store, &id, "text").await;
    follower
        .wait_for(|pulse| pulse.cursor.revision == 2)
        .await
        .unwrap();
    let read = async || match other.log(&id, place(1), 10).await.unwrap() {
        LogRead::Entries(entries) => entries,
        lost => panic!("{lost:?}"),
    };
    let (one, another): (Vec<Arc<LogEntry>>, Vec<Arc<LogEntry>>) = (read().await, read().await);
    assert_eq!(one.len(), 1);
    assert!(Arc::ptr_eq(&one[0], &another[0]));
}

#[tokio::test]
async fn a_follower_is_closed_when_its_task_goes_back_behind_what_was_told() {
    let Replica { store, server } = Replica::new(Settings::default()).await;
    let id = create(&store, fresh(&store, "task")).await;
    append(&store, &id, "will be lost").await;
    let follower = store.follow(&id).await.unwrap().unwrap();
    assert_eq!(follower.borrow().cursor.revision, 2);
    // A server that takes over without the last commit.
    assert_eq!(server.say("FLUSHALL"), "+OK\r\n");
    create(&store, fresh(&store, "task")).await;
    store.inner.look_at(&id).await.unwrap();
    assert!(follower.has_changed().is_err(), "its reader begins again");
    let again = store.follow(&id).await.unwrap().unwrap();
    assert_eq!(again.borrow().cursor.revision, 1);
}
