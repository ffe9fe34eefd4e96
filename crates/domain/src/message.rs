//! Messages and their parts (§4.1.4, §4.1.6).

use std::{borrow::Cow, fmt, sync::Arc};

use bytes::Bytes;
use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{self, MapAccess, Visitor},
    ser::SerializeMap,
};
use serde_json::Value;

use crate::{
    ContextId, MessageId, TaskId, json,
    json::Object,
    notation::{base64_bytes, empty_is_absent, null_default, proto_enum},
};

/// One turn of a conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", expecting = "an object", remote = "Self")]
pub struct Message {
    /// Made by the sender; empty only before validation.
    #[serde(default, alias = "message_id", deserialize_with = "null_default")]
    pub message_id: MessageId,
    /// The conversation, where known.
    #[serde(
        default,
        alias = "context_id",
        deserialize_with = "empty_is_absent",
        skip_serializing_if = "Option::is_none"
    )]
    pub context_id: Option<ContextId>,
    /// The task it belongs to, where known.
    #[serde(
        default,
        alias = "task_id",
        deserialize_with = "empty_is_absent",
        skip_serializing_if = "Option::is_none"
    )]
    pub task_id: Option<TaskId>,
    /// Who speaks; unspecified only before validation.
    #[serde(default, deserialize_with = "null_default")]
    pub role: Role,
    /// What is said, at least one part after validation.
    #[serde(default, deserialize_with = "null_default")]
    pub parts: Vec<Part>,
    /// Free data.
    #[serde(
        default,
        deserialize_with = "json::optional_object",
        skip_serializing_if = "Option::is_none"
    )]
    pub metadata: Option<Object>,
    /// URIs of the extensions that this message uses.
    #[serde(
        default,
        deserialize_with = "null_default",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub extensions: Vec<String>,
    /// Other tasks that it speaks of.
    #[serde(
        default,
        alias = "reference_task_ids",
        deserialize_with = "null_default",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub reference_task_ids: Vec<TaskId>,
}

crate::notation::read_as_object!(Message);
crate::notation::write_as_derived!(Message);

impl Message {
    /// A message of the agent with one text part.
    pub fn agent_text(message_id: MessageId, text: impl Into<String>) -> Self {
        Self {
            message_id,
            context_id: None,
            task_id: None,
            role: Role::Agent,
            parts: vec![Part::text(text)],
            metadata: None,
            extensions: Vec::new(),
            reference_task_ids: Vec::new(),
        }
    }

    /// The text of the first part that has one.
    pub fn first_text(&self) -> Option<&str> {
        self.parts.iter().find_map(|part| match &part.content {
            Some(Content::Text(text)) => Some(text.as_str()),
            _ => None,
        })
    }

    /// Roughly the bytes that it takes in memory and on the wire.
    pub fn weight(&self) -> usize {
        64 + self.message_id.as_str().len()
            + self.parts.iter().map(Part::weight).sum::<usize>()
            + self.metadata.as_ref().map_or(0, json::object_weight)
            + self.extensions.iter().map(|uri| uri.len() + 8).sum::<usize>()
            + self
                .reference_task_ids
                .iter()
                .map(|id| id.as_str().len() + 8)
                .sum::<usize>()
    }

    /// The same message as part of a task.
    #[must_use]
    pub fn in_task(mut self, task: &TaskId, context: &ContextId) -> Arc<Self> {
        self.task_id = Some(task.clone());
        self.context_id = Some(context.clone());
        Arc::new(self)
    }
}

proto_enum! {
    /// Who speaks (§4.1.5).
    #[derive(Default)]
    Role {
        /// Not a valid role: stands where a request names none, until validation says so.
        #[default]
        Unspecified = 0 "ROLE_UNSPECIFIED",
        /// The client.
        User = 1 "ROLE_USER",
        /// The agent.
        Agent = 2 "ROLE_AGENT",
    }
}

/// One piece of content (§4.1.6).
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Part {
    /// Exactly one after validation.
    pub content: Option<Content>,
    /// Free data.
    pub metadata: Option<Object>,
    /// A name for the content, such as that of a file.
    pub filename: Option<String>,
    /// The media type of the content.
    pub media_type: Option<String>,
}

/// What a part holds.
#[derive(Debug, Clone, PartialEq)]
pub enum Content {
    /// Text.
    Text(String),
    /// Bytes; base64 in JSON.
    Raw(Bytes),
    /// Where the content is.
    Url(String),
    /// Any JSON value, `null` included.
    Data(Value),
}

impl Part {
    /// A part that holds text.
    pub fn text(text: impl Into<String>) -> Self {
        Self {
            content: Some(Content::Text(text.into())),
            ..Self::default()
        }
    }

