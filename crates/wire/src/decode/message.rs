//! Messages, artifacts and their parts.

use gateway_domain::{
    Artifact, ArtifactId, Content, ContextId, Error, Message, MessageId, Part, Role, TaskId, json::Object,
};
use prost_types::Struct;

use super::{At, Faults, each, non_empty, value, whole};
use crate::pb::v1;

/// Reads a message that stands alone.
///
/// # Errors
/// InvalidParams with every fault of form.
pub fn message(message: v1::Message) -> Result<Message, Error> {
    whole(|faults, at| message_at(message, faults, at))
}

/// Reads an artifact that stands alone.
///
/// # Errors
/// InvalidParams with every fault of form.
pub fn artifact(artifact: v1::Artifact) -> Result<Artifact, Error> {
    whole(|faults, at| artifact_at(artifact, faults, at))
}

pub(super) fn message_at(message: v1::Message, faults: &mut Faults, at: &At<'_>) -> Option<Message> {
    let role = role(message.role, faults, &at.field("role"));
    let parts = each(message.parts, faults, &at.field("parts"), part_at);
    Some(Message {
        metadata: metadata(message.metadata, faults, at),
        message_id: MessageId::new(message.message_id),
        context_id: ContextId::optional(message.context_id),
        task_id: TaskId::optional(message.task_id),
        role: role?,
        parts,
        extensions: message.extensions,
        reference_task_ids: message.reference_task_ids.into_iter().map(TaskId::new).collect(),
    })
}

pub(super) fn artifact_at(artifact: v1::Artifact, faults: &mut Faults, at: &At<'_>) -> Option<Artifact> {
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

fn part_at(part: v1::Part, faults: &mut Faults, at: &At<'_>) -> Option<Part> {
    Some(Part {
        content: part.content.and_then(|content| content_at(content, faults, at)),
        metadata: metadata(part.metadata, faults, at),
        filename: non_empty(part.filename),
        media_type: non_empty(part.media_type),
    })
}

fn content_at(content: v1::part::Content, faults: &mut Faults, at: &At<'_>) -> Option<Content> {
    Some(match content {
        v1::part::Content::Text(text) => Content::Text(text),
        v1::part::Content::Raw(bytes) => Content::Raw(bytes),
        v1::part::Content::Url(url) => Content::Url(url),
        v1::part::Content::Data(data) => Content::Data(value::value(data, faults, &at.field("data"))?),
    })
}

/// A role that was left out stays unspecified, for the validation to judge; a number that is none is a fault here.
fn role(number: i32, faults: &mut Faults, at: &At<'_>) -> Option<Role> {
    Role::from_number(number).or_else(|| faults.add(at, format!("must be {}, not {number}", Role::choices())))
}

#[cfg(test)]
mod tests {
    use prost_types::{Value, value::Kind};

    use super::message;
    use crate::pb::v1;

    #[test]
    fn every_fault_is_named_at_its_place() {
        let nan = Value {
            kind: Some(Kind::NumberValue(f64::NAN)),
        };
        let parts = vec![
            v1::Part::default(),
            v1::Part {
                content: Some(v1::part::Content::Data(nan)),
                ..v1::Part::default()
            },
        ];
        let error = message(v1::Message {
            role: 7,
            parts,
            ..v1::Message::default()
        })
        .unwrap_err();
        let fields: Vec<_> = error
            .violations()
            .iter()
            .map(|violation| violation.field.as_ref())
            .collect();
        assert_eq!(fields, ["role", "parts[1].data"]);
        assert_eq!(
            error.violations()[0].description,
            "must be ROLE_USER or ROLE_AGENT, not 7"
        );
    }

    #[test]
    fn empty_texts_are_absent() {
        let read = message(v1::Message::default()).unwrap();
        assert_eq!((read.context_id, read.task_id), (None, None));
    }

    #[test]
    fn the_list_of_faults_is_bounded() {
        let part = v1::Part {
            content: Some(v1::part::Content::Data(Value { kind: None })),
            ..v1::Part::default()
        };
        let error = message(v1::Message {
            parts: vec![part; 1000],
            ..v1::Message::default()
        })
        .unwrap_err();
        assert_eq!(error.violations().len(), super::super::MOST_FAULTS);
    }
}
