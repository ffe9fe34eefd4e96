//! CancelTask: the agent is asked first, and only its refusal or an end of its own keeps the task from it.

use std::{sync::Arc, time::Duration};

use futures::StreamExt;
use gateway_domain::{ErrorKind, Outcome, TaskId, TaskState, lifecycle::Move};
use gateway_testkit::agent::{Gate, OnCancel, Script, Step};

use crate::harness::{World, outcome, shorts, task_of};

/// A task that is worked on until the gate opens, and then completes.
async fn working(on_cancel: OnCancel) -> (Arc<World>, TaskId, Gate) {
    let (world, gate) = (World::new(), Gate::new());
    let run = [
        Step::moves(Move::Work),
        Step::Wait(gate.clone()),
        Step::moves(Move::Complete),
    ];
    world.agent.expect(Script::accept(run).on_cancel(on_cancel));
    let task = world.start("hello").await;
    gate.reached().await;
    (world, task, gate)
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_agrees_has_stopped_when_the_task_is_canceled() {
    let (world, task, gate) = working(OnCancel::Stop).await;
    let result = world.cancel(&task).await;
    assert_eq!(outcome(&result), "canceled");
    let canceled = task_of(result.unwrap());
    assert_eq!(canceled.status.state, TaskState::Canceled);
    assert!(canceled.status.message.is_some());
    assert_eq!(world.agent.runs_under_way(), 0);
    gate.open();
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!(world.get(&task).await.unwrap(), canceled);
    assert_eq!(world.agent.dropped_reports(), 0);
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_refuses_keeps_the_task() {
    let (world, task, gate) = working(OnCancel::Refuse).await;
    let result = world.cancel(&task).await;
    assert_eq!(outcome(&result), "not-cancelable-now");
    assert_eq!(result.unwrap_err().kind(), ErrorKind::TaskNotCancelable);
    assert_eq!(world.state(&task).await, TaskState::Working);
    gate.open();
    assert_eq!(world.ended(&task).await.status.state, TaskState::Completed);
}

#[tokio::test(start_paused = true)]
async fn a_silent_agent_loses_the_task_and_what_it_sends_later() {
    let (world, task, gate) = working(OnCancel::Silence).await;
    let begun = tokio::time::Instant::now();
    let result = world.cancel(&task).await;
    assert_eq!(outcome(&result), "canceled");
    assert_eq!(begun.elapsed().as_secs(), 3);
    let canceled = task_of(result.unwrap());
    gate.open();
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!(world.get(&task).await.unwrap(), canceled);
    assert_eq!(world.agent.dropped_reports(), 1);
}

#[tokio::test(start_paused = true)]
async fn an_end_that_the_agent_reports_meanwhile_stands() {
    for (step, state) in [
        (Move::Complete, TaskState::Completed),
        (Move::Fail, TaskState::Failed),
    ] {
        let (world, task, _gate) = working(OnCancel::End(step)).await;
        let result = world.cancel(&task).await;
        assert_eq!(outcome(&result), "not-cancelable");
        assert_eq!(result.unwrap_err().kind(), ErrorKind::TaskNotCancelable);
        assert_eq!(world.state(&task).await, state);
    }
}

#[tokio::test(start_paused = true)]
async fn a_task_without_a_run_is_canceled_by_the_gateway() {
    let world = World::new();
    let asks = world.send("ask").await;
    assert_eq!(outcome(&world.cancel(&asks.id).await), "canceled");
    assert_eq!(world.state(&asks.id).await, TaskState::Canceled);
}

#[tokio::test(start_paused = true)]
async fn a_task_that_needs_credentials_is_canceled_with_its_run() {
    let world = World::new();
    let needs = world.send("auth").await;
    assert_eq!(outcome(&world.cancel(&needs.id).await), "canceled");
    assert_eq!(world.agent.runs_under_way(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_task_that_has_ended_cannot_be_canceled_and_its_agent_is_not_asked() {
    let world = World::new();
    let canceled = world.send("ask").await.id;
    world.cancel(&canceled).await.unwrap();
    let asked = world.agent.cancels();
    let ends = [
        world.send("say hi").await.id,
        world.send("fail").await.id,
        world.send("burst 0").await.id,
        canceled,
    ];
    for task in ends {
        let before = world.get(&task).await.unwrap();
        let result = world.cancel(&task).await;
        assert_eq!(outcome(&result), "not-cancelable", "{:?}", before.status.state);
        assert_eq!(world.get(&task).await.unwrap(), before);
    }
    assert_eq!(world.agent.cancels(), asked);
}

#[tokio::test(start_paused = true)]
async fn an_unknown_task_is_not_found() {
    let world = World::new();
    let error = world.cancel(&TaskId::new("no-such-task")).await.unwrap_err();
    assert_eq!(error.decided_outcome(), Some(Outcome::TaskNotFound));
    assert_eq!(world.agent.cancels(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_cancel_is_the_last_event_of_every_open_stream() {
    let world = World::new();
    let task = world.start("work 60").await;
    let streams = [
        world.subscribe(&task).await.unwrap(),
        world.subscribe(&task).await.unwrap(),
    ];
    let readers = streams.map(|stream| tokio::spawn(stream.map(Result::unwrap).collect::<Vec<_>>()));
    tokio::time::sleep(Duration::from_secs(1)).await;
    world.cancel(&task).await.unwrap();
    for reader in readers {
        let seen = shorts(&reader.await.unwrap());
        assert_eq!(seen.last().map(String::as_str), Some("CANCELED"), "{seen:?}");
    }
}

/// The answer says canceled if and only if the task is.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_cancel_at_the_moment_of_completion_tells_the_truth_500_times() {
    let mut canceled = 0;
    for round in 0..500 {
        let (world, task, gate) = working(OnCancel::Stop).await;
        gate.open();
        // A little later each time, so that the cancel meets every stage of the run's end.
        for _ in 0..round % 50 {
            tokio::task::yield_now().await;
        }
        let result = world.cancel(&task).await;
        let stored = world.ended(&task).await;
        match &result {
            Ok(_) => {
                canceled += 1;
                assert_eq!(stored.status.state, TaskState::Canceled);
                assert_eq!(task_of(result.unwrap()), stored);
            }
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::TaskNotCancelable);
                assert_eq!(stored.status.state, TaskState::Completed);
            }
        }
    }
    println!("{canceled} of 500 were canceled");
}
