//! Events come in the order of the task, each receiver at its own pace.

use std::time::Duration;

use gateway_domain::lifecycle::Move;
use gateway_testkit::receiver::{Answer, Receiver};

use super::support::{Bench, Fixed, quick};
use crate::{Attempt, Settings, client::Trusted};

fn numbers(to: usize) -> Vec<String> {
    (0..to).map(|number| number.to_string()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_receiver_gets_the_events_in_their_order_also_across_a_repetition() {
    let good = Receiver::willing().await;
    let failing_once = Receiver::new(|number| Answer::Status(if number == 2 { 500 } else { 200 })).await;
    let bench = Bench::new(quick()).await;
    bench.call("good", &good).await;
    bench.call("failing once", &failing_once).await;
    for number in numbers(50) {
        bench.chunk(&number).await;
    }
    bench.step(Move::Complete).await;
    bench.nobody_is_followed().await;

    let mut expected = numbers(50);
    expected.push("TASK_STATE_COMPLETED".to_owned());
    assert_eq!(good.news(), expected);
    expected.insert(2, "2".to_owned());
    assert_eq!(failing_once.news(), expected);
}

#[tokio::test]
async fn a_receiver_that_hangs_holds_up_nobody_else_and_is_cut_and_called_again() {
    let hanging = Receiver::new(|_| Answer::Hang).await;
    let good = Receiver::willing().await;
    let bench = Bench::new(Settings {
        timeout: Duration::from_millis(200),
        ..quick()
    })
    .await;
    bench.call("hanging", &hanging).await;
    bench.call("good", &good).await;
    bench.chunk("one").await;
    hanging.calls(1).await;
    bench.step(Move::Complete).await;
    good.calls(2).await;
    hanging.calls(4).await;
    bench.nobody_is_followed().await;
    assert_eq!(good.news(), ["one", "TASK_STATE_COMPLETED"]);
    assert_eq!(
        bench.courier.counts().of_attempt(Attempt::TimedOut),
        8,
        "two events, four times each"
    );
    assert_eq!(
        hanging.news()[..5],
        ["one", "one", "one", "one", "TASK_STATE_COMPLETED"]
    );
}

#[tokio::test]
async fn a_receiver_that_fell_behind_the_log_gets_the_task_as_it_stands() {
    let (open, gate) = tokio::sync::watch::channel(false);
    let hook = Receiver::new(move |_| Answer::Status(if *gate.borrow() { 200 } else { 503 })).await;
    let short_log = gateway_testkit::store::Settings {
        log_entries: 2,
        ..gateway_testkit::store::Settings::default()
    };
    let mut settings = quick();
    settings.retries.attempts = u32::MAX;
    let bench = Bench::with(settings, short_log, Fixed(Vec::new()), Trusted::ByTheMachine).await;
    bench.call("hook", &hook).await;
    bench.chunk("0").await;
    hook.calls(1).await;
    for number in 1..10 {
        bench.chunk(&number.to_string()).await;
    }
    open.send(true).unwrap();
    bench
        .until(|courier| courier.counts().of_attempt(Attempt::Delivered) == 2)
        .await;
    bench.step(Move::Complete).await;
    bench.nobody_is_followed().await;

    let mut news = hook.news();
    news.dedup();
    assert_eq!(news, ["0", "TASK_STATE_SUBMITTED", "TASK_STATE_COMPLETED"]);
    let task = hook
        .so_far()
        .into_iter()
        .find_map(|call| call.body.get("task").cloned())
        .unwrap();
    assert_eq!(task["artifacts"][0]["parts"].as_array().unwrap().len(), 10);
    assert_eq!(bench.courier.counts().gaps(), 1);
}

#[tokio::test]
async fn what_no_client_sees_is_not_sent_either() {
    let hook = Receiver::willing().await;
    let bench = Bench::new(quick()).await;
    bench.call("hook", &hook).await;
    let head = gateway_domain::ports::Store::head(&*bench.store, &bench.task)
        .await
        .unwrap()
        .unwrap();
    let taken = gateway_domain::decide::take_message(
        &head,
        gateway_testkit::build::user_message("further"),
        &gateway_domain::Limits::default(),
        gateway_domain::decide::Stamp {
            now: gateway_testkit::build::moment(1),
            mark: 1,
        },
    );
    gateway_domain::ports::Store::commit(&*bench.store, taken.unwrap())
        .await
        .unwrap();
    bench.step(Move::Complete).await;
    bench.nobody_is_followed().await;
    assert_eq!(hook.news(), ["TASK_STATE_COMPLETED"]);
}
