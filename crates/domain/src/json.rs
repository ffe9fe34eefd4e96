//! Free JSON values (`data`, `metadata`): objects whose members stand once, nested no deeper than is served.

use std::fmt;

use serde::{
    Deserialize, Deserializer,
    de::{self, MapAccess, SeqAccess, Visitor},
};
use serde_json::{Map, Number, Value};

use crate::{Error, ErrorKind};

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

/// Roughly how many bytes the values of one request may take once they are read, besides their texts. A value of two
/// bytes on the wire takes a hundred in memory, so the bound on bodies alone is none on what they become.
pub const MAX_VALUE_BYTES: usize = 64 << 20;

/// What an object takes that has any member: the first node of its tree.
pub const OBJECT_BYTES: usize = 640;
/// What a list takes that has any member.
const LIST_BYTES: usize = 128;
/// What each further member of a list or an object takes, with the room that lists grow into.
const MEMBER_BYTES: usize = 64;

/// Judges the text of a JSON document before any reader builds or recurses on it: how deep it nests, and how much its
/// values take once read. It looks at brackets and commas only.
///
/// # Errors
/// ParseError where it nests deeper than [`MAX_DOCUMENT_DEPTH`], PayloadTooLarge where its values would take more
/// than [`MAX_VALUE_BYTES`].
pub fn check_document(text: &[u8]) -> Result<(), Error> {
    let (mut depth, mut room) = (0_usize, MAX_VALUE_BYTES);
    let mut in_string = false;
    let mut bytes = text.iter();
    while let Some(byte) = bytes.next() {
        let cost = match byte {
            b'\\' if in_string => {
                bytes.next();
                continue;
            }
            b'"' => {
                in_string = !in_string;
                continue;
            }
            _ if in_string => continue,
            b'{' => OBJECT_BYTES,
            b'[' => LIST_BYTES,
            b',' => MEMBER_BYTES,
            b']' | b'}' => {
                depth = depth.saturating_sub(1);
                continue;
            }
            _ => continue,
        };
        depth += usize::from(*byte != b',');
        if depth > MAX_DOCUMENT_DEPTH {
            let text = format!("the JSON nests deeper than {MAX_DOCUMENT_DEPTH} levels");
            return Err(Error::new(ErrorKind::ParseError, text));
        }
        room = room.checked_sub(cost).ok_or_else(too_many_values)?;
    }
    Ok(())
}

/// The refusal of a request, in whatever notation, whose values would take more than [`MAX_VALUE_BYTES`].
pub fn too_many_values() -> Error {
    let text = format!(
        "the request has so many values that reading them would take more than {} MiB; send fewer, and large data \
         as raw bytes or by URL",
        MAX_VALUE_BYTES >> 20
    );
    Error::new(ErrorKind::PayloadTooLarge, text)
}

/// Roughly the bytes that a value takes in memory, which is more than it takes on the wire.
pub fn weight(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => MEMBER_BYTES,
        Value::String(text) => MEMBER_BYTES + text.len(),
        Value::Array(items) => LIST_BYTES + items.iter().map(weight).sum::<usize>(),
        Value::Object(members) => object_weight(members),
    }
}

/// Roughly the bytes that an object takes in memory.
pub fn object_weight(object: &Object) -> usize {
    let members = object.iter().map(|(name, value)| name.len() + weight(value));
    OBJECT_BYTES + members.sum::<usize>()
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
///
/// # Errors
/// The value is no object, or one that names a member twice.
pub fn optional_object<'de, D: Deserializer<'de>>(d: D) -> Result<Option<Object>, D::Error> {
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

    use super::{
        LIST_BYTES, MAX_DEPTH, MAX_VALUE_BYTES, MEMBER_BYTES, OBJECT_BYTES, Unique, check_document,
        object_too_deep, too_deep,
    };
    use crate::ErrorKind;

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

    fn refusal(text: &str) -> Option<ErrorKind> {
        check_document(text.as_bytes()).err().map(|error| error.kind())
    }

    #[test]
    fn brackets_inside_strings_do_not_nest() {
        let text = format!("{{\"a\":\"{}\\\"{}\"}}", "[".repeat(100), "{".repeat(100));
        assert_eq!(refusal(&text), None);
        assert_eq!(refusal(&"[".repeat(64)), None);
        assert_eq!(refusal(&"[".repeat(65)), Some(ErrorKind::ParseError));
        assert_eq!(refusal(&"{".repeat(65)), Some(ErrorKind::ParseError));
        assert_eq!(refusal(&"[],{}".repeat(100)), None);
    }

    #[test]
    fn values_are_bounded_by_what_they_take_and_not_by_their_text() {
        for (value, just_too_many) in [
            ("{},", MAX_VALUE_BYTES / (OBJECT_BYTES + MEMBER_BYTES) + 1),
            ("[],", MAX_VALUE_BYTES / (LIST_BYTES + MEMBER_BYTES) + 1),
            ("0,", MAX_VALUE_BYTES / MEMBER_BYTES + 1),
        ] {
            assert_eq!(
                refusal(&value.repeat(just_too_many)),
                Some(ErrorKind::PayloadTooLarge),
                "{value}"
            );
            assert_eq!(refusal(&value.repeat(just_too_many - 1)), None, "{value}");
        }
        let text = format!("\"{}\"", "{},".repeat(1 << 20));
        assert_eq!(refusal(&text), None);
    }

    #[test]
    fn a_large_body_of_numbers_in_full_passes() {
        let numbers = "0.1234567890123456,".repeat((8 << 20) / 19);
        assert_eq!(refusal(&format!("[{numbers}0]")), None);
    }

    #[test]
    fn a_member_named_twice_is_refused_at_every_level() {
        assert!(serde_json::from_str::<Unique>(r#"{"a":[{"b":1,"b":2}]}"#).is_err());
        assert!(serde_json::from_str::<Unique>(r#"{"a":[{"b":1},{"b":2}]}"#).is_ok());
    }
}
