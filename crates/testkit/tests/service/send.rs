//! How long a send waits, and for what; and what is refused before the agent hears of it.

use std::time::Duration;

use gateway_domain::{ContextId, ErrorKind, Limits, Part, Request, TaskId, TaskState, lifecycle::Move};
use gateway_testkit::agent::{Gate, Script, Step};

use crate::harness::{Setting, World, given, outcome, said, task_of};

const LONG: Duration = Duration::from_secs(3_600);

#[tokio::test(start_paused = true)]
async fn a_blocking_send_waits_until_the_task_has_ended() {
    let world = World::new();
    let task = world.send("work 90").await;
    assert_eq!(task.status.state, TaskState::Completed);
    assert_eq!(task.artifacts.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_blocking_send_returns_when_the_agent_needs_something() {
    let world = World::new();
    let asks = world.send("ask").await;
    assert_eq!(asks.status.state, TaskState::InputRequired);
    assert!(said(&asks).contains("question"), "{}", said(&asks));
    let needs = world.send("auth").await;
    assert_eq!(needs.status.state, TaskState::AuthRequired);
}

#[tokio::test(start_paused = true)]
async fn an_answer_completes_the_task_that_asked() {
    let world = World::new();
    let asks = world.send("ask 2").await;
    let again = world.answer(&asks.id, "blue").await.unwrap();
    assert_eq!(again.status.state, TaskState::InputRequired);
    assert_ne!(said(&again), said(&asks));
    let done = world.answer(&asks.id, "green").await.unwrap();
    assert_eq!(
        (done.status.state, given(&done).as_str()),
        (TaskState::Completed, "green")
    );
    let texts: Vec<_> = done
        .history
        .iter()
        .filter_map(|message| message.first_text())
        .collect();
    assert_eq!(texts, ["ask 2", "blue", said(&asks), "green", said(&again)]);
}

#[tokio::test(start_paused = true)]
async fn a_further_message_waits_for_a_later_status_even_if_the_state_stays() {
    let (world, gate) = (World::new(), Gate::new());
    world
        .agent
        .expect(Script::accept([Step::says(Move::RequireInput, "first")]));
    let asks = world.send("hello").await;
    let run = [Step::Wait(gate.clone()), Step::says(Move::RequireInput, "second")];
    world.agent.expect(Script::accept(run));
    let (answerer, id) = (world.clone(), asks.id.clone());
    let answered = tokio::spawn(async move { answerer.answer(&id, "blue").await });
    gate.reached().await;
    tokio::time::sleep(LONG).await;
    assert!(
        !answered.is_finished(),
        "the state that was held already is no answer"
    );
    gate.open();
    let task = answered.await.unwrap().unwrap();
    assert_eq!(
        (task.status.state, said(&task)),
        (TaskState::InputRequired, "second")
    );
}

#[tokio::test(start_paused = true)]
async fn a_further_message_that_wants_no_answer_returns_the_task_with_it() {
    let world = World::new();
    let asks = world.send("ask").await;
    let task = world.start_in("blue", Some(&asks.id)).await.unwrap();
    assert_eq!(task.status.state, TaskState::InputRequired);
    assert_eq!(task.history.last().unwrap().first_text(), Some("blue"));
}

#[tokio::test(start_paused = true)]
async fn the_operators_maximum_ends_the_wait_and_not_the_task() {
    let limits = Limits {
        blocking_wait: Some(Duration::from_secs(30)),
        ..Limits::default()
    };
    let world = World::with(Setting {
        limits,
        ..Setting::default()
    });
    let begun = tokio::time::Instant::now();
    let task = world.send("work 90").await;
    assert_eq!(task.status.state, TaskState::Working);
    assert_eq!(begun.elapsed().as_secs(), 30);
    assert_eq!(world.ended(&task.id).await.status.state, TaskState::Completed);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_leaves_lets_sends_wait_until_it_ends_the_waits() {
    let world = World::new();
    let sender = world.clone();
    let begun = tokio::time::Instant::now();
    let sent = tokio::spawn(async move { sender.send("work 90").await });
    tokio::time::sleep(Duration::from_secs(1)).await;
    world.service.end_streams();
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert!(!sent.is_finished());
    world.service.end_waits();
    let task = sent.await.unwrap();
    assert_eq!(task.status.state, TaskState::Working);
    assert_eq!(begun.elapsed().as_secs(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_client_that_leaves_stops_nothing() {
    let (world, gate) = (World::new(), Gate::new());
    let run = [Step::Wait(gate.clone()), Step::moves(Move::Complete)];
    world.agent.expect(Script::accept(run));
    let sender = world.clone();
    let sent = tokio::spawn(async move { sender.send("hello").await });
    gate.reached().await;
    sent.abort();
    assert!(sent.await.unwrap_err().is_cancelled());
    gate.open();
    assert_eq!(
        world.ended(&TaskId::new("task-1")).await.status.state,
        TaskState::Completed
    );
}

#[tokio::test(start_paused = true)]
async fn a_client_that_leaves_before_the_agent_answers_stops_nothing() {
    let (world, gate) = (World::new(), Gate::new());
    let script = Script::accept([Step::moves(Move::Complete)]).after([Step::Wait(gate.clone())]);
    world.agent.expect(script);
    let sender = world.clone();
    let sent = tokio::spawn(async move { sender.send("hello").await });
    gate.reached().await;
    sent.abort();
    assert!(sent.await.unwrap_err().is_cancelled());
    gate.open();
    tokio::time::sleep(Duration::from_millis(1)).await;
    assert_eq!(
        world.ended(&TaskId::new("task-1")).await.status.state,
        TaskState::Completed
    );
}

#[tokio::test(start_paused = true)]
async fn a_context_that_the_agent_does_not_take_is_refused_and_none_is_made_in_its_place() {
    let world = World::new();
    let mut request = world.message("hello", None);
    request.message.context_id = Some(ContextId::new("refused-1"));
    let result = world.handle(Request::SendMessage(request)).await;
    assert_eq!(outcome(&result), "context-not-accepted");
    assert_eq!(world.agent.offers().len(), 0);
    assert_eq!(world.listed().await, 0);
}

#[tokio::test(start_paused = true)]
async fn a_part_of_a_type_that_the_agent_does_not_take_is_refused_before_it_hears_of_it() {
    let world = World::with(Setting {
        media_types: Some(vec!["text/plain".to_owned()]),
        ..Setting::default()
    });
    let mut request = world.message("hello", None);
    request.message.parts.push(Part {
        media_type: Some("image/png".to_owned()),
        ..Part::text("not really")
    });
    let result = world.handle(Request::SendMessage(request)).await;
    assert_eq!(outcome(&result), "content-type-not-supported");
    assert_eq!(world.agent.offers().len(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_message_to_a_finished_task_is_refused_and_changes_nothing() {
    let world = World::new();
    let done = world.send("say hi").await;
    let refused = world.answer(&done.id, "more").await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::UnsupportedOperation);
    assert_eq!(world.get(&done.id).await.unwrap(), done);
    assert_eq!(world.agent.offers().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_message_of_another_context_is_refused_and_changes_nothing() {
    let world = World::new();
    let asks = world.send("ask").await;
    let mut request = world.message("blue", Some(&asks.id));
    request.message.context_id = Some(ContextId::new("another"));
    let result = world.handle(Request::SendMessage(request)).await;
    assert_eq!(outcome(&result), "context-mismatch");
    assert_eq!(world.get(&asks.id).await.unwrap(), asks);
    assert_eq!(world.agent.offers().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_task_beyond_the_limit_of_live_ones_is_refused_until_one_has_ended() {
    let limits = Limits {
        live_tasks_per_tenant: 1,
        ..Limits::default()
    };
    let world = World::with(Setting {
        limits,
        ..Setting::default()
    });
    let asks = world.send("ask").await;
    let result = world
        .handle(Request::SendMessage(world.message("say hi", None)))
        .await;
    assert_eq!(outcome(&result), "task-limit");
    assert_eq!(world.agent.offers().len(), 1);
    world.answer(&asks.id, "blue").await.unwrap();
    assert_eq!(world.send("say hi").await.status.state, TaskState::Completed);
}

#[tokio::test(start_paused = true)]
async fn the_agent_gets_what_came_with_the_message() {
    let world = World::new();
    let mut request = world.message("ask", None);
    request.configuration.accepted_output_modes = vec!["text/plain".to_owned()];
    request.metadata = Some(serde_json::from_str(r#"{"colour": "blue"}"#).unwrap());
    let asks = task_of(world.handle(Request::SendMessage(request.clone())).await.unwrap());
    world.answer(&asks.id, "green").await.unwrap();

    let offers = world.agent.offers();
    assert_eq!(offers[0].metadata, request.metadata);
    assert_eq!(offers[0].accepted_output_modes, ["text/plain"]);
    assert_eq!((offers[0].follow_up, offers[1].follow_up), (false, true));
    assert_eq!(offers[0].message, offers[0].task.history[0]);
    assert_eq!(offers[0].message.task_id, Some(asks.id));
    assert_eq!(offers[1].message.first_text(), Some("green"));
    assert_eq!(asks.metadata, None, "the request's metadata is not the task's");
}

/// Each answer is taken in once, or refused as one to a task that has ended; and the agent runs one turn only.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_two_answers_at_the_same_moment_one_completes_the_task_once() {
    for _ in 0..50 {
        let world = World::new();
        let asks = world.send("ask").await;
        let answers = ["blue", "green"].map(|text| {
            let (world, id) = (world.clone(), asks.id.clone());
            tokio::spawn(async move { (text, world.start_in(text, Some(&id)).await) })
        });
        let mut taken = Vec::new();
        for answer in answers {
            match answer.await.unwrap() {
                (text, Ok(_)) => taken.push(text),
                (_, Err(error)) => assert_eq!(error.kind(), ErrorKind::UnsupportedOperation),
            }
        }
        let done = world.ended(&asks.id).await;
        assert_eq!(done.status.state, TaskState::Completed);
        let said = done
            .history
            .iter()
            .filter(|message| message.role == gateway_domain::Role::User);
        let mut said: Vec<_> = said.skip(1).filter_map(|message| message.first_text()).collect();
        said.sort_unstable();
        taken.sort_unstable();
        assert_eq!(said, taken);
        assert!(
            taken.contains(&given(&done).as_str()),
            "{taken:?} {}",
            given(&done)
        );
        assert_eq!(
            world.agent.dropped_reports(),
            0,
            "a second run would have reported too"
        );
    }
}
