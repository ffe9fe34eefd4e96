//! Helpers of the canonical JSON notation: the readers' rules of ProtoJSON (§5.5) that serde does not have.
//!
//! `null` reads as absent, snake_case names are aliases, enums read as name or number, 32-bit integers as number
//! or text, bytes as either base64 alphabet. Unknown members are ignored, repeated ones refused.

use std::{borrow::Cow, fmt};

use base64::{
    Engine, alphabet,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};
use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{self, Visitor},
};

/// Reads `null` as the default value.
pub fn null_default<'de, D, T>(d: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    Ok(Option::<T>::deserialize(d)?.unwrap_or_default())
}

/// Reads an optional id or text: `null` and the empty string are absent.
pub fn empty_is_absent<'de, D, T>(d: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + AsText,
{
    Ok(Option::<T>::deserialize(d)?.filter(|value| !value.as_text().is_empty()))
}

/// What has a text that may be empty.
pub trait AsText {
    /// The text.
    fn as_text(&self) -> &str;
}

impl AsText for String {
    fn as_text(&self) -> &str {
        self
    }
}

macro_rules! as_text {
    ($($id:ident),*) => {
        $(impl AsText for crate::ids::$id {
            fn as_text(&self) -> &str {
                self.as_str()
            }
        })*
    };
}
as_text!(TaskId, ContextId, PushNotificationConfigId, Tenant);

/// Bytes in JSON: written in the standard base64 alphabet with padding; read in either alphabet, padded or not.
pub mod base64_bytes {
    use super::{Cow, Deserialize, Deserializer, Serializer, de, decode_base64};

    /// Writes bytes as text.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn serialize<S: Serializer>(bytes: &[u8], s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(&base64::display::Base64Display::new(
            bytes,
            &base64::prelude::BASE64_STANDARD,
        ))
    }

    /// Reads bytes from text.
    ///
    /// # Errors
    /// The value is no base64.
    pub fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<bytes::Bytes, D::Error> {
        let text = Cow::<str>::deserialize(d)?;
        decode_base64(&text)
            .map(Into::into)
            .ok_or_else(|| de::Error::custom("must be base64"))
    }
}

/// Decodes either base64 alphabet, with or without padding.
pub fn decode_base64(text: &str) -> Option<Vec<u8>> {
    const LENIENT: GeneralPurposeConfig = GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true);
    const STANDARD: GeneralPurpose = GeneralPurpose::new(&alphabet::STANDARD, LENIENT);
    const URL_SAFE: GeneralPurpose = GeneralPurpose::new(&alphabet::URL_SAFE, LENIENT);
    let url_safe = text.bytes().any(|byte| matches!(byte, b'-' | b'_'));
    if url_safe {
        URL_SAFE.decode(text).ok()
    } else {
        STANDARD.decode(text).ok()
    }
}

/// A reader that takes records as JSON objects only. Derived readers take lists too, member by member, which no
/// other reader of this protocol does.
pub struct ObjectOnly<D>(pub D);

impl<'de, D: Deserializer<'de>> Deserializer<'de> for ObjectOnly<D> {
    type Error = D::Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.0.deserialize_map(visitor)
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

/// Gives records that were derived with `remote = "Self"` their serde traits, reading objects only.
#[macro_export]
macro_rules! read_as_object {
    ($($name:ty),* $(,)?) => {
        $(impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
                <$name>::deserialize($crate::notation::ObjectOnly(d))
            }
        })*
    };
}
pub use read_as_object;

/// Writes records that were derived with `remote = "Self"` as their derivation has it.
macro_rules! write_as_derived {
    ($($name:ty),* $(,)?) => {
        $(impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
                <$name>::serialize(self, s)
            }
        })*
    };
}
pub(crate) use write_as_derived;

/// A 32-bit integer as ProtoJSON reads it: a number without a fraction, or the same as text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Int32(pub i32);

impl<'de> Deserialize<'de> for Int32 {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        d.deserialize_any(Int32Visitor).map(Self)
    }
}

impl Serialize for Int32 {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_i32(self.0)
    }
}

struct Int32Visitor;

impl Visitor<'_> for Int32Visitor {
    type Value = i32;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a 32-bit integer")
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<i32, E> {
        i32::try_from(value).map_err(|_| E::custom("must fit into 32 bits"))
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<i32, E> {
        i32::try_from(value).map_err(|_| E::custom("must fit into 32 bits"))
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<i32, E> {
        let in_range = value >= f64::from(i32::MIN) && value <= f64::from(i32::MAX);
        if value.fract() == 0.0 && in_range {
            #[allow(clippy::cast_possible_truncation, reason = "range and fraction were checked")]
            Ok(value as i32)
        } else {
            Err(E::custom("must be a 32-bit integer"))
        }
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<i32, E> {
        text.parse().map_err(|_| E::custom("must be a 32-bit integer"))
    }
}

/// Defines an enum of the protocol with its wire names and numbers.
macro_rules! proto_enum {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $number:literal $text:literal),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $name { $($(#[$vdoc])* $variant),* }

        impl $name {
            /// Every value.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// The name on the wire.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $text),* }
            }

            /// The names that a caller may send, for people.
            pub fn choices() -> String {
                let names = Self::ALL.iter().map(|value| value.name());
                let sent: Vec<_> = names.filter(|name| !name.ends_with("_UNSPECIFIED")).collect();
                sent.join(" or ")
            }

            /// The number on the wire.
            pub fn number(self) -> i32 {
                match self { $(Self::$variant => $number),* }
            }

            /// The value of a wire number.
            pub fn from_number(number: i32) -> Option<Self> {
                match number { $($number => Some(Self::$variant),)* _ => None }
            }

            /// The value of a wire name.
            pub fn from_name(name: &str) -> Option<Self> {
                match name { $($text => Some(Self::$variant),)* _ => None }
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
                s.serialize_str(self.name())
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
                $crate::notation::read_enum(d, Self::choices, Self::from_name, Self::from_number)
            }
        }
    };
}
pub(crate) use proto_enum;

/// Reads an enum by name or number.
pub(crate) fn read_enum<'de, D: Deserializer<'de>, T>(
    d: D,
    choices: fn() -> String,
    by_name: fn(&str) -> Option<T>,
    by_number: fn(i32) -> Option<T>,
) -> Result<T, D::Error> {
    d.deserialize_any(EnumVisitor {
        choices,
        by_name,
        by_number,
    })
}

struct EnumVisitor<T> {
    choices: fn() -> String,
    by_name: fn(&str) -> Option<T>,
    by_number: fn(i32) -> Option<T>,
}

impl<T> Visitor<'_> for EnumVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, by name or number", (self.choices)())
    }

    fn visit_str<E: de::Error>(self, name: &str) -> Result<T, E> {
        let shown: String = name.chars().take(40).collect();
        (self.by_name)(name)
            .ok_or_else(|| E::custom(format_args!("must be {}, not {shown:?}", (self.choices)())))
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<T, E> {
        i32::try_from(number)
            .ok()
            .and_then(self.by_number)
            .ok_or_else(|| E::custom(format_args!("must be {}, not {number}", (self.choices)())))
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<T, E> {
        i64::try_from(number)
            .map_err(E::custom)
            .and_then(|number| self.visit_i64(number))
    }
}
