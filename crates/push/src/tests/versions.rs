//! A receiver is called in the version in which its configuration was registered.

use std::sync::Arc;

use gateway_domain::{
    SharedEvent, StreamResponse, TaskId, Version, event::TaskStatusUpdateEvent, lifecycle::Move,
    ports::Store, push::StoredConfig, request::AgentAction,
};
use gateway_testkit::{
    build::{agent_message, artifact},
    receiver::{Answer, Receiver},
};
use tokio::sync::watch;

use super::support::{Bench, quick};
use crate::body::Teller;

fn registered_in_0_3(mut config: StoredConfig) -> StoredConfig {
    config.config.version = Version::V0_3;
    config
}

async fn chunk(bench: &Bench, text: &str, last_chunk: bool) {
    let artifact = artifact("a", text);
    let append = true;
    bench
        .act(AgentAction::UpdateArtifact {
            artifact,
            append,
            last_chunk,
        })
        .await;
}

#[tokio::test]
async fn by_0_3_a_call_is_the_task_alone_as_plain_json_with_the_token() {
    let (hook, bench) = (Receiver::willing().await, Bench::new(quick()).await);
    let mut config = registered_in_0_3(bench.plain("hook", &hook.url()));
    config.config.token = Some("opaque".to_owned());
    bench.configure(config).await;
    let asking = AgentAction::Move(Move::RequireInput, Some(agent_message("which?")));
    bench.act(asking).await;
    let call = hook.calls(1).await.remove(0);
    assert_eq!(call.header("content-type"), Some("application/json"));
    assert_eq!(call.header("x-a2a-notification-token"), Some("opaque"));
    assert_eq!(
        (&call.body["kind"], &call.body["id"], &call.body["contextId"]),
        (&"task".into(), &"task".into(), &"context".into())
    );
    assert_eq!(call.body["status"]["state"], "input-required");
    assert_eq!(call.body["status"]["message"]["parts"][0]["text"], "which?");
    assert_eq!(call.body["history"][0]["kind"], "message");
}

#[tokio::test]
async fn by_0_3_a_receiver_is_told_of_statuses_and_last_chunks_and_by_1_0_of_everything() {
    let (old, new, bench) = (
        Receiver::willing().await,
        Receiver::willing().await,
        Bench::new(quick()).await,
    );
    bench
        .configure(registered_in_0_3(bench.plain("old", &old.url())))
        .await;
    bench.call("new", &new).await;
    bench.step(Move::Work).await;
    chunk(&bench, "one", false).await;
    chunk(&bench, "two", false).await;
    chunk(&bench, "three", true).await;
    bench
        .act(AgentAction::ReportProgress(Some(agent_message("nearly"))))
        .await;
    bench.step(Move::Complete).await;
    bench.nobody_is_followed().await;
    assert_eq!(old.news(), ["working", "working", "working", "completed"]);
    let calls = old.so_far();
    assert_eq!(
        calls[1].body["artifacts"][0]["parts"].as_array().unwrap().len(),
        3
    );
    assert_eq!(calls[2].body["status"]["message"]["parts"][0]["text"], "nearly");
    let everything = [
        "TASK_STATE_WORKING",
        "one",
        "two",
        "three",
        "TASK_STATE_WORKING",
        "TASK_STATE_COMPLETED",
    ];
    assert_eq!(new.news(), everything);
}

#[tokio::test]
async fn a_slow_receiver_is_told_of_each_status_by_itself_though_the_task_has_gone_on() {
    let (open, gate) = watch::channel(false);
    let hook = Receiver::new(move |_| Answer::Status(if *gate.borrow() { 200 } else { 503 })).await;
    let mut settings = quick();
    settings.retries.attempts = u32::MAX;
    let bench = Bench::new(settings).await;
    bench
        .configure(registered_in_0_3(bench.plain("hook", &hook.url())))
        .await;
    bench.step(Move::Work).await;
    hook.calls(1).await;
    bench.step(Move::RequireInput).await;
    bench.step(Move::Work).await;
    chunk(&bench, "all", true).await;
    bench.step(Move::Complete).await;
    open.send(true).unwrap();
    bench.nobody_is_followed().await;
    let news = hook.news();
    let taken = news.iter().rposition(|state| state == "input-required").unwrap() - 1;
    assert_eq!(
        news[taken..],
        ["working", "input-required", "working", "working", "completed"]
    );
    assert!(news[..taken].iter().all(|state| state == "working"), "{news:?}");
}

#[tokio::test]
async fn a_task_that_is_gone_is_told_of_no_more() {
    let bench = Bench::new(quick()).await;
    let task = bench.store.read(&bench.task).await.unwrap().unwrap().task;
    let event = SharedEvent::new(StreamResponse::StatusUpdate(Arc::new(TaskStatusUpdateEvent {
        task_id: task.id,
        context_id: task.context_id,
        status: task.status,
        metadata: None,
    })));
    for (of, is_told) in [(bench.task.clone(), true), (TaskId::new("nobody"), false)] {
        let mut config = registered_in_0_3(bench.plain("hook", "https://receiver.example")).config;
        config.task_id = Some(of);
        let mut teller = Teller::new(bench.store.clone(), &config);
        assert_eq!(teller.body(&event).await.unwrap().is_some(), is_told);
    }
}
