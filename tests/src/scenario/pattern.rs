//! Patterns in JSON: an object matches one that has at least its members, a list one of the same length, a scalar an
//! equal one; numbers are compared by value. Some texts of a pattern stand for more:
//!
//! `*` anything that is there · `~absent` nothing there · `~time` a time as §5.6.1 has it · `~starts:X`, `~ends:X`,
//! `~has:X` a text that does · `~count:N` a list of so many, which is none where the list is not there

use serde_json::Value;

/// Says where a value differs from a pattern, if it does.
///
/// # Errors
/// The path and what was expected there.
pub fn matches(pattern: &Value, value: &Value) -> Result<(), String> {
    at("", pattern, Some(value))
}

fn at(path: &str, pattern: &Value, value: Option<&Value>) -> Result<(), String> {
    if let Value::String(text) = pattern
        && let Some(result) = special(text, value)
    {
        return if result {
            Ok(())
        } else {
            Err(differs(path, pattern, value))
        };
    }
    match (pattern, value) {
        (Value::Object(members), Some(Value::Object(held))) => {
            for (name, pattern) in members {
                at(&format!("{path}.{name}"), pattern, held.get(name))?;
            }
            Ok(())
        }
        (Value::Array(patterns), Some(Value::Array(held))) if patterns.len() == held.len() => {
            for (index, (pattern, value)) in patterns.iter().zip(held).enumerate() {
                at(&format!("{path}[{index}]"), pattern, Some(value))?;
            }
            Ok(())
        }
        (Value::Number(expected), Some(Value::Number(held))) if expected.as_f64() == held.as_f64() => Ok(()),
        (pattern, Some(value)) if pattern == value => Ok(()),
        _ => Err(differs(path, pattern, value)),
    }
}

fn differs(path: &str, pattern: &Value, value: Option<&Value>) -> String {
    let held = value.map_or_else(|| "nothing".to_owned(), Value::to_string);
    format!("at {path:?} {pattern} was expected, not {held}")
}

/// Whether a text of a pattern that stands for more holds; nothing where it stands for itself.
fn special(text: &str, value: Option<&Value>) -> Option<bool> {
    let held = value.and_then(Value::as_str);
    let (word, rest) = text.split_once(':').unwrap_or((text, ""));
    Some(match word {
        "*" => value.is_some_and(|value| !value.is_null() && value != ""),
        "~absent" => value.is_none(),
        "~time" => held.is_some_and(is_time),
        "~starts" => held.is_some_and(|held| held.starts_with(rest)),
        "~ends" => held.is_some_and(|held| held.ends_with(rest)),
        "~has" => held.is_some_and(|held| held.contains(rest)),
        "~count" => value.is_none_or(Value::is_array) && count(value).to_string() == rest,
        _ => return None,
    })
}

fn count(value: Option<&Value>) -> usize {
    value.and_then(Value::as_array).map_or(0, Vec::len)
}

/// `YYYY-MM-DDTHH:mm:ss.sssZ`
pub(super) fn is_time(text: &str) -> bool {
    let form = b"dddd-dd-ddTdd:dd:dd.dddZ";
    text.len() == form.len()
        && text.bytes().zip(form).all(|(byte, form)| match form {
            b'd' => byte.is_ascii_digit(),
            form => byte == *form,
        })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::matches;

    #[test]
    fn a_pattern_takes_what_it_says_and_nothing_else() {
        let value = json!({
            "id": "a-1", "n": 1, "list": [{ "x": 1, "y": 2 }, "two"], "at": "2026-01-02T03:04:05.678Z", "none": null,
        });
        for (pattern, taken) in [
            (json!({ "id": "*", "n": 1.0 }), true),
            (json!({ "none": "*" }), false),
            (json!({ "gone": "*" }), false),
            (json!({ "gone": "~absent", "at": "~time" }), true),
            (json!({ "id": "~absent" }), false),
            (json!({ "id": "~time" }), false),
            (json!({ "id": "~starts:a-", "list": "~count:2" }), true),
            (json!({ "id": "~ends:2" }), false),
            (json!({ "id": "~count:0" }), false),
            (json!({ "gone": "~count:0" }), true),
            (json!({ "list": "~count:0" }), false),
            (json!({ "list": [{ "x": 1 }, "~has:w"] }), true),
            (json!({ "list": [{ "x": 1 }] }), false),
            (json!({ "list": [{ "x": 2 }, "two"] }), false),
            (json!({ "n": "1" }), false),
        ] {
            assert_eq!(matches(&pattern, &value).is_ok(), taken, "{pattern}");
        }
    }
}
