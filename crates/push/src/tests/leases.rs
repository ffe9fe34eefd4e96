//! Several couriers over one store: a delivery goes on when its replica ends, and ends where its configuration does.

use std::{sync::Arc, time::Duration};

use gateway_domain::{Version, lifecycle::Move, ports::Webhooks};
use gateway_testkit::receiver::{Answer, Receiver};

use super::{
    deployment::{Deployment, LATER},
    support::{quick, until, with_long_pauses},
};
use crate::Settings;

/// What a receiver was told, what came once more right after itself once.
fn told(hook: &Receiver) -> Vec<String> {
    let mut news = hook.news();
    news.dedup();
    news
}

#[tokio::test]
async fn a_delivery_whose_replica_is_killed_goes_on_elsewhere_after_the_last_event_that_was_noted() {
    let hook = Receiver::willing().await;
    let deployment = Deployment::new().await;
    let mut one = deployment.replica("one", quick());
    let two = deployment.replica("two", quick());
    deployment.call(&one, &hook).await;
    deployment.chunks(&["1", "2", "3"]).await;
    hook.calls(3).await;
    one.kill();
    deployment.chunks(&["4", "5"]).await;
    assert_eq!(two.courier.followers(), 0, "the lease has not run out");
    deployment.clock.jump(LATER);
    hook.calls(5).await;
    deployment.bench.step(Move::Complete).await;
    two.follows(0).await;
    assert_eq!(told(&hook), ["1", "2", "3", "4", "5", "TASK_STATE_COMPLETED"]);
    assert!(hook.so_far().len() <= 7, "once more at the seam only");
    until(&two.keeper, |keeper| keeper.count() == 0).await;
    assert_eq!(deployment.left().await, 0);
}

#[tokio::test]
async fn a_receiver_that_is_down_does_not_lose_its_place_with_the_replica_that_waits_for_it() {
    let (open, gate) = tokio::sync::watch::channel(false);
    let hook = Receiver::new(move |_| Answer::Status(if *gate.borrow() { 200 } else { 503 })).await;
    let deployment = Deployment::new().await;
    let mut one = deployment.replica("one", with_long_pauses());
    deployment.call(&one, &hook).await;
    deployment.chunks(&["1", "2"]).await;
    until(&one.courier, |courier| courier.retrying() == 1).await;
    one.kill();
    open.send(true).unwrap();
    let two = deployment.replica("two", with_long_pauses());
    deployment.clock.jump(LATER);
    hook.calls(3).await;
    assert_eq!(hook.news(), ["1", "1", "2"]);
    assert_eq!(two.courier.followers(), 1);
}

#[tokio::test]
async fn what_the_log_no_longer_holds_when_another_replica_goes_on_is_told_as_the_task_that_came_of_it() {
    let hook = Receiver::willing().await;
    let deployment = Deployment::keeping(gateway_testkit::store::Settings {
        log_entries: 2,
        ..gateway_testkit::store::Settings::default()
    })
    .await;
    let mut one = deployment.replica("one", quick());
    deployment.call(&one, &hook).await;
    one.kill();
    deployment.chunks(&["1", "2", "3", "4", "5"]).await;
    let two = deployment.replica("two", quick());
    deployment.clock.jump(LATER);
    hook.calls(1).await;
    deployment.bench.step(Move::Complete).await;
    hook.calls(2).await;
    two.follows(0).await;
    assert_eq!(hook.news(), ["TASK_STATE_SUBMITTED", "TASK_STATE_COMPLETED"]);
    let task = &hook.so_far()[0].body["task"];
    assert_eq!(task["artifacts"][0]["parts"].as_array().unwrap().len(), 5);
    assert_eq!(two.courier.counts().gaps(), 1);
}

#[tokio::test]
async fn a_replica_that_leaves_hands_over_at_once_what_it_waits_with() {
    let (open, gate) = tokio::sync::watch::channel(false);
    let hook = Receiver::new(move |_| Answer::Status(if *gate.borrow() { 200 } else { 503 })).await;
    let deployment = Deployment::new().await;
    let one = deployment.replica("one", with_long_pauses());
    let two = deployment.replica("two", quick());
    deployment.call(&one, &hook).await;
    deployment.chunks(&["1", "2"]).await;
    until(&one.courier, |courier| courier.retrying() == 1).await;
    open.send(true).unwrap();
    one.leave().await;
    assert_eq!((one.courier.followers(), one.keeper.count()), (0, 0));
    hook.calls(3).await;
    assert_eq!(hook.news(), ["1", "1", "2"]);
    deployment.bench.step(Move::Complete).await;
    two.follows(0).await;
}

#[tokio::test]
async fn a_replica_that_leaves_ends_the_call_that_hangs_and_another_makes_it_again() {
    let hook = Receiver::new(|number| {
        if number == 1 {
            Answer::Hang
        } else {
            Answer::Status(200)
        }
    })
    .await;
    let deployment = Deployment::new().await;
    let patient = Settings {
        timeout: Duration::from_secs(3_000),
        ..quick()
    };
    let one = deployment.replica("one", patient);
    deployment.call(&one, &hook).await;
    deployment.chunks(&["1", "2", "3"]).await;
    hook.calls(2).await;
    let _two = deployment.replica("two", quick());
    one.keeper.drain(Duration::from_millis(10)).await;
    one.follows(0).await;
    hook.calls(4).await;
    assert_eq!(hook.news(), ["1", "2", "2", "3"]);
}

