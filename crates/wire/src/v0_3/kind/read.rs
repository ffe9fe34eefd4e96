//! From the `kind` notation to the domain: messages of clients, and what another server answers.
//!
//! Own types, since the domain's read their own notation. A message's `kind` may be left out, since the place says what
//! stands there, but may not say something else.

use std::sync::Arc;

use bytes::Bytes;
use gateway_domain::{
    Artifact as DomainArtifact, ArtifactId, Content, ContextId, Error, Message as DomainMessage, MessageId,
    Part as DomainPart, Role, StreamResponse, TaskId, TaskSnapshot, TaskState, TaskStatus, Timestamp,
    event::{TaskArtifactUpdateEvent, TaskStatusUpdateEvent},
    json::{self, Object, Unique},
    notation::{base64_bytes, empty_is_absent, null_default},
    reply::Sent,
    request::read_json,
};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::names;
use crate::v0_3::data;

/// Reads an event of a stream. A status without a time is of the moment when it came.
///
/// # Errors
/// ParseError, or InvalidParams naming the field.
pub fn read_event(text: &[u8], came: Timestamp) -> Result<StreamResponse, Error> {
    let OnlyKind { kind } = read_json(text)?;
    Ok(match kind.as_deref() {
        Some(names::TASK) => StreamResponse::Task(Arc::new(read_json::<Task>(text)?.into_domain(came))),
        Some(names::MESSAGE) => StreamResponse::Message(Arc::new(read_json::<Message>(text)?.into_domain())),
        Some(names::STATUS_UPDATE) => {
            StreamResponse::StatusUpdate(Arc::new(read_json::<StatusUpdate>(text)?.into_domain(came)))
        }
        Some(names::ARTIFACT_UPDATE) => {
            StreamResponse::ArtifactUpdate(Arc::new(read_json::<ArtifactUpdate>(text)?.into_domain()))
        }
        _ => {
            let kinds = [
                names::TASK,
                names::MESSAGE,
                names::STATUS_UPDATE,
                names::ARTIFACT_UPDATE,
            ];
            return Err(no_kind(kind.as_deref(), &kinds));
        }
    })
}

/// Reads the answer to a send. A status without a time is of the moment when it came.
///
/// # Errors
/// ParseError, or InvalidParams naming the field.
pub fn read_answer(text: &[u8], came: Timestamp) -> Result<Sent, Error> {
    let OnlyKind { kind } = read_json(text)?;
    match kind.as_deref() {
        Some(names::TASK) => Ok(Sent::Task(read_json::<Task>(text)?.into_domain(came))),
        Some(names::MESSAGE) => Ok(Sent::Message(Arc::new(read_json::<Message>(text)?.into_domain()))),
        _ => Err(no_kind(kind.as_deref(), &[names::TASK, names::MESSAGE])),
    }
}

fn no_kind(kind: Option<&str>, kinds: &[&str]) -> Error {
    let kinds = kinds.join(" or ");
    let text = match kind {
        Some(kind) => format!("must be {kinds}, not {}", names::shown(kind)),
        None => format!("is required: {kinds}"),
    };
    Error::invalid("kind", text)
}

#[derive(Deserialize)]
#[serde(expecting = "an object", remote = "Self")]
struct OnlyKind {
    #[serde(default)]
    kind: Option<String>,
}

/// A message, of a client or of an agent.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", expecting = "an object", remote = "Self")]
pub(super) struct Message {
    #[serde(default, rename = "kind", deserialize_with = "message_kind")]
    _kind: (),
    #[serde(default, deserialize_with = "null_default")]
    message_id: MessageId,
    #[serde(default, deserialize_with = "empty_is_absent")]
    context_id: Option<ContextId>,
    #[serde(default, deserialize_with = "empty_is_absent")]
    task_id: Option<TaskId>,
    #[serde(default, deserialize_with = "names::read_role")]
    role: Role,
    #[serde(default, deserialize_with = "null_default")]
    parts: Vec<Part>,
    #[serde(default, deserialize_with = "json::optional_object")]
    metadata: Option<Object>,
    #[serde(default, deserialize_with = "null_default")]
    extensions: Vec<String>,
    #[serde(default, deserialize_with = "null_default")]
    reference_task_ids: Vec<TaskId>,
}

