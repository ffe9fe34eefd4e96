//! Holds what was given against the schema: unknown keys, wrong types, values out of bounds. Everything that is
//! wrong is found in one go.

use serde_json::{Map, Value};

use crate::{
    fault::{Fault, Faults},
    schema::Schema,
    source::Given,
    text::{self, Secret},
};

/// How far off a key may be to be suggested, in letters.
const NEAR: usize = 3;

/// Checks a whole tree of settings, defaults included; `given` says where a value comes from.
pub(crate) fn check(settings: &Value, given: &Given) -> Result<(), Faults> {
    let mut checker = Checker { faults: Vec::new() };
    checker.value(settings, Schema::root(), "");
    for fault in &mut checker.faults {
        fault.origin = given.origin(&fault.path).cloned();
    }
    Faults::or(checker.faults, ())
}

struct Checker {
    faults: Vec<Fault>,
}

impl Checker {
    fn refuse(&mut self, path: &str, text: impl Into<String>) {
        self.faults.push(Fault::of(path, text));
    }

    fn value(&mut self, value: &Value, schema: Schema, path: &str) {
        if !has_type(value, &schema.types()) {
            if !(value.is_null() && schema.is_optional()) {
                self.refuse(path, wrong_type(value, schema));
            }
            return;
        }
        match value {
            Value::Object(values) => self.table(values, schema, path),
            Value::Array(items) => self.list(items, schema, path),
            Value::String(text) => self.text(text, schema, path),
            Value::Number(number) => self.number(number.as_i64().unwrap_or(i64::MAX), schema, path),
            Value::Null | Value::Bool(_) => {}
        }
    }

    fn table(&mut self, values: &Map<String, Value>, schema: Schema, path: &str) {
        let Some(properties) = schema.properties() else {
            return;
        };
        for (key, value) in values {
            let below = join(path, key);
            match schema.property(key) {
                Some(schema) => self.value(value, schema, &below),
                None => self.refuse(
                    &below,
                    unknown_key(key, properties.keys().map(String::as_str), path),
                ),
            }
        }
        for key in schema.required().filter(|key| !values.contains_key(*key)) {
            self.refuse(&join(path, key), "is required");
        }
    }

    fn list(&mut self, items: &[Value], schema: Schema, path: &str) {
        let Some(schema) = schema.items() else {
            return;
        };
        for (index, item) in items.iter().enumerate() {
            self.value(item, schema, &format!("{path}[{index}]"));
        }
    }

    fn text(&mut self, text: &str, schema: Schema, path: &str) {
        let choices = schema.choices();
        if !choices.is_empty() && !choices.contains(&text) {
            self.refuse(path, not_a_choice(text, &choices, schema));
        }
        if schema.number("minLength").is_some() && text.trim().is_empty() {
            self.refuse(path, "must not be empty");
        }
        if let Some(format) = schema.format().and_then(text::format) {
            match (format.read)(text) {
                Err(fault) => self.refuse(path, fault),
                Ok(read) => self.bounds(path, text, schema, |bound| {
                    (format.read)(bound).map_or(std::cmp::Ordering::Equal, |bound| read.cmp(&bound))
                }),
            }
        }
    }

    /// Bounds of a value that is written as a text.
    fn bounds(
        &mut self,
        path: &str,
        text: &str,
        schema: Schema,
        compare: impl Fn(&str) -> std::cmp::Ordering,
    ) {
        let (least, most) = (schema.text("x-min"), schema.text("x-max"));
        let below = least.is_some_and(|least| compare(least).is_lt());
        let above = most.is_some_and(|most| compare(most).is_gt());
        if below || above {
            let range = range(least, most).unwrap_or_default();
            self.refuse(path, format!("must be {range}, not {text}"));
        }
    }

    fn number(&mut self, number: i64, schema: Schema, path: &str) {
        let (least, most) = (schema.number("minimum"), schema.number("maximum"));
        let below = least.is_some_and(|least| number < least);
        let above = most.is_some_and(|most| number > most);
        if below || above {
            let range = range(least, most).unwrap_or_default();
            self.refuse(path, format!("must be {range}, not {number}"));
        }
    }
}

