//! What a run showed, with what differs from run to run taken out, so that runs over different bindings can be
//! compared: they must mean the same (§5.1).

use gateway_domain::{Cursor, Version};
use serde_json::{Value, json};

use super::pattern::is_time;
use crate::client::Refusal;

/// What the steps of a run showed, in order.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Transcript(Vec<Value>);

impl Transcript {
    /// A reply or an event.
    pub(super) fn shown(&mut self, json: &Value) {
        self.0.push(neutral(json));
    }

    /// A refusal: its numbers are the binding's, its fields and facts are not. Callers of 0.3 know fields by other names,
    /// or are told a text alone.
    pub(super) fn refused(&mut self, refusal: &Refusal) {
        if refusal.names == Version::V0_3 {
            self.0.push(json!(REFUSED));
            return;
        }
        let mut fields = refusal.fields();
        fields.sort_unstable();
        self.0.push(neutral(&json!({
            "reason": refusal.reason,
            "fields": fields,
            "metadata": refusal.metadata,
        })));
    }

    /// Says where two runs differ, if they do.
    ///
    /// # Errors
    /// The first difference.
    pub fn compare(&self, other: &Self) -> Result<(), String> {
        let differing = self
            .0
            .iter()
            .zip(&other.0)
            .position(|(one, another)| !same(one, another));
        match differing {
            Some(at) => Err(format!("item {}:\n  {}\n  {}", at + 1, self.0[at], other.0[at])),
            None if self.0.len() == other.0.len() => Ok(()),
            None => Err(format!("{} items and {}", self.0.len(), other.0.len())),
        }
    }
}

/// A refusal in 0.3.
const REFUSED: &str = "<refused>";

fn same(one: &Value, another: &Value) -> bool {
    let refused = |value: &Value| *value == REFUSED || value.get("reason").is_some();
    let in_0_3 = *one == REFUSED || *another == REFUSED;
    one == another || in_0_3 && refused(one) && refused(another)
}

/// The value without ids, times and tokens, and without what protobuf cannot tell from absence.
fn neutral(json: &Value) -> Value {
    match json {
        Value::String(text) if is_time(text) => json!("<time>"),
        Value::String(text) if is_made(text) => json!("<id>"),
        Value::String(text) if text.parse::<Cursor>().is_ok() => json!("<cursor>"),
        Value::Array(items) => items.iter().map(neutral).collect(),
        Value::Object(members) => members
            .iter()
            .filter(|(name, value)| !(*name == "nextPageToken" && *value == ""))
            .filter(|(_, value)| value.as_array().is_none_or(|list| !list.is_empty()))
            .map(|(name, value)| {
                let token = name == "nextPageToken";
                (
                    name.clone(),
                    if token { json!("<token>") } else { neutral(value) },
                )
            })
            .collect(),
        Value::Number(number) => json!(number.as_f64()),
        other => other.clone(),
    }
}

/// Whether a text is an id that the gateway or a run made.
fn is_made(text: &str) -> bool {
    // A store may put the part of the deployment in front.
    let id = match text.split_once('-') {
        Some((part, id)) if part.len() < 4 && part.bytes().all(|byte| byte.is_ascii_digit()) => id,
        _ => text,
    };
    let uuid = id.len() == 36 && id.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    // The demo agent's own ids are made of a task's, or counted.
    uuid || ["said-", "message-"]
        .iter()
        .any(|prefix| text.starts_with(prefix))
        || text.ends_with(".broken")
}
