//! The places in which a cursor may stand, and which of them has the last word.

use gateway_domain::resume;
use gateway_tests::{client::SseReader, gateway::Gateway, raw::usual_headers};
use http::Method;
use serde_json::{Value, json};

use crate::support::{begin, subscribe};

fn headers(last_event_id: Option<&str>) -> Vec<(String, String)> {
    let mut headers = usual_headers();
    headers.push(("a2a-extensions".to_owned(), resume::URI.to_owned()));
    headers.extend(last_event_id.map(|cursor| ("last-event-id".to_owned(), cursor.to_owned())));
    headers
}

/// The ids of the events of a finished task's stream over each of the HTTP bindings.
async fn ids(gateway: &Gateway, task: &str, query: &str, header: Option<&str>) -> Vec<String> {
    let http = gateway.http();
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "SubscribeToTask", "params": { "id": task } });
    let subscribe = format!("/tasks/{task}:subscribe{query}");
    let requests = [
        (Method::GET, subscribe.clone(), String::new()),
        (Method::POST, subscribe, String::new()),
        (Method::POST, format!("/rpc{query}"), call.to_string()),
    ];
    let mut read = Vec::new();
    for (method, path, body) in requests {
        let response = http.open(method, &path, &headers(header), body).await;
        assert_eq!(response.headers()["content-type"], "text/event-stream", "{path}");
        assert_eq!(response.headers()["a2a-extensions"], resume::URI);
        let mut events = SseReader::new(response.into_body());
        let mut ids = Vec::new();
        while let Some(event) = events.next().await.unwrap() {
            ids.push(event.id.unwrap());
        }
        read.push(ids);
    }
    assert!(read.iter().all(|ids| *ids == read[0]), "{read:?}");
    read.swap_remove(0)
}

#[tokio::test]
async fn a_cursor_stands_in_the_header_or_in_the_query_and_the_header_has_the_last_word() {
    let gateway = Gateway::plain().await;
    let task = begin(&gateway, "chunks 5 0").await;
    gateway.task_in("TASK_STATE_COMPLETED", &task).await;
    let all = ids(&gateway, &task, "?lastEventId=0-00000000", None).await;
    assert_eq!(all.len(), 8, "the task, its beginning, five chunks, its end");
    for (query, header, seen) in [
        (Some(2), None, 3),
        (None, Some(2), 3),
        (Some(2), Some(5), 6),
        (Some(7), Some(0), 1),
    ] {
        let query = query.map_or(String::new(), |at: usize| format!("?lastEventId={}", all[at]));
        let header = header.map(|at: usize| &*all[at]);
        assert_eq!(ids(&gateway, &task, &query, header).await, all[seen..]);
    }
    // A client library has no cursor yet, but may send the header all the same.
    let query = format!("?lastEventId={}", all[3]);
    assert_eq!(ids(&gateway, &task, &query, Some("")).await, all[4..]);
}

#[tokio::test]
async fn a_broken_cursor_is_named_by_its_place() {
    let gateway = Gateway::plain().await;
    let task = begin(&gateway, "ask").await;
    for (query, header, field) in [
        ("", Some("12"), "last-event-id"),
        ("?lastEventId=12", None, "lastEventId"),
        (
            "?lastEventId=1-00000000&lastEventId=2-00000000",
            None,
            "lastEventId",
        ),
    ] {
        let path = format!("/tasks/{task}:subscribe{query}");
        let answer = gateway
            .http()
            .send(Method::GET, &path, &headers(header), "")
            .await;
        assert_eq!(answer.status, 400);
        let details: Value = answer.json()["error"]["details"].clone();
        assert_eq!(details[0]["fieldViolations"][0]["field"], field, "{details}");
    }
}

#[tokio::test]
async fn the_card_declares_the_extension_and_nobody_has_to_use_it() {
    let gateway = Gateway::plain().await;
    let card = gateway.http().get("/.well-known/agent-card.json").await.json();
    let declared = card["capabilities"]["extensions"].as_array().unwrap();
    let own: Vec<_> = declared
        .iter()
        .filter(|extension| extension["uri"] == resume::URI)
        .collect();
    assert_eq!(own.len(), 1);
    assert_ne!(own[0]["required"], true);
    let task = begin(&gateway, "ask").await;
    for client in gateway.clients() {
        let mut stream = subscribe(&*client, &task).await;
        assert_eq!(stream.event().await["task"]["id"], *task);
    }
}
