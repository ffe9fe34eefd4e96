//! Pages of ListTasks (§3.1.4): order, ties, changes between two pages, tokens.

#![allow(clippy::unwrap_used, reason = "what must not be absent fails the test")]

use std::{collections::BTreeSet, sync::Arc};

use gateway_domain::{Binding, ErrorKind, Operation, Timestamp};
use gateway_testkit::clock::FixedClock;
use gateway_tests::{
    client::{Ask, Driver},
    gateway::Gateway,
    profile::Profile,
    raw::{self, usual_headers},
    samples,
};
use http::Method;
use serde_json::{Value, json};

async fn new_task(client: &dyn Driver, text: &str) -> String {
    let made = client
        .call(&Ask::new(Operation::SendMessage, samples::message(text)))
        .await
        .json();
    made["task"]["id"].as_str().unwrap().to_owned()
}

async fn page(client: &dyn Driver, size: usize, token: &str) -> Value {
    let params = json!({ "pageSize": size, "pageToken": token });
    client.call(&Ask::new(Operation::ListTasks, params)).await.json()
}

fn ids(page: &Value) -> Vec<String> {
    let tasks = page["tasks"].as_array().unwrap().iter();
    tasks
        .map(|task| task["id"].as_str().unwrap().to_owned())
        .collect()
}

#[tokio::test]
async fn tasks_of_the_same_moment_are_each_on_one_page() {
    let mut profile = Profile::plain();
    profile.clock = Some(Arc::new(FixedClock(
        Timestamp::from_millis(1_800_000_000_000).unwrap(),
    )));
    let gateway = Gateway::start(profile).await;
    for _ in 0..7 {
        new_task(&*gateway.client(Binding::JsonRpc), "say hi").await;
    }
    let mut orders = BTreeSet::new();
    for client in gateway.clients() {
        let (mut seen, mut token, mut sizes) = (Vec::new(), String::new(), Vec::new());
        loop {
            let page = page(&*client, 2, &token).await;
            assert_eq!(page["totalSize"], 7);
            assert_eq!(page["pageSize"], 2);
            sizes.push(ids(&page).len());
            seen.extend(ids(&page));
            token = page["nextPageToken"].as_str().unwrap().to_owned();
            if token.is_empty() {
                break;
            }
        }
        assert_eq!(sizes, [2, 2, 2, 1]);
        assert_eq!(seen.iter().collect::<BTreeSet<_>>().len(), 7);
        orders.insert(seen);
    }
    assert_eq!(orders.len(), 1, "the order differs from binding to binding");
}

#[tokio::test]
async fn a_task_that_changes_between_two_pages_moves_and_no_other_is_skipped_or_repeated() {
    let gateway = Gateway::plain().await;
    for client in gateway.clients() {
        let caller = client.binding().name();
        let send = |params| Ask::new(Operation::SendMessage, params).by(caller);
        let list = |token: &str| {
            Ask::new(Operation::ListTasks, json!({ "pageSize": 5, "pageToken": token })).by(caller)
        };
        let mut made = Vec::new();
        for _ in 0..10 {
            let task = client.call(&send(samples::message("ask 5"))).await.json();
            made.push(task["task"]["id"].as_str().unwrap().to_owned());
        }
        // Newest first: the first page has tasks 10 to 6, the second 5 to 1.
        let first = client.call(&list("")).await.json();
        assert_eq!(ids(&first), made[5..].iter().rev().cloned().collect::<Vec<_>>());
        let token = first["nextPageToken"].as_str().unwrap();
        // One of the second page is touched, and one more is made.
        let changed = &made[2];
        client
            .call(&send(samples::further(changed, "again")))
            .await
            .reply();
        let eleventh = client.call(&send(samples::message("say new"))).await.json();
        let second = ids(&client.call(&list(token)).await.json());
        let unchanged: Vec<_> = made[..5]
            .iter()
            .rev()
            .filter(|id| *id != changed)
            .cloned()
            .collect();
        let seen: Vec<_> = second.iter().filter(|id| *id != changed).cloned().collect();
        assert_eq!(seen, unchanged, "over {caller}");
        let fresh = ids(&client.call(&list("")).await.json());
        assert_eq!(
            fresh[..2],
            [
                eleventh["task"]["id"].as_str().unwrap().to_owned(),
                changed.clone()
            ]
        );
    }
}

#[tokio::test]
async fn a_token_with_one_letter_changed_is_refused_wherever_the_letter_stands() {
    let gateway = Gateway::plain().await;
    for client in gateway.clients() {
        let caller = client.binding().name();
        for _ in 0..2 {
            client
                .call(&Ask::new(Operation::SendMessage, samples::message("say hi")).by(caller))
                .await
                .reply();
        }
        let list = |token: &str| {
            Ask::new(Operation::ListTasks, json!({ "pageSize": 1, "pageToken": token })).by(caller)
        };
        let token = client.call(&list("")).await.json()["nextPageToken"]
            .as_str()
            .unwrap()
            .to_owned();
        for at in 0..token.len() {
            let other = if &token[at..=at] == "A" { "B" } else { "A" };
            let changed = format!("{}{other}{}", &token[..at], &token[at + 1..]);
            let refusal = client.call(&list(&changed)).await.refusal();
            refusal.assert(ErrorKind::InvalidParams);
            assert_eq!(refusal.fields(), ["pageToken"]);
        }
    }
}

#[tokio::test]
async fn an_endless_token_is_refused_in_the_form_of_each_binding() {
    let gateway = Gateway::plain().await;
    let endless = "A".repeat(100_000);
    let ask = Ask::new(Operation::ListTasks, json!({ "pageToken": endless }));
    for binding in [Binding::Grpc, Binding::JsonRpc] {
        let refusal = gateway.client(binding).call(&ask).await.refusal();
        refusal.assert(ErrorKind::InvalidParams);
        assert_eq!(refusal.fields(), ["pageToken"]);
    }
    // In a query it is part of the head, which is bounded.
    let path = format!("/tasks?pageToken={endless}");
    let head = format!(
        "GET {path} HTTP/1.1\r\nhost: gateway\r\na2a-version: 1.0\r\nauthorization: Bearer A\r\n\r\n"
    );
    let answer = raw::bytes(gateway.address(), head.as_bytes()).await;
    // How much of such a head came at once decides whether it is the address or the head that is too long.
    let refused = ["HTTP/1.1 431 ", "HTTP/1.1 414 "]
        .iter()
        .any(|status| answer.starts_with(status));
    assert!(refused, "{answer}");
    let shorter = format!("/tasks?pageToken={}", "A".repeat(20_000));
    let answer = gateway
        .http()
        .send(Method::GET, &shorter, &usual_headers()[1..], "")
        .await;
    assert_eq!(answer.status, 431);
    assert_eq!(answer.json()["error"]["status"], "RESOURCE_EXHAUSTED");
}
