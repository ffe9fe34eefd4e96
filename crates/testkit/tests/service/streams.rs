//! Streams: what comes first, what ends them, and how they are cut.

use std::{sync::Arc, time::Duration};

use futures::StreamExt;
use gateway_domain::{ErrorKind, Request, TaskId, TaskState, lifecycle::Move};
use gateway_store_memory::Settings;
use gateway_testkit::agent::{Gate, Reply, Script, Step};

use crate::harness::{Setting, World, all, cut_at, outcome, short, shorts, stream_of};

#[tokio::test(start_paused = true)]
async fn a_stream_begins_with_the_task_and_ends_with_its_end() {
    let world = World::new();
    let items = all(world.stream("work 1").await).await;
    assert_eq!(
        shorts(&items),
        ["task SUBMITTED", "WORKING", "artifact", "COMPLETED"]
    );
    let revisions: Vec<_> = items.iter().map(|item| item.cursor.unwrap().revision).collect();
    assert!(revisions.is_sorted_by(|a, b| a < b), "{revisions:?}");
}

#[tokio::test(start_paused = true)]
async fn what_a_terminal_event_tells_can_be_read_at_once() {
    let world = World::new();
    let mut events = world.stream("chunks 3 0").await;
    while let Some(item) = events.next().await {
        let item = item.unwrap();
        if item.event.event().terminal_state().is_some() {
            let task = world.get(&TaskId::new("task-1")).await.unwrap();
            assert_eq!(task.status.state, TaskState::Completed);
            assert_eq!(task.artifacts[0].parts.len(), 3);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_stream_stays_open_while_the_task_waits_for_an_answer() {
    let world = World::new();
    let asks = world.send("ask").await;
    let events = world.subscribe(&asks.id).await.unwrap();
    let reader = tokio::spawn(all(events));
    tokio::time::sleep(Duration::from_secs(1)).await;
    world.start_in("blue", Some(&asks.id)).await.unwrap();
    let seen = shorts(&reader.await.unwrap());
    assert_eq!(seen, ["task INPUT_REQUIRED", "WORKING", "artifact", "COMPLETED"]);
}

#[tokio::test(start_paused = true)]
async fn a_stream_of_a_further_message_begins_with_the_task_that_took_it() {
    let world = World::new();
    let asks = world.send("ask").await;
    let request = Request::SendStreamingMessage(world.message("blue", Some(&asks.id)));
    let reply = world.handle(request).await;
    assert_eq!(outcome(&reply), "continued");
    let items = all(stream_of(reply.unwrap())).await;
    assert_eq!(
        shorts(&items),
        ["task INPUT_REQUIRED", "WORKING", "artifact", "COMPLETED"]
    );
}

#[tokio::test(start_paused = true)]
async fn a_stream_opens_when_the_window_closes_though_the_agent_is_silent() {
    let (world, gate) = (World::new(), Gate::new());
    let script = Script::answer(Reply::Message("late".to_owned())).after([Step::Wait(gate.clone())]);
    world.agent.expect(script);
    let mut events = world.stream("hello").await;
    let first = events.next().await.unwrap().unwrap();
    assert_eq!(short(first.event.event()), "task SUBMITTED");
    gate.open();
    let rest = all(events).await;
    assert_eq!(
        shorts(&rest),
        ["COMPLETED"],
        "a message after the task began is no event of its own"
    );
}

#[tokio::test(start_paused = true)]
async fn a_refusal_known_before_the_first_event_opens_no_stream() {
    let world = World::new();
    world.agent.expect(Script::answer(Reply::Unreachable));
    let request = Request::SendStreamingMessage(world.message("hello", None));
    let error = world.handle(request).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
}

#[tokio::test(start_paused = true)]
async fn a_task_that_has_ended_or_never_was_has_no_stream() {
    let world = World::new();
    for text in ["say hi", "fail", "burst 0"] {
        let done = world.send(text).await;
        let error = world.subscribe(&done.id).await.err().unwrap();
        assert_eq!(error.kind(), ErrorKind::UnsupportedOperation, "{text}");
    }
    let error = world.subscribe(&TaskId::new("no-such-task")).await.err().unwrap();
    assert_eq!(error.kind(), ErrorKind::TaskNotFound);
}

#[tokio::test(start_paused = true)]
async fn a_reader_that_leaves_disturbs_neither_the_task_nor_the_others() {
    let world = World::new();
    let task = world.start("chunks 5").await;
    let mut leaves = world.subscribe(&task).await.unwrap();
    let stays = tokio::spawn(all(world.subscribe(&task).await.unwrap()));
    leaves.next().await.unwrap().unwrap();
    drop(leaves);
    let seen = shorts(&stays.await.unwrap());
    assert_eq!(seen.last().map(String::as_str), Some("COMPLETED"), "{seen:?}");
}

/// Two updates of an agent with a gate behind each.
async fn two_updates(setting: Setting) -> (Arc<World>, TaskId, [Gate; 2]) {
    let (world, gates) = (World::with(setting), [Gate::new(), Gate::new()]);
    let burst = (0..100).map(|number| Step::progress(&format!("update {number}")));
    let run = [Step::moves(Move::Work), Step::Wait(gates[0].clone())]
        .into_iter()
        .chain(burst)
        .chain([Step::Wait(gates[1].clone()), Step::moves(Move::Complete)]);
    world.agent.expect(Script::accept(run));
    let task = world.start("hello").await;
    gates[0].reached().await;
    (world, task, gates)
}

#[tokio::test(start_paused = true)]
async fn a_reader_behind_the_log_is_cut_with_its_cursor_and_skips_nothing() {
    let setting = Setting {
        store: Settings {
            log_entries: 10,
            ..Settings::default()
        },
        ..Setting::default()
    };
    let (world, task, gates) = two_updates(setting).await;
    let mut events = world.subscribe(&task).await.unwrap();
    let first = events.next().await.unwrap().unwrap();
    gates[0].open();
    gates[1].reached().await;
    let error = events.next().await.unwrap().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ResourceExhausted);
    assert_eq!(cut_at(&error), first.cursor);
    assert!(events.next().await.is_none());
    gates[1].open();
    assert_eq!(world.ended(&task).await.status.state, TaskState::Completed);
}

#[tokio::test(start_paused = true)]
async fn a_reader_that_takes_nothing_for_too_long_is_cut_with_its_cursor() {
    let (world, task, gates) = two_updates(Setting::default()).await;
    let mut events = world.subscribe(&task).await.unwrap();
    events.next().await.unwrap().unwrap();
    gates[0].open();
    let last = events.next().await.unwrap().unwrap();
    tokio::time::sleep(Duration::from_secs(31)).await;
    let error = events.next().await.unwrap().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ResourceExhausted);
    assert_eq!(cut_at(&error), last.cursor);
    assert!(events.next().await.is_none());
}

#[tokio::test(start_paused = true)]
async fn a_reader_that_waits_for_a_silent_agent_is_not_slow() {
    let (world, task, gates) = two_updates(Setting::default()).await;
    let mut events = world.subscribe(&task).await.unwrap();
    events.next().await.unwrap().unwrap();
    let reader = tokio::spawn(all(events));
    tokio::time::sleep(Duration::from_secs(3_600)).await;
    gates.iter().for_each(Gate::open);
    assert_eq!(reader.await.unwrap().len(), 101);
}

#[tokio::test(start_paused = true)]
async fn draining_ends_streams_with_their_cursor_and_leaves_the_task() {
    let (world, task, gates) = two_updates(Setting::default()).await;
    let mut events = world.subscribe(&task).await.unwrap();
    let first = events.next().await.unwrap().unwrap();
    world.service.end_streams();
    let error = events.next().await.unwrap().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    assert_eq!(cut_at(&error), first.cursor);
    assert!(error.retry_delay().is_some());
    assert!(events.next().await.is_none());
    gates.iter().for_each(Gate::open);
    assert_eq!(world.ended(&task).await.status.state, TaskState::Completed);
}

#[tokio::test(start_paused = true)]
async fn draining_waits_for_the_offers_under_way() {
    let (world, gate) = (World::new(), Gate::new());
    world
        .agent
        .expect(Script::accept([]).after([Step::Wait(gate.clone())]));
    world.start("hello").await;
    gate.reached().await;
    let service = world.service.clone();
    let drained = tokio::spawn(async move { service.drain().await });
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert!(!drained.is_finished());
    gate.open();
    drained.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn what_comes_after_the_end_is_seen_by_nobody() {
    let world = World::new();
    let run = [
        Step::moves(Move::Complete),
        Step::moves(Move::Work),
        Step::chunk("late", "too late", false, true),
        Step::progress("too late"),
        Step::moves(Move::Fail),
    ];
    world.agent.expect(Script::accept(run));
    let items = all(world.stream("hello").await).await;
    assert_eq!(shorts(&items), ["task SUBMITTED", "COMPLETED"]);
    tokio::time::sleep(Duration::from_secs(1)).await;
    let task = world.get(&TaskId::new("task-1")).await.unwrap();
    assert_eq!(
        (task.status.state, task.artifacts.len(), task.history.len()),
        (TaskState::Completed, 0, 1)
    );
    assert_eq!(world.agent.dropped_reports(), 4);
}

#[tokio::test(start_paused = true)]
async fn an_append_after_the_last_chunk_is_refused_and_a_replacement_is_taken() {
    let world = World::new();
    let run = [
        Step::chunk("a", "one", false, true),
        Step::chunk("a", "two", true, false),
        Step::chunk("a", "three", false, false),
        Step::moves(Move::Complete),
    ];
    world.agent.expect(Script::accept(run));
    let items = all(world.stream("hello").await).await;
    assert_eq!(
        shorts(&items),
        ["task SUBMITTED", "artifact", "first", "COMPLETED"]
    );
    let task = world.get(&TaskId::new("task-1")).await.unwrap();
    assert_eq!(crate::harness::given(&task), "three");
    assert_eq!(world.agent.faults().len(), 1);
}
