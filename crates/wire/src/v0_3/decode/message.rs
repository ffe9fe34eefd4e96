//! Messages, artifacts and their parts.

use gateway_domain::{
    Artifact, ArtifactId, Content, ContextId, Error, Message, MessageId, Part, Role, TaskId, json::Object,
};
use prost_types::Struct;

use super::{At, Faults, whole};
use crate::{
    decode::{each, non_empty, value},
    pb::v0_3::{self, file_part::File, part},
    v0_3::data,
};

/// Reads a message that stands alone.
///
/// # Errors
/// InvalidParams with every fault of form.
pub fn message(message: v0_3::Message) -> Result<Message, Error> {
    whole(|faults, at| message_at(message, faults, at))
}

/// Reads an artifact that stands alone.
///
/// # Errors
/// InvalidParams with every fault of form.
pub fn artifact(artifact: v0_3::Artifact) -> Result<Artifact, Error> {
    whole(|faults, at| artifact_at(artifact, faults, at))
}

pub(super) fn message_at(message: v0_3::Message, faults: &mut Faults, at: &At<'_>) -> Option<Message> {
    let role = Role::from_number(message.role).or_else(|| {
        let text = format!("must be {}, not {}", Role::choices(), message.role);
        faults.add(&at.field("role"), text)
    });
    Some(Message {
        parts: each(message.content, faults, &at.field("content"), part_at),
        metadata: metadata(message.metadata, faults, at),
        message_id: MessageId::new(message.message_id),
        context_id: ContextId::optional(message.context_id),
        task_id: TaskId::optional(message.task_id),
        role: role?,
        extensions: message.extensions,
        reference_task_ids: Vec::new(),
    })
}

pub(super) fn artifact_at(artifact: v0_3::Artifact, faults: &mut Faults, at: &At<'_>) -> Option<Artifact> {
    Some(Artifact {
        parts: each(artifact.parts, faults, &at.field("parts"), part_at),
        metadata: metadata(artifact.metadata, faults, at),
        artifact_id: ArtifactId::new(artifact.artifact_id),
        name: non_empty(artifact.name),
        description: non_empty(artifact.description),
        extensions: artifact.extensions,
    })
}

/// Reads the field `metadata` of the message at `at`.
pub(super) fn metadata(metadata: Option<Struct>, faults: &mut Faults, at: &At<'_>) -> Option<Object> {
    value::object(metadata?, faults, &at.field("metadata"))
}

fn part_at(part: v0_3::Part, faults: &mut Faults, at: &At<'_>) -> Option<Part> {
    let metadata = metadata(part.metadata, faults, at);
    let content = part
        .part
        .or_else(|| faults.add(at, "must hold one of text, file and data"))?;
    Some(match content {
        part::Part::Text(text) => Part {
            content: Some(Content::Text(text)),
            metadata,
            ..Part::default()
        },
        part::Part::File(file) => {
            let content = file.file.or_else(|| {
                faults.add(
                    &at.field("file"),
                    "must hold one of fileWithUri and fileWithBytes",
                )
            })?;
            Part {
                content: Some(match content {
                    File::FileWithUri(uri) => Content::Url(uri),
                    File::FileWithBytes(bytes) => Content::Raw(bytes),
                }),
                metadata,
                filename: non_empty(file.name),
                media_type: non_empty(file.mime_type),
            }
        }
        part::Part::Data(part) => {
            let at = at.field("data");
            let data = value::object(part.data.unwrap_or_default(), faults, &at.field("data"))?;
            let (data, metadata) = data::unwrapped(data, metadata);
            Part {
                content: Some(Content::Data(data)),
                metadata,
                ..Part::default()
            }
        }
    })
}
