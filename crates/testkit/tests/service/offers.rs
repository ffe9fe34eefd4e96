//! What becomes of a task by the agent's answer, before the accept window closes and after it.

use std::{sync::Arc, time::Duration};

use gateway_domain::{Error, ErrorKind, Limits, Request, StreamResponse, TaskId, TaskState, lifecycle::Move};
use gateway_testkit::agent::{Gate, Reply, Script, Step};

use crate::harness::{Setting, World, all, message_of, outcome, said, task_of};

const BEFORE_THE_WINDOW_CLOSES: Duration = Duration::from_millis(1_900);
const AFTER_IT: Duration = Duration::from_millis(2_100);

fn first_task() -> TaskId {
    TaskId::new("task-1")
}

/// Sends, and stops the agent before its answer.
async fn held(
    reply: Reply,
) -> (
    Arc<World>,
    Gate,
    tokio::task::JoinHandle<Result<gateway_domain::Reply, Error>>,
) {
    let (world, gate) = (World::new(), Gate::new());
    let script = Script::answer(reply).after([Step::Wait(gate.clone())]);
    world.agent.expect(script);
    let sender = world.clone();
    let sent = tokio::spawn(async move {
        let request = Request::SendMessage(sender.message("hello", None));
        sender.handle(request).await
    });
    gate.reached().await;
    (world, gate, sent)
}

#[tokio::test(start_paused = true)]
async fn a_task_is_hidden_until_the_accept_window_closes() {
    let (world, gate, sent) = held(Reply::Accept).await;

    tokio::time::sleep(BEFORE_THE_WINDOW_CLOSES).await;
    let hidden = world.get(&first_task()).await.unwrap_err();
    assert_eq!(hidden.kind(), ErrorKind::TaskNotFound);
    assert_eq!(world.listed().await, 0);

    tokio::time::sleep(AFTER_IT - BEFORE_THE_WINDOW_CLOSES).await;
    assert_eq!(world.state(&first_task()).await, TaskState::Submitted);
    assert_eq!(world.listed().await, 1);

    gate.open();
    world.command(&first_task(), Move::Complete).await.unwrap();
    assert_eq!(outcome(&sent.await.unwrap()), "task-created");
}

#[tokio::test(start_paused = true)]
async fn a_task_is_shown_as_soon_as_the_agent_takes_it() {
    let (world, gate, sent) = held(Reply::Accept).await;
    gate.open();
    tokio::time::sleep(Duration::from_millis(1)).await;
    assert_eq!(world.state(&first_task()).await, TaskState::Submitted);
    world.command(&first_task(), Move::Complete).await.unwrap();
    assert_eq!(
        task_of(sent.await.unwrap().unwrap()).status.state,
        TaskState::Completed
    );
}

#[tokio::test(start_paused = true)]
async fn a_task_is_shown_as_soon_as_the_agent_acts_on_it() {
    let (world, gate) = (World::new(), Gate::new());
    let before = [Step::moves(Move::Work), Step::Wait(gate.clone())];
    world
        .agent
        .expect(Script::accept([Step::moves(Move::Complete)]).after(before));
    let sender = world.clone();
    let sent = tokio::spawn(async move { sender.send("hello").await });
    gate.reached().await;
    assert_eq!(world.state(&first_task()).await, TaskState::Working);
    gate.open();
    assert_eq!(sent.await.unwrap().status.state, TaskState::Completed);
}

#[tokio::test(start_paused = true)]
async fn a_task_is_shown_at_once_where_the_client_wants_the_answer_at_once() {
    let (world, gate) = (World::new(), Gate::new());
    world.agent.expect(Script::accept([]).after([Step::Wait(gate)]));
    let task = world.start_in("hello", None).await.unwrap();
    assert_eq!(task.status.state, TaskState::Submitted);
    assert_eq!(world.get(&task.id).await.unwrap(), task);
}

#[tokio::test(start_paused = true)]
async fn a_direct_message_before_the_window_closes_leaves_no_task() {
    let (world, gate, sent) = held(Reply::Message("here".to_owned())).await;
    tokio::time::sleep(BEFORE_THE_WINDOW_CLOSES).await;
    gate.open();
    let reply = sent.await.unwrap();
    assert_eq!(outcome(&reply), "direct-message");
    let message = message_of(reply.unwrap());
    assert_eq!(message.first_text(), Some("here"));
    assert!(
        message.context_id.is_some(),
        "a context is made where the request has none"
    );
    assert_eq!(message.task_id, None);
    assert_eq!(world.listed().await, 0);
    assert_eq!(
        world.get(&first_task()).await.unwrap_err().kind(),
        ErrorKind::TaskNotFound
    );
}

#[tokio::test(start_paused = true)]
async fn a_direct_message_after_the_window_completes_the_task_with_it() {
    let (world, gate, sent) = held(Reply::Message("here".to_owned())).await;
    tokio::time::sleep(AFTER_IT).await;
    assert_eq!(world.state(&first_task()).await, TaskState::Submitted);
    gate.open();
    let task = task_of(sent.await.unwrap().unwrap());
    assert_eq!((task.status.state, said(&task)), (TaskState::Completed, "here"));
    assert_eq!(world.get(&first_task()).await.unwrap(), task);
}

