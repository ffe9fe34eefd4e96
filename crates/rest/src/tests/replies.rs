//! From what the gateway says to the answer.

use std::time::Duration;

use axum::body::Body;
use futures::stream;
use gateway_domain::{
    Error, ErrorKind, Reply, SharedEvent, StreamResponse, TaskSnapshot,
    reply::{self, ConfigPage, Sent, StreamItem, TaskPage},
};
use gateway_edge::Face;
use gateway_wire::errors::{Edition, TABLE};
use serde_json::{Value, json};

use super::{Fake, Refusal, post, replied, request, text, without_body};
use crate::RestFace;

fn task(state: &str) -> TaskSnapshot {
    let status = json!({ "state": state, "timestamp": "2026-01-31T09:05:07.250Z" });
    serde_json::from_value(json!({ "id": "T1", "contextId": "C1", "status": status })).unwrap()
}

async fn answer(body: impl Fn() -> reply::Body + Send + Sync + 'static) -> Value {
    let response = Fake::answering(move || Ok(body()))
        .send(without_body("GET", "/tasks/T1"))
        .await;
    serde_json::from_str(&text(response).await).unwrap()
}

#[tokio::test]
async fn each_reply_is_the_object_of_its_operation() {
    let expected = json!({
        "id": "T1",
        "contextId": "C1",
        "status": { "state": "TASK_STATE_WORKING", "timestamp": "2026-01-31T09:05:07.250Z" },
    });
    assert_eq!(
        answer(|| reply::Body::Task(task("TASK_STATE_WORKING"))).await,
        expected
    );
    let sent = answer(|| reply::Body::Sent(Sent::Task(task("TASK_STATE_WORKING")))).await;
    assert_eq!(sent, json!({ "task": expected }));
    assert_eq!(answer(|| reply::Body::Deleted).await, json!({}));
    let configs = || ConfigPage {
        configs: Vec::new(),
        next_page_token: String::new(),
    };
    assert_eq!(
        answer(move || reply::Body::Configs(configs())).await,
        json!({ "configs": [] })
    );
}

#[tokio::test]
async fn an_empty_list_of_tasks_has_all_its_members() {
    let page = || TaskPage {
        tasks: Vec::new(),
        next_page_token: String::new(),
        page_size: 50,
        total_size: 0,
    };
    let expected = json!({ "tasks": [], "nextPageToken": "", "pageSize": 50, "totalSize": 0 });
    assert_eq!(answer(move || reply::Body::Tasks(page())).await, expected);
}

#[tokio::test]
async fn a_reply_and_a_refusal_have_the_media_type_that_was_asked_for() {
    for (accept, expected) in [
        ("application/json", "application/json"),
        ("application/a2a+json", "application/a2a+json"),
        ("*/*", "application/a2a+json"),
    ] {
        let send = |target: &str| {
            let builder = request("POST", target).header("accept", accept);
            builder
                .header("content-type", "application/a2a+json")
                .body(Body::from("{}"))
                .unwrap()
        };
        for target in ["/tasks/T1:cancel", "/message:send", "/nowhere"] {
            let response = Fake::deleting().send(send(target)).await;
            assert_eq!(response.headers()["content-type"], expected, "{target}");
        }
    }
}

#[tokio::test]
async fn activated_extensions_are_told_on_replies_and_streams() {
    for stream_reply in [false, true] {
        let mut fake = Fake::deleting();
        fake.answer = std::sync::Arc::new(move || {
            let body = match stream_reply {
                true => reply::Body::Stream(Box::pin(stream::empty())),
                false => reply::Body::Deleted,
            };
            Ok(Reply {
                activated: vec!["https://x.example/a".into(), "https://x.example/b".into()],
                ..replied(body)
            })
        });
        let response = fake.send(without_body("GET", "/tasks/T1")).await;
        let told = &response.headers()["a2a-extensions"];
        assert_eq!(told, "https://x.example/a, https://x.example/b");
    }
    let response = Fake::deleting().send(without_body("GET", "/tasks/T1")).await;
    assert!(!response.headers().contains_key("a2a-extensions"));
}

