//! Parameters of the methods of 0.3: what they become, and how a client is told what is wrong with them.

use std::collections::BTreeSet;

use gateway_domain::{
    Error, ErrorKind, Operation, Request, Tenant, Version,
    reply::{Body, ConfigPage},
    request::{OtherwiseCard, PageRequest},
};
use gateway_wire::{
    operations,
    v0_3::{Terms, kind, terms},
};
use serde_json::{Value, json};

use super::shapes::Shapes;

fn read(operation: Operation, params: &Value) -> Request {
    kind::request(operation, params.to_string().as_bytes())
        .unwrap_or_else(|error| panic!("{error}: {params}"))
}

/// The error that a client of 0.3 is told.
fn refusal(operation: Operation, params: &Value) -> Error {
    let error = kind::request(operation, params.to_string().as_bytes()).unwrap_err();
    terms(error, operation, Terms::Kind)
}

/// A send with everything that 0.3 can say.
fn send() -> Value {
    json!({
        "message": {
            "kind": "message",
            "messageId": "m",
            "contextId": "c",
            "taskId": "t",
            "role": "user",
            "parts": [
                { "kind": "text", "text": "hello", "metadata": { "a": 1 } },
                { "kind": "file", "file": { "bytes": "AQID", "mimeType": "image/png", "name": "dot.png" } },
                { "kind": "file", "file": { "uri": "https://files.example/1", "mimeType": "image/png", "name": "dot.png" } },
                { "kind": "data", "data": { "b": [2] } },
                { "kind": "data", "data": { "value": [3] }, "metadata": { "data_part_compat": true } },
            ],
            "metadata": { "c": null },
            "extensions": ["https://extension.example"],
            "referenceTaskIds": ["t0"],
        },
        "configuration": {
            "acceptedOutputModes": ["text/plain"],
            "blocking": false,
            "historyLength": 3,
            "pushNotificationConfig": {
                "id": "hook",
                "url": "https://receiver.example",
                "token": "told",
                "authentication": { "schemes": ["OAuth", "bearer"], "credentials": "secret" },
            },
        },
        "metadata": { "d": true },
    })
}

/// The same in the notation of 1.0.
fn send_in_1_0() -> Value {
    json!({
        "message": {
            "messageId": "m",
            "contextId": "c",
            "taskId": "t",
            "role": "ROLE_USER",
            "parts": [
                { "text": "hello", "metadata": { "a": 1 } },
                { "raw": "AQID", "mediaType": "image/png", "filename": "dot.png" },
                { "url": "https://files.example/1", "mediaType": "image/png", "filename": "dot.png" },
                { "data": { "b": [2] } },
                { "data": [3] },
            ],
            "metadata": { "c": null },
            "extensions": ["https://extension.example"],
            "referenceTaskIds": ["t0"],
        },
        "configuration": {
            "acceptedOutputModes": ["text/plain"],
            "returnImmediately": true,
            "historyLength": 3,
            "taskPushNotificationConfig": {
                "id": "hook",
                "url": "https://receiver.example",
                "token": "told",
                "authentication": { "scheme": "bearer", "credentials": "secret" },
            },
        },
        "metadata": { "d": true },
    })
}

#[test]
fn a_send_means_what_the_same_send_means_in_1_0_by_the_rules_of_0_3() {
    let mut shapes = Shapes::load();
    shapes.check("MessageSendParams", &send()).unwrap();
    let used = [
        "MessageSendParams",
        "MessageSendConfiguration",
        "PushNotificationConfig",
        "PushNotificationAuthenticationInfo",
    ];
    assert_eq!(shapes.unseen(&used), Vec::<String>::new());

    let text = send_in_1_0().to_string();
    for operation in [Operation::SendMessage, Operation::SendStreamingMessage] {
        let mut expected = gateway_domain::request::from_json(operation, text.as_bytes()).unwrap();
        if let Request::SendMessage(send) | Request::SendStreamingMessage(send) = &mut expected {
            send.configuration.version = Version::V0_3;
            let push = send.configuration.push.as_mut().unwrap();
            push.version = Version::V0_3;
            let schemes = vec!["OAuth".to_owned(), "bearer".to_owned()];
            push.authentication.as_mut().unwrap().schemes = schemes;
        }
        assert_eq!(read(operation, &send()), expected);
    }
}

#[test]
fn a_send_waits_unless_it_says_that_it_does_not() {
    for (configuration, at_once) in [
        (json!(null), false),
        (json!({}), false),
        (json!({ "blocking": null }), false),
        (json!({ "blocking": true }), false),
        (json!({ "blocking": false }), true),
        // The name of 1.0 is none here.
        (json!({ "returnImmediately": true }), false),
    ] {
        let mut params = send();
        params["configuration"] = configuration.clone();
        let Request::SendMessage(send) = read(Operation::SendMessage, &params) else {
            panic!("no send")
        };
        assert_eq!(send.configuration.return_immediately, at_once, "{configuration}");
    }
}

