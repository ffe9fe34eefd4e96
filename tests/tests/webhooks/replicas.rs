//! Deliveries of programs that share a Redis: what one leaves, killed or told to end, another goes on with, and what is
//! deleted or replaced at one gets nothing more from any.

use gateway_domain::{Operation, Version};
use gateway_testkit::{
    receiver::{Answer, Receiver},
    redis::RedisServer,
};
use gateway_tests::{
    client::{Ask, Driver, Grpc, JsonRpc, Rest},
    process::Process,
    raw::Http,
    samples,
};
use serde_json::{Value, json};
use tokio::sync::watch;

use super::{begin, bodies_up_to, call, config, configure, send_with, state};

/// So long a lease that nobody waits for its end.
const LONG: &str = "10 min";
/// So short a one that its end can be waited for, and long enough for a machine that is busy.
const SHORT: &str = "3 s";

fn program(redis: &RedisServer, lease: &str) -> Process {
    Process::start(&[
        ("STORE__KIND", "redis"),
        ("STORE__REDIS__URL", &redis.url()),
        ("STORE__LEASE", lease),
        ("PUSH__ALLOWED_RANGES", "127.0.0.0/8"),
        ("PUSH__FIRST_PAUSE", "50 ms"),
        ("PUSH__LONGEST_PAUSE", "400 ms"),
        ("PUSH__ATTEMPTS", "1000"),
        ("LOGGING__LEVEL", "debug"),
    ])
}

fn programs<const COUNT: usize>(lease: &str) -> (RedisServer, [Process; COUNT]) {
    let redis = RedisServer::start();
    let started = [(); COUNT].map(|()| program(&redis, lease));
    (redis, started)
}

fn clients(process: &Process) -> [Box<dyn Driver>; 3] {
    [
        Box::new(JsonRpc::new(Http::new(process.client))),
        Box::new(Rest::new(Http::new(process.client))),
        Box::new(Grpc::new(process.client)),
    ]
}

/// What a call tells: a chunk's text, else a state.
fn news(body: &Value) -> String {
    let text = body.pointer("/artifactUpdate/artifact/parts/0/text");
    let told = text.and_then(Value::as_str).or_else(|| state(body));
    told.unwrap_or_else(|| panic!("{body}")).to_owned()
}

/// Everything that a task of so many chunks tells.
fn all_of(chunks: usize) -> Vec<String> {
    let begin = ["TASK_STATE_SUBMITTED", "TASK_STATE_WORKING"].map(str::to_owned);
    let texts = (1..=chunks).map(|number| format!("chunk {number} of {chunks}\n"));
    begin
        .into_iter()
        .chain(texts)
        .chain(["TASK_STATE_COMPLETED".to_owned()])
        .collect()
}

/// Everything came, in order, and at most so many events once more, each right after itself.
fn assert_all(bodies: &[Value], chunks: usize, twice: usize) {
    let mut told: Vec<_> = bodies.iter().map(news).collect();
    let calls = told.len();
    told.dedup();
    assert_eq!(told, all_of(chunks));
    assert!(calls <= told.len() + twice, "{calls} calls for {}", told.len());
}

