//! Domain to JSON. Cannot fail; what 0.3 has no field for is left out, as [`encode`](crate::v0_3::encode) says.

use std::sync::Arc;

use gateway_domain::{
    Artifact, AuthenticationInfo, Content, Message, Role, StreamResponse, TaskPushNotificationConfig,
    TaskSnapshot, TaskState, TaskStatus, Timestamp, Version,
    event::{TaskArtifactUpdateEvent, TaskStatusUpdateEvent},
    json::Object,
    notation::base64_bytes,
    reply::{self, ConfigPage},
};
use serde::{Serialize, Serializer, ser::SerializeMap};

use crate::v0_3::{data, names};

/// The answer to a send.
pub(super) struct Sent<'a>(pub(super) &'a reply::Sent);

impl Serialize for Sent<'_> {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            reply::Sent::Task(task) => only(s, "task", &Task(task)),
            reply::Sent::Message(message) => only(s, "message", &Said(message)),
        }
    }
}

/// An event of a stream.
pub(super) struct Event<'a>(pub(super) &'a StreamResponse);

impl Serialize for Event<'_> {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            StreamResponse::Task(task) => only(s, "task", &Task(task)),
            StreamResponse::Message(message) => only(s, "message", &Said(message)),
            StreamResponse::StatusUpdate(event) => only(s, "statusUpdate", &StatusUpdate::of(event)),
            StreamResponse::ArtifactUpdate(event) => only(s, "artifactUpdate", &ArtifactUpdate::of(event)),
        }
    }
}

/// An object of one member.
fn only<S: Serializer>(s: S, name: &'static str, value: &impl Serialize) -> Result<S::Ok, S::Error> {
    let mut members = s.serialize_map(Some(1))?;
    members.serialize_entry(name, value)?;
    members.end()
}

/// The items of a list, each in its form.
struct Each<'a, T, F>(&'a [T], F);

impl<'a, T, F, V> Serialize for Each<'a, T, F>
where
    F: Fn(&'a T) -> V,
    V: Serialize,
{
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_seq(self.0.iter().map(&self.1))
    }
}

/// A task.
pub(super) struct Task<'a>(pub(super) &'a TaskSnapshot);

impl Serialize for Task<'_> {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let task = self.0;
        let mut members = s.serialize_map(None)?;
        members.serialize_entry("id", &task.id)?;
        members.serialize_entry("contextId", &task.context_id)?;
        members.serialize_entry("status", &Status::of(&task.status))?;
        if !task.artifacts.is_empty() {
            members.serialize_entry("artifacts", &Each(&task.artifacts, made))?;
        }
        if !task.history.is_empty() {
            members.serialize_entry("history", &Each(&task.history, said))?;
        }
        if let Some(metadata) = &task.metadata {
            members.serialize_entry("metadata", metadata)?;
        }
        members.end()
    }
}

fn made(shared: &Arc<Artifact>) -> Made<'_> {
    Made(shared)
}

fn said(shared: &Arc<Message>) -> Said<'_> {
    Said(shared)
}

#[derive(Serialize)]
struct Status<'a> {
    state: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<Said<'a>>,
    timestamp: Timestamp,
}

impl<'a> Status<'a> {
    fn of(status: &'a TaskStatus) -> Self {
        Self {
            state: state(status.state),
            message: status.message.as_deref().map(Said),
            timestamp: status.timestamp,
        }
    }
}

/// The name of a state: that of 1.0 but for one letter of one.
fn state(state: TaskState) -> &'static str {
    match state {
        TaskState::Canceled => "TASK_STATE_CANCELLED",
        state => state.name(),
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct StatusUpdate<'a> {
    task_id: &'a str,
    context_id: &'a str,
    status: Status<'a>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    r#final: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<&'a Object>,
}

impl<'a> StatusUpdate<'a> {
    fn of(event: &'a TaskStatusUpdateEvent) -> Self {
        Self {
            task_id: event.task_id.as_str(),
            context_id: event.context_id.as_str(),
            status: Status::of(&event.status),
            r#final: Version::V0_3.ends_streams_at(event.status.state),
            metadata: event.metadata.as_ref(),
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ArtifactUpdate<'a> {
    task_id: &'a str,
    context_id: &'a str,
    artifact: Made<'a>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    append: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    last_chunk: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<&'a Object>,
}

impl<'a> ArtifactUpdate<'a> {
    fn of(event: &'a TaskArtifactUpdateEvent) -> Self {
        Self {
            task_id: event.task_id.as_str(),
            context_id: event.context_id.as_str(),
            artifact: Made(&event.artifact),
            append: event.append,
            last_chunk: event.last_chunk,
            metadata: event.metadata.as_ref(),
        }
    }
}

/// A message.
struct Said<'a>(&'a Message);

impl Serialize for Said<'_> {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let message = self.0;
        let mut members = s.serialize_map(None)?;
        members.serialize_entry("messageId", &message.message_id)?;
        if let Some(context) = &message.context_id {
            members.serialize_entry("contextId", context)?;
        }
        if let Some(task) = &message.task_id {
            members.serialize_entry("taskId", task)?;
        }
        if message.role != Role::Unspecified {
            members.serialize_entry("role", &message.role)?;
        }
        members.serialize_entry("content", &Each(&message.parts, Part))?;
        if let Some(metadata) = &message.metadata {
            members.serialize_entry("metadata", metadata)?;
        }
        if !message.extensions.is_empty() {
            members.serialize_entry("extensions", &message.extensions)?;
        }
        members.end()
    }
}