#[tokio::test]
async fn an_extended_card_is_kept_by_nobody() {
    let card = json!({
        "name": "n", "description": "d", "version": "1", "supportedInterfaces": [], "capabilities": {},
        "defaultInputModes": [], "defaultOutputModes": [], "skills": [],
    });
    let card: gateway_domain::AgentCard = serde_json::from_value(card).unwrap();
    let card = std::sync::Arc::new(card);
    let fake = Fake::answering(move || Ok(reply::Body::Card(card.clone())));
    let response = fake.send(without_body("GET", "/extendedAgentCard")).await;
    assert_eq!(response.headers()["cache-control"], "private, no-store");
    assert_eq!(response.headers()["vary"], "Authorization");
    assert!(text(response).await.starts_with(r#"{"name":"n""#));
}

fn event(state: &str) -> StreamItem {
    StreamItem {
        cursor: "3-0000000a".parse().ok(),
        event: SharedEvent::new(StreamResponse::Task(task(state).into())),
    }
}

#[tokio::test]
async fn a_stream_carries_each_event_with_its_cursor() {
    let events = || stream::iter([Ok(event("TASK_STATE_WORKING")), Ok(event("TASK_STATE_COMPLETED"))]);
    let fake = Fake::answering(move || Ok(reply::Body::Stream(Box::pin(events()))));
    let response = fake.send(post("/tasks/T1:subscribe", "")).await;
    assert_eq!(
        (response.status().as_u16(), &response.headers()["content-type"]),
        (200, &"text/event-stream".parse().unwrap())
    );
    let frames = frames(&text(response).await);
    assert_eq!(frames.len(), 2);
    assert_eq!(frames[1].0, "3-0000000a");
    assert_eq!(frames[1].1["task"]["status"]["state"], "TASK_STATE_COMPLETED");
}

#[tokio::test]
async fn an_error_in_the_middle_of_a_stream_is_its_last_event() {
    let events = || {
        stream::iter([
            Ok(event("TASK_STATE_WORKING")),
            Err(Error::unavailable("redis is away")),
        ])
    };
    let fake = Fake::answering(move || Ok(reply::Body::Stream(Box::pin(events()))));
    let response = fake.send(without_body("GET", "/tasks/T1:subscribe")).await;
    let frames = frames(&text(response).await);
    let (id, error) = frames.last().unwrap();
    assert_eq!((frames.len(), id.as_str()), (2, ""));
    assert_eq!(
        (&error["error"]["code"], &error["error"]["status"]),
        (&json!(503), &json!("UNAVAILABLE"))
    );
    assert!(!error.to_string().contains("redis"));
}

/// The id and the data of each event.
fn frames(body: &str) -> Vec<(String, Value)> {
    let field = |frame: &str, name: &str| {
        let mut lines = frame.lines().filter_map(|line| line.strip_prefix(name));
        lines.next().unwrap_or_default().trim_start().to_owned()
    };
    body.split_terminator("\n\n")
        .map(|frame| {
            (
                field(frame, "id:"),
                serde_json::from_str(&field(frame, "data:")).unwrap(),
            )
        })
        .collect()
}

#[tokio::test]
async fn a_refusal_before_the_first_event_is_no_stream() {
    for request in [
        without_body("GET", "/tasks/nope:subscribe"),
        without_body("POST", "/tasks/nope:subscribe"),
    ] {
        let response = Fake::answering(|| Err(Error::task_not_found()))
            .send(request)
            .await;
        let refusal = Refusal::read(response).await;
        assert_eq!(
            (refusal.status, refusal.header("content-type")),
            (404, "application/json")
        );
        assert_eq!(
            refusal.error,
            json!({
                "code": 404,
                "status": "NOT_FOUND",
                "message": "task not found",
                "details": [{
                    "@type": "type.googleapis.com/google.rpc.ErrorInfo",
                    "reason": "TASK_NOT_FOUND",
                    "domain": "a2a-protocol.org",
                }],
            })
        );
    }
}

#[tokio::test]
async fn every_error_is_told_by_the_numbers_of_the_table() {
    for (row, edition) in TABLE
        .iter()
        .flat_map(|row| [(row, Edition::V1_0_1), (row, Edition::V1_0_0)])
    {
        let error = Error::new(row.kind, "no").because("inward");
        let row = edition.row_of(&error);
        let fake = Fake::answering(move || Err(error.clone())).of_edition(edition);
        let response = fake.send(without_body("GET", "/tasks/T1")).await;
        let refusal = Refusal::read(response).await;
        assert_eq!(
            (refusal.status, &refusal.error["status"]),
            (row.http, &json!(row.grpc.name()))
        );
        assert_eq!(refusal.error["message"], "no");
        assert!(!refusal.error.to_string().contains("inward"));
    }
}

#[tokio::test]
async fn a_wait_is_told_in_whole_seconds_and_never_shorter() {
    for (wait, told) in [(0, "1"), (1, "1"), (1000, "1"), (1001, "2"), (90_000, "90")] {
        let error =
            move || Error::new(ErrorKind::Unavailable, "later").retry_after(Duration::from_millis(wait));
        let response = Fake::answering(move || Err(error()))
            .send(without_body("GET", "/tasks/T1"))
            .await;
        assert_eq!(
            Refusal::read(response).await.header("retry-after"),
            told,
            "{wait} ms"
        );
    }
}

#[tokio::test]
async fn the_face_refuses_in_the_same_form() {
    let request = request("POST", "/message:send").header("accept", "application/a2a+json");
    let (parts, ()) = request.body(()).unwrap().into_parts();
    let error = Error::new(ErrorKind::Unauthenticated, "send a token");
    let refusal = Refusal::read(RestFace.refuse(&parts, &error)).await;
    assert_eq!(
        (refusal.status, refusal.header("www-authenticate")),
        (401, "Bearer")
    );
    assert_eq!(refusal.header("content-type"), "application/a2a+json");
    assert_eq!(refusal.error["details"][0]["reason"], "UNAUTHENTICATED");
}
