//! Two gateways on one Redis are one gateway: what is begun at one is read, listed, followed, continued and canceled
//! at the other. What a store promises is tested with the store.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::net::SocketAddr;

use gateway_config::typed::{RedisMode, StoreKind};
use gateway_server::{Assembly, Running, settings};
use gateway_testkit::redis::RedisServer;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

/// Two replicas on a Redis of their own.
struct Deployment {
    replicas: [Running; 2],
    redis: RedisServer,
}

impl Deployment {
    async fn start() -> Self {
        Self::with("").await
    }

    /// With further settings of the store.
    async fn with(further: &str) -> Self {
        let redis = RedisServer::start();
        Self {
            replicas: [replica(&redis, further).await, replica(&redis, further).await],
            redis,
        }
    }

    /// Where clients reach each replica.
    fn clients(&self) -> [SocketAddr; 2] {
        [0, 1].map(|number: usize| self.replicas[number].addresses().client.unwrap())
    }
}

fn configuration(url: &str) -> String {
    format!(
        r#"
        [listeners]
        client.address = "127.0.0.1:0"
        agent.address = "127.0.0.1:0"
        admin.address = "127.0.0.1:0"
        [store]
        kind = "redis"
        redis.url = "{url}"
        "#
    )
}

async fn replica(redis: &RedisServer, further: &str) -> Running {
    let settings = settings::parse(&(configuration(&redis.url()) + further)).unwrap();
    Assembly::new(settings).start().await.unwrap()
}

/// Status, head and body of an answer.
type Answer = (u16, String, String);

