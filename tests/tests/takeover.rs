//! Programs that end while they do the agent's work: killed, or told to. What they held goes on at another, from what
//! the task holds, and everybody else sees one task.

#![allow(clippy::unwrap_used, reason = "what must not be absent fails the test")]

use std::time::Duration;

use gateway_domain::Operation;
use gateway_testkit::redis::RedisServer;
use gateway_tests::{
    client::{Ask, Driver, Grpc, JsonRpc, LiveStream, Rest},
    process::Process,
    raw::Http,
    samples,
};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

/// Programs over one Redis. The lease is as short as it can be.
fn programs<const COUNT: usize>(lease: &str) -> (RedisServer, [Process; COUNT]) {
    let redis = RedisServer::start();
    let started = [(); COUNT].map(|()| program(&redis, lease, "5"));
    (redis, started)
}

fn program(redis: &RedisServer, lease: &str, losses: &str) -> Process {
    Process::start(&[
        ("STORE__KIND", "redis"),
        ("STORE__REDIS__URL", &redis.url()),
        ("STORE__LEASE", lease),
        ("STORE__LOSSES", losses),
    ])
}

fn clients(process: &Process) -> [Box<dyn Driver>; 3] {
    [
        Box::new(JsonRpc::new(Http::new(process.client))),
        Box::new(Rest::new(Http::new(process.client))),
        Box::new(Grpc::new(process.client)),
    ]
}

fn ask(operation: Operation, params: Value) -> Ask {
    Ask {
        caller: None,
        ..Ask::new(operation, params)
    }
}

/// Begins a task that is answered at once.
async fn begin(client: &dyn Driver, text: &str) -> String {
    let mut params = samples::message(text);
    params["configuration"] = json!({ "returnImmediately": true });
    let sent = client.call(&ask(Operation::SendMessage, params)).await.reply();
    sent.json["task"]["id"].as_str().unwrap().to_owned()
}

async fn get(client: &dyn Driver, id: &str) -> Value {
    let read = client.call(&ask(Operation::GetTask, json!({ "id": id }))).await;
    read.reply().json
}

async fn subscribe(client: &dyn Driver, id: &str) -> LiveStream {
    let subscribed = client
        .call(&ask(Operation::SubscribeToTask, json!({ "id": id })))
        .await;
    subscribed.stream()
}

fn state(task: &Value) -> &str {
    task["status"]["state"].as_str().unwrap()
}

fn texts(artifact: &Value) -> Vec<String> {
    let parts = artifact["parts"].as_array().into_iter().flatten();
    parts
        .map(|part| part["text"].as_str().unwrap().to_owned())
        .collect()
}

fn chunks(count: usize) -> Vec<String> {
    (1..=count)
        .map(|number| format!("chunk {number} of {count}\n"))
        .collect()
}

/// Waits for so many chunks.
async fn until(client: &dyn Driver, id: &str, least: usize) {
    while texts(&get(client, id).await["artifacts"][0]).len() < least {
        sleep(Duration::from_millis(20)).await;
    }
}

async fn ended(client: &dyn Driver, id: &str) -> Value {
    loop {
        let task = get(client, id).await;
        if !["TASK_STATE_WORKING", "TASK_STATE_SUBMITTED"].contains(&state(&task)) {
            return task;
        }
        sleep(Duration::from_millis(50)).await;
    }
}