#[tokio::test]
async fn a_replica_that_is_cut_off_lets_go_and_what_it_sent_last_is_all_that_is_sent_again() {
    let hook = Receiver::willing().await;
    let deployment = Deployment::new().await;
    let one = deployment.replica_with("one", quick(), Duration::from_millis(200));
    deployment.call(&one, &hook).await;
    deployment.chunks(&["1"]).await;
    hook.calls(1).await;
    one.way.cut();
    deployment.chunks(&["2", "3"]).await;
    one.follows(0).await;
    let two = deployment.replica("two", quick());
    hook.calls(3).await;
    one.way.mend();
    deployment.bench.step(Move::Complete).await;
    two.follows(0).await;
    assert_eq!(told(&hook), ["1", "2", "3", "TASK_STATE_COMPLETED"]);
}

#[tokio::test]
async fn what_was_deleted_at_another_replica_gets_nothing_more() {
    let hook = Receiver::willing().await;
    let deployment = Deployment::new().await;
    let (one, two) = (
        deployment.replica("one", quick()),
        deployment.replica("two", quick()),
    );
    deployment.call(&one, &hook).await;
    deployment.chunks(&["1"]).await;
    hook.calls(1).await;
    deployment.delete_at(&two).await;
    deployment.chunks(&["2"]).await;
    one.follows(0).await;
    deployment.clock.jump(LATER);
    deployment.chunks(&["3"]).await;
    until(&one.keeper, |keeper| keeper.count() == 0).await;
    assert_eq!(deployment.left().await, 0);
    assert_eq!(hook.news(), ["1"]);
}

#[tokio::test]
async fn what_was_deleted_while_its_replica_was_gone_is_taken_over_by_nobody() {
    let hook = Receiver::willing().await;
    let deployment = Deployment::new().await;
    let mut one = deployment.replica("one", quick());
    let two = deployment.replica("two", quick());
    deployment.call(&one, &hook).await;
    one.kill();
    deployment.chunks(&["1"]).await;
    deployment.delete_at(&two).await;
    deployment.clock.jump(LATER);
    assert_eq!(deployment.left().await, 0);
    assert_eq!((hook.so_far().len(), two.keeper.taken()), (0, 0));
}

#[tokio::test]
async fn a_configuration_that_is_replaced_at_another_replica_is_delivered_from_there() {
    let (old, new) = (
        Receiver::new(|_| Answer::Status(503)).await,
        Receiver::willing().await,
    );
    let deployment = Deployment::new().await;
    let (one, two) = (
        deployment.replica_with("one", with_long_pauses(), Duration::from_millis(200)),
        deployment.replica("two", quick()),
    );
    deployment.call(&one, &old).await;
    deployment.chunks(&["1"]).await;
    until(&one.courier, |courier| courier.retrying() == 1).await;
    deployment.call(&two, &new).await;
    // Though it waits, it learns that its lease is lost.
    one.follows(0).await;
    deployment.chunks(&["2"]).await;
    new.calls(1).await;
    assert_eq!(
        (told(&old), new.news()),
        (vec!["1".to_owned()], vec!["2".to_owned()])
    );
    assert_eq!(two.courier.followers(), 1);
    assert_eq!(deployment.left().await, 1);
}

#[tokio::test]
async fn a_replica_that_has_no_place_leaves_it_to_others_and_looks_again_after_a_rest() {
    let hook = Receiver::willing().await;
    let deployment = Deployment::new().await;
    let mut one = deployment.replica("one", quick());
    let full = deployment.replica(
        "full",
        Settings {
            followers: 1,
            ..quick()
        },
    );
    let taken = full.courier.reserve().unwrap();
    deployment.call(&one, &hook).await;
    one.kill();
    deployment.chunks(&["1"]).await;
    deployment.clock.jump(LATER);
    until(&full.keeper, |keeper| keeper.taken() == 1).await;
    until(&full.keeper, |keeper| keeper.count() == 0).await;
    drop(taken);
    // Many looks go by, and find nothing due.
    tokio::time::sleep(Duration::from_millis(60)).await;
    assert_eq!((full.keeper.taken(), hook.so_far().len()), (1, 0));
    deployment.clock.jump(Duration::from_secs(6));
    hook.calls(1).await;
    assert_eq!((full.keeper.taken(), full.courier.followers()), (2, 1));
}

#[tokio::test]
async fn a_replica_that_is_dropped_does_not_take_what_was_not_delivered_along() {
    let hook = Receiver::willing().await;
    let deployment = Deployment::new().await;
    let mut one = deployment.replica("one", quick());
    deployment.call(&one, &hook).await;
    deployment.chunks(&["1"]).await;
    hook.calls(1).await;
    one.alive = None;
    one.follows(0).await;
    let _two = deployment.replica("two", quick());
    deployment.chunks(&["2"]).await;
    deployment.clock.jump(LATER);
    until(&hook, |hook| told(hook) == ["1", "2"]).await;
}

