//! Messages, artifacts and their parts.

use gateway_domain::{Artifact, Content, Message, Part};

use super::value::{object, value};
use crate::pb::v1;

/// Writes a message.
pub fn message(message: &Message) -> v1::Message {
    v1::Message {
        message_id: message.message_id.to_string(),
        context_id: super::or_empty(message.context_id.as_ref()),
        task_id: super::or_empty(message.task_id.as_ref()),
        role: message.role.number(),
        parts: message.parts.iter().map(part).collect(),
        metadata: message.metadata.as_ref().map(object),
        extensions: message.extensions.clone(),
        reference_task_ids: message
            .reference_task_ids
            .iter()
            .map(ToString::to_string)
            .collect(),
    }
}

/// Writes an artifact.
pub fn artifact(artifact: &Artifact) -> v1::Artifact {
    v1::Artifact {
        artifact_id: artifact.artifact_id.to_string(),
        name: super::or_empty(artifact.name.as_ref()),
        description: super::or_empty(artifact.description.as_ref()),
        parts: artifact.parts.iter().map(part).collect(),
        metadata: artifact.metadata.as_ref().map(object),
        extensions: artifact.extensions.clone(),
    }
}

/// Writes a part.
pub fn part(part: &Part) -> v1::Part {
    v1::Part {
        metadata: part.metadata.as_ref().map(object),
        filename: super::or_empty(part.filename.as_ref()),
        media_type: super::or_empty(part.media_type.as_ref()),
        content: part.content.as_ref().map(content),
    }
}

fn content(content: &Content) -> v1::part::Content {
    match content {
        Content::Text(text) => v1::part::Content::Text(text.clone()),
        Content::Raw(bytes) => v1::part::Content::Raw(bytes.clone()),
        Content::Url(url) => v1::part::Content::Url(url.clone()),
        Content::Data(data) => v1::part::Content::Data(value(data)),
    }
}
