//! What streams promise together with reads (§3.1.6, §3.5.2): no gap, no repetition, nothing newer than what is
//! stored, whoever comes and goes.

#![allow(clippy::unwrap_used, reason = "what must not be absent fails the test")]

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use gateway_domain::{Binding, ErrorKind, Operation, lifecycle::Move};
use gateway_testkit::agent::{Gate, Script, Step};
use gateway_tests::{
    client::{Answer, Ask, Driver, LiveStream},
    gateway::Gateway,
    profile::Profile,
    raw::PATIENCE,
    samples,
};
use serde_json::{Value, json};

async fn begin(client: &dyn Driver, text: &str) -> String {
    let made = client
        .call(&Ask::new(Operation::SendMessage, samples::at_once(text)))
        .await
        .json();
    made["task"]["id"].as_str().unwrap().to_owned()
}

async fn read(client: &dyn Driver, task: &str) -> Value {
    client
        .call(&Ask::new(Operation::GetTask, json!({ "id": task })))
        .await
        .json()
}

/// Applies events to the task that a stream began with, as a client would.
async fn fold(mut stream: LiveStream) -> Value {
    let mut task = stream.event().await["task"].clone();
    assert!(task.is_object(), "the first event is the task");
    while let Some(event) = stream.next().await {
        let event = event.expect("the stream ends with the task").json;
        if let Some(update) = event.get("statusUpdate") {
            displace(&mut task);
            task["status"] = update["status"].clone();
        } else if let Some(update) = event.get("artifactUpdate") {
            put_artifact(&mut task, update);
        } else {
            panic!("a second task, or a message, in a stream: {event}");
        }
    }
    task
}

/// The message of the former status moves into the history.
fn displace(task: &mut Value) {
    let message = task["status"]["message"].take();
    if !message.is_null() {
        task["history"].as_array_mut().unwrap().push(message);
    }
}

fn put_artifact(task: &mut Value, update: &Value) {
    let artifact = &update["artifact"];
    if task["artifacts"].is_null() {
        task["artifacts"] = json!([]);
    }
    let held = task["artifacts"].as_array_mut().unwrap();
    match held
        .iter_mut()
        .find(|held| held["artifactId"] == artifact["artifactId"])
    {
        Some(held) if update["append"] == true => {
            let parts = artifact["parts"].as_array().unwrap().clone();
            held["parts"].as_array_mut().unwrap().extend(parts);
        }
        Some(held) => *held = artifact.clone(),
        None => held.push(artifact.clone()),
    }
}

