//! Several services over one store: a run goes on when its replica ends, and what is asked of it reaches it anywhere.

use std::{sync::Arc, time::Duration};

use futures::StreamExt;
use gateway_domain::{ErrorKind, Request, TaskState, lifecycle::Move};
use gateway_testkit::agent::{Gate, OnCancel, Reply, Script, Step};

use crate::harness::{Deployment, World, all, given, outcome, shorts, task_of};

/// Leases run out, and whoever looks finds the work.
const TAKEOVER: Duration = Duration::from_secs(17);

fn three() -> (Deployment, [Arc<World>; 3]) {
    let deployment = Deployment::new();
    let replicas = [(); 3].map(|()| deployment.replica());
    (deployment, replicas)
}

fn chunks(from: u32, to: u32, of: u32) -> String {
    (from..=to)
        .map(|number| format!("chunk {number} of {of}\n"))
        .collect()
}

/// Lets every task run until it waits for something.
async fn settle() {
    tokio::time::sleep(Duration::from_millis(20)).await;
}

#[tokio::test(start_paused = true)]
async fn a_run_whose_replica_is_killed_goes_on_elsewhere_from_the_chunks_held() {
    let (deployment, [one, two, three]) = three();
    let id = one.start("chunks 20").await;
    let watched = tokio::spawn(all(two.subscribe(&id).await.unwrap()));
    tokio::time::sleep(Duration::from_millis(4_500)).await;
    assert_eq!(given(&two.get(&id).await.unwrap()), chunks(1, 5, 20));
    one.kill();
    tokio::time::sleep(TAKEOVER).await;
    assert!(given(&two.get(&id).await.unwrap()).len() > chunks(1, 5, 20).len());
    let done = three.ended(&id).await;
    assert_eq!(
        (done.status.state, given(&done)),
        (TaskState::Completed, chunks(1, 20, 20))
    );
    let seen = shorts(&watched.await.unwrap());
    let mut expected = vec!["task SUBMITTED", "WORKING", "first"];
    expected.resize(21, "append");
    expected.extend(["last", "COMPLETED"]);
    assert_eq!(seen, expected);
    settle().await;
    assert_eq!(two.leases() + three.leases(), 0);
    assert_eq!(deployment.leases_left().await, 0);
}

#[tokio::test(start_paused = true)]
async fn a_replica_that_leaves_in_order_hands_its_runs_over_at_once() {
    let (deployment, [one, two, _three]) = three();
    let id = one.start("chunks 10").await;
    tokio::time::sleep(Duration::from_millis(2_500)).await;
    let left = tokio::time::Instant::now();
    one.leave().await;
    assert_eq!(one.leases(), 0);
    let done = two.ended(&id).await;
    assert_eq!(given(&done), chunks(1, 10, 10));
    assert!(left.elapsed() < Duration::from_secs(9), "{:?}", left.elapsed());
    assert_eq!(deployment.leases_left().await, 0);
}

#[tokio::test(start_paused = true)]
async fn a_blocking_send_is_answered_although_its_run_moved_to_another_replica() {
    let (_deployment, [one, two, three]) = three();
    let sender = one.clone();
    let sent = tokio::spawn(async move { sender.send("ask").await });
    let asked = sent.await.unwrap();
    settle().await;
    let (id, other) = (asked.id.clone(), two.clone());
    let answered = tokio::spawn(async move { other.answer(&id, "blue").await });
    let done = answered.await.unwrap().unwrap();
    assert_eq!(
        (done.status.state, given(&done).as_str()),
        (TaskState::Completed, "blue")
    );

    let id = one.start("work 30").await;
    let (task, other) = (id.clone(), three.clone());
    let waiting = tokio::spawn(async move { other.answer(&task, "hurry").await });
    tokio::time::sleep(Duration::from_secs(2)).await;
    one.leave().await;
    let done = waiting.await.unwrap().unwrap();
    assert_eq!(given(&done), "the work is done");
}

#[tokio::test(start_paused = true)]
async fn a_slow_but_living_replica_keeps_its_runs() {
    let (_deployment, [one, two, three]) = three();
    let id = one.start("work 300").await;
    tokio::time::sleep(Duration::from_secs(200)).await;
    assert_eq!((one.leases(), two.leases(), three.leases()), (1, 0, 0));
    assert_eq!(one.agent.offers().len(), 1);
    assert_eq!(two.agent.offers().len() + three.agent.offers().len(), 0);
    assert_eq!(two.ended(&id).await.status.state, TaskState::Completed);
}

