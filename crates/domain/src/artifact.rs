//! Artifacts: what a task produces (§4.1.7).

use serde::{Deserialize, Serialize};

use crate::{
    ArtifactId, Part, json,
    json::Object,
    notation::{empty_is_absent, null_default},
};

/// One result of a task, whole or the chunk of one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", expecting = "an object", remote = "Self")]
pub struct Artifact {
    /// Unique within the task; empty only before validation.
    #[serde(default, alias = "artifact_id", deserialize_with = "null_default")]
    pub artifact_id: ArtifactId,
    /// For people.
    #[serde(
        default,
        deserialize_with = "empty_is_absent",
        skip_serializing_if = "Option::is_none"
    )]
    pub name: Option<String>,
    /// For people.
    #[serde(
        default,
        deserialize_with = "empty_is_absent",
        skip_serializing_if = "Option::is_none"
    )]
    pub description: Option<String>,
    /// The content.
    #[serde(default, deserialize_with = "null_default")]
    pub parts: Vec<Part>,
    /// Free data.
    #[serde(
        default,
        deserialize_with = "json::optional_object",
        skip_serializing_if = "Option::is_none"
    )]
    pub metadata: Option<Object>,
    /// URIs of the extensions that it uses.
    #[serde(
        default,
        deserialize_with = "null_default",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub extensions: Vec<String>,
}

crate::notation::read_as_object!(Artifact);
crate::notation::write_as_derived!(Artifact);

impl Artifact {
    /// Roughly the bytes that it takes in memory and on the wire.
    pub fn weight(&self) -> usize {
        64 + self.artifact_id.as_str().len()
            + self.name.as_ref().map_or(0, String::len)
            + self.description.as_ref().map_or(0, String::len)
            + self.parts.iter().map(Part::weight).sum::<usize>()
            + self.metadata.as_ref().map_or(0, json::object_weight)
            + self.extensions.iter().map(|uri| uri.len() + 8).sum::<usize>()
    }

    /// Takes in a further chunk: its parts after those held, its metadata and extensions merged, its name and
    /// description where it has them.
    pub fn append(&mut self, chunk: &Self) {
        self.parts.extend(chunk.parts.iter().cloned());
        if chunk.name.is_some() {
            self.name.clone_from(&chunk.name);
        }
        if chunk.description.is_some() {
            self.description.clone_from(&chunk.description);
        }
        if let Some(metadata) = &chunk.metadata {
            let held = self.metadata.get_or_insert_default();
            held.extend(metadata.iter().map(|(name, value)| (name.clone(), value.clone())));
        }
        for uri in &chunk.extensions {
            if !self.extensions.contains(uri) {
                self.extensions.push(uri.clone());
            }
        }
    }
}
