//! Callers and agents at the same time: each wins or loses as a whole (§3.1.5, §3.4.3, §3.5.2).

#![allow(clippy::unwrap_used, reason = "what must not be absent fails the test")]

use std::{collections::BTreeSet, sync::Arc};

use gateway_domain::{Binding, ErrorKind, Operation, lifecycle::Move};
use gateway_testkit::agent::{Gate, Script, Step};
use gateway_tests::{
    client::{Answer, Ask, Driver},
    gateway::Gateway,
    profile::Profile,
    samples,
};
use serde_json::{Value, json};

async fn begin(client: &dyn Driver, params: Value) -> String {
    let made = client
        .call(&Ask::new(Operation::SendMessage, params))
        .await
        .json();
    made["task"]["id"].as_str().unwrap().to_owned()
}

async fn read(client: &dyn Driver, task: &str) -> Value {
    client
        .call(&Ask::new(Operation::GetTask, json!({ "id": task })))
        .await
        .json()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cancel_at_the_moment_of_completion_wins_or_is_refused_and_the_task_agrees() {
    let gateway = Gateway::plain().await;
    for run in 0..500 {
        let canceling = gateway.client(Binding::ALL[run % 3]);
        let completing = gateway.agent(Binding::ALL[(run + 1) % 3]);
        let task = begin(&*canceling, samples::message("ask")).await;
        let (cancel, complete) = (
            Ask::new(Operation::CancelTask, json!({ "id": task })),
            Ask::new(Operation::CompleteTask, json!({ "id": task })),
        );
        let (canceled, completed) = if run % 2 == 0 {
            tokio::join!(canceling.call(&cancel), completing.call(&complete))
        } else {
            let (completed, canceled) = tokio::join!(completing.call(&complete), canceling.call(&cancel));
            (canceled, completed)
        };
        let state = read(&*canceling, &task).await["status"]["state"]
            .as_str()
            .unwrap()
            .to_owned();
        match canceled {
            Answer::Reply(reply) => {
                assert_eq!(reply.json["status"]["state"], "TASK_STATE_CANCELED");
                assert_eq!(state, "TASK_STATE_CANCELED");
                completed.refusal().assert(ErrorKind::TaskStateConflict);
            }
            answer => {
                answer.refusal().assert(ErrorKind::TaskNotCancelable);
                assert_eq!(state, "TASK_STATE_COMPLETED");
                completed.reply();
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hundred_writes_to_one_task_at_once_are_each_kept_once_and_a_cancel_is_the_end() {
    let gateway = Arc::new(Gateway::plain().await);
    let task = begin(&*gateway.client(Binding::JsonRpc), samples::at_once("quiet 600")).await;
    let mut writing = Vec::new();
    for index in 0..100 {
        let (gateway, task) = (gateway.clone(), task.clone());
        writing.push(tokio::spawn(async move {
            let binding = Binding::ALL[index % 3];
            let (what, answer) = match index % 4 {
                0 if index == 60 => {
                    let ask = Ask::new(Operation::CancelTask, json!({ "id": task }));
                    ("cancel", gateway.client(binding).call(&ask).await)
                }
                0 | 1 => {
                    let mut params = samples::further(&task, "more");
                    params["message"]["messageId"] = json!(format!("m-{index}"));
                    params["configuration"] = json!({ "returnImmediately": true });
                    (
                        "message",
                        gateway
                            .client(binding)
                            .call(&Ask::new(Operation::SendMessage, params))
                            .await,
                    )
                }
                _ => {
                    let params = json!({
                        "id": task,
                        "artifact": { "artifactId": "a", "parts": [{ "text": format!("p-{index}") }] },
                        "append": true,
                        "lastChunk": false,
                    });
                    (
                        "artifact",
                        gateway
                            .agent(binding)
                            .call(&Ask::new(Operation::UpdateArtifact, params))
                            .await,
                    )
                }
            };
            (index, what, answer)
        }));
    }
    let (mut messages, mut parts, mut canceled) = (BTreeSet::new(), BTreeSet::new(), false);
    for writing in writing {
        let (index, what, answer) = writing.await.unwrap();
        match (what, answer) {
            ("cancel", Answer::Reply(_)) => canceled = true,
            ("message", Answer::Reply(_)) => drop(messages.insert(format!("m-{index}"))),
            ("artifact", Answer::Reply(_)) => drop(parts.insert(format!("p-{index}"))),
            ("message", answer) => answer.refusal().assert(ErrorKind::UnsupportedOperation),
            (_, answer) => answer.refusal().assert(ErrorKind::TaskStateConflict),
        }
    }
    let stored = read(&*gateway.client(Binding::JsonRpc), &task).await;
    assert_eq!(stored["status"]["state"] == "TASK_STATE_CANCELED", canceled);
    let texts = |pointer: &str, of: &Value| of.pointer(pointer).unwrap().as_str().unwrap().to_owned();
    let kept: Vec<_> = stored["history"].as_array().unwrap()[1..]
        .iter()
        .filter(|message| message["role"] == "ROLE_USER")
        .map(|message| texts("/messageId", message))
        .collect();
    assert_eq!(kept.len(), messages.len());
    assert_eq!(kept.into_iter().collect::<BTreeSet<_>>(), messages);
    let kept: Vec<_> = stored
        .pointer("/artifacts/0/parts")
        .into_iter()
        .flat_map(|parts| parts.as_array().unwrap())
        .collect();
    assert_eq!(kept.len(), parts.len());
    assert_eq!(
        kept.into_iter()
            .map(|part| texts("/text", part))
            .collect::<BTreeSet<_>>(),
        parts
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_answers_at_once_are_each_taken_once_or_refused_and_never_run_twice() {
    let gateway = Gateway::plain().await;
    for run in 0..30 {
        let client = gateway.client(Binding::ALL[run % 3]);
        let task = begin(&*client, samples::message("ask")).await;
        let answer = |id: &str, text: &str| {
            let params = json!({
                "message": { "messageId": id, "role": "ROLE_USER", "parts": [{ "text": text }], "taskId": task },
                "configuration": { "returnImmediately": true },
            });
            Ask::new(Operation::SendMessage, params)
        };
        let (blue, green, red) = (
            answer("f-1", "blue"),
            answer("f-2", "green"),
            answer("f-3", "red"),
        );
        let (one, two) = tokio::join!(client.call(&blue), client.call(&green));
        let three = client.call(&red).await;
        let mut taken = BTreeSet::new();
        for (id, answer) in [("f-1", one), ("f-2", two), ("f-3", three)] {
            match answer {
                Answer::Reply(reply) => {
                    assert_eq!(reply.json["task"]["id"], task.as_str());
                    taken.insert(id.to_owned());
                }
                answer => answer.refusal().assert(ErrorKind::UnsupportedOperation),
            }
        }
        let stored = gateway.task_in("TASK_STATE_COMPLETED", &task).await;
        let kept: Vec<_> = stored["history"]
            .as_array()
            .unwrap()
            .iter()
            .filter_map(|message| {
                let id = message["messageId"].as_str().unwrap();
                id.starts_with("f-").then(|| id.to_owned())
            })
            .collect();
        assert_eq!(kept.len(), taken.len(), "each message once: {kept:?}");
        assert_eq!(kept.into_iter().collect::<BTreeSet<_>>(), taken);
        // One turn, one run: the answer is there once.
        assert_eq!(stored["artifacts"].as_array().unwrap().len(), 1);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_hundred_sends_to_a_silent_agent_return_at_once_each_with_its_own_task_and_webhook() {
    let gateway = Arc::new(Gateway::plain().await);
    let mut sending = Vec::new();
    for index in 0..200 {
        let client = gateway.client(Binding::ALL[index % 3]);
        sending.push(tokio::spawn(async move {
            let mut params = samples::at_once("quiet 600");
            params["configuration"]["taskPushNotificationConfig"] =
                json!({ "url": "https://hooks.example.com/ct" });
            let made = client
                .call(&Ask::new(Operation::SendMessage, params))
                .await
                .json();
            let task = made["task"]["id"].as_str().unwrap().to_owned();
            assert_eq!(made["task"]["status"]["state"], "TASK_STATE_SUBMITTED");
            let ask = Ask::new(
                Operation::ListTaskPushNotificationConfigs,
                json!({ "taskId": task }),
            );
            let configs = client.call(&ask).await.json();
            assert_eq!(configs["configs"][0]["url"], "https://hooks.example.com/ct");
            task
        }));
    }
    let mut tasks = BTreeSet::new();
    for sending in sending {
        tasks.insert(sending.await.unwrap());
    }
    assert_eq!(tasks.len(), 200);
}

/// Work that is done when the gate opens.
fn work_behind(gate: &Gate) -> Script {
    let work = [Step::moves(Move::Work), Step::Wait(gate.clone())];
    Script::accept(
        work.into_iter()
            .chain([Step::chunk("a", "done", false, true), Step::moves(Move::Complete)]),
    )
}

#[tokio::test]
async fn a_wait_that_reaches_the_operators_limit_ends_with_the_running_task() {
    let gateway = Gateway::start(Profile::plain().set("limits.blocking_wait", r#""200 ms""#)).await;
    for client in gateway.clients() {
        let gate = Gate::new();
        gateway.scripted().expect(work_behind(&gate));
        let made = client
            .call(&Ask::new(Operation::SendMessage, samples::message("as scripted")))
            .await
            .json();
        let state = made["task"]["status"]["state"].as_str().unwrap();
        assert!(
            ["TASK_STATE_SUBMITTED", "TASK_STATE_WORKING"].contains(&state),
            "{state}"
        );
        let task = made["task"]["id"].as_str().unwrap();
        let list = client
            .call(&Ask::new(Operation::ListTasks, json!({})))
            .await
            .json();
        assert!(
            list["tasks"]
                .as_array()
                .unwrap()
                .iter()
                .any(|listed| listed["id"] == task)
        );
        let follow = client
            .call(&Ask::new(Operation::SubscribeToTask, json!({ "id": task })))
            .await
            .stream();
        gate.open();
        let last = follow.rest().await.pop().unwrap();
        assert_eq!(last["statusUpdate"]["status"]["state"], "TASK_STATE_COMPLETED");
    }
}

#[tokio::test]
async fn a_deadline_that_passes_ends_the_wait_and_the_task_goes_on() {
    let gateway = Gateway::plain().await;
    let client = gateway.client(Binding::Grpc);
    for operation in [Operation::SendMessage, Operation::SendStreamingMessage] {
        let gate = Gate::new();
        gateway.scripted().expect(work_behind(&gate));
        let mut params = samples::message("as scripted");
        params["message"]["contextId"] = json!(operation.name());
        let refusal = match client
            .call(&Ask::new(operation, params).with("grpc-timeout", "1S"))
            .await
        {
            Answer::Refusal(refusal) => refusal,
            Answer::Stream(mut stream) => loop {
                if let Err(refusal) = stream.next().await.expect("an error before the end") {
                    break refusal;
                }
            },
            Answer::Reply(reply) => panic!("{reply:?}"),
        };
        refusal.assert(ErrorKind::DeadlineExceeded);
        let list = Ask::new(Operation::ListTasks, json!({ "contextId": operation.name() }));
        let list = client.call(&list).await.json();
        assert_eq!(list["totalSize"], 1);
        gate.open();
        let task = gateway
            .task_in("TASK_STATE_COMPLETED", list["tasks"][0]["id"].as_str().unwrap())
            .await;
        assert_eq!(task["artifacts"][0]["parts"][0]["text"], "done");
    }
}
