//! Push-notification configurations: by task and id, all by row, within their limit.

use gateway_domain::{
    PushNotificationConfigId, PushNotificationConfigRow, TaskId,
    decide::NewTask,
    lifecycle::Move,
    ports::{ConfigPut, PutConfigError},
    push::StoredConfig,
};

use super::{Bench, bench::join_pages};
use crate::build::{config, new_task};

const MOST: usize = 10;

fn id(text: &str) -> PushNotificationConfigId {
    PushNotificationConfigId::new(text)
}

async fn put(bench: &Bench, task: &TaskId, name: &str) -> StoredConfig {
    let config = config(task, name);
    bench
        .writer()
        .put_config(ConfigPut::new(config.clone(), MOST))
        .await
        .unwrap();
    config
}

async fn of_task(bench: &Bench, task: &TaskId) -> Vec<StoredConfig> {
    bench.reader().configs(task, None, 100).await.unwrap()
}

async fn all(bench: &Bench) -> Vec<StoredConfig> {
    bench.reader().all_configs(None, 100).await.unwrap()
}

pub async fn a_configuration_reads_back_with_its_secrets(bench: &Bench) {
    let task = bench.visible_task(0).await;
    let put = put(bench, &task, "hook").await;
    let read = bench.reader().config(&task, &id("hook")).await.unwrap();
    assert_eq!(read, Some(put.clone()));
    assert_eq!(of_task(bench, &task).await, std::slice::from_ref(&put));
    assert_eq!(all(bench).await, [put]);
}

pub async fn a_configuration_of_a_task_that_is_not_there_is_refused(bench: &Bench) {
    let nobody = TaskId::new("nobody's");
    let refused = bench
        .writer()
        .put_config(ConfigPut::new(config(&nobody, "hook"), MOST))
        .await;
    assert!(matches!(refused, Err(PutConfigError::NoTask)), "{refused:?}");
    assert_eq!(all(bench).await, []);
}

pub async fn a_configuration_that_is_not_there_is_nothing(bench: &Bench) {
    let task = bench.visible_task(0).await;
    put(bench, &task, "hook").await;
    let nobody = TaskId::new("nobody's");
    assert_eq!(bench.reader().config(&task, &id("other")).await.unwrap(), None);
    assert_eq!(bench.reader().config(&nobody, &id("hook")).await.unwrap(), None);
    assert_eq!(of_task(bench, &nobody).await, []);
}

pub async fn the_limit_refuses_a_further_configuration_but_no_replacement(bench: &Bench) {
    let task = bench.visible_task(0).await;
    let store = bench.writer();
    for name in ["a", "b"] {
        store
            .put_config(ConfigPut::new(config(&task, name), 2))
            .await
            .unwrap();
    }
    let refused = store.put_config(ConfigPut::new(config(&task, "c"), 2)).await;
    assert!(matches!(refused, Err(PutConfigError::Limit)), "{refused:?}");
    store
        .put_config(ConfigPut::new(config(&task, "b"), 2))
        .await
        .unwrap();
    assert_eq!(of_task(bench, &task).await.len(), 2);
    assert_eq!(all(bench).await.len(), 2);
    store.delete_config(&task, &id("a")).await.unwrap();
    store
        .put_config(ConfigPut::new(config(&task, "c"), 2))
        .await
        .unwrap();
}

pub async fn a_replacement_takes_the_place_and_leaves_no_row(bench: &Bench) {
    let task = bench.visible_task(0).await;
    put(bench, &task, "hook").await;
    let mut next = config(&task, "hook");
    next.row = PushNotificationConfigRow::new("another row");
    next.config.url = "https://receiver.example/moved".to_owned();
    next.config.token = None;
    bench
        .writer()
        .put_config(ConfigPut::new(next.clone(), MOST))
        .await
        .unwrap();
    assert_eq!(of_task(bench, &task).await, std::slice::from_ref(&next));
    assert_eq!(all(bench).await, [next]);
}

