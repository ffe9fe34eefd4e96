//! A send that comes again has the result of the first one, and the agent hears of it once.

use std::{sync::Arc, time::Duration};

use gateway_domain::{
    Error, ErrorKind, Limits, Part, Reply, Request, TaskId, TaskState,
    lifecycle::Move,
    repeats::{Repeats, RepeatsOf},
    reply::Body,
    request::SendMessage,
};
use gateway_store_memory::Settings;
use gateway_testkit::agent::{Gate, Reply as Said, Script, Step};
use tokio::task::JoinHandle;

use crate::harness::{Setting, World, all, message_of, said, shorts, stream_of, task_of};

/// Longer than a send may stay hidden.
const AFTER_THE_WINDOW: Duration = Duration::from_secs(3);

fn remembering() -> Arc<World> {
    World::with(Setting {
        limits: Limits {
            repeats: Repeats {
                of: RepeatsOf::Everybody,
                ..Repeats::default()
            },
            ..Limits::default()
        },
        ..Setting::default()
    })
}

async fn send(world: &World, request: &SendMessage) -> Result<Reply, Error> {
    world.handle(Request::SendMessage(request.clone())).await
}

fn sending(world: &Arc<World>, request: &SendMessage) -> JoinHandle<Result<Reply, Error>> {
    let (world, request) = (world.clone(), request.clone());
    tokio::spawn(async move { send(&world, &request).await })
}

async fn stream(world: &World, request: &SendMessage) -> Vec<String> {
    let request = Request::SendStreamingMessage(request.clone());
    shorts(&all(stream_of(world.handle(request).await.unwrap())).await)
}

/// A world whose agent has a first message and waits before it answers as it is told.
async fn deciding(reply: Said) -> (Arc<World>, Gate, SendMessage, JoinHandle<Result<Reply, Error>>) {
    let (world, gate) = (remembering(), Gate::new());
    let script = Script::answer(reply).after([Step::Wait(gate.clone())]);
    world.agent.expect(script);
    let request = world.message("hello", None);
    let first = sending(&world, &request);
    gate.reached().await;
    (world, gate, request, first)
}

/// A world with a task that has asked a question.
async fn asked() -> (Arc<World>, TaskId) {
    let world = remembering();
    let ask = Script::accept([Step::says(Move::RequireInput, "which?")]);
    world.agent.expect(ask);
    let task = world.send("hello").await.id;
    (world, task)
}