#[tokio::test(start_paused = true)]
async fn a_replica_that_is_cut_off_stops_its_runs_and_writes_nothing_when_it_comes_back() {
    let (_deployment, [one, two, _three]) = three();
    let id = one.start("chunks 60").await;
    tokio::time::sleep(Duration::from_millis(2_500)).await;
    one.replica.as_ref().unwrap().way.cut();
    tokio::time::sleep(TAKEOVER).await;
    assert_eq!((one.leases(), one.agent.runs_under_way()), (0, 0));
    one.replica.as_ref().unwrap().way.mend();
    let done = two.ended(&id).await;
    assert_eq!(
        given(&done),
        chunks(1, 60, 60),
        "no chunk is missing, twice or out of order"
    );
}

#[tokio::test(start_paused = true)]
async fn a_task_that_waits_is_nobodys_work_and_is_answered_at_any_replica() {
    let (deployment, [one, two, three]) = three();
    let asks = one.send("ask 2").await;
    settle().await;
    assert_eq!((one.leases(), deployment.leases_left().await), (0, 0));
    one.kill();
    let again = two.answer(&asks.id, "blue").await.unwrap();
    assert_eq!(again.status.state, TaskState::InputRequired);
    let done = three.answer(&asks.id, "green").await.unwrap();
    assert_eq!(
        (done.status.state, given(&done).as_str()),
        (TaskState::Completed, "green")
    );
    assert_eq!(done.history.len(), 5, "three of the client's, two of the agent's");
}

#[tokio::test(start_paused = true)]
async fn a_question_that_was_asked_is_not_asked_again_by_whoever_takes_over() {
    let (_deployment, [one, two, _three]) = three();
    let needs = one.send("auth").await;
    settle().await;
    assert_eq!(one.leases(), 1, "it looks whether somebody moves the task on");
    one.kill();
    tokio::time::sleep(TAKEOVER).await;
    assert_eq!(two.get(&needs.id).await.unwrap(), needs);
    two.command(&needs.id, Move::Work).await.unwrap();
    let done = two.ended(&needs.id).await;
    assert_eq!(given(&done), "authorized");
}

#[tokio::test(start_paused = true)]
async fn a_message_at_another_replica_reaches_the_run_that_is_held() {
    let (deployment, [one, two, _three]) = three();
    let gate = Gate::new();
    one.agent.expect(Script::accept([
        Step::moves(Move::Work),
        Step::Wait(gate.clone()),
    ]));
    let id = one.start("hello").await;
    gate.reached().await;
    one.agent.expect(Script::accept([Step::moves(Move::Complete)]));
    let (task, other) = (id.clone(), two.clone());
    let answered = tokio::spawn(async move { other.answer(&task, "go on").await });
    settle().await;
    let offers = one.agent.offers();
    assert_eq!(offers.len(), 2);
    assert_eq!((offers[1].follow_up, offers[1].attempt), (true, 1));
    assert_eq!(offers[1].message.first_text(), Some("go on"));
    assert_eq!(offers[1].task.history.len(), 2);
    assert_eq!(two.agent.offers().len(), 0);
    gate.open();
    assert_eq!(
        answered.await.unwrap().unwrap().status.state,
        TaskState::Completed
    );
    settle().await;
    assert_eq!(deployment.leases_left().await, 0);
}

#[tokio::test(start_paused = true)]
async fn what_the_holder_refuses_is_told_to_the_caller_at_another_replica() {
    let (_deployment, [one, two, _three]) = three();
    let gate = Gate::new();
    one.agent.expect(Script::accept([
        Step::moves(Move::Work),
        Step::Wait(gate.clone()),
    ]));
    let id = one.start("hello").await;
    gate.reached().await;
    let refusal = gateway_domain::Error::new(ErrorKind::UnsupportedOperation, "not in the middle");
    for stream in [false, true] {
        one.agent.expect(Script::answer(Reply::Refuse(refusal.clone())));
        let message = two.message("more", Some(&id));
        let request = if stream {
            Request::SendStreamingMessage(message)
        } else {
            Request::SendMessage(message)
        };
        let refused = two.handle(request).await.unwrap_err();
        assert_eq!(
            (refused.kind(), refused.message()),
            (refusal.kind(), refusal.message())
        );
    }
    assert_eq!(two.state(&id).await, TaskState::Working);
    gate.open();
}

#[tokio::test(start_paused = true)]
async fn a_message_for_a_run_whose_holder_is_gone_is_taken_with_the_run() {
    let (_deployment, [one, two, _three]) = three();
    let id = one.start("chunks 30").await;
    tokio::time::sleep(Duration::from_millis(1_500)).await;
    one.kill();
    let done = two.answer(&id, "are you there?").await.unwrap();
    assert_eq!(given(&done), chunks(1, 30, 30));
    assert_eq!(done.history.len(), 2);
    let offers: Vec<_> = two.agent.offers();
    let made: Vec<_> = offers
        .iter()
        .map(|offer| (offer.follow_up, offer.attempt))
        .collect();
    assert!(made.is_empty() || made == [(false, 2), (true, 2)], "{made:?}");
}

