//! Event streams on the wire: one event one line, life signs in silence, errors before and amid events (§9.4.2, §11.7).

#![allow(clippy::unwrap_used, reason = "what must not be absent fails the test")]

use std::time::Duration;

use gateway_domain::{Binding, ErrorKind, Operation, lifecycle::Move};
use gateway_testkit::agent::{Gate, Script, Step};
use gateway_tests::{
    client::{Answer, Ask, SseReader},
    gateway::Gateway,
    profile::Profile,
    raw::{PATIENCE, usual_headers},
    samples,
};
use http::Method;
use serde_json::{Value, json};

/// Chunks of a task that is too much for a slow reader.
const CHUNKS: usize = 100;

/// Every awkward character, as the case has it.
const AWKWARD: &str = r#"{"jsonrpc":"2.0","id":"sse-1","method":"SendStreamingMessage","params":{"message":{"messageId":"m-1","role":"ROLE_USER","parts":[{"text":"say line1\nline2\r\ndata: x\n\nevent: y\u2028end"}]}}}"#;
const SAID: &str = "line1\nline2\r\ndata: x\n\nevent: y\u{2028}end";

#[tokio::test]
async fn a_text_with_newlines_is_one_line_on_the_wire_and_comes_back_byte_for_byte() {
    let gateway = Gateway::plain().await;
    let params = serde_json::from_str::<Value>(AWKWARD).unwrap()["params"].to_string();
    for (path, body) in [("/rpc", AWKWARD), ("/message:stream", &params)] {
        let response = gateway
            .http()
            .open(Method::POST, path, &usual_headers(), body.to_owned())
            .await;
        assert_eq!(response.status(), 200);
        let headers = response.headers();
        assert_eq!(headers["content-type"], "text/event-stream");
        assert_eq!(headers["cache-control"], "no-cache, no-transform");
        assert_eq!(headers["x-accel-buffering"], "no");
        let mut reader = SseReader::new(response.into_body());
        let mut texts = Vec::new();
        // The reader refuses whatever is not an optional id and exactly one line of data.
        while let Some(event) = reader.next().await.unwrap() {
            let json: Value = serde_json::from_str(&event.data).unwrap();
            let event = json.get("result").unwrap_or(&json);
            let text = event
                .pointer("/artifactUpdate/artifact/parts/0/text")
                .and_then(Value::as_str);
            texts.extend(text.map(str::to_owned));
        }
        assert_eq!(texts, [SAID], "over {path}");
        assert!(!reader.seen.contains(&b'\r'));
    }
}

#[tokio::test]
async fn the_same_text_comes_over_every_binding() {
    let gateway = Gateway::plain().await;
    for client in gateway.clients() {
        let ask = Ask::new(
            Operation::SendStreamingMessage,
            samples::message(&format!("say {SAID}")),
        );
        let events = client.call(&ask).await.stream().rest().await;
        let text = events
            .iter()
            .find_map(|event| event.pointer("/artifactUpdate/artifact/parts/0/text"));
        assert_eq!(text, Some(&json!(SAID)), "over {}", client.binding().name());
    }
}