#[tokio::test(start_paused = true)]
async fn a_refusal_before_the_window_closes_is_the_clients_error_and_leaves_no_task() {
    let error = Error::new(ErrorKind::ContentTypeNotSupported, "not today");
    let (world, gate, sent) = held(Reply::Refuse(error)).await;
    gate.open();
    let refused = sent.await.unwrap().unwrap_err();
    assert_eq!(
        (refused.kind(), refused.message()),
        (ErrorKind::ContentTypeNotSupported, "not today")
    );
    assert_eq!(world.listed().await, 0);
}

#[tokio::test(start_paused = true)]
async fn a_refusal_after_the_window_rejects_the_task_with_its_text() {
    let error = Error::new(ErrorKind::ContentTypeNotSupported, "not today");
    let (_world, gate, sent) = held(Reply::Refuse(error)).await;
    tokio::time::sleep(AFTER_IT).await;
    gate.open();
    let task = task_of(sent.await.unwrap().unwrap());
    assert_eq!(
        (task.status.state, said(&task)),
        (TaskState::Rejected, "not today")
    );
}

#[tokio::test(start_paused = true)]
async fn a_refused_further_message_is_its_senders_error_and_leaves_the_task_as_it_was() {
    let world = World::new();
    world
        .agent
        .expect(Script::accept([Step::moves(Move::RequireInput)]));
    let task = world.send("hello").await;
    let error = Error::new(ErrorKind::UnsupportedOperation, "one thing at a time");
    world.agent.expect(Script::answer(Reply::Refuse(error)));
    let refused = world.answer(&task.id, "and more").await.unwrap_err();
    assert_eq!(refused.message(), "one thing at a time");
    assert_eq!(world.state(&task.id).await, TaskState::InputRequired);
}

#[tokio::test(start_paused = true)]
async fn a_direct_message_that_the_task_has_no_room_for_fails_it_and_ends_the_wait() {
    let limits = Limits {
        stored_bytes_per_task: 1_000,
        ..Limits::default()
    };
    let world = World::with(Setting {
        limits,
        ..Setting::default()
    });
    let gate = Gate::new();
    let long = Script::answer(Reply::Message("x".repeat(2_000))).after([Step::Wait(gate.clone())]);
    world.agent.expect(long);
    let sender = world.clone();
    let sent = tokio::spawn(async move { sender.send("hello").await });
    gate.reached().await;
    tokio::time::sleep(AFTER_IT).await;
    gate.open();
    let task = sent.await.unwrap();
    assert_eq!(task.status.state, TaskState::Failed);
    assert!(said(&task).contains("1000 bytes"), "{}", said(&task));
}

#[tokio::test(start_paused = true)]
async fn a_direct_message_that_is_none_is_an_answer_outside_the_protocol() {
    let world = World::new();
    world.agent.expect(Script::answer(Reply::EmptyMessage));
    let request = Request::SendMessage(world.message("hello", None));
    let error = world.handle(request).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidAgentResponse);
    assert_eq!(world.ended(&first_task()).await.status.state, TaskState::Failed);
}

#[tokio::test(start_paused = true)]
async fn an_answer_outside_the_protocol_is_an_error_and_a_failed_task() {
    let (world, gate, sent) = held(Reply::OutsideProtocol).await;
    gate.open();
    let error = sent.await.unwrap().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidAgentResponse);
    assert!(
        !error.message().contains("nonsense"),
        "the agent's text is for the operator: {error}"
    );
    let task = world.ended(&first_task()).await;
    assert_eq!(task.status.state, TaskState::Failed);
    assert!(!said(&task).is_empty());
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_is_not_there_is_unavailable_and_leaves_no_task() {
    let (world, gate, sent) = held(Reply::Unreachable).await;
    gate.open();
    let error = sent.await.unwrap().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    assert!(error.retry_delay().is_some());
    assert_eq!(world.listed().await, 0);
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_is_gone_after_the_window_fails_the_task() {
    let (_world, gate, sent) = held(Reply::Unreachable).await;
    tokio::time::sleep(AFTER_IT).await;
    gate.open();
    let task = task_of(sent.await.unwrap().unwrap());
    assert_eq!(task.status.state, TaskState::Failed);
    assert!(!said(&task).is_empty());
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_is_not_there_fails_a_task_that_was_returned_at_once() {
    let world = World::new();
    world.agent.expect(Script::answer(Reply::Unreachable));
    let task = world.start("hello").await;
    assert_eq!(world.ended(&task).await.status.state, TaskState::Failed);
}

/// On several threads the task may be gone before the call hears why.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_direct_message_and_a_refusal_reach_their_caller_however_soon_the_task_is_gone() {
    let world = World::new();
    for _ in 0..2_000 {
        let sent = Request::SendMessage(world.message("direct", None));
        message_of(world.handle(sent).await.unwrap());
        let items = all(world.stream("direct").await).await;
        assert_eq!(items.len(), 1);
        assert!(matches!(items[0].event.event(), StreamResponse::Message(_)));
        let sent = Request::SendMessage(world.message("script refuse UnsupportedOperation", None));
        assert_eq!(
            world.handle(sent).await.unwrap_err().kind(),
            ErrorKind::UnsupportedOperation
        );
    }
    assert_eq!(world.listed().await, 0);
}