#[test]
fn what_is_wrong_with_a_send_is_told_by_the_names_of_0_3() {
    let text = |part: Value| json!([part]);
    for (pointer, value, field, description) in [
        ("/message", json!(null), "message", "is required"),
        (
            "/message",
            json!([]),
            "message",
            "invalid type: sequence, expected an object",
        ),
        (
            "/message/kind",
            json!("task"),
            "message.kind",
            "must be \"message\", not \"task\"",
        ),
        (
            "/message/messageId",
            json!(""),
            "message.messageId",
            "is required",
        ),
        (
            "/message/role",
            json!("agent"),
            "message.role",
            "must be \"user\" in a message that a client sends",
        ),
        (
            "/message/role",
            json!("ROLE_USER"),
            "message.role",
            "must be user or agent, not \"ROLE_USER\"",
        ),
        ("/message/role", json!(null), "message.role", "is required"),
        (
            "/message/parts",
            json!([]),
            "message.parts",
            "must have at least one part",
        ),
        (
            "/message/parts",
            text(json!({ "text": "hello" })),
            "message.parts[0]",
            "must say its kind: text, file or data",
        ),
        (
            "/message/parts",
            text(json!({ "kind": "url", "url": "x" })),
            "message.parts[0]",
            "must be of kind text, file or data, not \"url\"",
        ),
        (
            "/message/parts",
            text(json!({ "kind": "text" })),
            "message.parts[0]",
            "must have \"text\", which its kind asks for",
        ),
        (
            "/message/parts",
            text(json!({ "kind": "data", "data": [1] })),
            "message.parts[0]",
            "must have an object as \"data\"",
        ),
        (
            "/message/parts",
            text(json!({ "kind": "file", "file": {} })),
            "message.parts[0].file",
            "must hold one of bytes and uri",
        ),
        (
            "/message/parts",
            text(json!({ "kind": "file", "file": { "bytes": "", "uri": "" } })),
            "message.parts[0].file",
            "must hold one of bytes and uri",
        ),
        (
            "/message/parts",
            text(json!({ "kind": "file", "file": { "bytes": "%" } })),
            "message.parts[0].file.bytes",
            "must be base64",
        ),
        (
            "/message/contextId",
            json!("\u{7}"),
            "message.contextId",
            "must not contain control characters",
        ),
        (
            "/configuration/historyLength",
            json!(-1),
            "configuration.historyLength",
            "must not be negative",
        ),
        (
            "/configuration/pushNotificationConfig/url",
            json!(""),
            "configuration.pushNotificationConfig.url",
            "is required",
        ),
        (
            "/configuration/pushNotificationConfig/authentication/schemes",
            json!([]),
            "configuration.pushNotificationConfig.authentication.schemes",
            "is required",
        ),
    ] {
        let mut params = send();
        *params.pointer_mut(pointer).unwrap() = value.clone();
        let error = refusal(Operation::SendMessage, &params);
        assert_eq!(error.kind(), ErrorKind::InvalidParams, "{error}");
        let found = &error.violations()[0];
        assert_eq!(
            (&*found.field, &*found.description),
            (field, description),
            "{pointer} {value}"
        );
        assert!(error.message().contains(field), "{error}");
    }
}

#[test]
fn tasks_are_named_by_their_ids() {
    let query = json!({ "id": "t", "historyLength": 0, "metadata": { "a": 1 } });
    let mut shapes = Shapes::load();
    shapes.check("TaskQueryParams", &query).unwrap();
    let Request::GetTask(get) = read(Operation::GetTask, &query) else {
        panic!("no get")
    };
    assert_eq!(
        (get.id.as_str(), get.history_length, get.tenant),
        ("t", Some(0), None)
    );

    let one = json!({ "id": "t", "metadata": { "a": 1 } });
    shapes.check("TaskIdParams", &one).unwrap();
    let Request::CancelTask(cancel) = read(Operation::CancelTask, &one) else {
        panic!("no cancel")
    };
    assert_eq!(Value::from(cancel.metadata.unwrap()), one["metadata"]);
    let Request::SubscribeToTask(subscribe) = read(Operation::SubscribeToTask, &one) else {
        panic!("no subscription")
    };
    assert_eq!((subscribe.id.as_str(), subscribe.version), ("t", Version::V0_3));

    for operation in [
        Operation::GetTask,
        Operation::CancelTask,
        Operation::SubscribeToTask,
    ] {
        for id in [json!(null), json!(7), json!("")] {
            let error = refusal(operation, &json!({ "id": id }));
            assert_eq!(error.violations()[0].field, "id", "{operation:?}");
        }
    }
}

