//! What the contract of stores doesn't say: retention, what a commit costs, and that nothing is left behind.

use std::{sync::Arc, time::Duration};

use gateway_domain::{
    ContextId, Cursor, Limits, PushNotificationConfigId, PushNotificationConfigRow, TaskId, decide,
    decide::{NewTask, Stamp},
    lifecycle::Move,
    ports::{ConfigPut, LogRead, Store},
    request::AgentAction,
};
use gateway_testkit::build::{agent_message, artifact, config, moment, new_task, scope};

use crate::{Held, MemoryStore, Retired, Settings, shelves::Sizes};

fn stamp(second: i64) -> Stamp {
    Stamp {
        now: moment(second),
        mark: 0,
    }
}

/// Where every entry has the same mark.
fn place(revision: u64) -> Cursor {
    Cursor { revision, mark: 0 }
}

async fn create(store: &MemoryStore, new: NewTask) -> TaskId {
    let id = new.id.clone();
    let creation = decide::create(new, &Limits::default(), stamp(0)).unwrap();
    store.create(creation).await.unwrap();
    id
}

async fn act(store: &MemoryStore, id: &TaskId, action: AgentAction, second: i64) {
    let head = store.head(id).await.unwrap().unwrap();
    let change = decide::act(&head, action, &Limits::default(), stamp(second)).unwrap();
    store.commit(change).await.unwrap();
}

async fn finish(store: &MemoryStore, id: &TaskId, second: i64) {
    act(store, id, AgentAction::Move(Move::Complete, None), second).await;
}

async fn finished(store: &MemoryStore, name: &str, tenant: Option<&str>, second: i64) -> TaskId {
    let new = NewTask {
        scope: scope(tenant, None),
        ..new_task(TaskId::new(name))
    };
    let id = create(store, new).await;
    finish(store, &id, second).await;
    id
}

async fn append(store: &MemoryStore, id: &TaskId, text: &str) {
    let update = AgentAction::UpdateArtifact {
        artifact: artifact("a", text),
        append: true,
        last_chunk: false,
    };
    act(store, id, update, 0).await;
}

async fn held(store: &MemoryStore) -> Vec<String> {
    let rows = store.all(None, 100_000).await.unwrap();
    rows.into_iter().map(|row| row.task.id.to_string()).collect()
}

fn sizes(store: &MemoryStore) -> Sizes {
    store.read_shelves().sizes()
}

#[tokio::test]
async fn the_oldest_finished_tasks_of_a_tenant_leave_when_it_has_too_many() {
    let store = MemoryStore::new(Settings {
        finished_per_tenant: 2,
        ..Settings::default()
    });
    finished(&store, "late", Some("acme"), 30).await;
    finished(&store, "early", Some("acme"), 10).await;
    finished(&store, "of another tenant", Some("other"), 1).await;
    create(
        &store,
        NewTask {
            scope: scope(Some("acme"), None),
            ..new_task(TaskId::new("live"))
        },
    )
    .await;
    assert_eq!(store.retired(), Retired::default());

    finished(&store, "later", Some("acme"), 40).await;

    assert_eq!(held(&store).await, ["late", "later", "live", "of another tenant"]);
    let retired = Retired {
        over_count: 1,
        ..Retired::default()
    };
    assert_eq!(store.retired(), retired);
}

#[tokio::test]
async fn the_oldest_finished_tasks_of_all_leave_when_they_take_too_many_bytes() {
    let store = MemoryStore::new(Settings {
        finished_bytes: 100_000,
        ..Settings::default()
    });
    let live = create(&store, new_task(TaskId::new("live"))).await;
    append(&store, &live, &"x".repeat(200_000)).await;
    for second in 0..4_i64 {
        finished(
            &store,
            &format!("small {second}"),
            Some(&format!("tenant {second}")),
            second,
        )
        .await;
    }
    assert_eq!(held(&store).await.len(), 5, "what is live does not count");
    let large = create(&store, new_task(TaskId::new("large"))).await;
    append(&store, &large, &"x".repeat(45_000)).await;

    finish(&store, &large, 10).await;

    let kept = held(&store).await;
    assert!(
        kept.contains(&"large".to_owned()) && kept.contains(&"small 3".to_owned()),
        "{kept:?}"
    );
    assert!(!kept.contains(&"small 0".to_owned()), "{kept:?}");
    let left = u64::try_from(6 - kept.len()).unwrap();
    assert_eq!(store.retired().over_bytes, left);
    assert!(sizes(&store).retention[2] <= 100_000);
}

