//! The demo agent behind the service: each command goes its whole way.

use std::time::Duration;

use futures::StreamExt;
use gateway_domain::{ErrorKind, Request, TaskState, lifecycle::Move};

use crate::harness::{World, all, given, message_of, said, short, shorts, stream_of};

#[tokio::test(start_paused = true)]
async fn each_command_goes_its_way() {
    for (text, way) in [
        ("hello", "task SUBMITTED, WORKING, artifact, COMPLETED"),
        ("say hi", "task SUBMITTED, artifact, COMPLETED"),
        ("work 5", "task SUBMITTED, WORKING, artifact, COMPLETED"),
        ("quiet 90", "task SUBMITTED, COMPLETED"),
        ("chunks 1", "task SUBMITTED, WORKING, artifact, COMPLETED"),
        (
            "chunks 3 0",
            "task SUBMITTED, WORKING, first, append, last, COMPLETED",
        ),
        ("burst 3", "task SUBMITTED, WORKING, WORKING, WORKING, COMPLETED"),
        ("fail", "task SUBMITTED, FAILED"),
        ("crash", "task SUBMITTED, WORKING, FAILED"),
        ("late", "task SUBMITTED, COMPLETED"),
        ("notime", "task SUBMITTED, WORKING, WORKING, COMPLETED"),
        (
            "bench hold=10 chunks=2 size=5",
            "task SUBMITTED, WORKING, first, last, COMPLETED",
        ),
        ("work 3601", "task SUBMITTED, REJECTED"),
        ("direct", "message"),
    ] {
        let world = World::new();
        let items = all(world.stream(text).await).await;
        assert_eq!(shorts(&items).join(", "), way, "{text}");
        // The run may be a moment behind the stream that it has ended.
        tokio::time::sleep(Duration::from_millis(1)).await;
        assert_eq!(world.agent.runs_under_way(), 0, "{text}");
        assert_eq!(
            world.agent.dropped_reports(),
            if text == "late" { 2 } else { 0 },
            "{text}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn say_gives_back_every_character() {
    let text = " line1\nline2\r\ndata: x\n\nevent: y\u{2028}end ";
    let task = World::new().send(&format!("say {text}")).await;
    assert_eq!(given(&task), text);
}

#[tokio::test(start_paused = true)]
async fn an_echo_has_the_time_in_front_and_all_parts_behind() {
    let world = World::new();
    let mut request = world.message("hello", None);
    let data = gateway_domain::Part {
        content: Some(gateway_domain::Content::Data(
            serde_json::json!({"n": 9_007_199_254_740_993_u64}),
        )),
        ..gateway_domain::Part::default()
    };
    request.message.parts.insert(0, data.clone());
    let reply = world.handle(Request::SendMessage(request)).await.unwrap();
    let task = crate::harness::task_of(reply);
    assert_eq!(task.artifacts[0].parts[0], data);
    let text = given(&task);
    let (stamp, text) = text.split_once(';').unwrap();
    let micros: u128 = stamp.strip_prefix("t=").unwrap().parse().unwrap();
    assert!(
        micros > 1_700_000_000_000_000,
        "{micros} microseconds since the epoch"
    );
    assert_eq!(text, "hello");
}

#[tokio::test(start_paused = true)]
async fn a_bench_chunk_is_as_long_as_told_behind_its_stamp() {
    let world = World::new();
    let task = world.send("bench chunks=2 size=7").await;
    let texts = given(&task);
    let bodies: Vec<_> = texts
        .split("t=")
        .skip(1)
        .map(|chunk| chunk.split_once(';').unwrap().1)
        .collect();
    assert_eq!(bodies, ["xxxxxxx", "xxxxxxx"]);
}

#[tokio::test(start_paused = true)]
async fn chunks_come_one_a_second() {
    let world = World::new();
    let begun = tokio::time::Instant::now();
    let mut seconds = Vec::new();
    let mut events = world.stream("chunks 5").await;
    while let Some(item) = events.next().await {
        if short(item.unwrap().event.event()).ends_with("first") {
            seconds.push(begun.elapsed().as_secs());
        }
    }
    assert_eq!((seconds, begun.elapsed().as_secs()), (vec![0], 4));
}

#[tokio::test(start_paused = true)]
async fn a_crash_fails_the_task_with_a_text_for_the_client() {
    let task = World::new().send("crash").await;
    assert_eq!(task.status.state, TaskState::Failed);
    assert!(said(&task).contains("agent"), "{}", said(&task));
}

#[tokio::test(start_paused = true)]
async fn a_number_beyond_its_bound_rejects_the_task_naming_it() {
    let task = World::new().send("burst 100001").await;
    assert_eq!(task.status.state, TaskState::Rejected);
    assert!(said(&task).contains("100000"), "{}", said(&task));
}

#[tokio::test(start_paused = true)]
async fn a_direct_answer_has_the_context_of_the_request() {
    let world = World::new();
    let mut request = world.message("direct", None);
    request.message.context_id = Some(gateway_domain::ContextId::new("mine"));
    let message = message_of(world.handle(Request::SendMessage(request)).await.unwrap());
    assert_eq!(message.context_id.as_ref().map(|id| id.as_str()), Some("mine"));
}

#[tokio::test(start_paused = true)]
async fn a_task_that_needs_credentials_goes_on_when_somebody_moves_it_on() {
    for (step, end) in [(Move::Work, "authorized"), (Move::Complete, "")] {
        let world = World::new();
        let needs = world.send("auth").await;
        world.command(&needs.id, step).await.unwrap();
        let done = world.ended(&needs.id).await;
        assert_eq!(
            (done.status.state, given(&done).as_str()),
            (TaskState::Completed, end)
        );
        tokio::time::sleep(Duration::from_secs(60)).await;
        assert_eq!(world.agent.runs_under_way(), 0);
    }
}

#[tokio::test(start_paused = true)]
async fn a_task_that_needs_credentials_goes_on_with_the_next_message() {
    let world = World::new();
    let needs = world.send("auth").await;
    let done = world.answer(&needs.id, "here they are").await.unwrap();
    assert_eq!(
        (done.status.state, given(&done).as_str()),
        (TaskState::Completed, "here they are")
    );
}

#[tokio::test(start_paused = true)]
async fn a_task_that_waits_for_an_answer_has_no_run() {
    let world = World::new();
    world.send("ask").await;
    // The run may be a moment behind the answer that it gave.
    tokio::time::sleep(Duration::from_millis(1)).await;
    assert_eq!(world.agent.runs_under_way(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_message_to_a_working_task_is_taken_and_the_work_goes_on() {
    let world = World::new();
    let id = world.start("work 10").await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    let done = world.answer(&id, "hurry").await.unwrap();
    assert_eq!(
        (done.status.state, given(&done).as_str()),
        (TaskState::Completed, "the work is done")
    );
    assert_eq!(done.history.len(), 2);
    assert_eq!(world.agent.dropped_reports(), 0);
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_comes_while_the_question_is_on_its_way_is_not_lost() {
    let world = World::new();
    let id = world.start("ask 2").await;
    // Nobody waits in between: the messages stand before the agent has said a word.
    world.start_in("blue", Some(&id)).await.unwrap();
    world.start_in("green", Some(&id)).await.unwrap();
    assert_eq!(world.ended(&id).await.status.state, TaskState::Completed);
}

#[tokio::test(start_paused = true)]
async fn draining_lets_short_runs_end_and_stops_long_ones() {
    let world = World::new();
    let (short, long, waits) = (
        world.start("work 5").await,
        world.start("work 500").await,
        world.start("auth").await,
    );
    tokio::time::sleep(Duration::from_secs(1)).await;
    world.agent.drain(Duration::from_secs(10)).await;
    assert_eq!(world.agent.runs_under_way(), 0);
    assert_eq!(world.state(&short).await, TaskState::Completed);
    assert_eq!(world.state(&long).await, TaskState::Working);
    assert_eq!(world.state(&waits).await, TaskState::AuthRequired);
    let error = world
        .handle(Request::SendMessage(world.message("say hi", None)))
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
}

#[tokio::test(start_paused = true)]
async fn a_stream_of_a_direct_answer_is_that_message_alone() {
    let world = World::new();
    let request = Request::SendStreamingMessage(world.message("direct", None));
    let items = all(stream_of(world.handle(request).await.unwrap())).await;
    assert_eq!(shorts(&items), ["message"]);
    assert_eq!(items[0].cursor, None);
}
