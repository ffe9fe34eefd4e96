//! Reads the file and the environment into one tree, and remembers where each value was given.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

use crate::{
    fault::{Fault, Origin},
    schema::Schema,
};

/// Variables that begin with this name a setting: `A2A_GATEWAY__LIMITS__PARTS_PER_MESSAGE`.
pub const VARIABLE_PREFIX: &str = "A2A_GATEWAY__";

/// What was given.
#[derive(Default)]
pub(crate) struct Given {
    pub(crate) values: Map<String, Value>,
    origins: BTreeMap<String, Origin>,
}

impl Given {
    /// Takes in a file.
    pub(crate) fn add_file(&mut self, name: &str, text: &str) -> Result<(), Fault> {
        let table = DeTable::parse(text).map_err(|error| Fault {
            origin: Some(Origin::Line(
                name.to_owned(),
                line(text, error.span().map_or(0, |span| span.start)),
            )),
            path: String::new(),
            text: format!("this is not TOML: {}", error.message().trim()),
        })?;
        let mut reader = FileReader {
            name,
            text,
            origins: &mut self.origins,
        };
        self.values = reader.table("", table.get_ref());
        Ok(())
    }

    /// Takes in a variable of the environment, if its name is one of ours. It stands above the file.
    pub(crate) fn add_variable(&mut self, name: &str, raw: &str) {
        let Some(keys) = name.strip_prefix(VARIABLE_PREFIX) else {
            return;
        };
        let keys = keys.to_ascii_lowercase();
        let path: Vec<&str> = keys.split("__").collect();
        let schema = Schema::root().at(path.iter().copied());
        let value = schema.map_or_else(|| json!(raw), |schema| read_variable(schema, raw));
        set(&mut self.values, &path, value);
        // A list or table that a variable gives hides whatever the file says below it.
        let path = path.join(".");
        self.origins.retain(|known, _| !is_below(known, &path));
        self.origins.insert(path, Origin::Variable(name.to_owned()));
    }

    /// Where the value of a path was given, or something in it, or the nearest thing around it.
    pub(crate) fn origin(&self, path: &str) -> Option<&Origin> {
        let inside = || self.origins.iter().find(|(known, _)| is_below(known, path));
        let around = || self.origin(&path[..path.rfind(['.', '['])?]);
        let own = self.origins.get(path);
        own.or_else(|| inside().map(|(_, origin)| origin)).or_else(around)
    }
}

/// Whether a path lies inside another.
fn is_below(path: &str, above: &str) -> bool {
    path.strip_prefix(above)
        .is_some_and(|rest| rest.starts_with(['.', '[']))
}

/// Puts a value into a tree. What stands in the way is replaced: the check will name the variable.
fn set(values: &mut Map<String, Value>, path: &[&str], value: Value) {
    match path {
        [] => {}
        [key] => {
            values.insert((*key).to_owned(), value);
        }
        [key, rest @ ..] => {
            let slot = values.entry(*key).or_insert_with(|| json!({}));
            if !slot.is_object() {
                *slot = json!({});
            }
            if let Value::Object(below) = slot {
                set(below, rest, value);
            }
        }
    }
}

/// Reads a variable as what the setting is. What cannot be read stays a text, which the check refuses.
fn read_variable(schema: Schema, raw: &str) -> Value {
    let types = schema.types();
    let is = |name| types.contains(&name);
    let inline = |open| {
        raw.trim_start()
            .starts_with(open)
            .then(|| inline_toml(raw))
            .flatten()
    };
    let text = || json!(raw);
    if is("array") && (!is("string") || raw.trim_start().starts_with('[')) {
        return inline('[').unwrap_or_else(|| comma_separated(raw));
    }
    if is("string") {
        return text();
    }
    if is("boolean") {
        return raw.parse::<bool>().map_or_else(|_| text(), Value::from);
    }
    if is("integer") {
        return raw.parse::<i64>().map_or_else(|_| text(), Value::from);
    }
    inline('{').unwrap_or_else(text)
}

fn comma_separated(raw: &str) -> Value {
    let items = raw.split(',').map(str::trim).filter(|item| !item.is_empty());
    items.map(Value::from).collect()
}

fn inline_toml(raw: &str) -> Option<Value> {
    let table: toml::Table = format!("value = {raw}").parse().ok()?;
    serde_json::to_value(table.get("value")?).ok()
}

struct FileReader<'a> {
    name: &'a str,
    text: &'a str,
    origins: &'a mut BTreeMap<String, Origin>,
}

impl FileReader<'_> {
    fn table(&mut self, path: &str, table: &DeTable<'_>) -> Map<String, Value> {
        let mut values = Map::new();
        for (key, value) in table.iter() {
            let name: &str = key.get_ref();
            let below = if path.is_empty() {
                name.to_owned()
            } else {
                format!("{path}.{name}")
            };
            self.note(&below, key.span().start);
            values.insert(name.to_owned(), self.value(&below, value));
        }
        values
    }

    fn value(&mut self, path: &str, value: &Spanned<DeValue<'_>>) -> Value {
        match value.get_ref() {
            DeValue::String(text) => json!(text),
            DeValue::Integer(integer) => {
                let parsed = i64::from_str_radix(integer.as_str(), integer.radix());
                parsed.map_or_else(|_| json!(integer.to_string()), Value::from)
            }
            DeValue::Float(float) => float.as_str().parse::<f64>().map_or(Value::Null, Value::from),
            DeValue::Boolean(truth) => json!(truth),
            DeValue::Datetime(time) => json!(time.to_string()),
            DeValue::Array(items) => {
                let read = |(index, item): (usize, &Spanned<DeValue<'_>>)| {
                    let below = format!("{path}[{index}]");
                    self.note(&below, item.span().start);
                    self.value(&below, item)
                };
                items.iter().enumerate().map(read).collect()
            }
            DeValue::Table(table) => Value::Object(self.table(path, table)),
        }
    }

    fn note(&mut self, path: &str, offset: usize) {
        let origin = Origin::Line(self.name.to_owned(), line(self.text, offset));
        self.origins.insert(path.to_owned(), origin);
    }
}

/// The line of an offset, counted from 1.
fn line(text: &str, offset: usize) -> usize {
    text.bytes().take(offset).filter(|byte| *byte == b'\n').count() + 1
}
