//! Judges JSON by the facts of the `kind` notation, as strictly as they can be read: what they do not name is a fault,
//! and what of theirs was never seen is remembered.

use std::collections::BTreeSet;

use serde_json::Value;

/// The shapes, and which members of which definitions have been seen.
pub(crate) struct Shapes {
    definitions: Value,
    seen: BTreeSet<String>,
}

impl Shapes {
    pub(crate) fn load() -> Self {
        let facts: Value = serde_json::from_str(include_str!("../../../facts/a2a-v0.3.kind.json")).unwrap();
        Self {
            definitions: facts["definitions"].clone(),
            seen: BTreeSet::new(),
        }
    }

    /// Whether a value has the shape of a definition; where not, what is wrong and where.
    pub(crate) fn check(&mut self, definition: &str, value: &Value) -> Result<(), String> {
        let mut seen = BTreeSet::new();
        let result = self.named(definition, value, &mut seen);
        self.seen.extend(seen);
        result.map_err(|fault| format!("{definition}: {fault}: {value}"))
    }

    /// Members of a definition, and of those that it is made of, that no value had.
    pub(crate) fn unseen(&self, definitions: &[&str]) -> Vec<String> {
        let members = definitions.iter().flat_map(|name| {
            let properties = self.definitions[name]["properties"].as_object().unwrap();
            properties.keys().map(move |member| format!("{name}.{member}"))
        });
        members.filter(|member| !self.seen.contains(member)).collect()
    }

    fn named(&self, name: &str, value: &Value, seen: &mut BTreeSet<String>) -> Result<(), String> {
        let shape = self
            .definitions
            .get(name)
            .ok_or(format!("no definition {name}"))?;
        self.matches(name, shape, value, seen)
    }

    fn matches(
        &self,
        owner: &str,
        shape: &Value,
        value: &Value,
        seen: &mut BTreeSet<String>,
    ) -> Result<(), String> {
        if shape.as_object().is_some_and(|said| said.is_empty()) {
            return Ok(());
        }
        if let Some(name) = shape["$ref"].as_str() {
            return self.named(name, value, seen);
        }
        if let Some(choices) = shape["anyOf"].as_array() {
            return self.any(owner, choices, value, seen);
        }
        let fits = match shape["type"].as_str() {
            Some("string") => value.is_string(),
            Some("boolean") => value.is_boolean(),
            Some("integer") => value.is_i64(),
            Some("array") => value.is_array(),
            Some("object") => value.is_object(),
            _ => true,
        };
        let listed = shape["enum"].as_array().is_none_or(|all| all.contains(value));
        let same = shape.get("const").is_none_or(|only| only == value);
        if !(fits && listed && same) {
            return Err(format!("{value} is no {shape}"));
        }
        for item in value
            .as_array()
            .into_iter()
            .flatten()
            .filter(|_| shape["items"].is_object())
        {
            self.matches(owner, &shape["items"], item, seen)?;
        }
        self.members(owner, shape, value, seen)
    }

    fn any(
        &self,
        owner: &str,
        choices: &[Value],
        value: &Value,
        seen: &mut BTreeSet<String>,
    ) -> Result<(), String> {
        let mut faults = Vec::new();
        for choice in choices {
            let mut tried = BTreeSet::new();
            match self.matches(owner, choice, value, &mut tried) {
                Ok(()) => {
                    seen.extend(tried);
                    return Ok(());
                }
                Err(fault) => faults.push(fault),
            }
        }
        Err(faults.join("; and "))
    }

    fn members(
        &self,
        owner: &str,
        shape: &Value,
        value: &Value,
        seen: &mut BTreeSet<String>,
    ) -> Result<(), String> {
        let Some(object) = value.as_object() else {
            return Ok(());
        };
        for name in shape["required"].as_array().into_iter().flatten() {
            if !object.contains_key(name.as_str().unwrap()) {
                return Err(format!("{owner} without {name}"));
            }
        }
        for (name, member) in object {
            match (shape["properties"].get(name), shape.get("additionalProperties")) {
                (Some(shape), _) => {
                    seen.insert(format!("{owner}.{name}"));
                    self.matches(owner, shape, member, seen)?;
                }
                (None, Some(shape)) => self.matches(owner, shape, member, seen)?,
                (None, None) => return Err(format!("{owner} has no {name}")),
            }
        }
        Ok(())
    }
}

#[test]
fn what_the_facts_do_not_say_is_a_fault() {
    use serde_json::json;
    let part = |part: Value| Shapes::load().check("Part", &part).is_ok();
    assert!(part(json!({ "kind": "text", "text": "hello" })));
    for bad in [
        json!({ "kind": "text" }),
        json!({ "kind": "text", "text": 7 }),
        json!({ "kind": "data", "text": "hello" }),
        json!({ "kind": "text", "text": "hello", "mediaType": "text/plain" }),
        json!({ "kind": "data", "data": [1] }),
        json!({ "kind": "file", "file": {} }),
        json!("hello"),
    ] {
        assert!(!part(bad.clone()), "{bad}");
    }
}
