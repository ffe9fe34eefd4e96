//! A hundred writers at once on one task, spread over three replicas: revisions without a gap, and nothing that was
//! accepted missing, doubled or out of order.

use std::collections::BTreeSet;

use gateway_domain::{Binding, Operation};
use gateway_tests::{
    balancer::Kind,
    client::{Answer, Driver},
    cluster::{Cluster, Plan},
    samples,
};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::{ask, call};

const WRITERS: usize = 100;
/// Commands of each, one after the other.
const EACH: usize = 5;

#[tokio::test]
async fn a_hundred_writers_at_three_replicas_leave_what_was_accepted_in_one_order_for_all() {
    let cluster = Cluster::start(Plan::behind(Kind::Envoy));
    let client = cluster.clients().of_binding(Binding::HttpJson);
    let task = call(&*client, Operation::SendMessage, samples::message("auth")).await;
    let task = task["task"]["id"].as_str().unwrap().to_owned();
    let mut stream = client
        .call(&ask(Operation::SubscribeToTask, json!({ "id": task })))
        .await
        .stream();
    let first = stream.next().await.unwrap().unwrap();
    let mut revision = revision(first.id.as_deref());

    let mut writers = JoinSet::new();
    for writer in 0..WRITERS {
        let binding = Binding::ALL[writer % Binding::ALL.len()];
        let (agent, task) = (cluster.agents().of_binding(binding), task.clone());
        writers.spawn(async move {
            let mut accepted = Vec::new();
            for number in 0..EACH {
                let text = format!("{writer}.{number}");
                match agent
                    .call(&ask(Operation::UpdateArtifact, chunk(&task, &text)))
                    .await
                {
                    Answer::Reply(_) => accepted.push(text),
                    refused => println!("{text} is not accepted: {refused:?}"),
                }
            }
            accepted
        });
    }
    let mut accepted: Vec<_> = writers.join_all().await.into_iter().flatten().collect();
    // All of it, in fact: a commit that loses a race is decided again.
    assert_eq!(accepted.len(), WRITERS * EACH);

    let mut streamed = Vec::new();
    for _ in 0..accepted.len() {
        let event = stream.next().await.unwrap().unwrap();
        let next = self::revision(event.id.as_deref());
        assert_eq!(next, revision + 1, "{}", event.json);
        revision = next;
        streamed.extend(texts(&event.json["artifactUpdate"]["artifact"]));
    }
    for client in cluster.clients().all() {
        let held = call(&*client, Operation::GetTask, json!({ "id": task })).await;
        assert_eq!(
            texts(&held["artifacts"][0]),
            streamed,
            "over {}",
            client.binding().name()
        );
    }
    streamed.sort_unstable();
    accepted.sort_unstable();
    assert_eq!(streamed, accepted);
}

#[tokio::test]
async fn a_cancel_and_a_completion_at_different_replicas_agree_on_which_of_them_was_the_end() {
    let cluster = Cluster::start(Plan::behind(Kind::Nginx));
    let (clients, agents) = (cluster.clients(), cluster.agents());
    let mut won = [0; 2];
    for number in 0..60 {
        let binding = Binding::ALL[number % Binding::ALL.len()];
        let (client, agent) = (clients.of_binding(binding), agents.of_binding(binding));
        let task = call(&*client, Operation::SendMessage, samples::message("auth")).await;
        let id = json!({ "id": task["task"]["id"] });
        let (cancel, complete) = (
            ask(Operation::CancelTask, id.clone()),
            ask(Operation::CompleteTask, id.clone()),
        );
        let ends = tokio::join!(client.call(&cancel), agent.call(&complete));
        let accepted = [&ends.0, &ends.1].map(|end| matches!(end, Answer::Reply(_)));
        let state = ["TASK_STATE_CANCELED", "TASK_STATE_COMPLETED"]
            .into_iter()
            .zip(accepted)
            .filter_map(|(state, accepted)| accepted.then_some(state))
            .collect::<Vec<_>>();
        assert_eq!(state.len(), 1, "one of them was the end: {ends:?}");
        for client in clients.all() {
            let held = call(&*client, Operation::GetTask, id.clone()).await;
            assert_eq!(held["status"]["state"], state[0]);
        }
        won[usize::from(accepted[1])] += 1;
    }
    println!("canceled and completed: {won:?}");
}

#[tokio::test]
async fn equal_sends_of_a_spread_tenant_at_three_replicas_make_one_task_each() {
    let plan = Plan::behind(Kind::Envoy)
        .set("STORE__REDIS__SPREAD", "[{ parts = 5 }]")
        .set("REPEATS__OF", "everybody");
    let cluster = Cluster::start(plan);
    let (mut tasks, mut parts) = (BTreeSet::new(), BTreeSet::new());
    for number in 0..12 {
        let mut send = samples::message(&format!("say {number}"));
        send["message"]["messageId"] = json!(format!("m-{number}"));
        let mut sends = JoinSet::new();
        for binding in Binding::ALL.into_iter().cycle().take(9) {
            let (client, send) = (cluster.clients().of_binding(binding), send.clone());
            sends.spawn(async move { call(&*client, Operation::SendMessage, send).await });
        }
        let made: BTreeSet<_> = sends.join_all().await.iter().map(id).collect();
        assert_eq!(made.len(), 1, "{made:?}");
        parts.extend(made.iter().map(|id| id[..2].to_owned()));
        tasks.extend(made);
    }
    assert_eq!(tasks.len(), 12);
    assert!(parts.len() > 1, "all lie in one part: {tasks:?}");
    for client in cluster.clients().all() {
        assert_eq!(
            listed_in_pages(&*client).await,
            tasks,
            "over {}",
            client.binding().name()
        );
    }
}

fn id(sent: &Value) -> String {
    sent["task"]["id"].as_str().unwrap().to_owned()
}

/// The ids on all pages, which hold no task twice.
async fn listed_in_pages(client: &dyn Driver) -> BTreeSet<String> {
    let (mut ids, mut token) = (BTreeSet::new(), json!(""));
    loop {
        let page = call(
            client,
            Operation::ListTasks,
            json!({ "pageSize": 5, "pageToken": token }),
        )
        .await;
        for task in page["tasks"].as_array().unwrap() {
            assert!(
                ids.insert(task["id"].as_str().unwrap().to_owned()),
                "{task} came before"
            );
        }
        token = page["nextPageToken"].clone();
        if token.as_str().is_none_or(str::is_empty) {
            return ids;
        }
    }
}

/// The number in front of an event's id.
fn revision(id: Option<&str>) -> u64 {
    let number = id.and_then(|id| id.split('-').next());
    number.unwrap().parse().unwrap()
}

fn texts(artifact: &Value) -> Vec<String> {
    let parts = artifact["parts"].as_array().unwrap();
    parts
        .iter()
        .map(|part| part["text"].as_str().unwrap().to_owned())
        .collect()
}

fn chunk(task: &str, text: &str) -> Value {
    json!({
        "id": task,
        "artifact": { "artifactId": "a", "parts": [{ "text": text }] },
        "append": true,
        "lastChunk": false,
    })
}
