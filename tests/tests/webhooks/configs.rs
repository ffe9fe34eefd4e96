//! Configurations that come and go: who is called for which, and how many there may be.

use gateway_domain::{Binding, ErrorKind, Operation};
use gateway_testkit::receiver::{Answer, Receiver};
use gateway_tests::{client::Ask, gateway::Gateway, raw::headers, samples};
use http::Method;
use serde_json::json;

use super::{begin, bodies_up_to, call, config, configure, gateway, profile, send_with};

#[tokio::test]
async fn configurations_without_an_id_are_all_called_and_an_id_replaces_its_own_only() {
    let gateway = gateway().await;
    for client in gateway.clients() {
        let [one, two, three] = [
            Receiver::willing().await,
            Receiver::willing().await,
            Receiver::willing().await,
        ];
        let task = begin(&*client, samples::message("ask")).await;
        let at = |receiver: &Receiver| json!({ "taskId": task, "url": receiver.url() });
        let first = configure(&*client, at(&one)).await;
        let second = configure(&*client, at(&two)).await;
        assert_ne!(first["id"], second["id"]);
        let mut moved = at(&three);
        moved["id"] = second["id"].clone();
        assert_eq!(configure(&*client, moved).await["url"], three.url());

        begin(&*client, samples::further(&task, "say done")).await;
        bodies_up_to(&one, "TASK_STATE_COMPLETED").await;
        bodies_up_to(&three, "TASK_STATE_COMPLETED").await;
        assert_eq!(two.so_far().len(), 0, "it was replaced before anything happened");
    }
}

#[tokio::test]
async fn once_a_deletion_is_answered_nothing_is_sent_not_even_what_waited_to_be_repeated() {
    let gateway = Gateway::start(profile().set("push.first_pause", r#""100 ms""#)).await;
    for client in gateway.clients() {
        let [failing, other] = [
            Receiver::new(|_| Answer::Status(503)).await,
            Receiver::willing().await,
        ];
        let mut config = config(&failing.url());
        config["id"] = json!("c1");
        let task = begin(&*client, send_with("ask", config)).await;
        configure(&*client, json!({ "taskId": task, "url": other.url() })).await;
        failing.calls(1).await;
        let key = json!({ "taskId": task, "id": "c1" });
        for _ in 0..2 {
            let deleted = call(&*client, Operation::DeleteTaskPushNotificationConfig, key.clone());
            assert_eq!(deleted.await, json!({}));
        }
        let calls = failing.so_far().len();
        begin(&*client, samples::further(&task, "work 0.3")).await;
        bodies_up_to(&other, "TASK_STATE_COMPLETED").await;
        assert_eq!(failing.so_far().len(), calls);
    }
}

#[tokio::test]
async fn over_http_the_path_names_the_task_and_the_body_need_not() {
    let gateway = gateway().await;
    let client = gateway.client(Binding::HttpJson);
    let task = begin(&*client, samples::message("ask")).await;
    let path = |task: &str| format!("/tasks/{task}/pushNotificationConfigs");
    let http = gateway.http();
    let made = http
        .post(&path(&task), r#"{"url":"https://hooks.example.com/one"}"#)
        .await;
    assert!(made.status.is_success(), "{made:?}");
    assert_eq!(made.json()["taskId"], json!(task));
    let body = r#"{"url":"https://hooks.example.com/one","taskId":"T2"}"#;
    assert_eq!(http.post(&path(&task), body).await.status, 400);
    let unknown = http
        .post(&path("nope"), r#"{"url":"https://hooks.example.com/one"}"#)
        .await;
    assert_eq!(unknown.status, 404);
    let listed = http
        .send(
            Method::GET,
            &path(&task),
            &headers(&[("a2a-version", "1.0"), ("authorization", "Bearer A")]),
            "",
        )
        .await;
    assert_eq!(listed.json()["configs"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn a_configuration_beyond_the_limit_is_refused_and_so_is_the_message_that_brought_it() {
    let gateway = Gateway::start(profile().set("limits.push_configs_per_task", "2")).await;
    for client in gateway.clients() {
        let receiver = Receiver::willing().await;
        let task = begin(&*client, samples::message("ask")).await;
        for _ in 0..2 {
            configure(&*client, json!({ "taskId": task, "url": receiver.url() })).await;
        }
        let create = json!({ "taskId": task, "url": receiver.url() });
        let ask = Ask::new(Operation::CreateTaskPushNotificationConfig, create);
        let refusal = client.call(&ask).await.refusal();
        refusal.assert(ErrorKind::ResourceExhausted);
        assert!(refusal.message.contains("at most 2"), "{}", refusal.message);

        let read = || call(&*client, Operation::GetTask, json!({ "id": task }));
        let before = read().await;
        let mut further = samples::further(&task, "say done");
        further["configuration"] = json!({ "taskPushNotificationConfig": config(&receiver.url()) });
        for operation in [Operation::SendMessage, Operation::SendStreamingMessage] {
            let refusal = client.call(&Ask::new(operation, further.clone())).await.refusal();
            refusal.assert(ErrorKind::ResourceExhausted);
        }
        assert_eq!(read().await, before, "the message was not taken");
    }
}

#[tokio::test]
async fn more_webhooks_than_the_server_delivers_to_are_refused_before_anything_is_stored() {
    let gateway = Gateway::start(profile().set("push.most", "1")).await;
    let holding = gateway.client(Binding::JsonRpc);
    let receiver = Receiver::willing().await;
    let held = begin(&*holding, send_with("ask", config(&receiver.url()))).await;
    for client in gateway.clients() {
        let all = call(&*client, Operation::ListTasks, json!({})).await;
        let create = json!({ "taskId": held, "url": receiver.url() });
        for (operation, params) in [
            (Operation::CreateTaskPushNotificationConfig, create),
            (Operation::SendMessage, send_with("ask", config(&receiver.url()))),
            (
                Operation::SendStreamingMessage,
                send_with("ask", config(&receiver.url())),
            ),
        ] {
            let refusal = client.call(&Ask::new(operation, params)).await.refusal();
            refusal.assert(ErrorKind::ResourceExhausted);
        }
        assert_eq!(call(&*client, Operation::ListTasks, json!({})).await, all);
    }
    // The end of the one task makes room.
    call(&*holding, Operation::CancelTask, json!({ "id": held })).await;
    bodies_up_to(&receiver, "TASK_STATE_CANCELED").await;
    loop {
        let params = send_with("say hi", config(&receiver.url()));
        let answer = holding.call(&Ask::new(Operation::SendMessage, params)).await;
        if let gateway_tests::client::Answer::Reply(_) = answer {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
}
