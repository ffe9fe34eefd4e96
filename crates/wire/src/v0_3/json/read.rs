//! JSON to domain: the body of a request, with what the path and the query say besides.

use bytes::Bytes;
use gateway_domain::{
    Content, ContextId, Error, MessageId, Operation, PushNotificationConfigId, Request, Role, TaskId,
    TaskPushNotificationConfig, Version,
    json::{Object, optional_object},
    notation::{Int32, base64_bytes, null_default},
    request::{Scalar, read_json},
};
use serde::Deserialize;

use crate::v0_3::{
    data, names, no_such_operation,
    request::{self, NamedConfig},
};

/// Reads and validates a request. `ids` are those of the path, decoded, in their order: the task's, then the
/// configuration's. `query` knows the parameters by their JSON names; an empty body is as good as `{}`.
///
/// # Errors
/// What `query` says; ParseError, PayloadTooLarge; MethodNotFound where 0.3 has no such operation; InvalidParams with
/// the bad fields.
pub fn request(
    operation: Operation,
    ids: &[String],
    query: impl Fn(&'static str) -> Result<Scalar, Error>,
    body: &[u8],
) -> Result<Request, Error> {
    let body = if body.is_empty() { b"{}" } else { body };
    let id = |at| ids.get(at).cloned().unwrap_or_default();
    let task = id(0);
    Ok(match operation {
        Operation::SendMessage => Request::SendMessage(read_json::<Send>(body)?.into_send().request()?),
        Operation::SendStreamingMessage => {
            Request::SendStreamingMessage(read_json::<Send>(body)?.into_send().request()?)
        }
        Operation::GetTask => Request::GetTask(request::get_task(
            query("tenant")?,
            task,
            query("historyLength")?,
        )?),
        Operation::CancelTask => {
            let tenant = read_json::<Named>(body)?.tenant_beside(&task)?;
            Request::CancelTask(request::cancel_task(tenant, task)?)
        }
        // By GET the tenant is in the query, by POST in the body.
        Operation::SubscribeToTask => {
            let tenant = read_json::<Named>(body)?.tenant_beside(&task)?;
            let tenant = if tenant.is_present() {
                tenant
            } else {
                query("tenant")?
            };
            Request::SubscribeToTask(request::subscribe(tenant, task)?)
        }
        Operation::CreateTaskPushNotificationConfig => {
            let create = read_json::<Create>(body)?;
            let (tenant, id) = (in_query(query("tenant")?), in_query(query("configId")?));
            let created = create.request(&task, tenant, id)?;
            Request::CreateTaskPushNotificationConfig(created)
        }
        Operation::GetTaskPushNotificationConfig => {
            let key = request::config_key(query("tenant")?, task, id(1))?;
            Request::GetTaskPushNotificationConfig(key.into())
        }
        Operation::ListTaskPushNotificationConfigs => {
            let (size, token) = (query("pageSize")?, query("pageToken")?);
            Request::ListTaskPushNotificationConfigs(request::list_configs(
                query("tenant")?,
                task,
                size,
                token,
            )?)
        }
        Operation::DeleteTaskPushNotificationConfig => {
            let key = request::config_key(query("tenant")?, task, id(1))?;
            Request::DeleteTaskPushNotificationConfig(key)
        }
        Operation::GetExtendedAgentCard => {
            Request::GetExtendedAgentCard(request::get_card(query("tenant")?)?)
        }
        other => return Err(no_such_operation(other)),
    })
}

gateway_domain::read_as_object!(
    Send,
    Configuration,
    Named,
    Create,
    Config,
    Push,
    Authentication,
    Message,
    Choice,
    File,
    Data
);

#[derive(Default, Deserialize)]
#[serde(default, expecting = "an object", remote = "Self")]
struct Send {
    tenant: Scalar,
    #[serde(alias = "request")]
    message: Option<Message>,
    configuration: Option<Configuration>,
    #[serde(deserialize_with = "optional_object")]
    metadata: Option<Object>,
}

impl Send {
    fn into_send(self) -> request::Send {
        request::Send {
            tenant: self.tenant,
            message: self.message.map(Message::into_domain),
            configuration: self.configuration.map(Configuration::into_configuration),
            metadata: self.metadata,
        }
    }
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default, expecting = "an object", remote = "Self")]
struct Configuration {
    #[serde(alias = "accepted_output_modes", deserialize_with = "null_default")]
    accepted_output_modes: Vec<String>,
    #[serde(alias = "push_notification")]
    push_notification: Option<Push>,
    #[serde(alias = "history_length")]
    history_length: Option<Int32>,
    #[serde(deserialize_with = "null_default")]
    blocking: bool,
}