    /// The media type that counts when an agent names the types it takes: a text without one is `text/plain`,
    /// data `application/json`; bytes and URLs without one are of no known type.
    pub fn effective_media_type(&self) -> Option<&str> {
        self.media_type.as_deref().or(match &self.content {
            Some(Content::Text(_)) => Some("text/plain"),
            Some(Content::Data(_)) => Some("application/json"),
            _ => None,
        })
    }

    /// Roughly the bytes that it takes in memory and on the wire.
    pub fn weight(&self) -> usize {
        let content = match &self.content {
            Some(Content::Text(text) | Content::Url(text)) => text.len(),
            Some(Content::Raw(bytes)) => bytes.len() * 4 / 3,
            Some(Content::Data(value)) => json::weight(value),
            None => 0,
        };
        16 + content
            + self.metadata.as_ref().map_or(0, json::object_weight)
            + self.filename.as_ref().map_or(0, String::len)
            + self.media_type.as_ref().map_or(0, String::len)
    }
}

impl Serialize for Part {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        struct Raw<'a>(&'a Bytes);
        impl Serialize for Raw<'_> {
            fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
                base64_bytes::serialize(self.0, s)
            }
        }
        let mut members = s.serialize_map(None)?;
        match &self.content {
            Some(Content::Text(text)) => members.serialize_entry("text", text)?,
            Some(Content::Raw(bytes)) => members.serialize_entry("raw", &Raw(bytes))?,
            Some(Content::Url(url)) => members.serialize_entry("url", url)?,
            Some(Content::Data(value)) => members.serialize_entry("data", value)?,
            None => {}
        }
        if let Some(metadata) = &self.metadata {
            members.serialize_entry("metadata", metadata)?;
        }
        if let Some(filename) = &self.filename {
            members.serialize_entry("filename", filename)?;
        }
        if let Some(media_type) = &self.media_type {
            members.serialize_entry("mediaType", media_type)?;
        }
        members.end()
    }
}

impl<'de> Deserialize<'de> for Part {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        d.deserialize_map(PartVisitor)
    }
}

/// Members of a part. An enum of our own, since a part must know which of its four contents came, how often, and
/// whether `data` came as `null`.
#[derive(Clone, Copy)]
enum Member {
    Text,
    Raw,
    Url,
    Data,
    Metadata,
    Filename,
    MediaType,
    Unknown,
}

impl<'de> Deserialize<'de> for Member {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        struct Names;
        impl Visitor<'_> for Names {
            type Value = Member;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a member of a part")
            }
            fn visit_str<E>(self, name: &str) -> Result<Member, E> {
                Ok(match name {
                    "text" => Member::Text,
                    "raw" => Member::Raw,
                    "url" => Member::Url,
                    "data" => Member::Data,
                    "metadata" => Member::Metadata,
                    "filename" => Member::Filename,
                    "mediaType" | "media_type" => Member::MediaType,
                    _ => Member::Unknown,
                })
            }
        }
        // As an identifier, so that a reader that tracks paths sees the name.
        d.deserialize_identifier(Names)
    }
}

struct PartVisitor;

impl<'de> Visitor<'de> for PartVisitor {
    type Value = Part;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a part, which is an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Part, A::Error> {
        #[derive(Deserialize)]
        struct Raw(#[serde(with = "base64_bytes")] Bytes);
        let mut part = Part::default();
        let mut seen = [false; 8];
        while let Some(member) = members.next_key::<Member>()? {
            let known = !matches!(member, Member::Unknown);
            if known && std::mem::replace(&mut seen[member as usize], true) {
                return Err(de::Error::custom("a part names a member twice"));
            }
            let content = match member {
                Member::Text => members.next_value::<Option<String>>()?.map(Content::Text),
                Member::Raw => members
                    .next_value::<Option<Raw>>()?
                    .map(|raw| Content::Raw(raw.0)),
                Member::Url => members.next_value::<Option<String>>()?.map(Content::Url),
                // Null is a value here, not an absent member.
                Member::Data => Some(Content::Data(members.next_value::<json::Unique>()?.0)),
                Member::Metadata => {
                    part.metadata = members.next_value::<OptionalObject>()?.0;
                    None
                }
                Member::Filename => {
                    part.filename = non_empty(members.next_value()?);
                    None
                }
                Member::MediaType => {
                    part.media_type = non_empty(members.next_value()?);
                    None
                }
                Member::Unknown => {
                    members.next_value::<de::IgnoredAny>()?;
                    None
                }
            };
            if content.is_some() && part.content.is_some() {
                return Err(de::Error::custom("must hold only one of text, raw, url and data"));
            }
            part.content = content.or(part.content);
        }
        Ok(part)
    }
}

#[derive(Deserialize)]
struct OptionalObject(#[serde(deserialize_with = "json::optional_object")] Option<Object>);

fn non_empty(text: Option<Cow<'_, str>>) -> Option<String> {
    text.filter(|text| !text.is_empty()).map(Cow::into_owned)
}
