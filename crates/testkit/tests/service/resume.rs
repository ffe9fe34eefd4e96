//! Resuming streams: what each event carries, where a stream goes on, and where it has to start over.

use std::sync::Arc;

use futures::StreamExt;
use gateway_domain::{
    Cursor, ErrorKind, Request, StreamResponse, TaskId, TaskState, Version,
    lifecycle::Move,
    reply::{EventStream, StreamItem},
    resume,
};
use gateway_store_memory::Settings;
use gateway_testkit::agent::{Gate, Script, Step};
use serde_json::Value;

use crate::harness::{Setting, World, all, cut_at, short, shorts};

/// What an event carries in its metadata under the extension's URI.
fn carried(item: &StreamItem) -> Value {
    let metadata = match item.event.event() {
        StreamResponse::Task(task) => &task.metadata,
        StreamResponse::StatusUpdate(update) => &update.metadata,
        StreamResponse::ArtifactUpdate(update) => &update.metadata,
        StreamResponse::Message(_) => panic!("a message has no place in a log"),
    };
    let carried = metadata.as_ref().and_then(|metadata| metadata.get(resume::URI));
    carried.cloned().unwrap_or_default()
}

fn cursor(item: &StreamItem) -> String {
    item.cursor.unwrap().to_string()
}

/// A task that worked and ended, and all of its events.
async fn ended(world: &World) -> (TaskId, Vec<StreamItem>) {
    let items = all(world.stream("chunks 3 0").await).await;
    (TaskId::new("task-1"), items)
}

async fn rest(events: EventStream) -> Vec<String> {
    all(events).await.iter().map(cursor).collect()
}

#[tokio::test(start_paused = true)]
async fn every_event_carries_its_cursor_where_the_extension_is_active_and_nowhere_else() {
    let world = World::new();
    let task = world.start("chunks 3").await;
    let marked = tokio::spawn(all(world.resume(&task, None).await.unwrap()));
    let plain = all(world.subscribe(&task).await.unwrap()).await;
    let marked = marked.await.unwrap();
    assert_eq!(shorts(&marked), shorts(&plain));
    assert!(marked.len() > 4, "{marked:?}");
    for (marked, plain) in marked.iter().zip(&plain) {
        assert_eq!(carried(marked)["cursor"], cursor(marked));
        assert_eq!(carried(marked).as_object().unwrap().len(), 1);
        assert_eq!(carried(plain), Value::Null);
    }
}

#[tokio::test(start_paused = true)]
async fn readers_with_their_cursors_share_what_is_encoded() {
    let world = World::new();
    let (task, items) = ended(&world).await;
    let read = async || {
        let events = world.resume(&task, Some(&cursor(&items[0]))).await.unwrap();
        let encoded = events.map(|item| item.unwrap().event.encoded(0, |_| vec![0].into()).as_ptr());
        encoded.collect::<Vec<_>>().await
    };
    assert_eq!(read().await, read().await);
}