#[test]
fn a_configuration_comes_back_as_it_was_given_with_all_its_schemes() {
    let given = json!({
        "taskId": "t",
        "pushNotificationConfig": {
            "id": "hook",
            "url": "https://receiver.example",
            "token": "told",
            "authentication": { "schemes": ["Digest", "Basic", "Bearer"], "credentials": "secret" },
        },
    });
    Shapes::load()
        .check("TaskPushNotificationConfig", &given)
        .unwrap();
    let Request::CreateTaskPushNotificationConfig(create) =
        read(Operation::CreateTaskPushNotificationConfig, &given)
    else {
        panic!("no configuration")
    };
    // What is used, and what a client of 1.0 sees.
    assert_eq!(create.config.authentication.as_ref().unwrap().scheme, "Basic");
    assert_eq!(create.config.version, Version::V0_3);
    let answer = |body: &Body| serde_json::from_slice::<Value>(&kind::result(body).unwrap()).unwrap();
    assert_eq!(answer(&Body::Config(create.config.clone())), given);
    let page = ConfigPage {
        configs: vec![create.config],
        next_page_token: String::new(),
    };
    assert_eq!(answer(&Body::Configs(page)), json!([given]));
    assert_eq!(answer(&Body::Deleted), json!(null));
}

#[test]
fn what_is_wrong_with_a_configuration_is_told_by_the_names_of_0_3() {
    let operation = Operation::CreateTaskPushNotificationConfig;
    for (params, field) in [
        (json!({ "taskId": "t" }), "pushNotificationConfig"),
        (
            json!({ "pushNotificationConfig": { "url": "https://a" } }),
            "taskId",
        ),
        (
            json!({ "taskId": "t", "pushNotificationConfig": {} }),
            "pushNotificationConfig.url",
        ),
        (
            json!({ "taskId": "t", "pushNotificationConfig": { "url": "https://a", "id": "\u{7}" } }),
            "pushNotificationConfig.id",
        ),
        (
            json!({ "taskId": "t", "pushNotificationConfig": { "url": 7 } }),
            "pushNotificationConfig.url",
        ),
        (
            json!({ "taskId": "t", "pushNotificationConfig": { "url": "https://a", "authentication": { "schemes": [] } } }),
            "pushNotificationConfig.authentication.schemes",
        ),
    ] {
        let error = refusal(operation, &params);
        assert_eq!(error.violations()[0].field, field, "{params}");
    }
}

#[test]
fn configurations_are_named_by_their_tasks_and_their_own_ids() {
    let both = json!({ "id": "t", "pushNotificationConfigId": "hook" });
    let Request::GetTaskPushNotificationConfig(get) = read(Operation::GetTaskPushNotificationConfig, &both)
    else {
        panic!("no get")
    };
    assert_eq!(
        (get.task_id.as_str(), get.id.as_ref().unwrap().as_str()),
        ("t", "hook")
    );
    let Request::DeleteTaskPushNotificationConfig(delete) =
        read(Operation::DeleteTaskPushNotificationConfig, &both)
    else {
        panic!("no deletion")
    };
    assert_eq!((delete.task_id.as_str(), delete.id.as_str()), ("t", "hook"));

    // Without an id the first one is meant.
    let Request::GetTaskPushNotificationConfig(get) =
        read(Operation::GetTaskPushNotificationConfig, &json!({ "id": "t" }))
    else {
        panic!("no get")
    };
    assert_eq!((get.task_id.as_str(), get.id), ("t", None));

    let Request::ListTaskPushNotificationConfigs(list) =
        read(Operation::ListTaskPushNotificationConfigs, &json!({ "id": "t" }))
    else {
        panic!("no list")
    };
    assert_eq!(
        (list.task_id.as_str(), list.page, list.version),
        ("t", PageRequest::everything(), Version::V0_3)
    );

    for (operation, params, field) in [
        (Operation::GetTaskPushNotificationConfig, json!({}), "id"),
        (
            Operation::GetTaskPushNotificationConfig,
            json!({ "pushNotificationConfigId": "hook" }),
            "id",
        ),
        (Operation::ListTaskPushNotificationConfigs, json!({}), "id"),
        (
            Operation::DeleteTaskPushNotificationConfig,
            json!({ "id": "t" }),
            "pushNotificationConfigId",
        ),
    ] {
        let error = refusal(operation, &params);
        assert_eq!(error.violations()[0].field, field, "{operation:?} {params}");
    }
}

#[test]
fn the_extended_card_is_there_or_not_configured() {
    let Request::GetExtendedAgentCard(request) = read(Operation::GetExtendedAgentCard, &json!({})) else {
        panic!("no card")
    };
    assert_eq!(request.otherwise, OtherwiseCard::NotConfigured);
}

#[test]
fn every_operation_of_0_3_and_no_other_has_parameters() {
    let known: BTreeSet<_> = operations::TABLE_0_3.iter().map(|row| row.operation).collect();
    for operation in Operation::all() {
        let refused = kind::request(operation, b"{}").err().map(|error| error.kind());
        let unknown = refused == Some(ErrorKind::MethodNotFound);
        assert_eq!(unknown, !known.contains(&operation), "{operation:?}");
        let broken = kind::request(operation, b"{").unwrap_err().kind();
        assert!(unknown || broken == ErrorKind::ParseError, "{operation:?}");
    }
}

#[test]
fn a_tenant_among_the_parameters_is_none_of_0_3() {
    let request = read(Operation::GetTask, &json!({ "id": "t", "tenant": "acme" }));
    assert_eq!(request.tenant(), None::<&Tenant>);
}
