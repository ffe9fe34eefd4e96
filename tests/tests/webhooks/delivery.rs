//! What a webhook gets: what a stream shows, in the same order, whatever happens on the way.

use std::time::Duration;

use gateway_domain::{Binding, Operation};
use gateway_testkit::receiver::{Answer, Receiver};
use gateway_tests::{client::Ask, samples};
use serde_json::{Value, json};

use super::{begin, bodies_up_to, call, config, configure, gateway, kind, profile, send_with, state};

#[tokio::test]
async fn a_webhook_gets_each_event_of_its_stream_in_a_post_of_a2a_json() {
    let gateway = gateway().await;
    for client in gateway.clients() {
        for (text, last) in [
            ("chunks 3 0", "TASK_STATE_COMPLETED"),
            ("ask", "TASK_STATE_INPUT_REQUIRED"),
            ("auth", "TASK_STATE_AUTH_REQUIRED"),
            ("fail", "TASK_STATE_FAILED"),
        ] {
            let receiver = Receiver::willing().await;
            let mut params = samples::message(text);
            params["configuration"] = json!({ "taskPushNotificationConfig": config(&receiver.url()) });
            let ask = Ask::new(Operation::SendStreamingMessage, params);
            let mut stream = client.call(&ask).await.stream();
            let mut shown = Vec::new();
            while shown.last().and_then(state) != Some(last) {
                shown.push(stream.event().await);
            }
            assert_eq!(bodies_up_to(&receiver, last).await, shown, "{text}");
            let kinds: Vec<_> = shown.iter().map(kind).collect();
            let updates = kinds.iter().filter(|kind| **kind == "artifactUpdate").count();
            assert_eq!(
                (kinds[0], updates),
                ("task", if text == "chunks 3 0" { 3 } else { 0 })
            );
            for call in receiver.so_far() {
                assert_eq!(call.method, http::Method::POST);
                assert_eq!(call.header("content-type"), Some("application/a2a+json"));
            }
        }
    }
}

#[tokio::test]
async fn every_call_names_the_context_and_the_task_is_never_older_when_it_is_read() {
    let gateway = gateway().await;
    for client in gateway.clients() {
        let receiver = Receiver::willing().await;
        let mut params = send_with("chunks 2 0", config(&receiver.url()));
        params["message"]["contextId"] = json!("context-1");
        let task = begin(&*client, params).await;
        for body in bodies_up_to(&receiver, "TASK_STATE_COMPLETED").await {
            let event = body.as_object().unwrap().values().next().unwrap();
            assert_eq!(event["contextId"], "context-1", "{body}");
        }
        let read = call(&*client, Operation::GetTask, json!({ "id": task })).await;
        assert_eq!(read["status"]["state"], "TASK_STATE_COMPLETED");
    }
}

