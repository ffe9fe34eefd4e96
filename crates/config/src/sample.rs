//! The commented sample: every section and setting with its comment, its bounds and its default, made from the
//! types. Settings without a default stand in it as comments with an example.

use std::fmt::Write;

use serde::Deserialize;
use serde_json::Value;

use crate::{VARIABLE_PREFIX, check, schema::Schema, text::Secret, typed::Typed};

/// Columns of a comment.
const WIDTH: usize = 110;

/// The sample.
pub fn sample() -> String {
    let mut sample = Sample::default();
    sample.comment(&format!(
        "Every setting of the gateway with its default; a file needs to hold only what differs. Each can also be \
         given by the environment, which stands above the file: {VARIABLE_PREFIX}LIMITS__PARTS_PER_MESSAGE=50. \
         Check a file with `a2a-gateway check --config FILE`."
    ));
    let Order::Table(sections) = order() else {
        return sample.text;
    };
    for (name, settings) in &sections {
        if let Some(schema) = Schema::root().property(name) {
            sample.section(name, schema, settings);
        }
    }
    sample.text
}

/// The defaults in the order in which the types declare them, which a JSON object would not keep.
enum Order {
    Table(Vec<(String, Order)>),
    Value(Value),
}

fn order() -> Order {
    let text = serde_json::to_string(&Typed::default()).expect("settings are plain data");
    serde_json::from_str(&text).expect("what was just written can be read")
}

impl<'de> Deserialize<'de> for Order {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Tables;
        impl<'de> serde::de::Visitor<'de> for Tables {
            type Value = Order;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("settings")
            }
            fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<Order, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(Order::Table(entries))
            }
        }
        // Everything but a table is kept as it is.
        let raw = Box::<serde_json::value::RawValue>::deserialize(deserializer)?;
        let mut reader = serde_json::Deserializer::from_str(raw.get());
        let order = if raw.get().starts_with('{') {
            serde::Deserializer::deserialize_map(&mut reader, Tables)
        } else {
            Value::deserialize(&mut reader).map(Order::Value)
        };
        order.map_err(serde::de::Error::custom)
    }
}

#[derive(Default)]
struct Sample {
    text: String,
}

impl Sample {
    /// A section: its head, its settings, and after them the sections inside it, as TOML demands.
    fn section(&mut self, path: &str, schema: Schema, settings: &Order) {
        let Order::Table(settings) = settings else {
            return;
        };
        self.head(path, schema, "", ["[", "]"]);
        let mut inner = Vec::new();
        for (key, value) in settings {
            let Some(schema) = schema.property(key) else {
                continue;
            };
            match value {
                Order::Table(_) => inner.push((key, schema, value)),
                Order::Value(_) if is_table(schema) || is_table_list(schema) => {
                    inner.push((key, schema, value));
                }
                Order::Value(value) => self.setting(key, schema, value),
            }
        }
        for (key, schema, settings) in inner {
            let path = check::join(path, key);
            match settings {
                Order::Table(_) => self.section(&path, schema, settings),
                Order::Value(_) => self.example_table(&path, schema),
            }
        }
    }

    fn head(&mut self, path: &str, schema: Schema, mark: &str, [open, close]: [&str; 2]) {
        self.text.push('\n');
        self.comment(schema.description());
        self.line(format_args!("{mark}{open}{path}{close}"));
    }

    fn setting(&mut self, key: &str, schema: Schema, default: &Value) {
        self.comment(schema.description());
        self.comment(&bounds(schema));
        if default.is_null() {
            let example = schema.example().map_or_else(|| "\"\"".to_owned(), toml_value);
            self.line(format_args!("#{key} = {example}"));
        } else {
            self.line(format_args!("{key} = {}", toml_value(default)));
        }
    }

    /// A table, or list of tables, that is not there by default.
    fn example_table(&mut self, path: &str, schema: Schema) {
        let (table, marks) = match schema.items() {
            Some(items) => (items, ["[[", "]]"]),
            None => (schema, ["[", "]"]),
        };
        self.head(path, schema, "#", marks);
        let required: Vec<_> = table.required().collect();
        let others = table.properties().into_iter().flat_map(|all| all.keys());
        let others = others.map(String::as_str).filter(|key| !required.contains(key));
        for key in required.iter().copied().chain(others) {
            if let Some(schema) = table.property(key) {
                self.comment(schema.description());
                let example = schema.example().map_or_else(|| "{}".to_owned(), toml_value);
                self.line(format_args!("#{key} = {example}"));
            }
        }
    }

    fn comment(&mut self, text: &str) {
        let mut line = String::from("#");
        for word in text.split_whitespace() {
            if line.len() + 1 + word.len() > WIDTH {
                self.line(format_args!("{line}"));
                line.truncate(1);
            }
            line.push(' ');
            line.push_str(word);
        }
        if line.len() > 1 {
            self.line(format_args!("{line}"));
        }
    }

    fn line(&mut self, line: std::fmt::Arguments<'_>) {
        // Writing to a text cannot fail.
        let _ = writeln!(self.text, "{line}");
    }
}

fn is_table(schema: Schema) -> bool {
    schema.types().contains(&"object")
}

fn is_table_list(schema: Schema) -> bool {
    schema.items().is_some_and(is_table)
}

/// What a value may be, in a line of its own.
fn bounds(schema: Schema) -> String {
    let choices = schema.choices();
    if !choices.is_empty() && !schema.types().contains(&"array") {
        return format!("One of: {}.", choices.join(", "));
    }
    let texts = check::range(schema.text("x-min"), schema.text("x-max"));
    let numbers = || check::range(schema.number("minimum"), schema.number("maximum"));
    let secret = schema.format() == Some(Secret::FORMAT);
    match texts.or_else(numbers) {
        Some(range) if !secret => format!("From {range}."),
        _ => String::new(),
    }
}

/// A value in TOML; a table in one line.
fn toml_value(value: &Value) -> String {
    toml::Value::try_from(value).map_or_else(|_| value.to_string(), |value| value.to_string())
}
