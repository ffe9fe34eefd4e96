//! A change that brings a configuration: both are applied, or neither.

use gateway_domain::{
    TaskId,
    decide::{NewTask, take_message},
    ports::{Change, CommitError, ConfigPut},
    push::StoredConfig,
};

use super::Bench;
use crate::build::{config, new_task, user_message};

/// A further message with a configuration.
async fn change(bench: &Bench, task: &TaskId, config: &StoredConfig, most: usize) -> Change {
    let stamp = bench.stamp(1);
    let put = ConfigPut::new(config.clone(), most);
    let taken = bench.change(task, |head, limits| {
        take_message(head, user_message("further"), limits, stamp)
    });
    Change {
        config: Some(put),
        ..taken.await
    }
}

async fn stored(bench: &Bench, task: &TaskId) -> Vec<StoredConfig> {
    bench.reader().configs(task, None, 100).await.unwrap()
}

pub async fn a_change_brings_its_configuration(bench: &Bench) {
    let task = bench.visible_task(0).await;
    let hook = config(&task, "hook");
    let change = change(bench, &task, &hook, 1).await;
    bench.writer().commit(change).await.unwrap();
    assert_eq!(stored(bench, &task).await, std::slice::from_ref(&hook));
    assert_eq!(bench.reader().all_configs(None, 10).await.unwrap(), [hook]);
    assert_eq!(bench.read(&task).await.task.history.len(), 2);
}

pub async fn a_change_whose_configuration_is_over_the_limit_is_not_applied(bench: &Bench) {
    let task = bench.task_id();
    let first = config(&task, "first");
    let new = NewTask {
        config: Some(first.clone()),
        ..new_task(task.clone())
    };
    bench.create(new, 0).await;
    let before = bench.head(&task).await;
    let change = change(bench, &task, &config(&task, "second"), 1).await;
    let refused = bench.writer().commit(change).await;
    assert!(matches!(refused, Err(CommitError::ConfigLimit)), "{refused:?}");
    assert_eq!(bench.head(&task).await, before);
    assert_eq!(stored(bench, &task).await, [first]);
}

pub async fn a_change_may_replace_a_configuration_at_the_limit(bench: &Bench) {
    let task = bench.visible_task(0).await;
    bench
        .writer()
        .put_config(ConfigPut::new(config(&task, "hook"), 1))
        .await
        .unwrap();
    let mut next = config(&task, "hook");
    next.row = gateway_domain::PushNotificationConfigRow::new("another row");
    next.config.url = "https://receiver.example/moved".to_owned();
    let change = change(bench, &task, &next, 1).await;
    bench.writer().commit(change).await.unwrap();
    assert_eq!(stored(bench, &task).await, std::slice::from_ref(&next));
    assert_eq!(bench.reader().all_configs(None, 10).await.unwrap(), [next]);
}

pub async fn a_change_that_conflicts_stores_no_configuration(bench: &Bench) {
    let task = bench.visible_task(0).await;
    let late = change(bench, &task, &config(&task, "hook"), 10).await;
    bench.take_message(&task, "first").await;
    let refused = bench.writer().commit(late).await;
    assert!(matches!(refused, Err(CommitError::Conflict)), "{refused:?}");
    assert_eq!(stored(bench, &task).await, []);
}

pub async fn the_limit_is_exact_under_16_concurrent_changes_with_a_configuration(bench: &Bench) {
    const MOST: usize = 5;
    let task = bench.visible_task(0).await;
    let changes = (0..16).map(|number| {
        let (bench, task) = (bench.clone(), task.clone());
        tokio::spawn(async move {
            let hook = config(&task, &format!("hook {number}"));
            loop {
                let change = change(&bench, &task, &hook, MOST).await;
                match bench.writer().commit(change).await {
                    Ok(_) => return true,
                    Err(CommitError::Conflict) => {}
                    Err(CommitError::ConfigLimit) => return false,
                    Err(other) => panic!("{other:?}"),
                }
            }
        })
    });
    let mut taken = 0;
    for change in changes.collect::<Vec<_>>() {
        taken += usize::from(change.await.unwrap());
    }
    assert_eq!(taken, MOST);
    assert_eq!(stored(bench, &task).await.len(), MOST);
    assert_eq!(
        bench.read(&task).await.task.history.len(),
        1 + MOST,
        "no message without its configuration"
    );
}