/// Pauses that differ from call to call, the longest 20 ms.
fn pause(number: usize) -> Duration {
    Duration::from_millis((number as u64 * 7919) % 20)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slow_receiver_gets_a_burst_of_fifty_updates_in_the_order_of_the_stream() {
    let gateway = gateway().await;
    for client in gateway.clients() {
        let receiver = Receiver::new(|number| Answer::After(pause(number), 200)).await;
        let mut params = samples::message("burst 50");
        params["configuration"] = json!({ "taskPushNotificationConfig": config(&receiver.url()) });
        let ask = Ask::new(Operation::SendStreamingMessage, params);
        let shown = client.call(&ask).await.stream().rest().await;
        assert!(shown.len() > 50, "{}", shown.len());
        assert_eq!(bodies_up_to(&receiver, "TASK_STATE_COMPLETED").await, shown);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_of_two_receivers_gets_the_updates_in_order_also_across_a_call_that_failed() {
    let gateway = gateway().await;
    let (client, agent) = (gateway.client(Binding::JsonRpc), gateway.agent(Binding::Grpc));
    let task = begin(&*client, samples::at_once("quiet 600")).await;
    let good = Receiver::new(|number| Answer::After(pause(number), 200)).await;
    let failing =
        Receiver::new(|number| Answer::After(pause(number), if number == 2 { 500 } else { 200 })).await;
    for receiver in [&good, &failing] {
        configure(&*client, json!({ "taskId": task, "url": receiver.url() })).await;
    }
    let ask = Ask::new(Operation::SubscribeToTask, json!({ "id": task }));
    let mut stream = client.call(&ask).await.stream();
    stream.event().await;
    for number in 0..50 {
        let mut chunk = samples::valid(Operation::UpdateArtifact, &task);
        chunk["artifact"]["parts"][0]["text"] = json!(number.to_string());
        call(&*agent, Operation::UpdateArtifact, chunk).await;
    }
    call(&*agent, Operation::CompleteTask, json!({ "id": task })).await;
    let mut shown = stream.rest().await;
    assert_eq!(shown.len(), 51);

    assert_eq!(bodies_up_to(&good, "TASK_STATE_COMPLETED").await, shown);
    let third = shown[2].clone();
    shown.insert(2, third);
    assert_eq!(bodies_up_to(&failing, "TASK_STATE_COMPLETED").await, shown);
}

#[tokio::test]
async fn credentials_and_token_reach_the_receiver_as_given_and_nothing_is_made_up() {
    let gateway = gateway().await;
    let cases: [(Value, Option<&str>, Option<&str>); 6] = [
        (
            json!({ "token": "opaque-1", "authentication": { "scheme": "bearer", "credentials": "cred-1" } }),
            Some("bearer cred-1"),
            Some("opaque-1"),
        ),
        (
            json!({ "token": "opaque-1", "authentication": { "scheme": "bearer" } }),
            None,
            Some("opaque-1"),
        ),
        (
            json!({ "authentication": { "scheme": "Basic", "credentials": "dXNlcjpwdw==" } }),
            Some("Basic dXNlcjpwdw=="),
            None,
        ),
        (json!({ "token": "opaque-1" }), None, Some("opaque-1")),
        (
            json!({ "authentication": { "scheme": "Bearer", "credentials": "cred-1" } }),
            Some("Bearer cred-1"),
            None,
        ),
        (json!({}), None, None),
    ];
    for client in gateway.clients() {
        for (fields, authorization, token) in &cases {
            let receiver = Receiver::willing().await;
            let mut config = fields.clone();
            config["url"] = json!(receiver.url());
            begin(&*client, send_with("say hi", config)).await;
            bodies_up_to(&receiver, "TASK_STATE_COMPLETED").await;
            for call in receiver.so_far() {
                assert_eq!(call.header("authorization"), *authorization, "{fields}");
                assert_eq!(call.header("x-a2a-notification-token"), *token, "{fields}");
            }
        }
    }
}

#[tokio::test]
async fn receivers_that_fail_or_hang_are_called_again_and_hold_up_nobody() {
    let gateway = gateway_tests::gateway::Gateway::start(profile().set("push.timeout", r#""200 ms""#)).await;
    for client in gateway.clients() {
        let failing = Receiver::new(|number| Answer::Status(if number < 2 { 503 } else { 200 })).await;
        let hanging = Receiver::new(|number| {
            if number < 2 {
                Answer::Hang
            } else {
                Answer::Status(200)
            }
        })
        .await;
        let good = Receiver::willing().await;
        let task = begin(&*client, samples::message("ask")).await;
        for receiver in [&failing, &hanging, &good] {
            configure(&*client, json!({ "taskId": task, "url": receiver.url() })).await;
        }
        begin(&*client, samples::further(&task, "say done")).await;
        let once = bodies_up_to(&good, "TASK_STATE_COMPLETED").await;
        for receiver in [&failing, &hanging] {
            let mut bodies = bodies_up_to(receiver, "TASK_STATE_COMPLETED").await;
            assert_eq!(bodies.drain(..2).collect::<Vec<_>>(), vec![once[0].clone(); 2]);
            assert_eq!(bodies, once);
        }
    }
}

#[tokio::test]
async fn a_cancel_and_a_crash_reach_the_webhook_as_its_last_call() {
    let gateway = gateway().await;
    for client in gateway.clients() {
        let receiver = Receiver::willing().await;
        let task = begin(&*client, send_with("work 60", config(&receiver.url()))).await;
        bodies_up_to(&receiver, "TASK_STATE_WORKING").await;
        let canceled = call(&*client, Operation::CancelTask, json!({ "id": task })).await;
        assert_eq!(canceled["status"]["state"], "TASK_STATE_CANCELED");
        let bodies = bodies_up_to(&receiver, "TASK_STATE_CANCELED").await;
        assert_eq!(
            bodies.last().unwrap()["statusUpdate"]["status"],
            canceled["status"]
        );

        let receiver = Receiver::willing().await;
        let task = begin(&*client, send_with("crash", config(&receiver.url()))).await;
        let bodies = bodies_up_to(&receiver, "TASK_STATE_FAILED").await;
        let failed = call(&*client, Operation::GetTask, json!({ "id": task })).await;
        assert_eq!(bodies.last().unwrap()["statusUpdate"]["status"], failed["status"]);
        assert!(
            failed["status"]["message"]["parts"][0]["text"].is_string(),
            "{failed}"
        );
    }
}

#[tokio::test]
async fn an_agent_that_reports_after_the_end_makes_no_call() {
    let gateway = gateway().await;
    for client in gateway.clients() {
        let receiver = Receiver::willing().await;
        let dropped = gateway.scripted().dropped_reports();
        begin(&*client, send_with("late", config(&receiver.url()))).await;
        bodies_up_to(&receiver, "TASK_STATE_COMPLETED").await;
        while gateway.scripted().dropped_reports() == dropped {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        let bodies = bodies_up_to(&receiver, "TASK_STATE_COMPLETED").await;
        assert_eq!(bodies.last().and_then(state), Some("TASK_STATE_COMPLETED"));
    }
}