/// Bounds in words: `1 to 100`.
pub(crate) fn range<T: std::fmt::Display>(least: Option<T>, most: Option<T>) -> Option<String> {
    match (least, most) {
        (Some(least), Some(most)) => Some(format!("{least} to {most}")),
        (Some(least), None) => Some(format!("{least} or more")),
        (None, Some(most)) => Some(format!("{most} or less")),
        (None, None) => None,
    }
}

pub(crate) fn join(path: &str, key: &str) -> String {
    if path.is_empty() {
        key.to_owned()
    } else {
        format!("{path}.{key}")
    }
}

fn has_type(value: &Value, types: &[&str]) -> bool {
    let name = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    // A schema without types takes anything.
    types.is_empty() || types.contains(&name)
}

/// A JSON type, in the words of TOML.
fn in_words(name: &str) -> &str {
    match name {
        "object" => "a table",
        "array" => "a list",
        "string" => "a text",
        "integer" => "a whole number",
        "number" => "a number",
        "boolean" => "true or false",
        _ => "nothing",
    }
}

fn wrong_type(value: &Value, schema: Schema) -> String {
    let wanted = schema.types();
    let wanted: Vec<_> = wanted
        .into_iter()
        .filter(|name| *name != "null")
        .map(in_words)
        .collect();
    let given = match value {
        _ if schema.format() == Some(Secret::FORMAT) => "what was given".to_owned(),
        Value::Null => "nothing".to_owned(),
        Value::Bool(truth) => truth.to_string(),
        Value::Number(number) if number.is_f64() => format!("the fraction {number}"),
        Value::Number(number) => format!("the number {number}"),
        Value::String(text) => format!("the text {:?}", clip(text)),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "a table".to_owned(),
    };
    format!("must be {}, not {given}", wanted.join(" or "))
}

fn clip(text: &str) -> String {
    text.chars().take(60).collect()
}

fn not_a_choice(text: &str, choices: &[&str], schema: Schema) -> String {
    let mut wanted: Vec<_> = choices.iter().map(|choice| format!("{choice:?}")).collect();
    if schema.types().contains(&"array") {
        wanted.push("a list".into());
    }
    let (last, others) = wanted
        .split_last()
        .map_or((String::new(), String::new()), |(last, rest)| {
            (last.clone(), rest.join(", "))
        });
    let listed = if others.is_empty() {
        last
    } else {
        format!("{others} or {last}")
    };
    format!("must be {listed}, not {:?}", clip(text))
}

fn unknown_key<'a>(key: &str, known: impl Iterator<Item = &'a str>, section: &str) -> String {
    let known: Vec<_> = known.collect();
    let beside = nearest(key, known.iter().map(|name| join(section, name)));
    let elsewhere = || nearest(key, every_path(Schema::root(), "").into_iter());
    match beside.or_else(elsewhere) {
        Some(path) => format!("is no setting; did you mean {path}?"),
        None => format!("is no setting; those here are {}", known.join(", ")),
    }
}

/// The path whose last name is most like a key.
fn nearest(key: &str, paths: impl Iterator<Item = String>) -> Option<String> {
    let distance = |path: &str| {
        let name = path.rsplit('.').next().unwrap_or_default();
        strsim::damerau_levenshtein(name, key)
    };
    paths
        .map(|path| (distance(&path), path))
        .filter(|(distance, _)| *distance <= NEAR.min(key.len() / 2))
        .min()
        .map(|(_, path)| path)
}

/// The paths of all sections and settings.
fn every_path(schema: Schema, path: &str) -> Vec<String> {
    let keys = schema.properties().into_iter().flat_map(Map::keys);
    keys.flat_map(|key| {
        let own = join(path, key);
        let below = schema.property(key).map(|schema| every_path(schema, &own));
        std::iter::once(own).chain(below.unwrap_or_default())
    })
    .collect()
}
