//! Canonical JSON to protobuf and back by a reader that shares no code with the gateway: the descriptors say how.
//!
//! ProtoJSON differs from canonical A2A JSON in three points, which are evened out here: it leaves out required
//! fields that hold their default (§5.7), prints integers of free data with a fraction, and gives times as many
//! digits as they need.

use std::sync::OnceLock;

use gateway_wire::pb::DESCRIPTORS;
use prost_reflect::{
    DescriptorPool, DynamicMessage, ExtensionDescriptor, FieldDescriptor, Kind, MessageDescriptor,
    ReflectMessage, SerializeOptions, Value as ProtoValue,
};
use serde_json::{Number, Value, json};

/// `google.api.FieldBehavior.REQUIRED`.
const REQUIRED: i32 = 2;

/// Every type of the gateway's protos.
pub(super) fn pool() -> &'static DescriptorPool {
    static POOL: OnceLock<DescriptorPool> = OnceLock::new();
    POOL.get_or_init(|| DescriptorPool::decode(DESCRIPTORS).expect("the descriptors decode"))
}

/// Reads JSON as a message; unknown members are ignored, as everywhere.
///
/// # Errors
/// A text where protobuf has no such value.
pub(super) fn to_dynamic(descriptor: MessageDescriptor, json: &Value) -> Result<DynamicMessage, String> {
    let options = prost_reflect::DeserializeOptions::new().deny_unknown_fields(false);
    DynamicMessage::deserialize_with_options(descriptor, json, &options).map_err(|error| error.to_string())
}

/// The message in canonical JSON.
pub(super) fn to_json(message: &DynamicMessage) -> Value {
    let options = SerializeOptions::new();
    let mut json = message
        .serialize_with_options(serde_json::value::Serializer, &options)
        .expect("every message has a JSON form");
    complete(&message.descriptor(), &mut json);
    json
}

/// Evens out one message, and those within.
fn complete(descriptor: &MessageDescriptor, json: &mut Value) {
    match descriptor.full_name() {
        "google.protobuf.Timestamp" => *json = with_milliseconds(json),
        "google.protobuf.Value" | "google.protobuf.Struct" | "google.protobuf.ListValue" => {
            whole_numbers(json);
        }
        name if name.starts_with("google.protobuf.") => {}
        _ => complete_fields(descriptor, json),
    }
}

fn complete_fields(descriptor: &MessageDescriptor, json: &mut Value) {
    let Some(object) = json.as_object_mut() else {
        return;
    };
    for field in descriptor.fields() {
        match object.get_mut(field.json_name()) {
            Some(value) => complete_field(&field, value),
            None if is_required(&field) => {
                if let Some(default) = default_of(&field) {
                    object.insert(field.json_name().to_owned(), default);
                }
            }
            None => {}
        }
    }
}

fn complete_field(field: &FieldDescriptor, value: &mut Value) {
    let Kind::Message(of) = field.kind() else { return };
    match value {
        Value::Object(entries) if field.is_map() => {
            let Some(Kind::Message(of)) = of.get_field_by_name("value").map(|value| value.kind()) else {
                return;
            };
            entries.values_mut().for_each(|value| complete(&of, value));
        }
        Value::Array(items) if field.is_list() => items.iter_mut().for_each(|item| complete(&of, item)),
        value => complete(&of, value),
    }
}

fn is_required(field: &FieldDescriptor) -> bool {
    static BEHAVIOR: OnceLock<ExtensionDescriptor> = OnceLock::new();
    let behavior = BEHAVIOR.get_or_init(|| {
        pool()
            .get_extension_by_name("google.api.field_behavior")
            .expect("the annotations are in the pool")
    });
    let options = field.options();
    let ProtoValue::List(behaviors) = options.get_extension(behavior).into_owned() else {
        return false;
    };
    behaviors
        .iter()
        .any(|value| value.as_enum_number() == Some(REQUIRED))
}

fn default_of(field: &FieldDescriptor) -> Option<Value> {
    if field.is_list() {
        return Some(json!([]));
    }
    if field.is_map() {
        return Some(json!({}));
    }
    match field.kind() {
        Kind::String | Kind::Bytes => Some(json!("")),
        Kind::Bool => Some(json!(false)),
        Kind::Enum(of) => Some(json!(of.default_value().name())),
        Kind::Message(_) => None,
        _ => Some(json!(0)),
    }
}

/// `2026-01-02T03:04:05Z` and `…05.120Z` alike become `….000Z` and `….120Z`.
fn with_milliseconds(json: &Value) -> Value {
    let text = json.as_str().expect("a timestamp is a text");
    let bare = text.strip_suffix('Z').expect("a timestamp is UTC");
    let (seconds, fraction) = bare.split_once('.').unwrap_or((bare, ""));
    assert!(
        fraction.len() <= 3 || fraction[3..].chars().all(|digit| digit == '0'),
        "finer than {text}"
    );
    json!(format!("{seconds}.{:0<3}Z", &fraction[..fraction.len().min(3)]))
}

/// `1.0` becomes `1`, at any depth.
fn whole_numbers(json: &mut Value) {
    match json {
        Value::Number(number) => {
            if let Some(double) = number.as_f64()
                && double.fract() == 0.0
                && double.abs() <= 9_007_199_254_740_992.0
            {
                #[allow(clippy::cast_possible_truncation, reason = "bounded by 2^53 just above")]
                let whole = double as i64;
                *number = Number::from(whole);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(whole_numbers),
        Value::Object(object) => object.values_mut().for_each(whole_numbers),
        _ => {}
    }
}
