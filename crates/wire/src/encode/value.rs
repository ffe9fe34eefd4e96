//! Free data.

use gateway_domain::json::Object;
use prost_types::{ListValue, NullValue, Struct, Value as Pb, value::Kind};
use serde_json::Value;

/// Writes a free object.
pub fn object(object: &Object) -> Struct {
    Struct {
        fields: object
            .iter()
            .map(|(name, member)| (name.clone(), value(member)))
            .collect(),
    }
}

/// Writes a free value; recursion is bounded by the depth that the domain allows.
pub fn value(value: &Value) -> Pb {
    Pb {
        kind: Some(kind(value)),
    }
}

fn kind(value: &Value) -> Kind {
    match value {
        Value::Null => Kind::NullValue(NullValue::NullValue.into()),
        Value::Bool(flag) => Kind::BoolValue(*flag),
        // Every number of serde_json's is some double; an integer above 2^53 is rounded.
        Value::Number(number) => Kind::NumberValue(number.as_f64().unwrap_or_default()),
        Value::String(text) => Kind::StringValue(text.clone()),
        Value::Array(items) => Kind::ListValue(ListValue {
            values: items.iter().map(self::value).collect(),
        }),
        Value::Object(members) => Kind::StructValue(object(members)),
    }
}