impl Message {
    pub(super) fn into_domain(self) -> DomainMessage {
        DomainMessage {
            message_id: self.message_id,
            context_id: self.context_id,
            task_id: self.task_id,
            role: self.role,
            parts: plain(self.parts),
            metadata: self.metadata,
            extensions: self.extensions,
            reference_task_ids: self.reference_task_ids,
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", expecting = "an object", remote = "Self")]
struct Artifact {
    artifact_id: ArtifactId,
    #[serde(default, deserialize_with = "empty_is_absent")]
    name: Option<String>,
    #[serde(default, deserialize_with = "empty_is_absent")]
    description: Option<String>,
    #[serde(default, deserialize_with = "null_default")]
    parts: Vec<Part>,
    #[serde(default, deserialize_with = "json::optional_object")]
    metadata: Option<Object>,
    #[serde(default, deserialize_with = "null_default")]
    extensions: Vec<String>,
}

impl Artifact {
    fn into_domain(self) -> Arc<DomainArtifact> {
        Arc::new(DomainArtifact {
            artifact_id: self.artifact_id,
            name: self.name,
            description: self.description,
            parts: plain(self.parts),
            metadata: self.metadata,
            extensions: self.extensions,
        })
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", expecting = "an object", remote = "Self")]
struct Task {
    id: TaskId,
    context_id: ContextId,
    status: Status,
    #[serde(default, deserialize_with = "null_default")]
    artifacts: Vec<Artifact>,
    #[serde(default, deserialize_with = "null_default")]
    history: Vec<Message>,
    #[serde(default, deserialize_with = "json::optional_object")]
    metadata: Option<Object>,
}

impl Task {
    fn into_domain(self, came: Timestamp) -> TaskSnapshot {
        let history = self.history.into_iter();
        TaskSnapshot {
            id: self.id,
            context_id: self.context_id,
            status: self.status.into_domain(came),
            artifacts: self.artifacts.into_iter().map(Artifact::into_domain).collect(),
            history: history.map(|message| Arc::new(message.into_domain())).collect(),
            metadata: self.metadata,
        }
    }
}

#[derive(Deserialize)]
#[serde(expecting = "an object", remote = "Self")]
struct Status {
    #[serde(deserialize_with = "names::read_state")]
    state: TaskState,
    #[serde(default)]
    message: Option<Message>,
    #[serde(default)]
    timestamp: Option<Timestamp>,
}

impl Status {
    fn into_domain(self, came: Timestamp) -> TaskStatus {
        TaskStatus {
            state: self.state,
            message: self.message.map(|message| Arc::new(message.into_domain())),
            timestamp: self.timestamp.unwrap_or(came),
        }
    }
}

/// Its `final` is not read: the state says it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", expecting = "an object", remote = "Self")]
struct StatusUpdate {
    task_id: TaskId,
    context_id: ContextId,
    status: Status,
    #[serde(default, deserialize_with = "json::optional_object")]
    metadata: Option<Object>,
}

impl StatusUpdate {
    fn into_domain(self, came: Timestamp) -> TaskStatusUpdateEvent {
        TaskStatusUpdateEvent {
            task_id: self.task_id,
            context_id: self.context_id,
            status: self.status.into_domain(came),
            metadata: self.metadata,
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", expecting = "an object", remote = "Self")]
struct ArtifactUpdate {
    task_id: TaskId,
    context_id: ContextId,
    artifact: Artifact,
    #[serde(default, deserialize_with = "null_default")]
    append: bool,
    #[serde(default, deserialize_with = "null_default")]
    last_chunk: bool,
    #[serde(default, deserialize_with = "json::optional_object")]
    metadata: Option<Object>,
}

impl ArtifactUpdate {
    fn into_domain(self) -> TaskArtifactUpdateEvent {
        TaskArtifactUpdateEvent {
            task_id: self.task_id,
            context_id: self.context_id,
            artifact: self.artifact.into_domain(),
            append: self.append,
            last_chunk: self.last_chunk,
            metadata: self.metadata,
        }
    }
}

/// A part that has been understood.
#[derive(Deserialize)]
#[serde(try_from = "AnyPart")]
struct Part(DomainPart);

fn plain(parts: Vec<Part>) -> Vec<DomainPart> {
    parts.into_iter().map(|part| part.0).collect()
}

/// A part with the members of all three kinds.
#[derive(Deserialize)]
#[serde(expecting = "an object", remote = "Self")]
struct AnyPart {
    #[serde(default)]
    kind: Option<String>,
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    file: Option<File>,
    #[serde(default)]
    data: Option<Unique>,
    #[serde(default, deserialize_with = "json::optional_object")]
    metadata: Option<Object>,
}

/// A file, by its bytes or by where it is.
#[derive(Deserialize)]
#[serde(try_from = "AnyFile")]
struct File {
    content: Content,
    media_type: Option<String>,
    name: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", expecting = "an object", remote = "Self")]
struct AnyFile {
    #[serde(default, deserialize_with = "optional_bytes")]
    bytes: Option<Bytes>,
    #[serde(default)]
    uri: Option<String>,
    #[serde(default, deserialize_with = "empty_is_absent")]
    mime_type: Option<String>,
    #[serde(default, deserialize_with = "empty_is_absent")]
    name: Option<String>,
}

gateway_domain::read_as_object!(
    OnlyKind,
    Message,
    Artifact,
    Task,
    Status,
    StatusUpdate,
    ArtifactUpdate,
    AnyPart,
    AnyFile,
);

impl TryFrom<AnyPart> for Part {
    type Error = String;

    fn try_from(part: AnyPart) -> Result<Self, String> {
        let missing = |member: &str| format!("must have {member:?}, which its kind asks for");
        let plain = DomainPart {
            metadata: part.metadata,
            ..DomainPart::default()
        };
        match part.kind.as_deref() {
            Some(names::TEXT) => part
                .text
                .ok_or_else(|| missing(names::TEXT))
                .map(|text| DomainPart {
                    content: Some(Content::Text(text)),
                    ..plain
                }),
            Some(names::FILE) => part
                .file
                .ok_or_else(|| missing(names::FILE))
                .map(|file| DomainPart {
                    content: Some(file.content),
                    filename: file.name,
                    media_type: file.media_type,
                    ..plain
                }),
            Some(names::DATA) => match part.data {
                Some(Unique(Value::Object(data))) => {
                    let (value, metadata) = data::unwrapped(data, plain.metadata);
                    Ok(DomainPart {
                        content: Some(Content::Data(value)),
                        metadata,
                        ..DomainPart::default()
                    })
                }
                Some(_) => Err("must have an object as \"data\"".to_owned()),
                None => Err(missing(names::DATA)),
            },
            Some(other) => Err(format!(
                "must be of kind text, file or data, not {}",
                names::shown(other)
            )),
            None => Err("must say its kind: text, file or data".to_owned()),
        }
        .map(Self)
    }
}

impl TryFrom<AnyFile> for File {
    type Error = &'static str;

    fn try_from(file: AnyFile) -> Result<Self, &'static str> {
        let content = match (file.bytes, file.uri) {
            (Some(bytes), None) => Content::Raw(bytes),
            (None, Some(uri)) => Content::Url(uri),
            _ => return Err("must hold one of bytes and uri"),
        };
        Ok(Self {
            content,
            media_type: file.mime_type,
            name: file.name,
        })
    }
}

fn optional_bytes<'de, D: Deserializer<'de>>(d: D) -> Result<Option<Bytes>, D::Error> {
    #[derive(Deserialize)]
    struct Base64(#[serde(with = "base64_bytes")] Bytes);
    Ok(Option::<Base64>::deserialize(d)?.map(|bytes| bytes.0))
}

fn message_kind<'de, D: Deserializer<'de>>(d: D) -> Result<(), D::Error> {
    names::read_kind(d, names::MESSAGE)
}