#[tokio::test(start_paused = true)]
async fn a_repeated_send_waits_for_the_task_of_the_first() {
    let (world, gate) = (remembering(), Gate::new());
    let run = [Step::Wait(gate.clone()), Step::says(Move::Complete, "done")];
    world.agent.expect(Script::accept(run));
    let request = world.message("hello", None);
    let sends = [sending(&world, &request), sending(&world, &request)];
    gate.reached().await;
    tokio::time::sleep(AFTER_THE_WINDOW).await;
    assert!(sends.iter().all(|sent| !sent.is_finished()));
    gate.open();
    let mut tasks = Vec::new();
    for sent in sends {
        tasks.push(task_of(sent.await.unwrap().unwrap()));
    }
    assert_eq!(tasks[0], tasks[1]);
    assert_eq!(tasks[0].status.state, TaskState::Completed);
    let later = task_of(send(&world, &request).await.unwrap());
    assert_eq!(later, tasks[0]);
    assert_eq!((world.agent.offers().len(), world.listed().await), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn a_repeated_send_that_wants_no_answer_is_shown_the_task_that_waits_for_its_agent() {
    let (world, gate, mut request, first) = deciding(Said::Accept).await;
    request.configuration.return_immediately = true;
    let task = task_of(send(&world, &request).await.unwrap());
    assert_eq!(task.status.state, TaskState::Submitted);
    assert_eq!(world.get(&task.id).await.unwrap(), task);
    gate.open();
    world.command(&task.id, Move::Complete).await.unwrap();
    assert_eq!(task_of(first.await.unwrap().unwrap()).id, task.id);
}

#[tokio::test(start_paused = true)]
async fn a_repeated_stream_begins_with_the_task_as_it_stands_and_ends_with_it() {
    let (world, gate) = (remembering(), Gate::new());
    let run = [
        Step::moves(Move::Work),
        Step::Wait(gate.clone()),
        Step::moves(Move::Complete),
    ];
    world.agent.expect(Script::accept(run));
    let request = world.message("hello", None);
    let first = sending(&world, &request);
    gate.reached().await;
    let again = {
        let (world, request) = (world.clone(), request.clone());
        tokio::spawn(async move { stream(&world, &request).await })
    };
    tokio::time::sleep(Duration::from_secs(1)).await;
    gate.open();
    assert_eq!(again.await.unwrap(), ["task WORKING", "COMPLETED"]);
    first.await.unwrap().unwrap();
    assert_eq!(stream(&world, &request).await, ["task COMPLETED"]);
    assert_eq!(world.agent.offers().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_direct_message_is_answered_again_also_to_those_who_wait_for_it() {
    let (world, gate, request, first) = deciding(Said::Message("here".to_owned())).await;
    let waiting = sending(&world, &request);
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert!(!waiting.is_finished());
    gate.open();
    let message = message_of(first.await.unwrap().unwrap());
    assert_eq!(message_of(waiting.await.unwrap().unwrap()), message);
    assert_eq!(message_of(send(&world, &request).await.unwrap()), message);
    let mut at_once = request.clone();
    at_once.configuration.return_immediately = true;
    assert_eq!(message_of(send(&world, &at_once).await.unwrap()), message);
    assert_eq!(stream(&world, &request).await, ["message"]);
    assert_eq!((world.agent.offers().len(), world.listed().await), (1, 0));
}

#[tokio::test(start_paused = true)]
async fn a_refused_send_is_not_remembered_and_who_waits_for_it_is_the_next_to_try() {
    let busy = Error::new(ErrorKind::UnsupportedOperation, "not now");
    let (world, gate, request, first) = deciding(Said::Refuse(busy)).await;
    let waiting = sending(&world, &request);
    tokio::time::sleep(Duration::from_secs(1)).await;
    gate.open();
    assert_eq!(first.await.unwrap().unwrap_err().message(), "not now");
    // This one is the demo agent's.
    let task = task_of(waiting.await.unwrap().unwrap());
    assert_eq!(task.status.state, TaskState::Completed);
    assert_eq!(task_of(send(&world, &request).await.unwrap()), task);
    assert_eq!((world.agent.offers().len(), world.listed().await), (2, 1));
}

#[tokio::test(start_paused = true)]
async fn another_content_under_the_same_id_is_refused_before_anything_else() {
    let world = remembering();
    let request = world.message("say it", None);
    let task = task_of(send(&world, &request).await.unwrap());
    let mut others = [request.clone(), request.clone(), request];
    others[0].message.parts.push(Part::text("and more"));
    others[1].message.task_id = Some(TaskId::new("not there"));
    others[2].message.reference_task_ids = vec![TaskId::new("not there")];
    for other in others {
        let refused = send(&world, &other).await.unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::InvalidParams);
        assert_eq!(refused.violations()[0].field, "message.messageId");
    }
    assert_eq!(world.get(&task.id).await.unwrap(), task);
    assert_eq!(world.agent.offers().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_repeated_further_message_is_in_the_history_once_and_its_answer_the_same() {
    let (world, task) = asked().await;
    let gate = Gate::new();
    let run = [Step::Wait(gate.clone()), Step::says(Move::Complete, "blue it is")];
    world.agent.expect(Script::accept(run));
    let request = world.message("blue", Some(&task));
    let sends = [sending(&world, &request), sending(&world, &request)];
    gate.reached().await;
    tokio::time::sleep(AFTER_THE_WINDOW).await;
    assert!(
        sends.iter().all(|sent| !sent.is_finished()),
        "the state that was held is no answer to a repetition either"
    );
    gate.open();
    for sent in sends {
        let task = task_of(sent.await.unwrap().unwrap());
        assert_eq!(
            (task.status.state, said(&task)),
            (TaskState::Completed, "blue it is")
        );
    }
    // By now the message alone would be refused: the task has ended.
    let later = task_of(send(&world, &request).await.unwrap());
    assert_eq!(
        later
            .history
            .iter()
            .filter(|message| message.first_text() == Some("blue"))
            .count(),
        1
    );
    assert_eq!(stream(&world, &request).await, ["task COMPLETED"]);
    assert_eq!(world.agent.offers().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_refused_further_message_can_be_sent_again_and_who_waits_for_it_is_told() {
    let (world, task) = asked().await;
    let gate = Gate::new();
    let busy = Error::new(ErrorKind::UnsupportedOperation, "one thing at a time");
    let refuses = Script::answer(Said::Refuse(busy)).after([Step::Wait(gate.clone())]);
    world.agent.expect(refuses);
    let request = world.message("blue", Some(&task));
    let first = sending(&world, &request);
    gate.reached().await;
    let waiting = sending(&world, &request);
    tokio::time::sleep(AFTER_THE_WINDOW).await;
    gate.open();
    assert_eq!(first.await.unwrap().unwrap_err().message(), "one thing at a time");
    let told = waiting.await.unwrap().unwrap_err();
    assert_eq!(told.kind(), ErrorKind::Unavailable);
    world.agent.expect(Script::accept([Step::moves(Move::Complete)]));
    let task = task_of(send(&world, &request).await.unwrap());
    assert_eq!(task.status.state, TaskState::Completed);
}

#[tokio::test(start_paused = true)]
async fn a_repeated_send_whose_task_is_not_kept_any_more_is_not_done_again() {
    let world = World::with(Setting {
        limits: Limits {
            repeats: Repeats {
                of: RepeatsOf::Everybody,
                ..Repeats::default()
            },
            ..Limits::default()
        },
        store: Settings {
            finished_per_tenant: 1,
            ..Settings::default()
        },
        ..Setting::default()
    });
    let request = world.message("say it", None);
    send(&world, &request).await.unwrap();
    world.send("say another").await;
    let refused = send(&world, &request).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::TaskNotFound);
    assert_eq!(world.agent.offers().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn callers_without_a_name_are_not_taken_for_each_other() {
    let world = World::new();
    let request = world.message("say it", None);
    let first = task_of(send(&world, &request).await.unwrap());
    assert_ne!(task_of(send(&world, &request).await.unwrap()).id, first.id);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_50_equal_sends_at_once_one_is_offered_and_all_have_its_result() {
    for text in ["say it", "direct"] {
        let world = remembering();
        let request = world.message(text, None);
        let sends: Vec<_> = (0..50).map(|_| sending(&world, &request)).collect();
        let mut results = Vec::new();
        for sent in sends {
            match sent.await.unwrap().unwrap().body {
                Body::Sent(sent) => results.push(sent),
                other => panic!("{other:?} is no answer to a send"),
            }
        }
        results.dedup();
        assert_eq!(results.len(), 1, "{results:?}");
        assert_eq!(world.agent.offers().len(), 1);
    }
}
