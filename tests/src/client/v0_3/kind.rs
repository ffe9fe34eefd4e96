//! The objects told by their `kind`: JSON-RPC.

use gateway_domain::Operation;
use serde_json::{Value, json};

use super::{each, flat_config, nested_config, object, unsayable, unwrap, waits, within, wrap};

/// A call's params. They have no tenant, which is in the path.
pub(in crate::client) fn kind_params(operation: Operation, params: &Value) -> Value {
    match operation {
        Operation::SendMessage | Operation::SendStreamingMessage => object([
            ("message", to_message(params["message"].clone())),
            ("configuration", to_configuration(&params["configuration"])),
            ("metadata", params["metadata"].clone()),
        ]),
        Operation::GetTask | Operation::CancelTask | Operation::SubscribeToTask => object([
            ("id", params["id"].clone()),
            ("historyLength", params["historyLength"].clone()),
            ("metadata", params["metadata"].clone()),
        ]),
        Operation::CreateTaskPushNotificationConfig => object([
            ("taskId", params["taskId"].clone()),
            ("pushNotificationConfig", nested_config(params)),
        ]),
        Operation::GetTaskPushNotificationConfig | Operation::DeleteTaskPushNotificationConfig => object([
            ("id", params["taskId"].clone()),
            ("pushNotificationConfigId", params["id"].clone()),
        ]),
        Operation::ListTaskPushNotificationConfigs => object([("id", params["taskId"].clone())]),
        Operation::GetExtendedAgentCard => json!({}),
        other => unsayable(other),
    }
}

fn to_configuration(configuration: &Value) -> Value {
    if configuration.is_null() {
        return Value::Null;
    }
    let push = &configuration["taskPushNotificationConfig"];
    object([
        (
            "acceptedOutputModes",
            configuration["acceptedOutputModes"].clone(),
        ),
        ("historyLength", configuration["historyLength"].clone()),
        ("blocking", waits(configuration)),
        (
            "pushNotificationConfig",
            if push.is_null() {
                Value::Null
            } else {
                nested_config(push)
            },
        ),
    ])
}

fn to_message(message: Value) -> Value {
    if !message.is_object() {
        return message;
    }
    let mut message = within(message, "role", |role| match role.as_str() {
        Some("ROLE_USER") => json!("user"),
        Some("ROLE_AGENT") => json!("agent"),
        _ => role,
    });
    message["kind"] = json!("message");
    within(message, "parts", |parts| each(parts, to_part))
}

fn to_part(part: Value) -> Value {
    let Value::Object(members) = &part else {
        return part;
    };
    let mut metadata = part["metadata"].clone();
    let file = |name: &str, content: &Value| {
        json!({ "kind": "file", "file": object([
            (name, content.clone()),
            ("mimeType", part["mediaType"].clone()),
            ("name", part["filename"].clone()),
        ]) })
    };
    let mut said = match () {
        () if members.contains_key("text") => json!({ "kind": "text", "text": part["text"] }),
        () if members.contains_key("raw") => file("bytes", &part["raw"]),
        () if members.contains_key("url") => file("uri", &part["url"]),
        () if members.contains_key("data") => {
            json!({ "kind": "data", "data": wrap(part["data"].clone(), &mut metadata) })
        }
        () => json!({}),
    };
    if !metadata.is_null() {
        said["metadata"] = metadata;
    }
    said
}

/// A result, or an event.
pub(in crate::client) fn kind_answer(operation: Operation, json: Value) -> Value {
    match operation {
        Operation::SendMessage | Operation::SendStreamingMessage | Operation::SubscribeToTask => named(json),
        Operation::GetTask | Operation::CancelTask => of_task(json),
        Operation::CreateTaskPushNotificationConfig | Operation::GetTaskPushNotificationConfig => {
            of_config(&json)
        }
        Operation::ListTaskPushNotificationConfigs => {
            assert!(json.is_array(), "a bare list in {json}");
            object([("configs", each(json, |config| of_config(&config)))])
        }
        Operation::DeleteTaskPushNotificationConfig => {
            assert!(json.is_null(), "null in {json}");
            json!({})
        }
        Operation::GetExtendedAgentCard => json,
        other => unsayable(other),
    }
}

/// An object under the name that 1.0 has for its kind.
fn named(json: Value) -> Value {
    match json["kind"].as_str() {
        Some("task") => json!({ "task": of_task(json) }),
        Some("message") => json!({ "message": of_message(json) }),
        Some("status-update") => json!({ "statusUpdate": of_update(json) }),
        Some("artifact-update") => {
            let json = without(json, "kind", &json!("artifact-update"));
            let mut update = within(json, "artifact", of_artifact);
            let members = update.as_object_mut().expect("an update is an object");
            // Written out in this notation, left out in the others.
            members.retain(|_, value| *value != json!(false));
            json!({ "artifactUpdate": update })
        }
        other => panic!("the kind {other:?} in {json}"),
    }
}

/// The object without a member, which has to have this value.
fn without(mut object: Value, name: &str, expected: &Value) -> Value {
    let members = object.as_object_mut().expect("an object");
    assert_eq!(
        members.remove(name).as_ref(),
        Some(expected),
        "{name} in {members:?}"
    );
    object
}

fn of_task(task: Value) -> Value {
    let task = without(task, "kind", &json!("task"));
    let task = within(within(task, "status", of_status), "history", |said| {
        each(said, of_message)
    });
    within(task, "artifacts", |made| each(made, of_artifact))
}

fn of_status(status: Value) -> Value {
    let status = within(status, "state", |state| {
        let state = state.as_str().expect("a state is a text");
        json!(format!("TASK_STATE_{}", state.replace('-', "_").to_uppercase()))
    });
    within(status, "message", of_message)
}

fn of_update(update: Value) -> Value {
    let state = update["status"]["state"].as_str().unwrap_or_default().to_owned();
    let ends = ["completed", "failed", "canceled", "rejected", "input-required"].contains(&&*state);
    let update = without(update, "final", &json!(ends));
    within(
        without(update, "kind", &json!("status-update")),
        "status",
        of_status,
    )
}

fn of_message(message: Value) -> Value {
    let message = within(message, "role", |role| match role.as_str() {
        Some("user") => json!("ROLE_USER"),
        Some("agent") => json!("ROLE_AGENT"),
        other => panic!("the role {other:?}"),
    });
    let message = without(message, "kind", &json!("message"));
    within(message, "parts", |parts| each(parts, of_part))
}

fn of_artifact(artifact: Value) -> Value {
    within(artifact, "parts", |parts| each(parts, of_part))
}

fn of_part(part: Value) -> Value {
    let mut metadata = part["metadata"].clone();
    let file = &part["file"];
    match part["kind"].as_str() {
        Some("text") => object([("text", part["text"].clone()), ("metadata", metadata)]),
        Some("file") => object([
            ("raw", file["bytes"].clone()),
            ("url", file["uri"].clone()),
            ("mediaType", file["mimeType"].clone()),
            ("filename", file["name"].clone()),
            ("metadata", metadata),
        ]),
        Some("data") => {
            let data = unwrap(part["data"].clone(), &mut metadata);
            let mut part = object([("metadata", metadata)]);
            part["data"] = data;
            part
        }
        other => panic!("the kind {other:?} of a part"),
    }
}

fn of_config(config: &Value) -> Value {
    let task = config["taskId"].as_str().expect("a configuration has its task");
    flat_config(&config["pushNotificationConfig"], task)
}