async fn begin(at: SocketAddr, verb: &str, path: &str, body: &str) -> TcpStream {
    let mut connection = TcpStream::connect(at).await.unwrap();
    let request = format!(
        "{verb} {path} HTTP/1.1\r\nhost: gateway\r\na2a-version: 1.0\r\nconnection: close\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    connection.write_all(request.as_bytes()).await.unwrap();
    connection
}

async fn call(at: SocketAddr, verb: &str, path: &str, body: &str) -> Answer {
    let mut text = String::new();
    let mut connection = begin(at, verb, path, body).await;
    connection.read_to_string(&mut text).await.unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    (status, head.to_ascii_lowercase(), body.to_owned())
}

async fn get(at: SocketAddr, path: &str) -> Value {
    let (status, _, body) = call(at, "GET", path, "").await;
    assert_eq!(status, 200, "{path}: {body}");
    serde_json::from_str(&body).unwrap()
}

async fn post(at: SocketAddr, path: &str, body: &Value) -> Value {
    let (status, _, answer) = call(at, "POST", path, &body.to_string()).await;
    assert_eq!(status, 200, "{path}: {answer}");
    serde_json::from_str(&answer).unwrap()
}

/// Sends a message, to a task if one is named; answers with the task.
async fn send(at: SocketAddr, text: &str, task: Option<&str>, return_immediately: bool) -> Value {
    let mut message = json!({ "messageId": text, "role": "ROLE_USER", "parts": [{ "text": text }] });
    if let Some(task) = task {
        message["taskId"] = json!(task);
    }
    let configuration = json!({ "returnImmediately": return_immediately });
    let request = json!({ "message": message, "configuration": configuration });
    post(at, "/message:send", &request).await["task"].clone()
}

/// Reads a stream until a text came; answers with all that was read.
async fn read_until(stream: &mut TcpStream, wanted: &str) -> String {
    let mut seen = String::new();
    while !seen.contains(wanted) {
        let mut bytes = [0; 4096];
        let read = stream.read(&mut bytes).await.unwrap();
        assert!(read > 0, "ended early: {seen}");
        seen.push_str(std::str::from_utf8(&bytes[..read]).unwrap());
    }
    seen
}

fn id(task: &Value) -> &str {
    task["id"].as_str().unwrap()
}

fn state(task: &Value) -> &str {
    task["status"]["state"].as_str().unwrap()
}

#[tokio::test]
async fn a_task_of_one_replica_is_read_and_listed_at_the_other_and_pages_go_on_anywhere() {
    let deployment = Deployment::start().await;
    let [one, other] = deployment.clients();
    let mut sent = Vec::new();
    for number in 0..5 {
        let task = send([one, other][number % 2], &format!("say {number}"), None, false).await;
        assert_eq!(state(&task), "TASK_STATE_COMPLETED");
        let seen = get([other, one][number % 2], &format!("/tasks/{}", id(&task))).await;
        assert_eq!(seen, task);
        sent.push(id(&task).to_owned());
    }
    let (mut listed, mut token) = (Vec::new(), String::new());
    for at in [one, other, one] {
        let page = get(at, &format!("/tasks?pageSize=2&pageToken={token}")).await;
        assert_eq!(page["totalSize"], 5);
        listed.extend(
            page["tasks"]
                .as_array()
                .unwrap()
                .iter()
                .map(|task| id(task).to_owned()),
        );
        token = page["nextPageToken"].as_str().unwrap_or_default().to_owned();
    }
    assert_eq!(token, "");
    listed.sort();
    sent.sort();
    assert_eq!(listed, sent);
}

#[tokio::test]
async fn a_subscriber_at_the_other_replica_sees_a_task_to_its_end() {
    let deployment = Deployment::start().await;
    let [one, other] = deployment.clients();
    let task = send(one, "ask 1", None, false).await;
    assert_eq!(state(&task), "TASK_STATE_INPUT_REQUIRED");
    let path = format!("/tasks/{}:subscribe", id(&task));
    let mut stream = begin(other, "GET", &path, "").await;
    let mut seen = read_until(&mut stream, "TASK_STATE_INPUT_REQUIRED").await;
    let answered = send(one, "an answer", Some(id(&task)), false).await;
    assert_eq!(state(&answered), "TASK_STATE_COMPLETED");
    stream.read_to_string(&mut seen).await.unwrap();
    let revisions = seen
        .lines()
        .filter_map(|line| line.strip_prefix("id: ")?.split('-').next()?.parse().ok());
    let revisions: Vec<u64> = revisions.collect();
    assert!(revisions.is_sorted_by(|one, next| one < next), "{seen}");
    assert!(seen.contains("TASK_STATE_COMPLETED"), "{seen}");
}

#[tokio::test]
async fn a_blocking_answer_to_a_question_of_one_replica_is_taken_by_the_other() {
    let deployment = Deployment::start().await;
    let [one, other] = deployment.clients();
    let task = send(one, "ask 1", None, false).await;
    let answered = send(other, "an answer", Some(id(&task)), false).await;
    assert_eq!(
        (id(&answered), state(&answered)),
        (id(&task), "TASK_STATE_COMPLETED")
    );
    assert_eq!(get(one, &format!("/tasks/{}", id(&task))).await, answered);
}

#[tokio::test]
async fn a_task_that_runs_at_one_replica_is_canceled_at_the_other_and_its_stream_ends() {
    let deployment = Deployment::start().await;
    let [one, other] = deployment.clients();
    let task = send(one, "work 600", None, true).await;
    let mut stream = begin(one, "GET", &format!("/tasks/{}:subscribe", id(&task)), "").await;
    let mut seen = read_until(&mut stream, "id: ").await;
    let canceled = post(other, &format!("/tasks/{}:cancel", id(&task)), &json!({})).await;
    assert_eq!(state(&canceled), "TASK_STATE_CANCELED");
    stream.read_to_string(&mut seen).await.unwrap();
    assert!(seen.contains("TASK_STATE_CANCELED"), "{seen}");
    assert_eq!(get(one, &format!("/tasks/{}", id(&task))).await, canceled);
}

#[tokio::test]
async fn whoever_waits_at_one_replica_hears_of_an_end_that_an_agent_reports_at_the_other() {
    let deployment = Deployment::start().await;
    let [one, _] = deployment.clients();
    let agents = deployment.replicas[1].addresses().agent.unwrap();
    let waiting = tokio::spawn(async move { send(one, "work 600", None, false).await });
    // The agent side sees a task before its sender is answered.
    let all = async || get(agents, "/allTasks").await["tasks"].clone();
    let running = loop {
        if let Some(task) = all()
            .await
            .get(0)
            .filter(|task| task["state"] == "TASK_STATE_WORKING")
        {
            break task.clone();
        }
        tokio::task::yield_now().await;
    };
    post(agents, &format!("/tasks/{}:complete", id(&running)), &json!({})).await;
    let answered = waiting.await.unwrap();
    assert_eq!(
        (id(&answered), state(&answered)),
        (id(&running), "TASK_STATE_COMPLETED")
    );
}

/// Leases as short as they can be.
const SHORT: &str = "lease = \"1 s\"";

/// The texts of a task's artifact.
fn given(task: &Value) -> Vec<&str> {
    let parts = task["artifacts"][0]["parts"].as_array();
    let parts = parts.into_iter().flatten();
    parts.filter_map(|part| part["text"].as_str()).collect()
}

fn chunks(count: usize) -> Vec<String> {
    (1..=count)
        .map(|number| format!("chunk {number} of {count}\n"))
        .collect()
}

/// Reads a task until it fits.
async fn until(at: SocketAddr, id: &str, fits: impl Fn(&Value) -> bool) -> Value {
    let path = format!("/tasks/{id}");
    loop {
        let task = get(at, &path).await;
        if fits(&task) {
            return task;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_replica_that_leaves_in_order_hands_its_runs_over_and_none_is_begun_again() {
    // Leases as long as they are by default: nobody waits for one to run out.
    let Deployment {
        replicas: [one, other],
        redis: _redis,
    } = Deployment::start().await;
    let [from, to] = [&one, &other].map(|replica| replica.addresses().client.unwrap());
    let mut tasks = Vec::new();
    for _ in 0..5 {
        let task = send(from, "chunks 40 0.05", None, true).await;
        tasks.push(id(&task).to_owned());
    }
    let path = format!("/tasks/{}:subscribe", tasks[0]);
    let mut stream = begin(to, "GET", &path, "").await;
    until(to, &tasks[0], |task| given(task).len() >= 3).await;
    one.drain().await;
    for task in &tasks {
        let done = until(to, task, |task| state(task) == "TASK_STATE_COMPLETED").await;
        assert_eq!(given(&done), chunks(40));
    }
    let mut seen = String::new();
    stream.read_to_string(&mut seen).await.unwrap();
    for chunk in chunks(40) {
        let text = serde_json::to_string(&chunk).unwrap();
        assert!(seen.matches(&text).count() <= 1, "{chunk} came twice");
    }
    assert!(seen.contains("TASK_STATE_COMPLETED"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_runs_of_a_replica_that_is_gone_go_on_elsewhere_from_the_chunks_held() {
    let Deployment {
        replicas: [one, other],
        redis: _redis,
    } = Deployment::with(SHORT).await;
    let [from, to] = [&one, &other].map(|replica| replica.addresses().client.unwrap());
    let task = send(from, "chunks 60 0.05", None, true).await;
    let waits = send(from, "work 0.5", None, true).await;
    until(to, id(&task), |task| given(task).len() >= 3).await;
    // Without an order: what it runs goes on for a while, and is refused once it was taken over.
    drop(one);
    let done = until(to, id(&task), |task| state(task) == "TASK_STATE_COMPLETED").await;
    assert_eq!(given(&done), chunks(60));
    until(to, id(&waits), |task| state(task) == "TASK_STATE_COMPLETED").await;
}

#[tokio::test]
async fn a_message_and_a_cancel_reach_the_run_at_the_other_replica_and_its_word_comes_back() {
    let deployment = Deployment::start().await;
    let [one, other] = deployment.clients();
    let task = send(one, "work 600", None, true).await;
    until(other, id(&task), |task| state(task) == "TASK_STATE_WORKING").await;
    let further = send(other, "hurry", Some(id(&task)), true).await;
    assert_eq!(further["history"].as_array().unwrap().len(), 2);
    let begun = std::time::Instant::now();
    let canceled = post(other, &format!("/tasks/{}:cancel", id(&task)), &json!({})).await;
    assert_eq!(state(&canceled), "TASK_STATE_CANCELED");
    // A silent holder would be waited for three seconds.
    assert!(begun.elapsed() < std::time::Duration::from_secs(3));
    // The run has stopped: its lease is gone with it.
    let admin = deployment.replicas[0].addresses().admin.unwrap();
    while !call(admin, "GET", "/metrics", "")
        .await
        .2
        .contains("a2a_gateway_leases 0")
    {
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn while_redis_is_away_calls_are_told_to_come_back_and_the_replica_is_ready_for_some_seconds() {
    let mut deployment = Deployment::start().await;
    let [one, _] = deployment.clients();
    let admin = deployment.replicas[0].addresses().admin.unwrap();
    let task = send(one, "say it", None, false).await;
    deployment.redis.kill();
    let (status, head, body) = call(one, "GET", &format!("/tasks/{}", id(&task)), "").await;
    assert_eq!(status, 503, "{body}");
    assert!(head.contains("retry-after:"), "{head}");
    assert_eq!(call(admin, "GET", "/readyz", "").await.0, 200);
    while call(admin, "GET", "/readyz", "").await.0 == 200 {
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    assert_eq!(call(admin, "GET", "/livez", "").await.0, 200);
    deployment.redis.restart();
    while call(admin, "GET", "/readyz", "").await.0 != 200 {
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    assert_eq!(
        state(&send(one, "say it again", None, false).await),
        "TASK_STATE_COMPLETED"
    );
}

#[tokio::test]
async fn a_redis_that_is_not_there_stops_the_start_and_is_named_with_its_setting() {
    let settings = settings::parse(&configuration("redis+unix:///nowhere/socket")).unwrap();
    let Err(error) = Assembly::new(settings).start().await else {
        panic!("it started");
    };
    assert!(error.to_string().contains("store.redis"), "{error}");
}

#[test]
fn the_examples_of_a_replica_can_be_read() {
    for (example, mode) in [
        (include_str!("../../../deploy/redis.toml"), RedisMode::Standalone),
        (
            include_str!("../../../deploy/redis-sentinel.toml"),
            RedisMode::Sentinel,
        ),
        (
            include_str!("../../../deploy/redis-cluster.toml"),
            RedisMode::Cluster,
        ),
    ] {
        let example = settings::parse(example).unwrap();
        assert_eq!(example.store.kind, StoreKind::Redis);
        assert_eq!(example.store.redis.mode, mode);
        assert_eq!(example.store.redis.user.as_deref(), Some("gateway"));
    }
}

const REMEMBERING: &str = "[repeats]\nof = \"everybody\"\n";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_50_equal_sends_to_two_replicas_at_once_one_makes_a_task_and_all_are_answered_with_it() {
    let deployment = Deployment::with(REMEMBERING).await;
    let clients = deployment.clients();
    let (body, direct) = (message("retry-1", "say it"), message("retry-2", "direct"));
    let sends = (0..100).map(|number| {
        let (at, body) = (
            clients[number % 2],
            if number < 50 { &body } else { &direct }.clone(),
        );
        tokio::spawn(async move { post_until_served(at, "/message:send", &body).await })
    });
    let mut answers = Vec::new();
    for sent in sends.collect::<Vec<_>>() {
        answers.push(sent.await.unwrap());
    }
    let (tasks, messages) = answers.split_at(50);
    assert_eq!(state(&tasks[0]["task"]), "TASK_STATE_COMPLETED");
    assert!(tasks.iter().all(|answer| *answer == tasks[0]), "{tasks:?}");
    assert!(
        messages
            .iter()
            .all(|answer| *answer == messages[0] && answer["message"].is_object())
    );
    for at in clients {
        assert_eq!(get(at, "/tasks").await["totalSize"], 1);
    }
}

#[tokio::test]
async fn a_send_that_is_repeated_at_another_replica_waits_for_the_task_of_the_first() {
    let deployment = Deployment::with(REMEMBERING).await;
    let [one, other] = deployment.clients();
    let mut body = message("retry-1", "work 5");
    body["configuration"] = json!({ "returnImmediately": true });
    let task = post(one, "/message:send", &body).await["task"].clone();
    let again = post(other, "/message:send", &body).await["task"].clone();
    assert_eq!(id(&again), id(&task));
    body["configuration"] = json!({});
    let waiting = tokio::spawn(async move { post(other, "/message:send", &body).await });
    let mut stream = begin(one, "GET", &format!("/tasks/{}:subscribe", id(&task)), "").await;
    read_until(&mut stream, "TASK_STATE_WORKING").await;
    let canceled = post(one, &format!("/tasks/{}:cancel", id(&task)), &json!({})).await;
    let answered = waiting.await.unwrap()["task"].clone();
    assert_eq!(
        (id(&answered), state(&answered)),
        (id(&canceled), "TASK_STATE_CANCELED")
    );
    assert_eq!(get(one, "/tasks").await["totalSize"], 1);
}

/// A machine that has much else to do lets Redis answer late: a client that is told to come back does so, and still is
/// the same.
async fn post_until_served(at: SocketAddr, path: &str, body: &Value) -> Value {
    loop {
        let (status, _, answer) = call(at, "POST", path, &body.to_string()).await;
        if status != 503 {
            assert_eq!(status, 200, "{path}: {answer}");
            return serde_json::from_str(&answer).unwrap();
        }
    }
}

fn message(message_id: &str, text: &str) -> Value {
    json!({ "message": { "messageId": message_id, "role": "ROLE_USER", "parts": [{ "text": text }] } })
}

#[tokio::test]
async fn what_is_purged_at_one_replica_is_gone_at_the_other_and_its_streams_end() {
    let deployment = Deployment::start().await;
    let [one, other] = deployment.clients();
    let admin = deployment.replicas[1].addresses().admin.unwrap();
    let running = send(one, "work 600", None, true).await;
    for path in ["/message:send", "/acme/message:send", "/acme/message:send"] {
        post(other, path, &message("m", "say it")).await;
    }
    let mut stream = begin(one, "GET", &format!("/tasks/{}:subscribe", id(&running)), "").await;
    let mut seen = read_until(&mut stream, "id: ").await;
    let purge = async |path: &str| {
        let (status, _, body) = call(admin, "DELETE", path, "").await;
        (status, body.trim().to_owned())
    };
    let took = |tasks: usize| (200, format!(r#"{{"tasks":{tasks},"complete":true}}"#));
    assert_eq!(purge(&format!("/tasks/{}", id(&running))).await, took(1));
    stream.read_to_string(&mut seen).await.unwrap();
    assert!(!seen.contains("TASK_STATE_COMPLETED"), "{seen}");
    assert_eq!(
        call(one, "GET", &format!("/tasks/{}", id(&running)), "").await.0,
        404
    );
    assert_eq!(purge("/tenants/acme").await, took(2));
    assert_eq!(get(one, "/acme/tasks").await["totalSize"], 0);
    let left = &get(one, "/tasks").await["tasks"];
    let context = left[0]["contextId"].as_str().unwrap().to_owned();
    assert_eq!(purge(&format!("/contexts/{context}?tenant=acme")).await, took(0));
    assert_eq!(purge(&format!("/contexts/{context}")).await, took(1));
    assert_eq!(purge("/tenants/").await, took(0));
    assert_eq!(call(admin, "POST", "/tenants/acme", "").await.0, 405);
}