#[tokio::test]
async fn a_quiet_stream_shows_signs_of_life_that_are_no_events_and_stop_at_its_end() {
    let profile = Profile::plain().set("connections.keep_alive", r#""1 s""#);
    let gateway = Gateway::start(profile).await;
    tokio::join!(
        follow_quiet(&gateway, "/rpc"),
        follow_quiet(&gateway, "/message:stream")
    );
}

async fn follow_quiet(gateway: &Gateway, path: &str) {
    let params = samples::at_once("quiet 4");
    let body = match path {
        "/rpc" => json!({ "jsonrpc": "2.0", "id": 1, "method": "SendStreamingMessage", "params": params }),
        _ => params,
    };
    let http = gateway.http();
    let response = http
        .open(Method::POST, path, &usual_headers(), body.to_string())
        .await;
    let mut reader = SseReader::new(response.into_body());
    let first = reader.next().await.unwrap().unwrap();
    reader.next_comment().await;
    reader.next_comment().await;
    let last = reader.next().await.unwrap().unwrap();
    assert!(last.data.contains("TASK_STATE_COMPLETED"));
    let after = reader.comments();
    assert_eq!(reader.next().await.unwrap(), None);
    assert_eq!(reader.comments(), after, "a comment after the last event");
    // Comments take no number: the ids are those of neighbouring entries of the log.
    let place = |id: Option<String>| id.unwrap().split('-').next().unwrap().parse::<u64>().unwrap();
    assert_eq!(place(last.id), place(first.id) + 1);
}

#[tokio::test]
async fn the_slot_of_a_client_that_left_is_free_again() {
    let gateway = Gateway::start(Profile::plain().set("limits.streams_per_caller", "1")).await;
    for client in gateway.clients() {
        let caller = client.binding().name();
        let made = client
            .call(&Ask::new(Operation::SendMessage, samples::message("ask")).by(caller))
            .await;
        let task = made.json()["task"]["id"].as_str().unwrap().to_owned();
        let operation = Operation::SubscribeToTask;
        let subscribe = Ask::new(operation, samples::valid(operation, &task)).by(caller);
        let mut held = client.call(&subscribe).await.stream();
        held.event().await;
        client
            .call(&subscribe)
            .await
            .refusal()
            .assert(ErrorKind::ResourceExhausted);
        drop(held);
        // That the client is gone has to be noticed first.
        let again = async {
            while !matches!(client.call(&subscribe).await, Answer::Stream(_)) {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(PATIENCE, again)
            .await
            .expect("the slot is given back");
    }
}

#[tokio::test]
async fn a_failure_known_before_the_first_event_opens_no_stream() {
    let gateway = Gateway::plain().await;
    let body = r#"{"jsonrpc":"2.0","id":7,"method":"SubscribeToTask","params":{"id":"no-such-task"}}"#;
    let answer = gateway.http().post("/rpc", body).await;
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("content-type"), Some("application/json"));
    assert_eq!(answer.json()["id"], 7);
    assert_eq!(answer.json()["error"]["code"], -32001);

    for method in [Method::POST, Method::GET] {
        let headers = &usual_headers()[1..];
        let answer = gateway
            .http()
            .send(method, "/tasks/no-such-task:subscribe", headers, "")
            .await;
        assert_eq!(answer.status, 404);
        assert_eq!(answer.header("content-type"), Some("application/json"));
        assert_eq!(answer.json()["error"]["status"], "NOT_FOUND");
    }

    let ask = Ask::new(Operation::SubscribeToTask, json!({ "id": "no-such-task" }));
    let refusal = gateway.client(Binding::Grpc).call(&ask).await.refusal();
    refusal.assert(ErrorKind::TaskNotFound);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reader_that_falls_behind_is_told_so_with_its_cursor_and_the_task_goes_on() {
    let gateway = Gateway::start(Profile::plain().set("store.log_bytes", r#""1 MiB""#)).await;
    for client in gateway.clients() {
        let begun = Gate::new();
        gateway.scripted().expect(more_than_sockets_hold(&begun));
        let ask = Ask::new(Operation::SendStreamingMessage, samples::message("as scripted"));
        let mut stream = client.call(&ask).await.stream();
        let task = stream.event().await["task"]["id"].as_str().unwrap().to_owned();
        begun.open();
        gateway.task_in("TASK_STATE_COMPLETED", &task).await;
        let mut seen = 0;
        let refusal = loop {
            match stream.next().await.expect("an error comes before the end") {
                Ok(_) => seen += 1,
                Err(refusal) => break refusal,
            }
        };
        refusal.assert(ErrorKind::ResourceExhausted);
        assert!(
            refusal.metadata.contains_key("cursor"),
            "over {}",
            client.binding().name()
        );
        assert!(seen < CHUNKS);
        assert!(stream.next().await.is_none(), "something after the error");
    }
}

/// 10 MB, once the gate is open.
fn more_than_sockets_hold(begun: &Gate) -> Script {
    let text = "x".repeat(100_000);
    let chunks = (0..CHUNKS).map(|number| Step::chunk("a", &text, number > 0, number == CHUNKS - 1));
    let work = [Step::moves(Move::Work), Step::Wait(begun.clone())];
    Script::accept(
        work.into_iter()
            .chain(chunks)
            .chain([Step::moves(Move::Complete)]),
    )
}