async fn told_of(receiver: &Receiver) -> Vec<Value> {
    bodies_up_to(receiver, "TASK_STATE_COMPLETED").await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn deliveries_of_a_program_that_is_killed_go_on_at_another_and_each_event_arrives_in_order() {
    let (_redis, [mut one, _two, _three]) = programs::<3>(SHORT);
    let mut receivers = Vec::new();
    for client in clients(&one) {
        let receiver = Receiver::willing().await;
        begin(&*client, send_with("chunks 40 0.1", config(&receiver.url()))).await;
        receivers.push(receiver);
    }
    for receiver in &receivers {
        receiver.calls(5).await;
    }
    one.signal("KILL");
    one.ended().await;
    for receiver in &receivers {
        assert_all(&told_of(receiver).await, 40, 1);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_program_that_is_told_to_end_hands_its_deliveries_over_at_once() {
    let (_redis, [mut one, two]) = programs::<2>(LONG);
    let (mut receivers, mut tasks) = (Vec::new(), Vec::new());
    for (client, elsewhere) in clients(&one).iter().zip(clients(&two)) {
        let receivers_of_task = [Receiver::willing().await, Receiver::willing().await];
        // One comes with the task, one is stored at the other replica.
        let task = begin(
            &**client,
            send_with("chunks 40 0.1", config(&receivers_of_task[0].url())),
        )
        .await;
        let at_two = json!({ "taskId": task, "url": receivers_of_task[1].url() });
        configure(&*elsewhere, at_two).await;
        receivers.push(receivers_of_task);
        tasks.push(task);
    }
    for [first, second] in &receivers {
        first.calls(5).await;
        second.calls(1).await;
    }
    one.signal("TERM");
    assert_eq!(one.ended().await.code(), Some(0), "{}", one.said());
    for [first, second] in &receivers {
        // A call that took longer than the program stayed is made once more.
        assert_all(&told_of(first).await, 40, 1);
        let later: Vec<_> = told_of(second).await.iter().map(news).collect();
        assert!(all_of(40).ends_with(&later), "{later:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_deleted_or_replaced_at_one_program_gets_nothing_more_from_the_other() {
    let (_redis, [one, two]) = programs::<2>(LONG);
    for (begins, changes) in clients(&one).into_iter().zip(clients(&two)) {
        let [deleted, new, other] = [
            Receiver::willing().await,
            Receiver::willing().await,
            Receiver::willing().await,
        ];
        let old = Receiver::new(|_| Answer::Status(503)).await;
        let task = begin(&*begins, samples::message("ask 3")).await;
        let at = |id: &str, receiver: &Receiver| json!({ "taskId": task, "id": id, "url": receiver.url() });
        for (id, receiver) in [("d", &deleted), ("r", &old), ("o", &other)] {
            configure(&*begins, at(id, receiver)).await;
        }
        begin(&*begins, samples::further(&task, "blue")).await;
        bodies_up_to(&deleted, "TASK_STATE_INPUT_REQUIRED").await;
        old.calls(2).await;
        let key = json!({ "taskId": task, "id": "d" });
        call(&*changes, Operation::DeleteTaskPushNotificationConfig, key).await;
        configure(&*changes, at("r", &new)).await;
        let (deleted_before, old_before) = (deleted.so_far().len(), old.so_far().len());
        begin(&*begins, samples::further(&task, "green")).await;
        call(&*changes, Operation::CancelTask, json!({ "id": task })).await;
        bodies_up_to(&other, "TASK_STATE_CANCELED").await;
        let to_new = bodies_up_to(&new, "TASK_STATE_CANCELED").await;
        assert_eq!(
            to_new,
            other
                .so_far()
                .into_iter()
                .map(|call| call.body)
                .skip(deleted_before)
                .collect::<Vec<_>>()
        );
        assert_eq!(deleted.so_far().len(), deleted_before);
        // A repetition may have been under way when the other program was asked.
        assert!(old.so_far().len() <= old_before + 1);
    }
}

/// A receiver that fails until it is told to take what comes.
async fn closed() -> (watch::Sender<bool>, Receiver) {
    let (open, gate) = watch::channel(false);
    let answer = move |_| Answer::Status(if *gate.borrow() { 200 } else { 503 });
    (open, Receiver::new(answer).await)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_receiver_that_fails_across_a_restart_gets_what_it_had_not_taken_and_all_that_followed() {
    let (redis, [mut one]) = programs::<1>(SHORT);
    let mut receivers = Vec::new();
    for client in clients(&one) {
        let (open, failing) = closed().await;
        begin(&*client, send_with("chunks 5 0.05", config(&failing.url()))).await;
        failing.calls(2).await;
        receivers.push((open, failing));
    }
    one.signal("KILL");
    one.ended().await;
    let failed: Vec<_> = receivers
        .iter()
        .map(|(_, failing)| failing.so_far().len())
        .collect();
    let _again = program(&redis, SHORT);
    for ((open, failing), failed) in receivers.iter().zip(failed) {
        failing.calls(failed + 1).await;
        open.send(true).unwrap();
        let bodies = told_of(failing).await;
        assert_all(&bodies, 5, bodies.len());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_receiver_that_is_down_while_a_program_is_lost_gets_everything_when_it_is_back() {
    let (_redis, [mut one, _two]) = programs::<2>(SHORT);
    let (open, receiver) = closed().await;
    open.send(true).unwrap();
    let params = send_with("chunks 20 0.05", config(&receiver.url()));
    begin(&*clients(&one)[0], params).await;
    receiver.calls(4).await;
    open.send(false).unwrap();
    receiver.calls(receiver.so_far().len() + 2).await;
    one.signal("KILL");
    one.ended().await;
    // The other has taken over, and fails as well.
    receiver.calls(receiver.so_far().len() + 2).await;
    open.send(true).unwrap();
    let bodies = told_of(&receiver).await;
    assert_all(&bodies, 20, bodies.len());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_webhook_of_version_0_3_is_told_in_it_by_whoever_goes_on_and_its_secrets_stay_out_of_the_log() {
    let (_redis, [mut one, two]) = programs::<2>(LONG);
    let mut receivers = Vec::new();
    for client in clients(&one) {
        let receiver = Receiver::willing().await;
        let mut config = config(&format!("{}?key=SECRET-1", receiver.url()));
        config["token"] = json!("SECRET-2");
        let params = send_with("chunks 30 0.1", config);
        let ask = Ask::new(Operation::SendMessage, params).speaking(Version::V0_3);
        client.call(&ask).await.json();
        receiver.calls(1).await;
        receivers.push(receiver);
    }
    one.signal("TERM");
    assert_eq!(one.ended().await.code(), Some(0), "{}", one.said());
    for receiver in receivers {
        while receiver.news().last().is_none_or(|last| last != "completed") {
            receiver.calls(receiver.so_far().len() + 1).await;
        }
        let mut told = receiver.news();
        told.dedup();
        assert_eq!(told, ["submitted", "working", "completed"]);
        for call in receiver.so_far() {
            assert_eq!(call.header("content-type"), Some("application/json"));
            assert_eq!(call.header("x-a2a-notification-token"), Some("SECRET-2"));
            assert_eq!(call.body["kind"], "task", "{}", call.body);
        }
    }
    assert!(two.said().contains("webhook taken over"), "{}", two.said());
    assert!(!one.said().contains("SECRET") && !two.said().contains("SECRET"));
}
