//! A single value of a request before anybody has judged it. Reading one never fails, so that a request with
//! several bad fields can name them all.

use std::fmt;

use serde::{
    Deserialize, Deserializer,
    de::{self, IgnoredAny, MapAccess, SeqAccess, Visitor},
};

use super::validate::Violations;
use crate::{TaskState, Timestamp};

/// A value as it came: from JSON, from a query string or from protobuf.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Scalar {
    /// Absent or null.
    #[default]
    Absent,
    /// true or false.
    Bool(bool),
    /// A whole number.
    Integer(i64),
    /// Any other number.
    Number(f64),
    /// A text.
    Text(String),
    /// A value of a query string: a text that also stands for numbers and booleans.
    Query(String),
    /// A list or an object, where a single value belongs.
    Composite,
}

impl Scalar {
    /// A protobuf text field without presence: empty is absent.
    pub fn from_text(text: String) -> Self {
        if text.is_empty() {
            Self::Absent
        } else {
            Self::Text(text)
        }
    }

    /// A protobuf integer field with presence.
    pub fn from_integer(number: Option<i32>) -> Self {
        number.map_or(Self::Absent, |number| Self::Integer(number.into()))
    }

    /// A protobuf boolean field with presence.
    pub fn from_bool(value: Option<bool>) -> Self {
        value.map_or(Self::Absent, Self::Bool)
    }

    /// Whether there is a value.
    pub fn is_present(&self) -> bool {
        !matches!(self, Self::Absent)
    }

    /// The text; absent where empty.
    pub(super) fn text(self, field: &'static str, violations: &mut Violations) -> Option<String> {
        match self {
            Self::Absent => None,
            Self::Text(text) | Self::Query(text) => Some(text).filter(|text| !text.is_empty()),
            _ => violations.add(field, "must be a string"),
        }
    }

    /// A 32-bit integer.
    pub(super) fn int32(self, field: &'static str, violations: &mut Violations) -> Option<i32> {
        let number = match self {
            Self::Absent => return None,
            Self::Integer(number) => i32::try_from(number).ok(),
            #[allow(clippy::cast_possible_truncation, reason = "range and fraction are checked")]
            Self::Number(number) if number.fract() == 0.0 && number.abs() <= f64::from(i32::MAX) => {
                Some(number as i32)
            }
            Self::Text(text) | Self::Query(text) => text.parse().ok(),
            _ => None,
        };
        if number.is_none() {
            violations.add::<()>(field, "must be a 32-bit integer");
        }
        number
    }

    /// A number of things: a 32-bit integer that is not negative.
    pub(super) fn count(self, field: &'static str, violations: &mut Violations) -> Option<u32> {
        let number = self.int32(field, violations)?;
        u32::try_from(number)
            .ok()
            .or_else(|| violations.add(field, "must not be negative"))
    }

    /// true or false.
    pub(super) fn boolean(self, field: &'static str, violations: &mut Violations) -> Option<bool> {
        match self {
            Self::Absent => None,
            Self::Bool(value) => Some(value),
            Self::Query(text) if text == "true" => Some(true),
            Self::Query(text) if text == "false" => Some(false),
            _ => violations.add(field, "must be true or false"),
        }
    }

    /// A state by name or number; the unspecified one is absent.
    pub(super) fn task_state(self, field: &'static str, violations: &mut Violations) -> Option<TaskState> {
        const UNSPECIFIED: &str = "TASK_STATE_UNSPECIFIED";
        let state = match self {
            Self::Absent | Self::Integer(0) => return None,
            Self::Text(text) | Self::Query(text) if text.is_empty() || text == UNSPECIFIED => return None,
            Self::Integer(number) => i32::try_from(number).ok().and_then(TaskState::from_number),
            Self::Text(text) => TaskState::from_name(&text),
            Self::Query(text) => {
                TaskState::from_name(&text).or_else(|| text.parse().ok().and_then(TaskState::from_number))
            }
            _ => None,
        };
        state.or_else(|| violations.add(field, format!("must be {}", TaskState::choices())))
    }

    /// A moment.
    pub(super) fn timestamp(self, field: &'static str, violations: &mut Violations) -> Option<Timestamp> {
        match self {
            Self::Absent => None,
            Self::Text(text) | Self::Query(text) => match text.parse() {
                Ok(moment) => Some(moment),
                Err(error) => violations.add(field, crate::time::NotATimestamp::to_string(&error)),
            },
            _ => violations.add(field, "must be a timestamp such as 2026-01-31T09:05:07.250Z"),
        }
    }
}

impl<'de> Deserialize<'de> for Scalar {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        d.deserialize_any(ScalarVisitor)
    }
}

struct ScalarVisitor;

impl<'de> Visitor<'de> for ScalarVisitor {
    type Value = Scalar;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Scalar, E> {
        Ok(Scalar::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Scalar, E> {
        Ok(Scalar::Integer(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Scalar, E> {
        Ok(i64::try_from(value).map_or(Scalar::Number(f64::INFINITY), Scalar::Integer))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Scalar, E> {
        Ok(Scalar::Number(value))
    }

    fn visit_str<E>(self, text: &str) -> Result<Scalar, E> {
        Ok(Scalar::Text(text.to_owned()))
    }

    fn visit_string<E>(self, text: String) -> Result<Scalar, E> {
        Ok(Scalar::Text(text))
    }

    fn visit_unit<E>(self) -> Result<Scalar, E> {
        Ok(Scalar::Absent)
    }

    fn visit_none<E: de::Error>(self) -> Result<Scalar, E> {
        Ok(Scalar::Absent)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Scalar, A::Error> {
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Scalar::Composite)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Scalar, A::Error> {
        while members.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Scalar::Composite)
    }
}