/// Every chunk that a stream shows, those of the first task included, and the states it went through.
async fn read_to_the_end(mut stream: LiveStream) -> (Vec<String>, Vec<String>) {
    let (mut seen, mut states) = (Vec::new(), Vec::new());
    while let Some(event) = stream.next().await {
        let event = event.unwrap().json;
        if let Some(task) = event.get("task") {
            seen.extend(texts(&task["artifacts"][0]));
            states.push(state(task).to_owned());
        } else if let Some(update) = event.get("artifactUpdate") {
            seen.extend(texts(&update["artifact"]));
        } else {
            states.push(state(&event["statusUpdate"]).to_owned());
        }
    }
    (seen, states)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_runs_of_a_program_that_is_killed_go_on_at_another_and_each_event_is_seen_once() {
    let (_redis, [mut one, two, three]) = programs::<3>("1 s");
    let (begins, others) = (clients(&one), [clients(&two), clients(&three)]);
    let (mut tasks, mut readers) = (Vec::new(), Vec::new());
    for (number, client) in begins.iter().enumerate() {
        let id = begin(&**client, "chunks 40 0.1").await;
        let stream = subscribe(&*others[number % 2][number], &id).await;
        readers.push(tokio::spawn(read_to_the_end(stream)));
        tasks.push(id);
    }
    for id in &tasks {
        until(&*others[0][1], id, 3).await;
    }
    one.signal("KILL");
    one.ended().await;
    let killed = Instant::now();
    for (number, id) in tasks.iter().enumerate() {
        let done = ended(&*others[1][number], id).await;
        assert_eq!(state(&done), "TASK_STATE_COMPLETED");
        assert_eq!(texts(&done["artifacts"][0]), chunks(40));
    }
    // A lease of a second, a look each second, four seconds of work; the rest is for a machine that is busy.
    assert!(
        killed.elapsed() < Duration::from_secs(30),
        "{:?}",
        killed.elapsed()
    );
    for reader in readers {
        let (seen, states) = reader.await.unwrap();
        assert_eq!(seen, chunks(40));
        assert_eq!(states.last().map(String::as_str), Some("TASK_STATE_COMPLETED"));
        let ends = states.iter().filter(|state| *state == "TASK_STATE_COMPLETED");
        assert_eq!(ends.count(), 1);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_program_that_is_told_to_end_hands_its_runs_over_instead_of_ending_with_them() {
    // Nobody waits for a lease of this length to run out.
    let (_redis, [mut one, two]) = programs::<2>("10 min");
    let (begins, others) = (clients(&one), clients(&two));
    let mut tasks = Vec::new();
    for client in &begins {
        tasks.push(begin(&**client, "chunks 40 0.1").await);
    }
    let waiting = begin(&*begins[0], "work 1").await;
    for id in &tasks {
        until(&*others[1], id, 3).await;
    }
    one.signal("TERM");
    assert_eq!(one.ended().await.code(), Some(0), "{}", one.said());
    for (id, client) in tasks.iter().zip(&others) {
        let done = ended(&**client, id).await;
        assert_eq!(texts(&done["artifacts"][0]), chunks(40));
    }
    assert_eq!(state(&ended(&*others[0], &waiting).await), "TASK_STATE_COMPLETED");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_of_one_program_is_canceled_at_another_and_nothing_of_it_comes_afterwards() {
    let (_redis, [one, two]) = programs::<2>("15 s");
    for (begins, cancels) in clients(&one).into_iter().zip(clients(&two)) {
        let id = begin(&*begins, "chunks 100 0.05").await;
        let watched = [subscribe(&*begins, &id).await, subscribe(&*cancels, &id).await];
        until(&*cancels, &id, 2).await;
        let asked = Instant::now();
        let canceled = cancels
            .call(&ask(Operation::CancelTask, json!({ "id": id })))
            .await;
        let canceled = canceled.reply().json;
        assert_eq!(state(&canceled), "TASK_STATE_CANCELED");
        // An agent that does not answer would be waited for three seconds.
        assert!(
            asked.elapsed() < Duration::from_millis(2_900),
            "{:?}",
            asked.elapsed()
        );
        for stream in watched {
            let (seen, states) = read_to_the_end(stream).await;
            assert_eq!(states.last().map(String::as_str), Some("TASK_STATE_CANCELED"));
            assert_eq!(seen, texts(&canceled["artifacts"][0]));
        }
        sleep(Duration::from_millis(200)).await;
        assert_eq!(get(&*begins, &id).await, canceled);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_that_is_lost_with_every_program_that_has_it_fails_its_task_and_no_program_takes_it_again() {
    let redis = RedisServer::start();
    let start = || program(&redis, "2 s", "1");
    let mut first = start();
    let id = begin(&*clients(&first)[0], "work 600").await;
    while state(&get(&*clients(&first)[0], &id).await) != "TASK_STATE_WORKING" {
        sleep(Duration::from_millis(20)).await;
    }
    first.signal("KILL");
    first.ended().await;
    let mut second = start();
    while taken_over(&second).await == 0 {
        sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(
        state(&get(&*clients(&second)[1], &id).await),
        "TASK_STATE_WORKING"
    );
    second.signal("KILL");
    second.ended().await;
    let last = start();
    for client in clients(&last) {
        let failed = ended(&*client, &id).await;
        assert_eq!(state(&failed), "TASK_STATE_FAILED");
        let said = failed["status"]["message"]["parts"][0]["text"].as_str().unwrap();
        assert!(said.contains("lost too often"), "{said}");
    }
}

/// How much a program has taken over, as its metrics say.
async fn taken_over(process: &Process) -> u64 {
    let metrics = Http::new(process.admin).get("/metrics").await;
    let text = String::from_utf8_lossy(&metrics.body).into_owned();
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("a2a_gateway_leases_taken_total "));
    line.and_then(|number| number.parse().ok()).unwrap_or_default()
}