#[tokio::test(start_paused = true)]
async fn a_cancel_at_another_replica_stops_the_run_where_it_is() {
    let (deployment, [one, two, three]) = three();
    let id = one.start("work 30").await;
    let watched = [
        one.subscribe(&id).await.unwrap(),
        three.subscribe(&id).await.unwrap(),
    ];
    let begun = tokio::time::Instant::now();
    let canceled = two.cancel(&id).await;
    assert_eq!(outcome(&canceled), "canceled");
    assert!(begun.elapsed() < Duration::from_secs(1), "{:?}", begun.elapsed());
    assert_eq!(task_of(canceled.unwrap()).status.state, TaskState::Canceled);
    for events in watched {
        let seen = shorts(&events.map(Result::unwrap).collect::<Vec<_>>().await);
        assert_eq!(seen.last().map(String::as_str), Some("CANCELED"));
    }
    settle().await;
    assert_eq!(
        (one.agent.cancels(), one.agent.runs_under_way(), one.leases()),
        (1, 0, 0)
    );
    assert_eq!(two.agent.cancels(), 0);
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!(two.state(&id).await, TaskState::Canceled);
    assert_eq!(deployment.leases_left().await, 0);
}

#[tokio::test(start_paused = true)]
async fn a_cancel_at_another_replica_meets_a_refusal_a_silence_and_an_end() {
    for (manner, expected, state, waited) in [
        (OnCancel::Refuse, "not-cancelable-now", TaskState::Working, 0),
        (OnCancel::Silence, "canceled", TaskState::Canceled, 3),
        (
            OnCancel::End(Move::Complete),
            "not-cancelable",
            TaskState::Completed,
            0,
        ),
    ] {
        let (_deployment, [one, two, _three]) = three();
        let gate = Gate::new();
        let run = [Step::moves(Move::Work), Step::Wait(gate.clone())];
        one.agent.expect(Script::accept(run).on_cancel(manner));
        let id = one.start("hello").await;
        gate.reached().await;
        let begun = tokio::time::Instant::now();
        assert_eq!(outcome(&two.cancel(&id).await), expected);
        assert_eq!(begun.elapsed().as_secs(), waited, "{expected}");
        assert_eq!(two.state(&id).await, state);
        gate.open();
    }
}

#[tokio::test(start_paused = true)]
async fn a_cancel_of_a_run_whose_holder_is_gone_is_the_gateways_after_the_wait() {
    let (deployment, [one, two, _three]) = three();
    let id = one.start("work 300").await;
    settle().await;
    one.kill();
    let begun = tokio::time::Instant::now();
    assert_eq!(outcome(&two.cancel(&id).await), "canceled");
    assert_eq!(begun.elapsed().as_secs(), 3);
    tokio::time::sleep(TAKEOVER).await;
    assert_eq!(deployment.leases_left().await, 0);
    assert_eq!(two.agent.offers().len(), 0, "what is over is not taken over");
}

#[tokio::test(start_paused = true)]
async fn a_cancel_whose_caller_is_gone_still_ends_the_task() {
    let (_deployment, [one, two, three]) = three();
    let id = one.start("work 300").await;
    settle().await;
    let (task, other) = (id.clone(), two.clone());
    let asked = tokio::spawn(async move { other.cancel(&task).await });
    // Cut between the question and the commit.
    while one.agent.cancels() == 0 {
        tokio::task::yield_now().await;
    }
    two.kill();
    drop(asked.await);
    assert_eq!(three.ended(&id).await.status.state, TaskState::Canceled);
}

#[tokio::test(start_paused = true)]
async fn a_hidden_task_of_a_killed_replica_is_offered_again_and_shown() {
    let (_deployment, [one, two, _three]) = three();
    let gate = Gate::new();
    one.agent
        .expect(Script::accept([]).after([Step::Wait(gate.clone())]));
    let sender = one.clone();
    let sent = tokio::spawn(async move {
        sender
            .handle(Request::SendMessage(sender.message("say hi", None)))
            .await
    });
    gate.reached().await;
    one.kill();
    sent.abort();
    let id = gateway_domain::TaskId::new("task-1");
    assert_eq!(two.get(&id).await.unwrap_err().kind(), ErrorKind::TaskNotFound);
    tokio::time::sleep(TAKEOVER).await;
    let done = two.get(&id).await.unwrap();
    assert_eq!(
        (done.status.state, given(&done).as_str()),
        (TaskState::Completed, "hi")
    );
}