#[tokio::test(start_paused = true)]
async fn a_stream_goes_on_after_each_cursor_without_the_task_though_it_has_ended() {
    let world = World::new();
    let (task, items) = ended(&world).await;
    let cursors: Vec<_> = items.iter().map(cursor).collect();
    for at in 0..items.len() {
        let events = world.resume(&task, Some(&cursors[at])).await.unwrap();
        assert_eq!(rest(events).await, cursors[at + 1..], "after {at}");
    }
    let from_the_start = world.resume(&task, Some(&Cursor::START.to_string())).await;
    assert_eq!(rest(from_the_start.unwrap()).await, cursors);
    let counts = world.service.resumed();
    assert_eq!(counts[0], ("continued", items.len() as u64 + 1));
    assert_eq!((counts[1].1, counts[2].1), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn a_resumed_stream_of_a_live_task_is_quiet_until_something_new_happens() {
    let (world, gate) = (World::new(), Gate::new());
    let run = [
        Step::moves(Move::Work),
        Step::Wait(gate.clone()),
        Step::moves(Move::Complete),
    ];
    world.agent.expect(Script::accept(run));
    let task = world.start("hello").await;
    gate.reached().await;
    let first = world
        .subscribe(&task)
        .await
        .unwrap()
        .next()
        .await
        .unwrap()
        .unwrap();
    let mut events = world.resume(&task, Some(&cursor(&first))).await.unwrap();
    assert!(futures::poll!(events.next()).is_pending());
    gate.open();
    assert_eq!(shorts(&all(events).await), ["COMPLETED"]);
}

#[tokio::test(start_paused = true)]
async fn without_the_extension_a_cursor_is_not_looked_at() {
    let world = World::new();
    let asks = world.send("ask").await;
    for sent in ["1-00000000", "no cursor at all"] {
        let mut events = world.subscribe_after(&asks.id, sent).await.unwrap();
        let first = events.next().await.unwrap().unwrap();
        assert_eq!(short(first.event.event()), "task INPUT_REQUIRED");
    }
    let (task, items) = (world.send("say hi").await.id, "1-00000000");
    let error = world.subscribe_after(&task, items).await.err().unwrap();
    assert_eq!(error.kind(), ErrorKind::UnsupportedOperation);
}

#[tokio::test(start_paused = true)]
async fn with_the_extension_and_no_cursor_a_stream_begins_as_always() {
    let world = World::new();
    let asks = world.send("ask").await;
    let first = world
        .resume(&asks.id, None)
        .await
        .unwrap()
        .next()
        .await
        .unwrap()
        .unwrap();
    assert_eq!(short(first.event.event()), "task INPUT_REQUIRED");
    let done = world.send("say hi").await;
    let error = world.resume(&done.id, None).await.err().unwrap();
    assert_eq!(error.kind(), ErrorKind::UnsupportedOperation);
}

#[tokio::test(start_paused = true)]
async fn a_broken_cursor_is_refused_by_name_before_the_task_is_looked_for() {
    let world = World::new();
    for sent in ["", "12", "12-xyz", "1-00000000, 2-00000000"] {
        let error = world.resume(&TaskId::new("nobody's"), Some(sent)).await;
        let error = error.err().unwrap();
        assert_eq!(error.kind(), ErrorKind::InvalidParams, "{sent:?}");
        assert_eq!(error.violations()[0].field, "last-event-id");
    }
    let unknown = world.resume(&TaskId::new("nobody's"), Some("1-00000000")).await;
    assert_eq!(unknown.err().unwrap().kind(), ErrorKind::TaskNotFound);
}

/// Ten entries of a log that holds four.
async fn cut_log() -> (Arc<World>, TaskId, Gate) {
    let setting = Setting {
        store: Settings {
            log_entries: 4,
            ..Settings::default()
        },
        ..Setting::default()
    };
    let (world, gate) = (World::with(setting), Gate::new());
    let updates = (0..10).map(|number| Step::progress(&format!("update {number}")));
    let run = [Step::moves(Move::Work)]
        .into_iter()
        .chain(updates)
        .chain([Step::Wait(gate.clone()), Step::moves(Move::Complete)]);
    world.agent.expect(Script::accept(run));
    let task = world.start("hello").await;
    gate.reached().await;
    (world, task, gate)
}

#[tokio::test(start_paused = true)]
async fn a_stream_whose_cursor_is_too_old_starts_over_with_the_task_and_says_so() {
    let (world, task, gate) = cut_log().await;
    let mut events = world.resume(&task, Some("0-00000000")).await.unwrap();
    let first = events.next().await.unwrap().unwrap();
    assert_eq!(short(first.event.event()), "task WORKING");
    assert_eq!(carried(&first)["startedOver"], "cursor-too-old");
    assert_eq!(carried(&first)["cursor"], cursor(&first));
    gate.open();
    let rest = all(events).await;
    assert_eq!(shorts(&rest), ["COMPLETED"]);
    assert_eq!(carried(&rest[0])["startedOver"], Value::Null);
    // Its end does not change that.
    let over = all(world.resume(&task, Some("0-00000000")).await.unwrap()).await;
    assert_eq!(shorts(&over), ["task COMPLETED"]);
    assert_eq!(world.service.resumed()[1], ("cursor-too-old", 2));
}

#[tokio::test(start_paused = true)]
async fn a_stream_whose_cursor_is_of_another_timeline_starts_over_with_the_task_and_says_so() {
    let world = World::new();
    let (task, items) = ended(&world).await;
    let newest = items.last().unwrap().cursor.unwrap();
    let other_mark = |place: Cursor| Cursor {
        mark: !place.mark,
        ..place
    };
    let beyond = Cursor {
        revision: newest.revision + 1,
        ..newest
    };
    let elsewhere = [other_mark(items[1].cursor.unwrap()), other_mark(newest), beyond];
    for cursor in elsewhere {
        let events = world.resume(&task, Some(&cursor.to_string())).await.unwrap();
        let items = all(events).await;
        assert_eq!(shorts(&items), ["task COMPLETED"], "{cursor}");
        assert_eq!(carried(&items[0])["startedOver"], "other-timeline");
    }
    assert_eq!(world.service.resumed()[2], ("other-timeline", 3));
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_starts_over_where_input_is_required_ends_there_in_0_3_and_stays_open_in_1_0() {
    let world = World::new();
    let task = world.send("ask").await.id;
    let elsewhere = "1-00000000";
    let events = world.resume_in(Version::V0_3, &task, Some(elsewhere)).await;
    assert_eq!(shorts(&all(events.unwrap()).await), ["task INPUT_REQUIRED"]);
    let mut events = world.resume(&task, Some(elsewhere)).await.unwrap();
    let first = events.next().await.unwrap().unwrap();
    assert_eq!(short(first.event.event()), "task INPUT_REQUIRED");
    assert!(futures::poll!(events.next()).is_pending());
}

#[tokio::test(start_paused = true)]
async fn a_reader_that_was_cut_comes_back_with_its_cursor_and_has_lost_nothing() {
    let (world, gate) = (World::new(), Gate::new());
    let updates = (0..40).map(|number| Step::progress(&format!("update {number}")));
    let run = [Step::moves(Move::Work), Step::Wait(gate.clone())]
        .into_iter()
        .chain(updates)
        .chain([Step::moves(Move::Complete)]);
    world.agent.expect(Script::accept(run));
    let task = world.start("hello").await;
    gate.reached().await;
    let mut events = world.resume(&task, None).await.unwrap();
    let mut seen = vec![cursor(&events.next().await.unwrap().unwrap())];
    gate.open();
    seen.push(cursor(&events.next().await.unwrap().unwrap()));
    tokio::time::sleep(world.service.limits().reader_stall * 2).await;
    let cut = events.next().await.unwrap().unwrap_err();
    let at = cut_at(&cut).unwrap().to_string();
    assert_eq!(seen.last(), Some(&at));
    let events = world.resume(&task, Some(&at)).await.unwrap();
    seen.extend(rest(events).await);
    let revisions = seen
        .iter()
        .map(|cursor| cursor.parse::<Cursor>().unwrap().revision);
    assert!(
        revisions.collect::<Vec<_>>().is_sorted_by(|a, b| a + 1 == *b),
        "{seen:?}"
    );
    assert_eq!(seen.len(), 42);
    assert_eq!(world.ended(&task).await.status.state, TaskState::Completed);
}

#[tokio::test(start_paused = true)]
async fn the_extension_is_the_gateways_and_no_agent_hears_of_it() {
    let world = World::new();
    let request = Request::SendMessage(world.message("say hi", None));
    let extensions = ["urn:a", resume::URI, "urn:b"].map(str::to_owned);
    world.handle_with(&extensions, request).await.unwrap();
    assert_eq!(world.agent.offers()[0].extensions, ["urn:a", "urn:b"]);
}