/// Updates of both kinds as fast as they can be made, once the gate is open.
fn burst_behind(gate: &Gate) -> Script {
    let updates = (0..500).map(|number| {
        if number % 2 == 0 {
            Step::progress(&format!("update-{number}"))
        } else {
            Step::chunk("a", &format!("{number} "), number > 1, false)
        }
    });
    let begin = [Step::moves(Move::Work), Step::Wait(gate.clone())];
    Script::accept(
        begin
            .into_iter()
            .chain(updates)
            .chain([Step::moves(Move::Complete)]),
    )
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn twenty_streams_that_begin_at_any_moment_each_add_up_to_the_stored_task() {
    let gateway = Gateway::plain().await;
    for first in gateway.clients() {
        let gate = Gate::new();
        gateway.scripted().expect(burst_behind(&gate));
        let task = begin(&*first, "as scripted").await;
        let subscribe = Ask::new(Operation::SubscribeToTask, json!({ "id": task }));
        // One is there from the beginning, however fast the others come.
        let early = tokio::spawn(fold(first.call(&subscribe).await.stream()));
        gate.open();
        let mut following = Vec::new();
        for index in 0..19 {
            let client = gateway.client(Binding::ALL[index % 3]);
            let subscribe = subscribe.clone();
            following.push(tokio::spawn(async move {
                tokio::time::sleep(Duration::from_millis(u64::try_from(index).unwrap() * 2)).await;
                match client.call(&subscribe).await {
                    Answer::Stream(stream) => Some(fold(stream).await),
                    // It came after the end: nothing to follow.
                    answer => {
                        answer.refusal().assert(ErrorKind::UnsupportedOperation);
                        None
                    }
                }
            }));
        }
        let mut folded = vec![early.await.unwrap()];
        for following in following {
            folded.extend(following.await.unwrap());
        }
        let stored = read(&*first, &task).await;
        assert_eq!(stored["status"]["state"], "TASK_STATE_COMPLETED");
        for task in &folded {
            assert_eq!(task, &stored);
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_read_on_the_last_event_is_never_older_than_the_event() {
    let gateway = Gateway::plain().await;
    for run in 0..500 {
        let streaming = gateway.client(Binding::ALL[run % 3]);
        let reading = gateway.client(Binding::ALL[(run + 1) % 3]);
        let ask = Ask::new(Operation::SendStreamingMessage, samples::message("say done"));
        let mut stream = streaming.call(&ask).await.stream();
        let task = stream.event().await["task"]["id"].as_str().unwrap().to_owned();
        let mut last = Value::Null;
        while let Some(event) = stream.next().await {
            last = event.unwrap().json;
        }
        assert_eq!(last["statusUpdate"]["status"]["state"], "TASK_STATE_COMPLETED");
        let stored = read(&*reading, &task).await;
        assert_eq!(stored["status"], last["statusUpdate"]["status"]);
        assert_eq!(stored["artifacts"][0]["parts"][0]["text"], "done");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slow_reader_holds_up_nobody_and_misses_nothing_without_being_told() {
    const UPDATES: usize = 20_000;
    // A reader without a pause of its own may be slower than the agent, which has none either: the log holds it all.
    let gateway = Gateway::start(Profile::plain().set("store.log_entries", "50000")).await;
    let ask = Ask::new(
        Operation::SendStreamingMessage,
        samples::message(&format!("burst {UPDATES}")),
    );
    let mut slow = gateway.client(Binding::HttpJson).call(&ask).await.stream();
    let task = slow.event().await["task"]["id"].as_str().unwrap().to_owned();
    let subscribe = Ask::new(Operation::SubscribeToTask, json!({ "id": task }));
    let fast = [Binding::Grpc, Binding::JsonRpc].map(|binding| gateway.client(binding));
    let over = Arc::new(AtomicBool::new(false));
    let slow = tokio::spawn(in_order(slow, Some(over.clone())));
    let mut reading = Vec::new();
    for client in fast {
        let stream = client.call(&subscribe).await.stream();
        reading.push(tokio::spawn(in_order(stream, None)));
    }
    for reading in reading {
        assert_eq!(reading.await.unwrap(), Ok(UPDATES), "a fast reader");
    }
    over.store(true, Ordering::Relaxed);
    // It has everything in the end, or was told where it stood.
    match slow.await.unwrap() {
        Ok(last) => assert_eq!(last, UPDATES),
        Err(cursor) => assert!(!cursor.is_empty()),
    }
    let stored = read(&*gateway.client(Binding::JsonRpc), &task).await;
    assert_eq!(stored["status"]["state"], "TASK_STATE_COMPLETED");
}

/// Reads numbered updates to the end: the last number, or the cursor at which the stream was cut. Fails on a gap, a
/// repetition, or an end that says nothing. A slow reader hurries once the others are through.
async fn in_order(mut stream: LiveStream, slow: Option<Arc<AtomicBool>>) -> Result<usize, String> {
    let mut last = None;
    loop {
        if slow.as_ref().is_some_and(|over| !over.load(Ordering::Relaxed)) {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        match stream.next().await {
            Some(Ok(event)) => {
                let status = event
                    .json
                    .pointer("/statusUpdate/status")
                    .or_else(|| event.json.pointer("/task/status"));
                let status = status.expect("a status");
                if status["state"] == "TASK_STATE_COMPLETED" {
                    return Ok(last.expect("updates before the end"));
                }
                let text = status.pointer("/message/parts/0/text").and_then(Value::as_str);
                let Some(text) = text else { continue };
                let number: usize = text.split(' ').nth(1).unwrap().parse().unwrap();
                assert!(
                    last.is_none_or(|last| number == last + 1),
                    "{number} after {last:?}"
                );
                last = Some(number);
            }
            Some(Err(refusal)) => {
                refusal.assert(ErrorKind::ResourceExhausted);
                return Err(refusal.metadata["cursor"].clone());
            }
            None => panic!("the stream ended after {last:?} without a word"),
        }
    }
}

#[tokio::test]
async fn a_client_that_leaves_over_any_binding_stops_neither_the_task_nor_others() {
    let gateway = Gateway::plain().await;
    for client in gateway.clients() {
        let gate = Gate::new();
        let chunks = (0..5).map(|number| Step::chunk("a", "x", number > 0, number == 4));
        let steps = [Step::Wait(gate.clone())]
            .into_iter()
            .chain(chunks)
            .chain([Step::moves(Move::Complete)]);
        gateway.scripted().expect(Script::accept(steps));
        let ask = Ask::new(Operation::SendStreamingMessage, samples::message("as scripted"));
        let mut leaving = client.call(&ask).await.stream();
        let task = leaving.event().await["task"]["id"].as_str().unwrap().to_owned();
        let subscribe = Ask::new(Operation::SubscribeToTask, json!({ "id": task }));
        let staying = client.call(&subscribe).await.stream();
        drop(leaving);
        let again = client.call(&subscribe).await.stream();
        gate.open();
        let (staying, again) =
            tokio::time::timeout(PATIENCE, async { (fold(staying).await, fold(again).await) })
                .await
                .expect("both streams end");
        let stored = read(&*client, &task).await;
        assert_eq!((&staying, &again), (&stored, &stored));
        assert_eq!(stored["artifacts"][0]["parts"].as_array().unwrap().len(), 5);
    }
}

#[tokio::test]
async fn a_stream_that_is_open_when_the_gateway_drains_is_told_to_come_back() {
    let gateway = Gateway::plain().await;
    let mut open = Vec::new();
    for client in gateway.clients() {
        let ask = Ask::new(Operation::SendStreamingMessage, samples::at_once("quiet 600"));
        let mut stream = client.call(&ask).await.stream();
        stream.event().await;
        open.push(stream);
    }
    let drained = tokio::spawn(gateway.drain());
    for mut stream in open {
        let refusal = stream
            .next()
            .await
            .expect("a word before the end")
            .expect_err("not an event");
        refusal.assert(ErrorKind::Unavailable);
        assert!(refusal.metadata.contains_key("cursor"));
        assert!(stream.next().await.is_none());
    }
    tokio::time::timeout(PATIENCE, drained)
        .await
        .expect("the drain ends")
        .unwrap();
}
