//! Values that are written as text and mean something else: sizes, periods, addresses and ranges of them, secrets.
//!
//! Each is read in one place, [`FORMATS`], so that a value is judged before anything is made of it.

mod address;
mod period;
mod range;
mod secret;
mod size;

pub use address::Address;
pub use period::Period;
pub use range::Range;
pub use secret::Secret;
pub use size::Size;

/// A way to write a value: the name that schemas use, and a reader that says what a text should have been.
pub(crate) struct Format {
    pub(crate) name: &'static str,
    /// Reads a text as a number that bounds can be compared with.
    pub(crate) read: fn(&str) -> Result<u128, String>,
}

/// Every way to write a value.
pub(crate) const FORMATS: &[Format] = &[
    Format {
        name: Size::FORMAT,
        read: |text| Size::parse(text).map(|size| size.0 as u128),
    },
    Format {
        name: Period::FORMAT,
        read: |text| Period::parse(text).map(|period| period.0.as_millis()),
    },
    Format {
        name: Address::FORMAT,
        // Addresses have no order.
        read: |text| Address::parse(text).map(|_| 0),
    },
    Format {
        name: Range::FORMAT,
        read: |text| Range::parse(text).map(|_| 0),
    },
];

/// The format of that name.
pub(crate) fn format(name: &str) -> Option<&'static Format> {
    FORMATS.iter().find(|format| format.name == name)
}

/// Splits `16 MiB` into its number and its unit.
fn number_and_unit(text: &str) -> Option<(u64, &str)> {
    let text = text.trim();
    let end = text
        .find(|letter: char| !letter.is_ascii_digit())
        .unwrap_or(text.len());
    Some((text[..end].parse().ok()?, text[end..].trim_start()))
}

/// Serde and schema of a type that is written as text and has `FORMAT`, `parse` and `Display`.
macro_rules! written_as_text {
    ($type:ident) => {
        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = String::deserialize(deserializer)?;
                Self::parse(&text).map_err(serde::de::Error::custom)
            }
        }

        impl schemars::JsonSchema for $type {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($type).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({ "type": "string", "format": Self::FORMAT })
            }
        }
    };
}
use written_as_text;