#[tokio::test]
async fn a_configuration_of_a_task_that_has_ended_leaves_nothing_to_do() {
    let deployment = Deployment::new().await;
    let one = deployment.replica("one", quick());
    deployment.bench.step(Move::Complete).await;
    let config = deployment.bench.plain("hook", "https://hooks.example.com/");
    deployment.configure(&one, config).await;
    one.follows(0).await;
    until(&one.keeper, |keeper| keeper.count() == 0).await;
    assert_eq!(deployment.left().await, 0);
}

#[tokio::test]
async fn of_two_that_are_begun_in_another_order_than_they_were_stored_the_later_one_is_held() {
    let (old, new) = (Receiver::willing().await, Receiver::willing().await);
    let deployment = Deployment::new().await;
    // Nobody waits for the end of such a lease.
    let one = deployment.replica_with("one", quick(), Duration::from_secs(600));
    let plain = |hook: &Receiver| deployment.bench.plain("hook", &hook.url());
    let first = deployment.store(&one, plain(&old)).await;
    let second = deployment.store(&one, plain(&new)).await;
    second.begin().await;
    first.begin().await;
    one.follows(1).await;
    deployment.chunks(&["1"]).await;
    deployment.bench.step(Move::Complete).await;
    one.follows(0).await;
    until(&one.keeper, |keeper| keeper.count() == 0).await;
    assert_eq!((old.so_far().len(), new.news().len()), (0, 2));
    assert_eq!(deployment.left().await, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_replacements_at_the_same_time_exactly_the_stored_one_is_held() {
    let deployment = Arc::new(Deployment::new().await);
    let one = Arc::new(deployment.replica("one", quick()));
    let replacements = (0..50).map(|number| {
        let (deployment, one) = (deployment.clone(), one.clone());
        tokio::spawn(async move {
            let url = format!("https://hooks.example.com/{number}");
            let config = deployment.bench.plain("hook", &url);
            deployment.configure(&one, config).await;
        })
    });
    for replacement in replacements.collect::<Vec<_>>() {
        replacement.await.unwrap();
    }
    one.follows(1).await;
    until(&one.keeper, |keeper| keeper.count() == 1).await;
    deployment.delete_at(&one).await;
    assert_eq!(one.courier.followers(), 0);
    until(&one.keeper, |keeper| keeper.count() == 0).await;
    assert_eq!(deployment.left().await, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn handed_on_from_replica_to_replica_every_event_arrives_in_order() {
    let hook = Receiver::willing().await;
    let deployment = Arc::new(Deployment::new().await);
    let mut serving = deployment.replica("replica 0", quick());
    deployment.call(&serving, &hook).await;
    let writing = deployment.clone();
    let writer = tokio::spawn(async move {
        for number in 0..120 {
            writing.bench.chunk(&number.to_string()).await;
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        writing.bench.step(Move::Complete).await;
    });
    for number in 1..5 {
        hook.calls(number * 20).await;
        let next = deployment.replica(&format!("replica {number}"), quick());
        serving.leave().await;
        serving = next;
    }
    writer.await.unwrap();
    hook.calls(121).await;
    serving.follows(0).await;
    let expected = (0..120).map(|number| number.to_string());
    let expected: Vec<_> = expected.chain(["TASK_STATE_COMPLETED".to_owned()]).collect();
    assert_eq!(
        hook.news(),
        expected,
        "in order, and none twice where none is killed"
    );
    until(&serving.keeper, |keeper| keeper.count() == 0).await;
    assert_eq!(deployment.left().await, 0);
}

#[tokio::test]
async fn a_receiver_of_0_3_is_told_in_its_version_and_of_each_status_by_itself_also_after_a_takeover() {
    let (open, gate) = tokio::sync::watch::channel(false);
    let hook = Receiver::new(move |number| {
        let taken = number == 0 || *gate.borrow();
        Answer::Status(if taken { 200 } else { 503 })
    })
    .await;
    let deployment = Deployment::new().await;
    let mut one = deployment.replica("one", with_long_pauses());
    let mut config = deployment.bench.plain("hook", &hook.url());
    config.config.version = Version::V0_3;
    deployment.configure(&one, config).await;
    let bench = &deployment.bench;
    bench.step(Move::Work).await;
    hook.calls(1).await;
    bench.last_chunk("all").await;
    until(&one.courier, |courier| courier.retrying() == 1).await;
    bench.step(Move::Complete).await;
    one.kill();
    open.send(true).unwrap();
    let two = deployment.replica("two", quick());
    deployment.clock.jump(LATER);
    let calls = hook.calls(4).await;
    two.follows(0).await;
    // The last chunk is told twice, by either replica, as the task stood then.
    assert_eq!(hook.news(), ["working", "working", "working", "completed"]);
    for chunk in &calls[1..3] {
        assert_eq!(chunk.body["artifacts"][0]["parts"].as_array().unwrap().len(), 1);
    }
    assert!(calls.iter().all(|call| call.body["kind"] == "task"));
}
