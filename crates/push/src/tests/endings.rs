//! When delivery ends: with the task, with the configuration, with the process. And how many there are at once.

use std::time::Duration;

use gateway_domain::{
    PushNotificationConfigId,
    lifecycle::Move,
    ports::{ConfigPut, Store, Webhooks},
};
use gateway_testkit::receiver::{Answer, Receiver};

use super::support::{Bench, quick, with_long_pauses};
use crate::Settings;

fn hook_id() -> PushNotificationConfigId {
    PushNotificationConfigId::new("hook")
}

async fn delete(bench: &Bench) {
    assert!(bench.store.delete_config(&bench.task, &hook_id()).await.unwrap());
    bench.courier.deleted(&bench.task, &hook_id()).await;
}

#[tokio::test]
async fn a_configuration_of_a_task_that_has_ended_is_not_followed() {
    let hook = Receiver::willing().await;
    let bench = Bench::new(quick()).await;
    bench.step(Move::Complete).await;
    bench.call("hook", &hook).await;
    bench.nobody_is_followed().await;
    assert_eq!(hook.so_far().len(), 0);
}

#[tokio::test]
async fn a_task_that_is_discarded_is_not_followed_any_more() {
    let bench = Bench::new(quick()).await;
    let hidden = gateway_domain::decide::NewTask {
        hidden: true,
        ..gateway_testkit::build::new_task(gateway_domain::TaskId::new("hidden"))
    };
    let stamp = gateway_domain::decide::Stamp {
        now: gateway_testkit::build::moment(0),
        mark: 0,
    };
    let creation = gateway_domain::decide::create(hidden, &gateway_domain::Limits::default(), stamp);
    bench.store.create(creation.unwrap()).await.unwrap();
    let task = gateway_domain::TaskId::new("hidden");
    let config = gateway_testkit::build::config(&task, "hook");
    bench
        .store
        .put_config(ConfigPut::new(config.clone(), 10))
        .await
        .unwrap();
    bench
        .courier
        .reserve()
        .unwrap()
        .begin(config, gateway_domain::Cursor::START, None)
        .await;
    assert_eq!(bench.courier.followers(), 1);
    assert!(bench.store.discard(&task).await.unwrap());
    bench.nobody_is_followed().await;
}

#[tokio::test]
async fn a_deleted_configuration_gets_nothing_more_not_even_a_repetition_that_waited() {
    let hook = Receiver::new(|_| Answer::Status(503)).await;
    let bench = Bench::new(with_long_pauses()).await;
    bench.call("hook", &hook).await;
    bench.chunk("one").await;
    bench.until(|courier| courier.retrying() == 1).await;
    delete(&bench).await;
    assert_eq!((bench.courier.followers(), bench.courier.retrying()), (0, 0));
    bench.chunk("two").await;
    assert_eq!(hook.news(), ["one"]);
}

#[tokio::test]
async fn a_deletion_does_not_wait_for_a_receiver_that_hangs() {
    let hook = Receiver::new(|_| Answer::Hang).await;
    let bench = Bench::new(Settings {
        timeout: Duration::from_secs(3_000),
        ..quick()
    })
    .await;
    bench.call("hook", &hook).await;
    bench.chunk("one").await;
    hook.calls(1).await;
    delete(&bench).await;
    assert_eq!(bench.courier.followers(), 0);
}

#[tokio::test]
async fn deleting_what_is_not_there_or_not_followed_is_nothing_to_wait_for() {
    let bench = Bench::new(quick()).await;
    bench.courier.deleted(&bench.task, &hook_id()).await;
    bench.step(Move::Complete).await;
    bench
        .configure(bench.plain("hook", "https://hooks.example.com/"))
        .await;
    bench.nobody_is_followed().await;
    delete(&bench).await;
}

