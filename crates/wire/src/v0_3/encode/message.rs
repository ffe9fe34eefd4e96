//! Messages, artifacts and their parts.

use gateway_domain::{Artifact, Content, Message, Part};
use prost_types::Struct;

use crate::{
    encode::{object, or_empty},
    pb::v0_3::{self, FilePart, file_part::File, part},
    v0_3::data,
};

/// Writes a message.
pub fn message(message: &Message) -> v0_3::Message {
    v0_3::Message {
        message_id: message.message_id.to_string(),
        context_id: or_empty(message.context_id.as_ref()),
        task_id: or_empty(message.task_id.as_ref()),
        role: message.role.number(),
        content: message.parts.iter().map(part).collect(),
        metadata: message.metadata.as_ref().map(object),
        extensions: message.extensions.clone(),
    }
}

/// Writes an artifact.
pub fn artifact(artifact: &Artifact) -> v0_3::Artifact {
    v0_3::Artifact {
        artifact_id: artifact.artifact_id.to_string(),
        name: or_empty(artifact.name.as_ref()),
        description: or_empty(artifact.description.as_ref()),
        parts: artifact.parts.iter().map(part).collect(),
        metadata: artifact.metadata.as_ref().map(object),
        extensions: artifact.extensions.clone(),
    }
}

fn part(part: &Part) -> v0_3::Part {
    let (content, metadata) = match &part.content {
        Some(Content::Text(text)) => (Some(part::Part::Text(text.clone())), None),
        Some(Content::Raw(bytes)) => (Some(file(part, File::FileWithBytes(bytes.clone()))), None),
        Some(Content::Url(uri)) => (Some(file(part, File::FileWithUri(uri.clone()))), None),
        Some(Content::Data(value)) => data(value, part),
        None => (None, None),
    };
    v0_3::Part {
        part: content,
        metadata: metadata.or_else(|| part.metadata.as_ref().map(object)),
    }
}

fn file(part: &Part, file: File) -> part::Part {
    part::Part::File(FilePart {
        mime_type: or_empty(part.media_type.as_ref()),
        name: or_empty(part.filename.as_ref()),
        file: Some(file),
    })
}

/// A value, and the part's metadata where they have to say that it is wrapped.
fn data(value: &serde_json::Value, part: &Part) -> (Option<part::Part>, Option<Struct>) {
    let (data, metadata) = match data::wrapped(value, part.metadata.as_ref()) {
        Some((data, metadata)) => (object(&data), Some(object(&metadata))),
        None => (value.as_object().map(object).unwrap_or_default(), None),
    };
    let data = v0_3::DataPart { data: Some(data) };
    (Some(part::Part::Data(data)), metadata)
}
