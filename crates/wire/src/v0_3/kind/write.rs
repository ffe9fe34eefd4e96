//! From the domain to the `kind` notation. Nothing is copied but data that has to be wrapped.

use std::borrow::Cow;

use bytes::Bytes;
use gateway_domain::{
    Artifact as DomainArtifact, ArtifactId, Content, ContextId, Error, Message as DomainMessage, MessageId,
    Part as DomainPart, StreamResponse, TaskId, TaskSnapshot, TaskStatus, Timestamp, Version,
    event::{TaskArtifactUpdateEvent, TaskStatusUpdateEvent},
    json::Object,
    notation::base64_bytes,
    reply::{Body, Sent},
};
use serde::{Serialize, Serializer};

use super::{card::Card, names, push};
use crate::v0_3::data;

/// The result of a method, as it stands in the response object.
///
/// # Errors
/// Internal where the body is a stream, or of an operation that 0.3 does not have.
pub fn result(body: &Body) -> Result<Vec<u8>, Error> {
    match body {
        Body::Sent(Sent::Task(task)) | Body::Task(task) => Ok(json(&Task::of(task))),
        Body::Sent(Sent::Message(message)) => Ok(json(&Message::of(message))),
        Body::Config(config) => Ok(json(&push::Written::of(config))),
        Body::Configs(page) => Ok(json(&Each(&page.configs, push::Written::of))),
        Body::Deleted => Ok(json(&())),
        Body::Card(card) => Ok(json(&Card::of(card))),
        Body::Stream(_) | Body::Tasks(_) | Body::AllTasks(_) | Body::AllConfigs(_) => {
            Err(Error::internal("version 0.3 has no method with this answer"))
        }
    }
}

/// An event of a stream, without its envelope.
pub fn event(event: &StreamResponse) -> Bytes {
    match event {
        StreamResponse::Task(task) => self::task(task),
        StreamResponse::Message(message) => json(&Message::of(message)).into(),
        StreamResponse::StatusUpdate(event) => json(&StatusUpdate::of(event)).into(),
        StreamResponse::ArtifactUpdate(event) => json(&ArtifactUpdate::of(event)).into(),
    }
}

/// A task alone: what a webhook is told.
pub fn task(task: &TaskSnapshot) -> Bytes {
    json(&Task::of(task)).into()
}

fn json(value: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(value).expect("every type of this notation has text keys and writes to memory")
}

/// Members of a list, each written in its own form.
struct Each<'a, T, W>(&'a [T], fn(&'a T) -> W);

impl<T, W: Serialize> Serialize for Each<'_, T, W> {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_seq(self.0.iter().map(self.1))
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Task<'a> {
    kind: &'static str,
    id: &'a TaskId,
    context_id: &'a ContextId,
    status: Status<'a>,
    #[serde(skip_serializing_if = "<[_]>::is_empty", serialize_with = "artifacts")]
    artifacts: &'a [std::sync::Arc<DomainArtifact>],
    #[serde(skip_serializing_if = "<[_]>::is_empty", serialize_with = "history")]
    history: &'a [std::sync::Arc<DomainMessage>],
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<&'a Object>,
}

impl<'a> Task<'a> {
    fn of(task: &'a TaskSnapshot) -> Self {
        Self {
            kind: names::TASK,
            id: &task.id,
            context_id: &task.context_id,
            status: Status::of(&task.status),
            artifacts: &task.artifacts,
            history: &task.history,
            metadata: task.metadata.as_ref(),
        }
    }
}

#[derive(Serialize)]
struct Status<'a> {
    state: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<Message<'a>>,
    timestamp: Timestamp,
}

