//! The JSON of the package `a2a.v1`: gRPC by descriptors, and HTTP+JSON.

use gateway_domain::Operation;
use serde_json::{Value, json};

use super::{each, flat_config, nested_config, object, rename, unsayable, unwrap, waits, within, wrap};

/// A request's message.
pub(in crate::client) fn proto_request(operation: Operation, params: &Value) -> Value {
    let name = |id: &Value| match id {
        Value::String(id) => json!(format!("tasks/{id}")),
        other => other.clone(),
    };
    let config_name = || {
        let (task, id) = (&params["taskId"], &params["id"]);
        match (task.as_str(), id.as_str()) {
            (Some(task), Some(id)) => json!(format!("tasks/{task}/pushNotificationConfigs/{id}")),
            _ => Value::Null,
        }
    };
    let tenant = params["tenant"].clone();
    match operation {
        Operation::SendMessage | Operation::SendStreamingMessage => object([
            ("message", to_message(params["message"].clone())),
            ("configuration", to_configuration(&params["configuration"])),
            ("metadata", params["metadata"].clone()),
            ("tenant", tenant),
        ]),
        Operation::GetTask => object([
            ("name", name(&params["id"])),
            ("historyLength", params["historyLength"].clone()),
            ("tenant", tenant),
        ]),
        Operation::CancelTask | Operation::SubscribeToTask => {
            object([("name", name(&params["id"])), ("tenant", tenant)])
        }
        Operation::CreateTaskPushNotificationConfig => object([
            ("parent", name(&params["taskId"])),
            ("configId", params["id"].clone()),
            (
                "config",
                json!({ "pushNotificationConfig": nested_config(params) }),
            ),
            ("tenant", tenant),
        ]),
        Operation::GetTaskPushNotificationConfig | Operation::DeleteTaskPushNotificationConfig => {
            object([("name", config_name()), ("tenant", tenant)])
        }
        Operation::ListTaskPushNotificationConfigs => object([
            ("parent", name(&params["taskId"])),
            ("pageSize", params["pageSize"].clone()),
            ("pageToken", params["pageToken"].clone()),
            ("tenant", tenant),
        ]),
        Operation::GetExtendedAgentCard => object([("tenant", tenant)]),
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
            "pushNotification",
            if push.is_null() {
                Value::Null
            } else {
                nested_config(push)
            },
        ),
    ])
}

fn to_message(message: Value) -> Value {
    rename(message, "parts", "content", |parts| each(parts, to_part))
}

fn to_part(part: Value) -> Value {
    let Value::Object(members) = &part else {
        return part;
    };
    let mut metadata = part["metadata"].clone();
    let file = |name: &str, content: &Value| {
        json!({ "file": object([
            (name, content.clone()),
            ("mimeType", part["mediaType"].clone()),
            ("name", part["filename"].clone()),
        ]) })
    };
    let mut said = match () {
        () if members.contains_key("text") => json!({ "text": part["text"] }),
        () if members.contains_key("raw") => file("fileWithBytes", &part["raw"]),
        () if members.contains_key("url") => file("fileWithUri", &part["url"]),
        () if members.contains_key("data") => {
            json!({ "data": { "data": wrap(part["data"].clone(), &mut metadata) } })
        }
        () => json!({}),
    };
    if !metadata.is_null() {
        said["metadata"] = metadata;
    }
    said
}

/// An answer, or an event.
pub(in crate::client) fn proto_answer(operation: Operation, json: Value) -> Value {
    match operation {
        Operation::SendMessage | Operation::SendStreamingMessage | Operation::SubscribeToTask => {
            let json = within(within(json, "task", of_task), "message", of_message);
            within(
                within(json, "statusUpdate", of_update),
                "artifactUpdate",
                |update| within(update, "artifact", of_artifact),
            )
        }
        Operation::GetTask | Operation::CancelTask => of_task(json),
        Operation::CreateTaskPushNotificationConfig | Operation::GetTaskPushNotificationConfig => {
            of_config(&json)
        }
        Operation::ListTaskPushNotificationConfigs => within(json, "configs", |configs| {
            each(configs, |config| of_config(&config))
        }),
        Operation::DeleteTaskPushNotificationConfig | Operation::GetExtendedAgentCard => json,
        other => unsayable(other),
    }
}

fn of_task(task: Value) -> Value {
    let task = within(within(task, "status", of_status), "history", |said| {
        each(said, of_message)
    });
    within(task, "artifacts", |made| each(made, of_artifact))
}

fn of_status(status: Value) -> Value {
    let status = within(status, "state", |state| match state.as_str() {
        Some("TASK_STATE_CANCELLED") => json!("TASK_STATE_CANCELED"),
        Some("TASK_STATE_CANCELED") => panic!("0.3 writes it with two l"),
        _ => state,
    });
    within(status, "message", of_message)
}

fn of_update(mut update: Value) -> Value {
    let state = update["status"]["state"].as_str().unwrap_or_default().to_owned();
    let ends = ["COMPLETED", "FAILED", "CANCELLED", "REJECTED", "INPUT_REQUIRED"];
    let ends = ends.iter().any(|end| state == format!("TASK_STATE_{end}"));
    let members = update.as_object_mut().expect("an update is an object");
    assert_eq!(
        members.remove("final").unwrap_or(json!(false)),
        ends,
        "final at {state}"
    );
    within(update, "status", of_status)
}

fn of_message(message: Value) -> Value {
    rename(message, "content", "parts", |parts| each(parts, of_part))
}

fn of_artifact(artifact: Value) -> Value {
    within(artifact, "parts", |parts| each(parts, of_part))
}

fn of_part(part: Value) -> Value {
    let mut metadata = part["metadata"].clone();
    let file = &part["file"];
    let data = match part.get("data") {
        Some(data) => unwrap(data["data"].clone(), &mut metadata),
        None => {
            return object([
                ("text", part["text"].clone()),
                ("raw", file["fileWithBytes"].clone()),
                ("url", file["fileWithUri"].clone()),
                ("mediaType", file["mimeType"].clone()),
                ("filename", file["name"].clone()),
                ("metadata", metadata),
            ]);
        }
    };
    let mut part = object([("metadata", metadata)]);
    part["data"] = data;
    part
}

fn of_config(config: &Value) -> Value {
    let name = config["name"].as_str().expect("a configuration has a name");
    let (task, id) = name
        .split_once("/pushNotificationConfigs/")
        .expect("the name of a configuration");
    let inner = &config["pushNotificationConfig"];
    assert_eq!(inner["id"], id, "the id within {name}");
    flat_config(inner, task.strip_prefix("tasks/").expect("the name of a task"))
}
