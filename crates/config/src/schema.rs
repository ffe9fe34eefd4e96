//! The JSON Schema of the settings, made from their types: what the check, the sample and the environment go by.

use std::sync::LazyLock;

use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};

use crate::typed::Typed;

static ROOT: LazyLock<Value> = LazyLock::new(|| {
    let settings = SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    settings
        .into_generator()
        .into_root_schema_for::<Typed>()
        .to_value()
});

/// The schema of one setting or section.
#[derive(Clone, Copy)]
pub(crate) struct Schema(&'static Value);

impl Schema {
    /// That of all settings.
    pub(crate) fn root() -> Self {
        Self(&ROOT)
    }

    /// The same without the alternative of not being there.
    fn present(self) -> &'static Value {
        let alternatives = self.0.get("anyOf").and_then(Value::as_array);
        match alternatives {
            Some(all) if all.iter().any(|one| one["type"] == "null") => {
                all.iter().find(|one| one["type"] != "null").unwrap_or(self.0)
            }
            _ => self.0,
        }
    }

    /// Whether the setting may be left out without a default standing in for it.
    pub(crate) fn is_optional(self) -> bool {
        let present = self.present();
        !std::ptr::eq(present, self.0) || self.types().contains(&"null")
    }

    /// The JSON types that will do.
    pub(crate) fn types(self) -> Vec<&'static str> {
        let schema = self.present();
        let one = |schema: &'static Value| schema.get("type").and_then(Value::as_str);
        match schema.get("type") {
            Some(Value::String(name)) => vec![name.as_str()],
            Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
            _ => self.alternatives().iter().filter_map(one).collect(),
        }
    }

    /// Other forms of a value: `anyOf` or `oneOf`.
    fn alternatives(self) -> &'static [Value] {
        let schema = self.present();
        let list = schema.get("anyOf").or_else(|| schema.get("oneOf"));
        list.and_then(Value::as_array).map_or(&[], Vec::as_slice)
    }

    /// The texts that will do, where only some will.
    pub(crate) fn choices(self) -> Vec<&'static str> {
        let listed = |schema: &'static Value| schema.get("enum").and_then(Value::as_array);
        let constant = |schema: &'static Value| schema.get("const").and_then(Value::as_str);
        let of = |schema: &'static Value| {
            let listed = listed(schema).into_iter().flatten().filter_map(Value::as_str);
            listed.chain(constant(schema)).collect::<Vec<_>>()
        };
        let own = of(self.present());
        if own.is_empty() {
            self.alternatives().iter().flat_map(of).collect()
        } else {
            own
        }
    }

    /// The settings of a section.
    pub(crate) fn properties(self) -> Option<&'static Map<String, Value>> {
        self.present().get("properties").and_then(Value::as_object)
    }

    /// One setting of a section.
    pub(crate) fn property(self, key: &str) -> Option<Self> {
        self.properties()?.get(key).map(Self)
    }

    /// The setting of that path, if all of it are names of sections and settings.
    pub(crate) fn at<'p>(self, path: impl IntoIterator<Item = &'p str>) -> Option<Self> {
        path.into_iter().try_fold(self, Self::property)
    }

    /// What each element of a list is.
    pub(crate) fn items(self) -> Option<Self> {
        let own = self.present().get("items");
        own.or_else(|| self.alternatives().iter().find_map(|one| one.get("items")))
            .map(Self)
    }

    /// Settings that must be given.
    pub(crate) fn required(self) -> impl Iterator<Item = &'static str> {
        let names = self.present().get("required").and_then(Value::as_array);
        names.into_iter().flatten().filter_map(Value::as_str)
    }

    /// What a setting is about.
    pub(crate) fn description(self) -> &'static str {
        let text = self
            .0
            .get("description")
            .or_else(|| self.present().get("description"));
        text.and_then(Value::as_str).unwrap_or_default()
    }

    /// A value that would do.
    pub(crate) fn example(self) -> Option<&'static Value> {
        self.0.get("examples").and_then(|examples| examples.get(0))
    }

    /// How a text is read.
    pub(crate) fn format(self) -> Option<&'static str> {
        self.present().get("format").and_then(Value::as_str)
    }

    /// A keyword of the schema that holds a number.
    pub(crate) fn number(self, keyword: &str) -> Option<i64> {
        self.0.get(keyword).and_then(Value::as_i64)
    }

    /// A keyword of the schema that holds a text.
    pub(crate) fn text(self, keyword: &str) -> Option<&'static str> {
        self.0.get(keyword).and_then(Value::as_str)
    }
}