#[tokio::test]
async fn a_task_that_is_too_large_to_be_kept_leaves_when_it_finishes_and_its_followers_hear_the_end() {
    let store = MemoryStore::new(Settings {
        finished_bytes: 10_000,
        ..Settings::default()
    });
    let id = create(&store, new_task(TaskId::new("large"))).await;
    let mut follower = store.follow(&id).await.unwrap().unwrap();
    append(&store, &id, &"x".repeat(20_000)).await;
    finish(&store, &id, 1).await;
    let told = follower.wait_for(|pulse| pulse.state.is_terminal()).await.is_ok();
    assert!(told, "the last pulse is told before the channel closes");
    assert!(follower.has_changed().is_err(), "the channel is closed");
    assert!(matches!(
        store.log(&id, Cursor::START, 10).await,
        Ok(LogRead::Gone)
    ));
    assert_eq!(sizes(&store), Sizes::default());
}

#[tokio::test]
async fn a_sweep_removes_finished_tasks_whose_time_is_over_and_no_live_one() {
    let store = MemoryStore::new(Settings {
        finished_kept: Duration::from_secs(60),
        ..Settings::default()
    });
    create(&store, new_task(TaskId::new("live"))).await;
    finished(&store, "second 0", None, 0).await;
    finished(&store, "second 1", None, 1).await;
    let all = Held { live: 1, finished: 2 };
    assert_eq!(store.held(), all);
    assert_eq!(store.sweep(moment(59)), 0);
    assert_eq!(store.sweep(moment(60)), 1);
    assert_eq!(held(&store).await, ["live", "second 1"]);
    assert_eq!(store.sweep(moment(1_000_000)), 1);
    assert_eq!(held(&store).await, ["live"]);
    let retired = Retired {
        over_age: 2,
        ..Retired::default()
    };
    assert_eq!(store.retired(), retired);
}

#[tokio::test]
async fn ten_thousand_tasks_that_came_and_went_leave_nothing_behind() {
    let store = MemoryStore::new(Settings {
        finished_per_tenant: 100,
        finished_kept: Duration::from_secs(60),
        ..Settings::default()
    });
    for number in 0..10_000 {
        let id = TaskId::new(format!("task {number}"));
        let new = NewTask {
            context_id: ContextId::new(format!("context {number}")),
            scope: scope(
                Some(&format!("tenant {}", number % 10)),
                Some(&format!("owner {number}")),
            ),
            hidden: number % 4 == 0,
            config: Some(config(&id, "hook")),
            ..new_task(id)
        };
        let id = create(&store, new).await;
        let follower = store.follow(&id).await.unwrap();
        append(&store, &id, "text").await;
        drop(follower);
        if number % 8 == 0 {
            assert!(store.discard(&id).await.unwrap());
        } else {
            finish(&store, &id, number).await;
        }
    }
    let held = sizes(&store);
    assert_eq!((held.tasks, held.configs), ([1_000, 1_000], [1_000, 1_000]));
    assert!(
        held.scopes <= 1_000 && held.retention[..2] == [10, 1_000],
        "{held:?}"
    );

    store.sweep(moment(1_000_000));

    assert_eq!(sizes(&store), Sizes::default());
}