impl Configuration {
    fn into_configuration(self) -> request::Configuration {
        request::Configuration {
            accepted_output_modes: self.accepted_output_modes,
            push: self.push_notification.map(Push::into_domain),
            history_length: self.history_length.map_or(0, |length| length.0),
            blocking: self.blocking,
        }
    }
}

/// A request that has its task in the path, too.
#[derive(Default, Deserialize)]
#[serde(default, expecting = "an object", remote = "Self")]
struct Named {
    tenant: Scalar,
    #[serde(deserialize_with = "null_default")]
    name: String,
}

impl Named {
    fn tenant_beside(self, task: &str) -> Result<Scalar, Error> {
        if self.name.is_empty() || names::task_id(&self.name) == Some(task) {
            return Ok(self.tenant);
        }
        Err(Error::invalid(
            "name",
            "must be absent or name the task of the path",
        ))
    }
}

/// By the proto the body is the configuration; SDKs send the whole request. Either is read.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default, expecting = "an object", remote = "Self")]
struct Create {
    #[serde(deserialize_with = "null_default")]
    tenant: String,
    #[serde(deserialize_with = "null_default")]
    parent: String,
    #[serde(alias = "config_id", deserialize_with = "null_default")]
    config_id: String,
    config: Option<Config>,
    #[serde(deserialize_with = "null_default")]
    name: String,
    #[serde(alias = "push_notification_config")]
    push_notification_config: Option<Push>,
}

/// A text from the query, if it is there.
fn in_query(parameter: Scalar) -> String {
    match parameter {
        Scalar::Query(text) => text,
        _ => String::new(),
    }
}

/// What stands in the query or in the body, or in both alike.
fn one_of(field: &'static str, in_query: String, in_body: String) -> Result<Option<String>, Error> {
    if !in_query.is_empty() && !in_body.is_empty() && in_query != in_body {
        return Err(Error::invalid(
            field,
            "is one thing in the query and another in the body",
        ));
    }
    Ok([in_query, in_body].into_iter().find(|text| !text.is_empty()))
}

impl Create {
    /// By its rule the configuration is the body and all else stands in the query; it is taken from either.
    fn request(
        self,
        task: &str,
        tenant: String,
        id: String,
    ) -> Result<gateway_domain::request::CreateConfig, Error> {
        if !self.parent.is_empty() && names::parent_id(&self.parent) != Some(task) {
            return Err(Error::invalid(
                "parent",
                "must be absent or name the task of the path",
            ));
        }
        let alone = Config {
            name: self.name,
            push_notification_config: self.push_notification_config,
        };
        let config = self.config.unwrap_or(alone).into_named();
        let id = one_of("configId", id, self.config_id)?;
        let create = request::Create {
            tenant: one_of("tenant", tenant, self.tenant)?.unwrap_or_default(),
            parent: format!("tasks/{task}"),
            config_id: id.unwrap_or_else(|| config.own_id()),
            config: Some(config),
        };
        create.request()
    }
}

impl NamedConfig {
    /// The id that it brings along, where the request itself has none.
    fn own_id(&self) -> String {
        let in_name = names::config_ids(&self.name).map(|(_, id)| id.to_owned());
        let inner = self.config.as_ref().and_then(|config| config.id.as_ref());
        in_name.or(inner.map(ToString::to_string)).unwrap_or_default()
    }
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default, expecting = "an object", remote = "Self")]
struct Config {
    #[serde(deserialize_with = "null_default")]
    name: String,
    #[serde(alias = "push_notification_config")]
    push_notification_config: Option<Push>,
}

impl Config {
    fn into_named(self) -> NamedConfig {
        NamedConfig {
            name: self.name,
            config: self.push_notification_config.map(Push::into_domain),
        }
    }
}

#[derive(Default, Deserialize)]
#[serde(default, expecting = "an object", remote = "Self")]
struct Push {
    #[serde(deserialize_with = "null_default")]
    id: String,
    #[serde(deserialize_with = "null_default")]
    url: String,
    #[serde(deserialize_with = "null_default")]
    token: String,
    authentication: Option<Authentication>,
}

