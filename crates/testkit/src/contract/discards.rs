//! Discarding: only what no client can have seen.

use gateway_domain::{Cursor, TaskId, decide::NewTask, ports::LogRead};

use super::{Bench, bench::everything};
use crate::build::{config, new_task, scope};

pub async fn a_hidden_task_is_discarded_as_if_it_had_never_been(bench: &Bench) {
    let id = bench.task_id();
    let new = NewTask {
        hidden: true,
        config: Some(config(&id, "hook")),
        ..new_task(id.clone())
    };
    bench.create(new, 0).await;
    bench.take_message(&id, "more").await;

    assert!(bench.writer().discard(&id).await.unwrap());

    let reader = bench.reader();
    assert_eq!(reader.head(&id).await.unwrap(), None);
    assert!(reader.read(&id).await.unwrap().is_none());
    assert!(matches!(bench.log(&id, Cursor::START, 1).await, LogRead::Gone));
    assert!(reader.follow(&id).await.unwrap().is_none());
    assert!(reader.all(None, 10).await.unwrap().is_empty());
    assert_eq!(reader.configs(&id, None, 10).await.unwrap(), []);
    assert_eq!(reader.all_configs(None, 10).await.unwrap(), []);
    assert_eq!(bench.list(everything(scope(None, None))).await.total, 0);
}

pub async fn a_visible_task_is_not_discarded(bench: &Bench) {
    let id = bench.visible_task(0).await;
    assert!(!bench.writer().discard(&id).await.unwrap());
    assert_eq!(bench.list(everything(scope(None, None))).await.total, 1);
    assert_eq!(bench.read(&id).await.task.id, id);
}

pub async fn a_task_that_was_shown_is_not_discarded(bench: &Bench) {
    let id = bench.hidden_task(0).await;
    let showing = bench.showing(&id, 1).await;
    bench.writer().commit(showing).await.unwrap();
    assert!(!bench.writer().discard(&id).await.unwrap());
    assert_eq!(bench.read(&id).await.task.id, id);
}

pub async fn discarding_what_is_not_there_says_so(bench: &Bench) {
    assert!(!bench.writer().discard(&TaskId::new("nobody's")).await.unwrap());
    let id = bench.hidden_task(0).await;
    assert!(bench.writer().discard(&id).await.unwrap());
    assert!(!bench.writer().discard(&id).await.unwrap());
}

pub async fn a_discarded_id_can_be_created_again(bench: &Bench) {
    let id = bench.hidden_task(0).await;
    bench.take_message(&id, "of the former").await;
    bench.writer().discard(&id).await.unwrap();
    bench.create(new_task(id.clone()), 1).await;
    let stored = bench.read(&id).await;
    assert_eq!((stored.head.cursor.revision, stored.task.history.len()), (1, 1));
    let read = bench.log(&id, stored.head.cursor, 10).await;
    assert!(matches!(read, LogRead::Entries(entries) if entries.is_empty()));
}