impl<'a> Status<'a> {
    fn of(status: &'a TaskStatus) -> Self {
        Self {
            state: names::state(status.state),
            message: status.message.as_deref().map(Message::of),
            timestamp: status.timestamp,
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct StatusUpdate<'a> {
    kind: &'static str,
    task_id: &'a TaskId,
    context_id: &'a ContextId,
    status: Status<'a>,
    r#final: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<&'a Object>,
}

impl<'a> StatusUpdate<'a> {
    fn of(event: &'a TaskStatusUpdateEvent) -> Self {
        Self {
            kind: names::STATUS_UPDATE,
            task_id: &event.task_id,
            context_id: &event.context_id,
            status: Status::of(&event.status),
            r#final: Version::V0_3.ends_streams_at(event.status.state),
            metadata: event.metadata.as_ref(),
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ArtifactUpdate<'a> {
    kind: &'static str,
    task_id: &'a TaskId,
    context_id: &'a ContextId,
    artifact: Artifact<'a>,
    append: bool,
    last_chunk: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<&'a Object>,
}

impl<'a> ArtifactUpdate<'a> {
    fn of(event: &'a TaskArtifactUpdateEvent) -> Self {
        Self {
            kind: names::ARTIFACT_UPDATE,
            task_id: &event.task_id,
            context_id: &event.context_id,
            artifact: Artifact::of(&event.artifact),
            append: event.append,
            last_chunk: event.last_chunk,
            metadata: event.metadata.as_ref(),
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Message<'a> {
    kind: &'static str,
    message_id: &'a MessageId,
    #[serde(skip_serializing_if = "Option::is_none")]
    context_id: Option<&'a ContextId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    task_id: Option<&'a TaskId>,
    role: &'static str,
    #[serde(serialize_with = "parts")]
    parts: &'a [DomainPart],
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<&'a Object>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    extensions: &'a [String],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    reference_task_ids: &'a [TaskId],
}

impl<'a> Message<'a> {
    fn of(message: &'a DomainMessage) -> Self {
        Self {
            kind: names::MESSAGE,
            message_id: &message.message_id,
            context_id: message.context_id.as_ref(),
            task_id: message.task_id.as_ref(),
            role: names::role(message.role),
            parts: &message.parts,
            metadata: message.metadata.as_ref(),
            extensions: &message.extensions,
            reference_task_ids: &message.reference_task_ids,
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Artifact<'a> {
    artifact_id: &'a ArtifactId,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<&'a str>,
    #[serde(serialize_with = "parts")]
    parts: &'a [DomainPart],
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<&'a Object>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    extensions: &'a [String],
}

impl<'a> Artifact<'a> {
    fn of(artifact: &'a DomainArtifact) -> Self {
        Self {
            artifact_id: &artifact.artifact_id,
            name: artifact.name.as_deref(),
            description: artifact.description.as_deref(),
            parts: &artifact.parts,
            metadata: artifact.metadata.as_ref(),
            extensions: &artifact.extensions,
        }
    }
}

#[derive(Serialize, Default)]
struct Part<'a> {
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<File<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<Cow<'a, Object>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<Cow<'a, Object>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct File<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<Base64<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    uri: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mime_type: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
}

struct Base64<'a>(&'a Bytes);

impl Serialize for Base64<'_> {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        base64_bytes::serialize(self.0, s)
    }
}

impl<'a> Part<'a> {
    fn of(part: &'a DomainPart) -> Self {
        let metadata = part.metadata.as_ref();
        let plain = Self {
            metadata: metadata.map(Cow::Borrowed),
            ..Self::default()
        };
        match &part.content {
            Some(Content::Text(text)) => plain.text(text),
            Some(Content::Raw(bytes)) => plain.file(part, Some(Base64(bytes)), None),
            Some(Content::Url(uri)) => plain.file(part, None, Some(uri)),
            Some(Content::Data(value)) => match (data::wrapped(value, metadata), value.as_object()) {
                (Some((data, metadata)), _) => plain.data(Cow::Owned(data), Some(Cow::Owned(metadata))),
                (None, object) => {
                    let data = object.map_or_else(Cow::default, Cow::Borrowed);
                    plain.data(data, metadata.map(Cow::Borrowed))
                }
            },
            // No part without content passes validation.
            None => plain.text(""),
        }
    }

    fn text(self, text: &'a str) -> Self {
        Self {
            kind: names::TEXT,
            text: Some(text),
            ..self
        }
    }

    fn file(self, part: &'a DomainPart, bytes: Option<Base64<'a>>, uri: Option<&'a str>) -> Self {
        let file = File {
            bytes,
            uri,
            mime_type: part.media_type.as_deref(),
            name: part.filename.as_deref(),
        };
        Self {
            kind: names::FILE,
            file: Some(file),
            ..self
        }
    }

    fn data(self, data: Cow<'a, Object>, metadata: Option<Cow<'a, Object>>) -> Self {
        Self {
            kind: names::DATA,
            data: Some(data),
            metadata,
            ..self
        }
    }
}

fn parts<S: Serializer>(parts: &&[DomainPart], s: S) -> Result<S::Ok, S::Error> {
    s.collect_seq(parts.iter().map(Part::of))
}

fn artifacts<S: Serializer>(all: &&[std::sync::Arc<DomainArtifact>], s: S) -> Result<S::Ok, S::Error> {
    s.collect_seq(all.iter().map(|artifact| Artifact::of(artifact)))
}

fn history<S: Serializer>(all: &&[std::sync::Arc<DomainMessage>], s: S) -> Result<S::Ok, S::Error> {
    s.collect_seq(all.iter().map(|message| Message::of(message)))
}