#[tokio::test(start_paused = true)]
async fn replicas_that_are_killed_one_after_the_other_leave_no_task_undone() {
    let deployment = Deployment::new();
    let mut replicas = vec![deployment.replica(), deployment.replica()];
    let mut tasks = Vec::new();
    for number in 0..20 {
        tasks.push(replicas[number % 2].start("chunks 40").await);
    }
    for _ in 0..4 {
        tokio::time::sleep(Duration::from_millis(7_300)).await;
        replicas.remove(0).kill();
        replicas.push(deployment.replica());
    }
    for id in tasks {
        let done = replicas[1].ended(&id).await;
        assert_eq!(
            (done.status.state, given(&done)),
            (TaskState::Completed, chunks(1, 40, 40))
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_run_that_is_lost_with_each_replica_that_has_it_fails_its_task_in_the_end() {
    for hidden in [false, true] {
        let deployment = Deployment::new();
        let mut holder = deployment.replica();
        let gate = Gate::new();
        let script = || Script::accept([]).after([Step::Wait(gate.clone())]);
        holder.agent.expect(script());
        let id = if hidden {
            let sender = holder.clone();
            let sent = tokio::spawn(async move {
                let message = sender.message("say hi", None);
                sender.handle(Request::SendMessage(message)).await
            });
            gate.reached().await;
            sent.abort();
            gateway_domain::TaskId::new("task-1")
        } else {
            holder.start("say hi").await
        };
        let mut begun = 0;
        for _ in 0..=5 {
            holder.kill();
            holder = deployment.replica();
            holder.agent.expect(script());
            // Chance may have it look more than once.
            tokio::time::sleep(2 * TAKEOVER).await;
            begun += holder.agent.offers().len();
        }
        assert_eq!(begun, 5, "taken over as often as it may be lost, and no more");
        let failed = deployment.replica().get(&id).await.unwrap();
        assert_eq!(failed.status.state, TaskState::Failed);
        let said = failed.status.message.unwrap();
        assert!(said.first_text().unwrap().contains("lost too often"), "{said:?}");
        settle().await;
        assert_eq!((holder.leases(), deployment.leases_left().await), (0, 0));
        assert_eq!(holder.replica.as_ref().unwrap().keeper.given_up(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn a_run_that_is_handed_over_again_and_again_is_not_lost() {
    let deployment = Deployment::new();
    let mut holder = deployment.replica();
    let id = holder.start("chunks 40").await;
    for _ in 0..12 {
        let next = deployment.replica();
        tokio::time::sleep(Duration::from_secs(2)).await;
        holder.leave().await;
        holder = next;
    }
    let done = holder.ended(&id).await;
    assert_eq!(
        (done.status.state, given(&done)),
        (TaskState::Completed, chunks(1, 40, 40))
    );
}

/// The run of one turn is just let go of when the next message comes, at another replica.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn no_message_is_lost_between_the_end_of_a_run_and_the_next() {
    let (deployment, replicas) = three();
    let id = replicas[0].send("ask 60").await.id;
    for number in 1..60 {
        let asked = replicas[number % 3].answer(&id, "next").await.unwrap();
        assert_eq!(asked.status.state, TaskState::InputRequired, "{number}");
    }
    let done = replicas[0].answer(&id, "last").await.unwrap();
    assert_eq!(
        (done.status.state, given(&done).as_str()),
        (TaskState::Completed, "last")
    );
    while replicas.iter().any(|replica| replica.leases() > 0) {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    assert_eq!(deployment.leases_left().await, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn runs_are_handed_on_from_replica_to_replica_without_a_chunk_too_many() {
    let deployment = Deployment::new();
    let mut serving = deployment.replica();
    let mut tasks = Vec::new();
    for _ in 0..10 {
        tasks.push(serving.start("chunks 40 0.004").await);
    }
    for _ in 0..5 {
        let next = deployment.replica();
        tokio::time::sleep(Duration::from_millis(15)).await;
        serving.leave().await;
        serving = next;
    }
    for id in tasks {
        let done = serving.ended(&id).await;
        assert_eq!(given(&done), chunks(1, 40, 40));
    }
}

/// A cancel and the end of the run, at different replicas: the answer says what is so.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_cancel_elsewhere_at_the_moment_of_completion_tells_the_truth() {
    let (_deployment, [one, two, _three]) = three();
    for round in 0..100_u32 {
        let gate = Gate::new();
        let run = [
            Step::moves(Move::Work),
            Step::Wait(gate.clone()),
            Step::moves(Move::Complete),
        ];
        one.agent.expect(Script::accept(run));
        let id = one.start("hello").await;
        gate.reached().await;
        let (task, other) = (id.clone(), two.clone());
        let canceled = tokio::spawn(async move { other.cancel(&task).await });
        for _ in 0..round % 40 {
            tokio::task::yield_now().await;
        }
        gate.open();
        let result = canceled.await.unwrap();
        let stored = two.ended(&id).await;
        match result {
            Ok(reply) => assert_eq!(task_of(reply), stored),
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::TaskNotCancelable);
                assert_eq!(stored.status.state, TaskState::Completed);
            }
        }
    }
}
