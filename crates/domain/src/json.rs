//! Free JSON values (`data`, `metadata`): objects whose members stand once, nested no deeper than is served.

use std::fmt;

use serde::{
    Deserialize, Deserializer,
    de::{self, MapAccess, SeqAccess, Visitor},
};
use serde_json::{Map, Number, Value};

/// A free JSON object.
pub type Object = Map<String, Value>;

/// How deep free values may nest: what every protobuf reader takes. The value itself counts as the first level.
pub const MAX_DEPTH: usize = 32;

/// How deep a whole JSON document may nest.
pub const MAX_DOCUMENT_DEPTH: usize = 64;

/// Whether a value nests deeper than [`MAX_DEPTH`]. Values come from readers that bound their own recursion.
pub fn too_deep(value: &Value) -> bool {
    depth_exceeds(value, MAX_DEPTH)
}

/// Whether an object nests deeper than [`MAX_DEPTH`].
pub fn object_too_deep(object: &Object) -> bool {
    object.values().any(|member| depth_exceeds(member, MAX_DEPTH - 1))
}

fn depth_exceeds(value: &Value, left: usize) -> bool {
    match value {
        Value::Array(items) => left == 0 || items.iter().any(|item| depth_exceeds(item, left - 1)),
        Value::Object(members) => left == 0 || members.values().any(|member| depth_exceeds(member, left - 1)),
        _ => false,
    }
}

/// Whether the text of a JSON document nests deeper than [`MAX_DOCUMENT_DEPTH`]; looks at brackets only, so that
/// a hostile document is refused before any recursive reader sees it.
pub fn document_too_deep(text: &[u8]) -> bool {
    let mut depth = 0_usize;
    let mut in_string = false;
    let mut bytes = text.iter();
    while let Some(byte) = bytes.next() {
        match byte {
            b'\\' if in_string => {
                bytes.next();
            }
            b'"' => in_string = !in_string,
            b'[' | b'{' if !in_string => {
                depth += 1;
                if depth > MAX_DOCUMENT_DEPTH {
                    return true;
                }
            }
            b']' | b'}' if !in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    false
}

/// Roughly the bytes that a value takes in memory and on the wire.
pub fn weight(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 8,
        Value::String(text) => text.len() + 8,
        Value::Array(items) => 8 + items.iter().map(weight).sum::<usize>(),
        Value::Object(members) => object_weight(members),
    }
}

/// Roughly the bytes that an object takes in memory and on the wire.
pub fn object_weight(object: &Object) -> usize {
    8 + object
        .iter()
        .map(|(name, value)| name.len() + 8 + weight(value))
        .sum::<usize>()
}

/// A JSON value whose objects name each member once; a repeated member is an error (§13.4, RFC 8259 §4).
#[derive(Debug, Clone, PartialEq)]
pub struct Unique(pub Value);

impl<'de> Deserialize<'de> for Unique {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        d.deserialize_any(UniqueVisitor).map(Self)
    }
}

/// Reads an optional free object; `null` is absent.
pub(crate) fn optional_object<'de, D: Deserializer<'de>>(d: D) -> Result<Option<Object>, D::Error> {
    match Option::<Unique>::deserialize(d)? {
        None | Some(Unique(Value::Null)) => Ok(None),
        Some(Unique(Value::Object(object))) => Ok(Some(object)),
        Some(_) => Err(de::Error::custom("must be a JSON object")),
    }
}

struct UniqueVisitor;

impl<'de> Visitor<'de> for UniqueVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(Value::String(text.to_owned()))
    }

    fn visit_string<E>(self, text: String) -> Result<Value, E> {
        Ok(Value::String(text))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, d: D) -> Result<Value, D::Error> {
        d.deserialize_any(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut array = Vec::new();
        while let Some(Unique(item)) = items.next_element()? {
            array.push(item);
        }
        Ok(Value::Array(array))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut object = Object::new();
        while let Some(name) = members.next_key::<String>()? {
            let Unique(value) = members.next_value()?;
            if object.insert(name, value).is_some() {
                return Err(de::Error::custom("an object names a member twice"));
            }
        }
        Ok(Value::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{MAX_DEPTH, Unique, document_too_deep, object_too_deep, too_deep};

    fn nested(levels: usize) -> Value {
        (0..levels).fold(json!(1), |inner, _| json!([inner]))
    }

    #[test]
    fn values_nest_up_to_the_bound_and_no_deeper() {
        assert!(!too_deep(&nested(MAX_DEPTH)));
        assert!(too_deep(&nested(MAX_DEPTH + 1)));
    }

    #[test]
    fn an_object_counts_as_the_first_level() {
        let object = |levels| json!({ "a": nested(levels) }).as_object().cloned().unwrap();
        assert!(!object_too_deep(&object(MAX_DEPTH - 1)));
        assert!(object_too_deep(&object(MAX_DEPTH)));
    }

    #[test]
    fn brackets_inside_strings_do_not_nest() {
        let text = format!("{{\"a\":\"{}\\\"{}\"}}", "[".repeat(100), "{".repeat(100));
        assert!(!document_too_deep(text.as_bytes()));
        assert!(!document_too_deep("[".repeat(64).as_bytes()));
        assert!(document_too_deep("[".repeat(65).as_bytes()));
    }

    #[test]
    fn a_member_named_twice_is_refused_at_every_level() {
        assert!(serde_json::from_str::<Unique>(r#"{"a":[{"b":1,"b":2}]}"#).is_err());
        assert!(serde_json::from_str::<Unique>(r#"{"a":[{"b":1},{"b":2}]}"#).is_ok());
    }
}
