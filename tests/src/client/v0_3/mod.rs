//! Version 0.3 for the drivers: a call of 1.0 said in the words of 0.3, and its answer told back in those of 1.0, so that
//! one scenario plays in both versions.
//!
//! JSON to JSON, and written without a look at the gateway's own conversions. What 0.3 cannot say is a mistake of the
//! scenario that asks for it.

mod kind;
mod proto;

use gateway_domain::Operation;
use serde_json::{Map, Value, json};

pub(super) use kind::{kind_answer, kind_params};
pub(super) use proto::{proto_answer, proto_request};

/// In the metadata of a part: its value is inside of the object.
const WRAPPED: &str = "data_part_compat";

/// A part's data as 0.3 carries it: objects as they are, any other value in one, which the part's metadata say.
fn wrap(value: Value, metadata: &mut Value) -> Value {
    if value.is_object() {
        return value;
    }
    metadata[WRAPPED] = json!(true);
    json!({ "value": value })
}

/// The other way round.
fn unwrap(data: Value, metadata: &mut Value) -> Value {
    let Some(members) = metadata
        .as_object_mut()
        .filter(|members| members.contains_key(WRAPPED))
    else {
        return data;
    };
    members.remove(WRAPPED);
    if members.is_empty() {
        *metadata = Value::Null;
    }
    data["value"].clone()
}

/// An object of the members that are there.
fn object<const N: usize>(members: [(&str, Value); N]) -> Value {
    let present = members.into_iter().filter(|(_, value)| !value.is_null());
    present
        .map(|(name, value)| (name.to_owned(), value))
        .collect::<Map<_, _>>()
        .into()
}

/// The same with a member under another name, read by `read`.
fn rename(mut object: Value, from: &str, to: &str, read: impl Fn(Value) -> Value) -> Value {
    if let Some(members) = object.as_object_mut()
        && let Some(value) = members.remove(from)
    {
        members.insert(to.to_owned(), read(value));
    }
    object
}

/// Each item of a list.
fn each(list: Value, read: impl Fn(Value) -> Value) -> Value {
    match list {
        Value::Array(items) => items.into_iter().map(read).collect(),
        other => other,
    }
}

/// A member read in its place, where it is there.
fn within(mut object: Value, name: &str, read: impl Fn(Value) -> Value) -> Value {
    if let Some(value) = object.get_mut(name) {
        *value = read(value.take());
    }
    object
}

/// The configuration of 1.0 as 0.3 nests it.
fn nested_config(config: &Value) -> Value {
    let authentication = &config["authentication"];
    object([
        ("id", config["id"].clone()),
        ("url", config["url"].clone()),
        ("token", config["token"].clone()),
        (
            "authentication",
            match authentication {
                Value::Object(_) => object([
                    ("schemes", json!([authentication["scheme"]])),
                    ("credentials", authentication["credentials"].clone()),
                ]),
                other => other.clone(),
            },
        ),
    ])
}

/// The other way round, for a task.
fn flat_config(config: &Value, task: &str) -> Value {
    let authentication = &config["authentication"];
    object([
        ("id", config["id"].clone()),
        ("taskId", json!(task)),
        ("url", config["url"].clone()),
        ("token", config["token"].clone()),
        (
            "authentication",
            match authentication {
                Value::Object(_) => object([
                    ("scheme", authentication["schemes"][0].clone()),
                    ("credentials", authentication["credentials"].clone()),
                ]),
                other => other.clone(),
            },
        ),
    ])
}

fn waits(configuration: &Value) -> Value {
    json!(configuration["returnImmediately"] != json!(true))
}

fn unsayable(operation: Operation) -> ! {
    panic!("version 0.3 has no operation {}", operation.name())
}