#[tokio::test]
async fn a_log_drops_its_oldest_entries_over_the_bound_on_bytes_but_never_the_newest() {
    let store = MemoryStore::new(Settings {
        log_bytes: 5_000,
        ..Settings::default()
    });
    let id = create(&store, new_task(TaskId::new("task"))).await;
    for _ in 0..10 {
        append(&store, &id, &"x".repeat(1_000)).await;
    }
    assert!(matches!(
        store.log(&id, Cursor::START, 10).await,
        Ok(LogRead::Gone)
    ));
    assert!(
        matches!(store.log(&id, place(7), 10).await, Ok(LogRead::Entries(entries)) if entries.len() == 4)
    );
    append(&store, &id, &"x".repeat(50_000)).await;
    assert!(matches!(store.log(&id, place(10), 10).await, Ok(LogRead::Gone)));
    assert!(
        matches!(store.log(&id, place(11), 10).await, Ok(LogRead::Entries(entries)) if entries.len() == 1)
    );
    assert_eq!(store.record(&id).unwrap().log_entries(), 1);
}

/// Where the held artifact lies in memory; it moves when it is copied.
fn address(store: &MemoryStore, id: &TaskId) -> usize {
    let view = store.record(id).unwrap().view();
    Arc::as_ptr(&view.task.artifacts[0]).addr()
}

#[tokio::test]
async fn an_artifact_is_copied_once_after_a_read_and_not_for_each_chunk() {
    let store = MemoryStore::default();
    let id = create(&store, new_task(TaskId::new("task"))).await;
    append(&store, &id, "one").await;
    append(&store, &id, "two").await;
    let own = address(&store, &id);
    for _ in 0..100 {
        append(&store, &id, "more").await;
        assert_eq!(address(&store, &id), own, "nobody reads, nothing is copied");
    }
    let reader = store.read(&id).await.unwrap().unwrap();
    append(&store, &id, "more").await;
    let copied = address(&store, &id);
    assert_ne!(copied, own, "what the reader holds does not change");
    for _ in 0..100 {
        append(&store, &id, "more").await;
        assert_eq!(
            address(&store, &id),
            copied,
            "the reader holds the former one alone"
        );
    }
    assert_eq!(reader.task.artifacts[0].parts.len(), 102);
}

#[tokio::test]
async fn a_channel_for_followers_is_there_only_while_somebody_follows() {
    let store = MemoryStore::default();
    let id = create(&store, new_task(TaskId::new("task"))).await;
    let is_followed = || store.record(&id).unwrap().is_followed();
    append(&store, &id, "one").await;
    assert!(!is_followed());
    let follower = store.follow(&id).await.unwrap();
    append(&store, &id, "two").await;
    assert!(is_followed());
    drop(follower);
    append(&store, &id, "three").await;
    assert!(!is_followed());
}

#[tokio::test]
async fn a_report_in_the_state_held_moves_a_task_and_leaves_no_second_place() {
    let store = MemoryStore::default();
    let id = create(&store, new_task(TaskId::new("task"))).await;
    for second in 1..5 {
        act(
            &store,
            &id,
            AgentAction::ReportProgress(Some(agent_message("on"))),
            second,
        )
        .await;
    }
    finish(&store, &id, 6).await;
    assert_eq!(store.sweep(moment(1_000_000)), 1);
    assert_eq!(sizes(&store), Sizes::default());
}

#[tokio::test]
async fn a_configuration_that_is_replaced_or_deleted_leaves_no_row() {
    let store = MemoryStore::default();
    let id = create(&store, new_task(TaskId::new("task"))).await;
    for row in ["first row", "second row"] {
        let mut hook = config(&id, "hook");
        hook.row = PushNotificationConfigRow::new(row);
        store.put_config(ConfigPut::new(hook, 10)).await.unwrap();
        assert_eq!(sizes(&store).configs, [1, 1], "{row}");
    }
    let hook = PushNotificationConfigId::new("hook");
    assert!(store.delete_config(&id, &hook).await.unwrap());
    assert_eq!(sizes(&store).configs, [0, 0]);
}