#[tokio::test]
async fn nothing_is_sent_to_a_configuration_that_the_store_no_longer_holds() {
    let hook = Receiver::willing().await;
    let bench = Bench::new(quick()).await;
    bench.call("hook", &hook).await;
    // As when the process that was asked to delete it could not tell anybody.
    assert!(bench.store.delete_config(&bench.task, &hook_id()).await.unwrap());
    bench.chunk("one").await;
    bench.nobody_is_followed().await;
    assert_eq!(hook.so_far().len(), 0);
}

#[tokio::test]
async fn a_replaced_configuration_gets_nothing_more_and_its_successor_what_comes_after() {
    let (old, new) = (
        Receiver::new(|_| Answer::Status(503)).await,
        Receiver::willing().await,
    );
    let bench = Bench::new(with_long_pauses()).await;
    bench.call("hook", &old).await;
    bench.chunk("one").await;
    bench.until(|courier| courier.retrying() == 1).await;
    bench.call("hook", &new).await;
    assert_eq!(bench.courier.followers(), 1);
    bench.chunk("two").await;
    new.calls(1).await;
    assert_eq!(
        (old.news(), new.news()),
        (vec!["one".to_owned()], vec!["two".to_owned()])
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_replacements_at_the_same_time_exactly_the_stored_one_is_followed() {
    let bench = std::sync::Arc::new(Bench::new(quick()).await);
    let replacements = (0..50).map(|number| {
        let bench = bench.clone();
        tokio::spawn(async move {
            let url = format!("https://hooks.example.com/{number}");
            bench.configure(bench.plain("hook", &url)).await;
        })
    });
    for replacement in replacements.collect::<Vec<_>>() {
        replacement.await.unwrap();
    }
    assert_eq!(bench.courier.followers(), 1);
    delete(&bench).await;
    assert_eq!(bench.courier.followers(), 0);
}

#[tokio::test]
async fn no_more_are_followed_than_there_are_places_and_an_end_frees_one() {
    let bench = Bench::new(Settings {
        followers: 2,
        ..quick()
    })
    .await;
    bench
        .configure(bench.plain("hook", "https://hooks.example.com/"))
        .await;
    let kept = bench.courier.reserve().unwrap();
    assert!(bench.courier.reserve().is_none());
    drop(kept);
    assert!(bench.courier.reserve().is_some());
    bench
        .configure(bench.plain("another", "https://hooks.example.com/"))
        .await;
    assert!(bench.courier.reserve().is_none());
    delete(&bench).await;
    assert!(bench.courier.reserve().is_some());
}

#[tokio::test]
async fn a_drain_sends_what_is_there_and_waits_for_nothing() {
    let slow = Receiver::willing().await;
    let failing = Receiver::new(|_| Answer::Status(503)).await;
    let bench = Bench::new(with_long_pauses()).await;
    bench.call("slow", &slow).await;
    bench.call("failing", &failing).await;
    bench.chunk("one").await;
    bench.until(|courier| courier.retrying() == 1).await;
    for text in ["two", "three"] {
        bench.chunk(text).await;
    }
    bench.courier.drain(Duration::from_secs(3_000)).await;
    assert_eq!(slow.news(), ["one", "two", "three"]);
    assert_eq!(failing.news(), ["one"]);
    assert!(bench.courier.reserve().is_none(), "nothing begins after it");
}

#[tokio::test]
async fn a_drain_cuts_who_hangs_when_its_patience_is_over() {
    let hook = Receiver::new(|_| Answer::Hang).await;
    let bench = Bench::new(Settings {
        timeout: Duration::from_secs(3_000),
        ..quick()
    })
    .await;
    bench.call("hook", &hook).await;
    bench.chunk("one").await;
    hook.calls(1).await;
    bench.courier.drain(Duration::from_millis(10)).await;
    assert_eq!(bench.courier.followers(), bench.courier.retrying());
}

#[tokio::test]
async fn all_delivery_ends_when_its_owner_is_gone() {
    let bench = Bench::new(quick()).await;
    let owner = bench.courier.stop_guard();
    bench
        .configure(bench.plain("hook", "https://hooks.example.com/"))
        .await;
    assert_eq!(bench.courier.followers(), 1);
    drop(owner);
    bench.nobody_is_followed().await;
}