#[derive(Default, Deserialize)]
#[serde(default, expecting = "an object", remote = "Self")]
struct Authentication {
    #[serde(deserialize_with = "null_default")]
    schemes: Vec<String>,
    #[serde(deserialize_with = "null_default")]
    credentials: String,
}

impl Push {
    fn into_domain(self) -> TaskPushNotificationConfig {
        TaskPushNotificationConfig {
            tenant: None,
            id: PushNotificationConfigId::optional(self.id),
            task_id: None,
            url: self.url,
            token: non_empty(self.token),
            authentication: self
                .authentication
                .and_then(|info| request::authentication(info.schemes, non_empty(info.credentials))),
            version: Version::V0_3,
        }
    }
}

fn non_empty(text: String) -> Option<String> {
    Some(text).filter(|text| !text.is_empty())
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default, expecting = "an object", remote = "Self")]
struct Message {
    #[serde(alias = "message_id", deserialize_with = "null_default")]
    message_id: String,
    #[serde(alias = "context_id", deserialize_with = "null_default")]
    context_id: String,
    #[serde(alias = "task_id", deserialize_with = "null_default")]
    task_id: String,
    #[serde(deserialize_with = "null_default")]
    role: Role,
    #[serde(deserialize_with = "null_default")]
    content: Vec<Part>,
    #[serde(deserialize_with = "optional_object")]
    metadata: Option<Object>,
    #[serde(deserialize_with = "null_default")]
    extensions: Vec<String>,
}

impl Message {
    fn into_domain(self) -> gateway_domain::Message {
        gateway_domain::Message {
            message_id: MessageId::new(self.message_id),
            context_id: ContextId::optional(self.context_id),
            task_id: TaskId::optional(self.task_id),
            role: self.role,
            parts: self.content.into_iter().map(|part| part.0).collect(),
            metadata: self.metadata,
            extensions: self.extensions,
            reference_task_ids: Vec::new(),
        }
    }
}

#[derive(Default, Deserialize)]
#[serde(default, expecting = "an object", remote = "Self")]
struct Choice {
    text: Option<String>,
    file: Option<File>,
    data: Option<Data>,
    #[serde(deserialize_with = "optional_object")]
    metadata: Option<Object>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default, expecting = "an object", remote = "Self")]
struct File {
    #[serde(alias = "file_with_uri")]
    file_with_uri: Option<String>,
    #[serde(alias = "file_with_bytes")]
    file_with_bytes: Option<Base64>,
    #[serde(alias = "mime_type", deserialize_with = "null_default")]
    mime_type: String,
    #[serde(deserialize_with = "null_default")]
    name: String,
}

#[derive(Deserialize)]
struct Base64(#[serde(with = "base64_bytes")] Bytes);

#[derive(Default, Deserialize)]
#[serde(default, expecting = "an object", remote = "Self")]
struct Data {
    #[serde(deserialize_with = "optional_object")]
    data: Option<Object>,
}

/// A part that has its content.
#[derive(Deserialize)]
#[serde(try_from = "Choice")]
struct Part(gateway_domain::Part);

impl TryFrom<Choice> for Part {
    type Error = &'static str;

    fn try_from(part: Choice) -> Result<Self, Self::Error> {
        let metadata = part.metadata;
        Ok(Self(match (part.text, part.file, part.data) {
            (Some(text), None, None) => gateway_domain::Part {
                content: Some(Content::Text(text)),
                metadata,
                ..Default::default()
            },
            (None, Some(file), None) => gateway_domain::Part {
                content: Some(match (file.file_with_uri, file.file_with_bytes) {
                    (Some(uri), None) => Content::Url(uri),
                    (None, Some(Base64(bytes))) => Content::Raw(bytes),
                    _ => return Err("must hold one of file.fileWithUri and file.fileWithBytes"),
                }),
                metadata,
                filename: non_empty(file.name),
                media_type: non_empty(file.mime_type),
            },
            (None, None, Some(part)) => {
                let (data, metadata) = data::unwrapped(part.data.unwrap_or_default(), metadata);
                gateway_domain::Part {
                    content: Some(Content::Data(data)),
                    metadata,
                    ..Default::default()
                }
            }
            _ => return Err("must hold one of text, file and data"),
        }))
    }
}