/// An artifact.
struct Made<'a>(&'a Artifact);

impl Serialize for Made<'_> {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let artifact = self.0;
        let mut members = s.serialize_map(None)?;
        members.serialize_entry("artifactId", &artifact.artifact_id)?;
        if let Some(name) = &artifact.name {
            members.serialize_entry("name", name)?;
        }
        if let Some(description) = &artifact.description {
            members.serialize_entry("description", description)?;
        }
        if !artifact.parts.is_empty() {
            members.serialize_entry("parts", &Each(&artifact.parts, Part))?;
        }
        if let Some(metadata) = &artifact.metadata {
            members.serialize_entry("metadata", metadata)?;
        }
        if !artifact.extensions.is_empty() {
            members.serialize_entry("extensions", &artifact.extensions)?;
        }
        members.end()
    }
}

struct Part<'a>(&'a gateway_domain::Part);

impl Serialize for Part<'_> {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let part = self.0;
        let mut members = s.serialize_map(None)?;
        let mut wrapped = None;
        match &part.content {
            Some(Content::Text(text)) => members.serialize_entry("text", text)?,
            Some(Content::Raw(bytes)) => {
                let bytes = Some(Base64(bytes));
                members.serialize_entry("file", &File::of(part, None, bytes))?;
            }
            Some(Content::Url(uri)) => members.serialize_entry("file", &File::of(part, Some(uri), None))?,
            Some(Content::Data(value)) => {
                wrapped = data::wrapped(value, part.metadata.as_ref());
                match &wrapped {
                    Some((data, _)) => members.serialize_entry("data", &Data { data })?,
                    None => members.serialize_entry("data", &Data { data: value })?,
                }
            }
            None => {}
        }
        let metadata = wrapped.as_ref().map(|(_, metadata)| metadata);
        if let Some(metadata) = metadata.or(part.metadata.as_ref()) {
            members.serialize_entry("metadata", metadata)?;
        }
        members.end()
    }
}

#[derive(Serialize)]
struct Data<'a, T> {
    data: &'a T,
}

#[derive(Serialize)]
struct Base64<'a>(#[serde(serialize_with = "base64_bytes::serialize")] &'a [u8]);

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct File<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    file_with_uri: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    file_with_bytes: Option<Base64<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mime_type: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
}

impl<'a> File<'a> {
    fn of(part: &'a gateway_domain::Part, uri: Option<&'a str>, bytes: Option<Base64<'a>>) -> Self {
        Self {
            file_with_uri: uri,
            file_with_bytes: bytes,
            mime_type: part.media_type.as_deref(),
            name: part.filename.as_deref(),
        }
    }
}

/// A configuration under its name.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Config<'a> {
    name: String,
    push_notification_config: Plain<'a>,
}

#[derive(Serialize)]
struct Plain<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a str>,
    url: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    token: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    authentication: Option<Authentication<'a>>,
}

#[derive(Serialize)]
struct Authentication<'a> {
    schemes: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    credentials: Option<&'a str>,
}

impl<'a> Authentication<'a> {
    fn of(info: &'a AuthenticationInfo) -> Self {
        Self {
            schemes: info.all_schemes(),
            credentials: info.credentials.as_deref(),
        }
    }
}

impl<'a> Config<'a> {
    pub(super) fn of(config: &'a TaskPushNotificationConfig) -> Self {
        Self {
            name: names::of_stored(config),
            push_notification_config: Plain {
                id: config.id.as_ref().map(|id| id.as_str()),
                url: &config.url,
                token: config.token.as_deref(),
                authentication: config.authentication.as_ref().map(Authentication::of),
            },
        }
    }
}

/// A page of configurations.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Configs<'a> {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    configs: Vec<Config<'a>>,
    #[serde(skip_serializing_if = "str::is_empty")]
    next_page_token: &'a str,
}

impl<'a> Configs<'a> {
    pub(super) fn of(page: &'a ConfigPage) -> Self {
        Self {
            configs: page.configs.iter().map(Config::of).collect(),
            next_page_token: &page.next_page_token,
        }
    }
}
