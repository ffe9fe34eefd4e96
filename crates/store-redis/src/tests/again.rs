//! What comes again: reads of a task that is known, and work whose taking nobody heard of.

use gateway_domain::ports::{Creation, DueWork, Purge, Work};
use gateway_testkit::build::{run, terms};

use super::*;

async fn set(store: &RedisStore, id: &TaskId, field: &str, value: &str) {
    let bucket = store.inner.layout.bucket(id).unwrap();
    let task = store.inner.layout.key(bucket, crate::keys::TASK, id.as_str());
    let _new: usize = raw(store, redis::cmd("HSET").arg(task).arg(field).arg(value)).await;
}

#[tokio::test]
async fn a_task_is_shown_again_only_where_its_news_are_others_than_the_reader_knows() {
    let Replica {
        store,
        server: _server,
    } = Replica::new(Settings::default()).await;
    let id = create(&store, fresh(&store, "task")).await;
    let first = store.read(&id).await.unwrap().unwrap();
    // Nobody looks at what cannot be read.
    set(&store, &id, "head", "broken").await;
    let again = store.read(&id).await.unwrap().unwrap();
    assert_eq!((again.head, again.task), (first.head, first.task));
    // As after a failover: the same revision of another timeline.
    set(&store, &id, "news", "1-00000009 1 1 0").await;
    assert!(store.read(&id).await.is_err(), "it was not read anew");
}

#[tokio::test]
async fn what_is_known_of_a_task_is_no_answer_once_it_is_gone() {
    let Replica { store, server } = Replica::new(Settings::default()).await;
    let other = open(&server, Settings::default()).await;
    let id = create(&store, fresh(&store, "task")).await;
    assert!(store.read(&id).await.unwrap().is_some());
    other.purge(&Purge::Task(id.clone()), None, 10).await.unwrap();
    assert!(store.read(&id).await.unwrap().is_none());
    // The same name again: nothing of the old one is shown.
    let again = decide::create(fresh(&store, "task"), &Limits::default(), stamp(5)).unwrap();
    let cursor = again.head.cursor;
    store.create(again).await.unwrap();
    assert_eq!(store.read(&id).await.unwrap().unwrap().head.cursor, cursor);
}

/// Takes the one run that is due at a second: how many holders have lost it.
async fn losses(store: &RedisStore, second: i64) -> u32 {
    let taken = store.take_due(&terms("replica", second), 10).await.unwrap();
    match taken.as_slice() {
        [taken] => match &taken.work {
            DueWork::Run { lost, .. } => *lost,
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_holder_who_never_heard_that_a_run_is_his_has_not_lost_it() {
    let Replica {
        store,
        server: _server,
    } = Replica::new(Settings::default()).await;
    let new = fresh(&store, "task");
    let id = new.id.clone();
    let creation = Creation {
        run: Some(run(1, "replica", 0)),
        ..decide::create(new, &Limits::default(), stamp(0)).unwrap()
    };
    store.create(creation).await.unwrap();
    assert_eq!(losses(&store, 20).await, 1, "who began it lost it");
    assert_eq!(losses(&store, 40).await, 2, "who took it over lost it");
    // As a taking leaves it whose answer is lost, or is not confirmed.
    set(&store, &id, "untold", "1").await;
    assert_eq!(losses(&store, 60).await, 2);
    assert_eq!(losses(&store, 80).await, 3);
}
