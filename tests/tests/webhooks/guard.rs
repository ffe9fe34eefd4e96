//! Where a webhook must not lead (§13.2), and what its values must not hold: refused on every way in.

use gateway_domain::{ErrorKind, Operation};
use gateway_tests::{
    client::{Ask, Driver},
    gateway::Gateway,
    samples,
};
use serde_json::{Value, json};

use super::{begin, call, config};

/// Addresses inside of a network, and addresses of other kinds.
const REFUSED: [&str; 14] = [
    "http://127.0.0.1:6379/",
    "http://localhost/",
    "http://169.254.169.254/latest/",
    "http://10.1.2.3/",
    "http://[::1]/",
    "http://0.0.0.0/",
    "http://[fd00::1]/",
    "http://100.64.0.1/",
    "ftp://hooks.example.com/",
    "file:///secret",
    "https://user:pw@hooks.example.com/",
    "https://hooks.example.com:22/",
    "https://[::ffff:10.1.2.3]/",
    "https://127.1/",
];

/// The ways in: each operation with its parameters, and the path of the configuration.
fn ways_in(task: &str, config: &Value) -> Vec<(Operation, Value, &'static str)> {
    let inline = "configuration.taskPushNotificationConfig.";
    let with = |mut params: Value| {
        params["configuration"] = json!({ "taskPushNotificationConfig": config });
        params
    };
    let mut create = config.clone();
    create["taskId"] = json!(task);
    let sends = [samples::message("work 1"), samples::further(task, "work 1")];
    let mut ways = vec![(Operation::CreateTaskPushNotificationConfig, create, "")];
    for operation in [Operation::SendMessage, Operation::SendStreamingMessage] {
        ways.extend(
            sends
                .iter()
                .map(|params| (operation, with(params.clone()), inline)),
        );
    }
    ways
}

/// Everything that a refused call could have left behind.
async fn stored(client: &dyn Driver, task: &str) -> [Value; 3] {
    [
        call(client, Operation::ListTasks, json!({})).await,
        call(client, Operation::GetTask, json!({ "id": task })).await,
        call(
            client,
            Operation::ListTaskPushNotificationConfigs,
            json!({ "taskId": task }),
        )
        .await,
    ]
}

async fn refused(client: &dyn Driver, task: &str, config: &Value, fields: &[&str]) {
    for (operation, params, at) in ways_in(task, config) {
        let refusal = client.call(&Ask::new(operation, params)).await.refusal();
        refusal.assert(ErrorKind::InvalidParams);
        let named: Vec<_> = fields.iter().map(|field| format!("{at}{field}")).collect();
        assert_eq!(refusal.fields(), named, "{operation:?} {config}");
    }
}

#[tokio::test]
async fn an_address_inside_of_the_network_is_refused_on_every_way_in_and_nothing_is_stored() {
    let gateway = Gateway::plain().await;
    for client in gateway.clients() {
        let task = begin(&*client, samples::message("ask")).await;
        let before = stored(&*client, &task).await;
        for url in REFUSED {
            refused(&*client, &task, &config(url), &["url"]).await;
        }
        assert_eq!(stored(&*client, &task).await, before);
    }
}

#[tokio::test]
async fn control_characters_are_refused_in_every_field_and_nothing_is_stored() {
    let gateway = Gateway::plain().await;
    let config = json!({
        "url": "https://hooks.example.com/a\r\nb",
        "token": "x\r\nX-Admin: 1",
        "authentication": { "scheme": "Bearer\r\nHost: evil.example.com", "credentials": "abc\ndef" },
    });
    let fields = [
        "url",
        "token",
        "authentication.scheme",
        "authentication.credentials",
    ];
    for client in gateway.clients() {
        let task = begin(&*client, samples::message("ask")).await;
        let before = stored(&*client, &task).await;
        refused(&*client, &task, &config, &fields).await;
        assert_eq!(stored(&*client, &task).await, before);
    }
}

#[tokio::test]
async fn a_refusal_names_the_field_and_does_not_repeat_what_it_held() {
    let gateway = Gateway::plain().await;
    for client in gateway.clients() {
        let task = begin(&*client, samples::message("ask")).await;
        let create = json!({ "taskId": task, "url": "https://user:SECRET@hooks.example.com/" });
        let ask = Ask::new(Operation::CreateTaskPushNotificationConfig, create);
        let refusal = client.call(&ask).await.refusal();
        let told = format!("{refusal:?}");
        assert!(
            told.contains("authentication") && !told.contains("SECRET"),
            "{told}"
        );
    }
}