pub async fn the_limit_is_exact_under_32_concurrent_configurations(bench: &Bench) {
    let task = bench.visible_task(0).await;
    let puts = (0..32).map(|number| {
        let (bench, config) = (bench.clone(), config(&task, &format!("hook {number}")));
        tokio::spawn(async move { bench.writer().put_config(ConfigPut::new(config, MOST)).await })
    });
    let mut stored = 0;
    for put in puts.collect::<Vec<_>>() {
        match put.await.unwrap() {
            Ok(_) => stored += 1,
            Err(PutConfigError::Limit) => {}
            Err(other) => panic!("{other:?}"),
        }
    }
    assert_eq!(stored, MOST);
    assert_eq!(of_task(bench, &task).await.len(), MOST);
}

pub async fn configurations_of_a_task_are_paged_by_id(bench: &Bench) {
    let task = bench.visible_task(0).await;
    let mut stored = Vec::new();
    for name in ["d", "a", "e", "c", "b"] {
        stored.push(put(bench, &task, name).await);
    }
    stored.sort_by_key(|config| config.config.id.clone());
    for most in [1, 2, 5, 6] {
        let read = join_pages(most, async |last: Option<&StoredConfig>| {
            let after = last.and_then(|config| config.config.id.clone());
            bench.reader().configs(&task, after, most).await.unwrap()
        })
        .await;
        assert_eq!(read, stored, "{most} a page");
    }
}

pub async fn all_configurations_are_paged_by_row(bench: &Bench) {
    let mut stored = Vec::new();
    for _ in 0..3 {
        let task = bench.visible_task(0).await;
        for name in ["b", "a"] {
            stored.push(put(bench, &task, name).await);
        }
    }
    stored.sort_by_key(|config| config.row.clone());
    for most in [1, 4, 6, 7] {
        let read = join_pages(most, async |last: Option<&StoredConfig>| {
            let after = last.map(|config| config.row.clone());
            bench.reader().all_configs(after, most).await.unwrap()
        })
        .await;
        assert_eq!(read, stored, "{most} a page");
    }
}

pub async fn a_deleted_configuration_is_gone_and_deleting_again_says_so(bench: &Bench) {
    let task = bench.visible_task(0).await;
    put(bench, &task, "gone").await;
    let kept = put(bench, &task, "kept").await;
    let store = bench.writer();
    assert!(store.delete_config(&task, &id("gone")).await.unwrap());
    assert!(!store.delete_config(&task, &id("gone")).await.unwrap());
    let nobody = TaskId::new("nobody's");
    assert!(!store.delete_config(&nobody, &id("kept")).await.unwrap());
    assert_eq!(bench.reader().config(&task, &id("gone")).await.unwrap(), None);
    assert_eq!(of_task(bench, &task).await, std::slice::from_ref(&kept));
    assert_eq!(all(bench).await, [kept]);
}

pub async fn tasks_do_not_share_their_configurations(bench: &Bench) {
    let (one, other) = (bench.visible_task(0).await, bench.visible_task(0).await);
    let (of_one, of_other) = (put(bench, &one, "hook").await, put(bench, &other, "hook").await);
    assert_eq!(of_task(bench, &one).await, [of_one]);
    bench.writer().delete_config(&one, &id("hook")).await.unwrap();
    assert_eq!(of_task(bench, &other).await, [of_other]);
}

pub async fn a_configuration_does_not_change_its_task(bench: &Bench) {
    let task = bench.visible_task(0).await;
    let before = bench.head(&task).await;
    put(bench, &task, "hook").await;
    bench.writer().delete_config(&task, &id("hook")).await.unwrap();
    assert_eq!(bench.head(&task).await, before);
}

pub async fn a_finished_task_keeps_its_configurations(bench: &Bench) {
    let task = bench.task_id();
    let with = config(&task, "hook");
    let new = NewTask {
        config: Some(with.clone()),
        ..new_task(task.clone())
    };
    bench.create(new, 0).await;
    bench.step(&task, Move::Complete, 1).await;
    assert_eq!(of_task(bench, &task).await, [with]);
    put(bench, &task, "after the end").await;
    assert_eq!(of_task(bench, &task).await.len(), 2);
}
