//! Streams that move between replicas, and tasks whose turns do.

use std::time::Duration;

use gateway_domain::{Binding, ErrorKind, Operation, lifecycle::Move};
use gateway_testkit::agent::{Gate, Script, Step};
use gateway_tests::{
    client::{Ask, Driver},
    gateway::Gateway,
};
use serde_json::{Value, json};

use crate::support::{
    Deployment, answer, begin, carried, cursor, on, read, resume, revision, subscribe, texts,
};

const RUNS: usize = 200;
const CHUNKS: usize = 20;

/// Numbered chunks behind a gate, with a breath now and then.
fn numbered(gate: &Gate) -> Script {
    let mut run = vec![Step::moves(Move::Work), Step::Wait(gate.clone())];
    for number in 0..CHUNKS {
        run.push(Step::chunk("a", &number.to_string(), number > 0, false));
        if number % 7 == 3 {
            run.push(Step::Pause(Duration::from_millis(1)));
        }
    }
    run.push(Step::moves(Move::Complete));
    Script::accept(run)
}

/// Reads a task's stream to its end, some events at a time, each time at the next replica and over the next binding.
async fn wander(replicas: &[Gateway; 2], task: &str, gate: &Gate, run: usize) -> Vec<Value> {
    let mut seen: Vec<Value> = Vec::new();
    for leg in 0.. {
        let client = replicas[(run + leg) % 2].client(Binding::ALL[(run / 2 + leg) % 3]);
        let at = seen.last().map(cursor);
        let mut stream = resume(&*client, task, at.as_deref()).await.stream();
        for _ in 0..1 + (run * 5 + leg * 3) % 4 {
            match stream.next().await {
                Some(Ok(event)) => seen.push(event.json),
                None => return seen,
                Some(Err(refusal)) => panic!("{refusal:?} after {at:?}"),
            }
            gate.open();
        }
    }
    unreachable!("a stream ends");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stream_that_moves_between_replicas_and_bindings_loses_and_repeats_nothing() {
    let Deployment {
        replicas,
        redis: _redis,
    } = Deployment::start().await;
    for run in 0..RUNS {
        let (gate, gateway) = (Gate::new(), &replicas[run % 2]);
        gateway.scripted().expect(numbered(&gate));
        let task = begin(gateway, "as scripted").await;
        gate.reached().await;
        let seen = wander(&replicas, &task, &gate, run).await;
        let numbers: Vec<_> = seen.iter().flat_map(texts).collect();
        assert!(
            numbers
                .iter()
                .copied()
                .eq((0..CHUNKS).map(|number| number.to_string())),
            "run {run}: {numbers:?}"
        );
        let revisions = seen.iter().map(|event| revision(&cursor(event)));
        assert!(revisions.collect::<Vec<_>>().is_sorted_by(|a, b| a + 1 == *b));
        assert!(seen.iter().all(|event| carried(event)["startedOver"].is_null()));
        let last = &seen.last().unwrap()["statusUpdate"]["status"]["state"];
        assert_eq!(last, "TASK_STATE_COMPLETED");
    }
}

#[tokio::test]
async fn a_task_that_waits_is_followed_and_goes_on_after_its_gateway_was_restarted() {
    let Deployment {
        replicas: [before, other],
        redis,
    } = Deployment::start().await;
    let task = begin(&before, "ask 3").await;
    before.task_in("TASK_STATE_INPUT_REQUIRED", &task).await;
    before.drain().await;
    drop(other);
    let after = Gateway::start(on(&redis)).await;
    let mut streams = Vec::new();
    for client in after.clients() {
        let mut stream = subscribe(&*client, &task).await;
        let first = stream.event().await;
        assert_eq!(first["task"]["status"]["state"], "TASK_STATE_INPUT_REQUIRED");
        streams.push(stream);
    }
    answer(&after, &task, "blue").await;
    for stream in &mut streams {
        let asked = stream.event().await["statusUpdate"]["status"]["message"]["parts"][0]["text"].clone();
        assert!(asked.as_str().unwrap().starts_with("question 2 of 3"), "{asked}");
    }
}

#[tokio::test]
async fn a_finished_task_is_an_unsupported_operation_at_every_replica_and_after_a_restart() {
    let Deployment {
        replicas: [one, other],
        redis,
    } = Deployment::start().await;
    let task = begin(&one, "say done").await;
    one.task_in("TASK_STATE_COMPLETED", &task).await;
    one.drain().await;
    let again = Gateway::start(on(&redis)).await;
    for client in other.clients().chain(again.clients()) {
        let ask = |task: &str| Ask::new(Operation::SubscribeToTask, json!({ "id": task }));
        let refusal = client.call(&ask(&task)).await.refusal();
        refusal.assert(ErrorKind::UnsupportedOperation);
        let refusal = client.call(&ask("no-such-task")).await.refusal();
        refusal.assert(ErrorKind::TaskNotFound);
    }
}

#[tokio::test]
async fn a_task_of_one_replica_is_any_others_and_a_cancel_there_ends_every_stream() {
    let Deployment {
        replicas: [one, other],
        redis: _redis,
    } = Deployment::start().await;
    for client in other.clients() {
        let gate = Gate::new();
        one.scripted().expect(numbered(&gate));
        let task = begin(&one, "as scripted").await;
        gate.reached().await;
        let working = read(&*client, &task).await;
        assert_eq!(working["status"]["state"], "TASK_STATE_WORKING");
        let filter = json!({ "status": "TASK_STATE_WORKING" });
        let listed = client.call(&Ask::new(Operation::ListTasks, filter)).await.json();
        assert_eq!(listed["tasks"][0]["id"], *task);
        let own: std::sync::Arc<dyn Driver> = one.client(client.binding());
        let mut streams = [subscribe(&*own, &task).await, subscribe(&*client, &task).await];
        for stream in &mut streams {
            assert_eq!(stream.event().await["task"]["status"], working["status"]);
        }
        let cancel = Ask::new(Operation::CancelTask, json!({ "id": task }));
        let canceled = client.call(&cancel).await.json();
        assert_eq!(canceled["status"]["state"], "TASK_STATE_CANCELED");
        // What the run may still report changes nothing.
        gate.open();
        for stream in streams {
            let rest = stream.rest().await;
            let states: Vec<_> = rest
                .iter()
                .map(|event| event["statusUpdate"]["status"]["state"].clone())
                .collect();
            assert_eq!(states, ["TASK_STATE_CANCELED"]);
        }
        assert_eq!(read(&*own, &task).await, canceled);
    }
}

#[tokio::test]
async fn a_task_whose_turns_are_taken_at_different_replicas_keeps_what_each_of_them_made() {
    let Deployment {
        replicas: [one, other],
        redis: _redis,
    } = Deployment::start().await;
    let turn = |artifact: &str, state: &str| {
        let artifact = json!({ "artifactId": artifact, "parts": [{ "text": artifact }] });
        let reports = json!([
            { "artifact": artifact, "append": false, "lastChunk": true },
            { "state": state, "text": "said with ".to_owned() + artifact["artifactId"].as_str().unwrap() },
        ]);
        format!("script events {reports}")
    };
    let task = begin(&one, &turn("first", "TASK_STATE_INPUT_REQUIRED")).await;
    one.task_in("TASK_STATE_INPUT_REQUIRED", &task).await;
    for (gateway, artifacts, text) in [
        (&other, 2, turn("second", "TASK_STATE_INPUT_REQUIRED")),
        (&one, 3, turn("third", "TASK_STATE_COMPLETED")),
    ] {
        let client = gateway.client(Binding::Grpc);
        answer(gateway, &task, &text).await;
        while read(&*client, &task).await["artifacts"]
            .as_array()
            .map_or(0, Vec::len)
            < artifacts
        {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
    let task = one.task_in("TASK_STATE_COMPLETED", &task).await;
    let ids = |list: &Value, name: &str| {
        let list = list.as_array().unwrap();
        list.iter()
            .map(|member| member[name].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        ids(&task["artifacts"], "artifactId"),
        ["first", "second", "third"]
    );
    // What the agent asked goes into the history when its next word takes its place.
    let roles = ids(&task["history"], "role");
    assert_eq!(
        roles,
        ["ROLE_USER", "ROLE_USER", "ROLE_AGENT", "ROLE_USER", "ROLE_AGENT"]
    );
    assert_eq!(task["status"]["message"]["parts"][0]["text"], "said with third");
}
