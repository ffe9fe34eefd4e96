//! How long it takes from an agent's command at one replica to a subscriber at another, both on one Redis: a part of
//! `make bench-redis`, for a quiet machine with two cores. Everything but Redis shares one process, which makes the
//! figure worse than it is between machines, but for their network.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a tool for a terminal, which ends where it cannot go on"
)]

use std::{
    net::SocketAddr,
    process::{Command, ExitCode},
    time::{Duration, Instant},
};

use gateway_server::{Assembly, Running, settings};
use gateway_testkit::redis::Server;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::TcpStream,
    time::{MissedTickBehavior, interval},
};

/// Tasks, each with an agent at one replica and a subscriber at the other.
const TASKS: u32 = 10;
/// Commands of an agent in a second; of all together 1,000.
const RATE: u32 = 100;
/// Commands of each agent.
const COMMANDS: u32 = 500;
/// The longest that half of the events may take.
const MOST: Duration = Duration::from_millis(5);

type Connection = BufReader<TcpStream>;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let server = Server::start(&[
        "--port",
        "{port}",
        "--bind",
        "127.0.0.1",
        "--save",
        "",
        "--appendonly",
        "no",
        "--dir",
        "{folder}",
    ]);
    pin(&server);
    let (one, other) = (replica(&server).await, replica(&server).await);
    let begun = Instant::now();
    let mut each = Vec::new();
    for number in 0..TASKS {
        let (client, agent) = (one.addresses().client.unwrap(), one.addresses().agent.unwrap());
        let id = begin(client, number).await;
        let events = subscribe(other.addresses().client.unwrap(), &id).await;
        let read = tokio::spawn(read(events, begun));
        each.push((tokio::spawn(command(agent, id, begun)), read));
    }
    let mut took = Vec::new();
    for (commands, read) in each {
        commands.await.unwrap();
        took.extend(read.await.unwrap());
    }
    took.sort_unstable();
    let at = |part: usize| took[took.len() * part / 100];
    let (median, late) = (at(50), at(99));
    let good = median < MOST;
    println!(
        "{} events at {} a second, from agent to subscriber: p50 {median:?}, p99 {late:?}  {}",
        took.len(),
        TASKS * RATE,
        if good { "ok" } else { "FAILED" }
    );
    one.drain().await;
    other.drain().await;
    if good {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// Redis gets the first core to itself.
fn pin(server: &Server) {
    let told = server.say("INFO server");
    let id = told.lines().find_map(|line| line.strip_prefix("process_id:"));
    let pinned = Command::new("taskset").args(["-pc", "0", id.unwrap()]).output();
    if !pinned.is_ok_and(|pinned| pinned.status.success()) {
        println!("Redis shares its core with this program: taskset is missing or there is one core only");
    }
}

async fn replica(server: &Server) -> Running {
    let text = format!(
        "[listeners]\nclient.address = \"127.0.0.1:0\"\nagent.address = \"127.0.0.1:0\"\nadmin.address = \
         \"127.0.0.1:0\"\n[store]\nkind = \"redis\"\nredis.url = \"redis://127.0.0.1:{}\"\n",
        server.port()
    );
    Assembly::new(settings::parse(&text).unwrap())
        .start()
        .await
        .unwrap()
}

async fn connect(at: SocketAddr) -> Connection {
    let connection = TcpStream::connect(at).await.unwrap();
    connection.set_nodelay(true).unwrap();
    BufReader::new(connection)
}

async fn write(connection: &mut Connection, verb: &str, path: &str, body: &str) {
    let request = format!(
        "{verb} {path} HTTP/1.1\r\nhost: gateway\r\na2a-version: 1.0\r\ncontent-type: application/json\r\n\
         content-length: {}\r\n\r\n{body}",
        body.len()
    );
    connection.get_mut().write_all(request.as_bytes()).await.unwrap();
}

/// Calls over a connection that stays.
async fn call(connection: &mut Connection, path: &str, body: &Value) -> Value {
    write(connection, "POST", path, &body.to_string()).await;
    let (mut line, mut length) = (String::new(), 0);
    connection.read_line(&mut line).await.unwrap();
    assert!(line.contains(" 200 "), "{path}: {line}");
    while line != "\r\n" {
        line.clear();
        connection.read_line(&mut line).await.unwrap();
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
    }
    let mut body = vec![0; length];
    connection.read_exact(&mut body).await.unwrap();
    serde_json::from_slice(&body).unwrap_or_default()
}

/// A task whose own agent waits.
async fn begin(client: SocketAddr, number: u32) -> String {
    let message = json!({
        "messageId": format!("m{number}"), "role": "ROLE_USER", "parts": [{ "text": "work 600" }]
    });
    let request = json!({ "message": message, "configuration": { "returnImmediately": true } });
    let answer = call(&mut connect(client).await, "/message:send", &request).await;
    answer["task"]["id"].as_str().unwrap().to_owned()
}

async fn subscribe(client: SocketAddr, id: &str) -> Connection {
    let mut events = connect(client).await;
    write(&mut events, "GET", &format!("/tasks/{id}:subscribe"), "").await;
    let mut line = String::new();
    while !line.starts_with("data:") {
        line.clear();
        assert!(events.read_line(&mut line).await.unwrap() > 0, "the stream ended");
    }
    events
}

/// Says in each chunk when it was sent.
async fn command(agent: SocketAddr, id: String, begun: Instant) {
    let mut connection = connect(agent).await;
    let mut ticks = interval(Duration::from_secs(1) / RATE);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    for _ in 0..COMMANDS {
        ticks.tick().await;
        let now = begun.elapsed().as_micros();
        let artifact = json!({ "artifactId": "a", "parts": [{ "text": format!("sent={now}.") }] });
        let chunk = json!({ "artifact": artifact, "append": true, "lastChunk": false });
        call(&mut connection, &format!("/tasks/{id}:update_artifact"), &chunk).await;
    }
}

async fn read(mut events: Connection, begun: Instant) -> Vec<Duration> {
    let (mut took, mut line) = (Vec::new(), String::new());
    while took.len() < usize::try_from(COMMANDS).unwrap() {
        line.clear();
        assert!(events.read_line(&mut line).await.unwrap() > 0, "the stream ended");
        if let Some(sent) = line.split("sent=").nth(1).and_then(|rest| rest.split('.').next()) {
            let sent = Duration::from_micros(sent.parse().unwrap());
            took.push(begun.elapsed().saturating_sub(sent));
        }
    }
    took
}
