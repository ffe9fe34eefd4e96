//! What a configuration holds in confidence: given back to its owner, and to nobody else by any way.

use gateway_domain::{ErrorKind, Operation};
use gateway_testkit::receiver::{Answer, Receiver};
use gateway_tests::{
    client::{Ask, Driver, Grpc, JsonRpc, Rest},
    process::Process,
    raw::Http,
    samples,
};
use serde_json::json;

use super::{begin, configure, gateway};

#[tokio::test]
async fn the_owner_reads_the_secrets_of_a_configuration_back_and_others_read_nothing() {
    let gateway = gateway().await;
    for client in gateway.clients() {
        let task = begin(&*client, samples::message("ask")).await;
        let config = json!({
            "taskId": task, "id": "c1", "url": "https://hooks.example.com/", "token": "SECRET-456",
            "authentication": { "scheme": "Bearer", "credentials": "SECRET-123" },
        });
        assert_eq!(configure(&*client, config.clone()).await, config);
        let key = json!({ "taskId": task, "id": "c1" });
        let ask = Ask::new(Operation::GetTaskPushNotificationConfig, key);
        assert_eq!(client.call(&ask).await.json(), config);
        let list = Ask::new(
            Operation::ListTaskPushNotificationConfigs,
            json!({ "taskId": task }),
        );
        assert_eq!(client.call(&list).await.json()["configs"], json!([config]));
        for ask in [ask, list] {
            client
                .call(&ask.by("B"))
                .await
                .refusal()
                .assert(ErrorKind::TaskNotFound);
        }
    }
}

#[tokio::test]
async fn no_secret_is_in_the_most_detailed_log_nor_in_metrics_nor_in_errors() {
    let mut process = Process::start(&[
        ("LOGGING__LEVEL", "trace"),
        ("PUSH__ALLOWED_RANGES", "127.0.0.0/8"),
        ("PUSH__FIRST_PAUSE", "1 ms"),
    ]);
    let clients: [Box<dyn Driver>; 3] = [
        Box::new(Grpc::new(process.client)),
        Box::new(JsonRpc::new(Http::new(process.client))),
        Box::new(Rest::new(Http::new(process.client))),
    ];
    let mut errors = String::new();
    for client in &clients {
        // Anonymous or not makes no difference out of the box; the token must stay out of the log all the same.
        let by = |operation, params| Ask::new(operation, params).by("SECRET-789");
        let receiver = Receiver::new(|number| match number {
            0 => Answer::Status(500),
            1 => Answer::Status(404),
            _ => Answer::Status(200),
        })
        .await;
        let mut config = json!({
            "id": "c1", "url": format!("{}?key=SECRET-000", receiver.url()), "token": "SECRET-456",
            "authentication": { "scheme": "Bearer", "credentials": "SECRET-123" },
        });
        let mut params = samples::message("crash");
        params["configuration"] = json!({ "taskPushNotificationConfig": config });
        let made = client.call(&by(Operation::SendMessage, params)).await.json();
        receiver.calls(3).await;
        config["taskId"] = made["task"]["id"].clone();
        for (field, value) in [
            ("url", "ftp://SECRET-000.example.com/"),
            ("token", "SECRET-456\n"),
        ] {
            let mut config = config.clone();
            config[field] = json!(value);
            let ask = by(Operation::CreateTaskPushNotificationConfig, config);
            errors += &format!("{:?}", client.call(&ask).await.refusal());
        }
    }
    let metrics = Http::new(process.admin).get("/metrics").await;
    let metrics = String::from_utf8_lossy(&metrics.body).into_owned();
    assert!(
        metrics.contains("a2a_gateway_webhook_dead_letters_total{reason=\"refused\"} 3"),
        "{metrics}"
    );
    process.signal("TERM");
    process.ended().await;
    let said = process.said();
    assert!(said.contains("webhook event given up"), "{said}");
    for (place, text) in [("the log", said), ("metrics", metrics), ("errors", errors)] {
        assert!(!text.contains("SECRET"), "{place}: {text}");
    }
}
