//! Creating tasks, and the limit of live ones.

use gateway_domain::{
    Cursor, TaskId, TaskState,
    decide::NewTask,
    lifecycle::Move,
    ports::{CreateError, LogRead, StoredTask},
};

use super::{
    Bench,
    bench::{everything, ids},
};
use crate::build::{config, moment, new_task, scope, user_message};

pub async fn a_created_task_is_there_for_every_read(bench: &Bench) {
    let scope = scope(Some("acme"), Some("ada"));
    let id = bench.task_id_in(scope.tenant.as_ref());
    let new = NewTask {
        scope,
        message: user_message("hello"),
        ..new_task(id)
    };
    let creation = bench.creation(new, 7);
    let (head, task, entry) = (
        creation.head.clone(),
        creation.task.clone(),
        creation.entry.clone(),
    );
    bench.writer().create(creation).await.unwrap();

    assert_eq!(*bench.head(&head.id).await, head);
    let stored: StoredTask = bench.read(&head.id).await;
    assert_eq!((&*stored.head, &stored.task), (&head, &*task));
    assert_eq!(stored.task.status.state, TaskState::Submitted);
    assert_eq!(stored.task.status.timestamp, moment(7));
    assert_eq!(
        stored.task.history[0].first_text(),
        Some("hello"),
        "the message is the history"
    );
    let entries = bench.whole_log(&head.id).await;
    assert_eq!(entries.len(), 1);
    assert_eq!(
        (entries[0].cursor, &entries[0].entry),
        (head.cursor, &entry.entry)
    );
    let listing = bench.list(everything(head.scope.clone())).await;
    assert_eq!(ids(&listing), [head.id]);
}

pub async fn a_created_task_brings_its_configuration(bench: &Bench) {
    let id = bench.task_id();
    let with = config(&id, "hook");
    let new = NewTask {
        config: Some(with.clone()),
        ..new_task(id.clone())
    };
    bench.create(new, 0).await;
    assert_eq!(
        bench.reader().configs(&id, None, 10).await.unwrap(),
        std::slice::from_ref(&with)
    );
    assert_eq!(bench.reader().all_configs(None, 10).await.unwrap(), [with]);
}

pub async fn an_id_that_is_taken_is_refused_and_the_first_task_stays(bench: &Bench) {
    let id = bench.visible_task(0).await;
    let before = bench.read(&id).await;
    let second = NewTask {
        message: user_message("another"),
        config: Some(config(&id, "hook")),
        ..new_task(id.clone())
    };
    let refused = bench.writer().create(bench.creation(second, 1)).await;
    assert!(matches!(refused, Err(CreateError::Store(_))), "{refused:?}");
    let after = bench.read(&id).await;
    assert_eq!((after.head, after.task), (before.head, before.task));
    assert_eq!(bench.reader().configs(&id, None, 10).await.unwrap(), []);
    assert_eq!(bench.list(everything(scope(None, None))).await.total, 1);
}

pub async fn a_refused_creation_leaves_nothing(bench: &Bench) {
    let id = bench.task_id();
    let new = NewTask {
        config: Some(config(&id, "hook")),
        ..new_task(id.clone())
    };
    let refused = bench.create_within(0, new).await;
    assert!(matches!(refused, Err(CreateError::LiveLimit)), "{refused:?}");
    assert_eq!(bench.reader().head(&id).await.unwrap(), None);
    assert!(bench.reader().read(&id).await.unwrap().is_none());
    assert!(matches!(bench.log(&id, Cursor::START, 1).await, LogRead::Gone));
    assert_eq!(bench.reader().all_configs(None, 10).await.unwrap(), []);
    assert_eq!(bench.list(everything(scope(None, None))).await.total, 0);
}

pub async fn the_live_limit_is_exact_under_64_concurrent_creations(bench: &Bench) {
    let creations = (0..64).map(|_| {
        let bench = bench.clone();
        tokio::spawn(async move { bench.create_within(40, new_task(bench.task_id())).await })
    });
    let mut created = Vec::new();
    for creation in creations.collect::<Vec<_>>() {
        match creation.await.unwrap() {
            Ok(id) => created.push(id),
            Err(CreateError::LiveLimit) => {}
            Err(other) => panic!("{other:?}"),
        }
    }
    created.sort();
    assert_eq!(created.len(), 40);
    let held = bench.reader().all(None, 100).await.unwrap();
    let held: Vec<TaskId> = held.into_iter().map(|stored| stored.task.id).collect();
    assert_eq!(held, created);
}

pub async fn the_live_limit_counts_hidden_tasks(bench: &Bench) {
    bench.hidden_task(0).await;
    let refused = bench.create_within(1, new_task(bench.task_id())).await;
    assert!(matches!(refused, Err(CreateError::LiveLimit)), "{refused:?}");
}

pub async fn the_live_limit_counts_a_tenant_whoever_owns_its_tasks(bench: &Bench) {
    let of = |tenant, owner| {
        let scope = scope(tenant, owner);
        let id = bench.task_id_in(scope.tenant.as_ref());
        NewTask {
            scope,
            ..new_task(id)
        }
    };
    bench
        .create_within(1, of(Some("acme"), Some("ada")))
        .await
        .unwrap();
    let refused = bench.create_within(1, of(Some("acme"), Some("bob"))).await;
    assert!(matches!(refused, Err(CreateError::LiveLimit)), "{refused:?}");
    bench
        .create_within(1, of(Some("other"), Some("ada")))
        .await
        .unwrap();
    bench.create_within(1, of(None, Some("ada"))).await.unwrap();
    let refused = bench.create_within(1, of(None, None)).await;
    assert!(matches!(refused, Err(CreateError::LiveLimit)), "{refused:?}");
}

pub async fn a_finished_task_makes_room_for_a_live_one(bench: &Bench) {
    let id = bench.create_within(1, new_task(bench.task_id())).await.unwrap();
    bench.step(&id, Move::Work, 1).await;
    let refused = bench.create_within(1, new_task(bench.task_id())).await;
    assert!(matches!(refused, Err(CreateError::LiveLimit)), "{refused:?}");
    bench.step(&id, Move::Complete, 2).await;
    bench.create_within(1, new_task(bench.task_id())).await.unwrap();
    let refused = bench.create_within(1, new_task(bench.task_id())).await;
    assert!(matches!(refused, Err(CreateError::LiveLimit)), "{refused:?}");
}

pub async fn a_discarded_task_makes_room_for_a_live_one(bench: &Bench) {
    let id = bench.hidden_task(0).await;
    assert!(bench.writer().discard(&id).await.unwrap());
    // Discarding again must not make room for a second one.
    assert!(!bench.writer().discard(&id).await.unwrap());
    bench.create_within(1, new_task(bench.task_id())).await.unwrap();
    let refused = bench.create_within(1, new_task(bench.task_id())).await;
    assert!(matches!(refused, Err(CreateError::LiveLimit)), "{refused:?}");
}
