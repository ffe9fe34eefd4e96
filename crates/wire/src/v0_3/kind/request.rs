//! The parameters of each method of 0.3 over JSON-RPC. They become the parameters that 1.0 has too and are validated as
//! those; what is then found wrong gets the names that a client of 0.3 knows from [`terms`](super::super::terms).

use gateway_domain::{
    Error, Operation, Request, TaskId, TaskPushNotificationConfig, Version,
    error::Violation,
    json,
    json::Object,
    notation::{Int32, empty_is_absent, null_default},
    request::{
        ConfigKey, GetConfig, GetExtendedAgentCard, ListConfigs, OtherwiseCard, PageRequest, Scalar,
        SendMessage, params, read_json,
    },
};
use serde::Deserialize;

use super::{push, read};
use crate::v0_3::no_such_operation;

/// Reads the parameters of an operation.
///
/// # Errors
/// As [`gateway_domain::request::from_json`]; MethodNotFound for what 0.3 does not have.
pub fn request(operation: Operation, text: &[u8]) -> Result<Request, Error> {
    match operation {
        Operation::SendMessage => send(text).map(Request::SendMessage),
        Operation::SendStreamingMessage => send(text).map(Request::SendStreamingMessage),
        Operation::GetTask => get_task(text),
        Operation::CancelTask => cancel_task(text),
        Operation::SubscribeToTask => subscribe(text),
        Operation::CreateTaskPushNotificationConfig => set_config(text),
        Operation::GetTaskPushNotificationConfig => get_config(text),
        Operation::ListTaskPushNotificationConfigs => list_configs(text),
        Operation::DeleteTaskPushNotificationConfig => delete_config(text),
        Operation::GetExtendedAgentCard => extended_card(text),
        other => Err(no_such_operation(other)),
    }
}

/// `MessageSendParams`.
#[derive(Deserialize, Default)]
#[serde(expecting = "an object", default, remote = "Self")]
struct Send {
    message: Option<read::Message>,
    #[serde(deserialize_with = "null_default")]
    configuration: Configuration,
    #[serde(deserialize_with = "json::optional_object")]
    metadata: Option<Object>,
}

/// `MessageSendConfiguration`.
#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", expecting = "an object", default, remote = "Self")]
struct Configuration {
    #[serde(deserialize_with = "null_default")]
    accepted_output_modes: Vec<String>,
    blocking: Option<bool>,
    history_length: Option<Int32>,
    push_notification_config: Option<push::Read>,
}

/// `TaskQueryParams`, and `TaskIdParams`, which has no history.
#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", expecting = "an object", default, remote = "Self")]
struct OneTask {
    id: Scalar,
    history_length: Scalar,
    #[serde(deserialize_with = "json::optional_object")]
    metadata: Option<Object>,
}

/// `TaskPushNotificationConfig`.
#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", expecting = "an object", default, remote = "Self")]
struct SetConfig {
    #[serde(deserialize_with = "empty_is_absent")]
    task_id: Option<TaskId>,
    push_notification_config: Option<push::Read>,
}

/// `GetTaskPushNotificationConfigParams` and those of its kin.
#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", expecting = "an object", default, remote = "Self")]
struct OneConfig {
    id: Scalar,
    push_notification_config_id: Scalar,
}

gateway_domain::read_as_object!(Send, Configuration, OneTask, SetConfig, OneConfig);

fn send(text: &[u8]) -> Result<SendMessage, Error> {
    let Send {
        message,
        configuration,
        metadata,
    } = read_json(text)?;
    let params = params::SendMessage {
        tenant: Scalar::Absent,
        message: message.map(read::Message::into_domain),
        configuration: params::SendConfiguration {
            accepted_output_modes: configuration.accepted_output_modes,
            task_push_notification_config: configuration
                .push_notification_config
                .map(|config| config.into_domain(None)),
            history_length: configuration.history_length,
            return_immediately: configuration.blocking == Some(false),
        },
        metadata,
    };
    let mut request = params.validate().map_err(|error| told(&error))?;
    request.configuration.version = Version::V0_3;
    Ok(request)
}

fn get_task(text: &[u8]) -> Result<Request, Error> {
    let OneTask {
        id, history_length, ..
    } = read_json(text)?;
    let params = params::GetTask {
        tenant: Scalar::Absent,
        id,
        history_length,
    };
    params.validate().map(Request::GetTask)
}

fn cancel_task(text: &[u8]) -> Result<Request, Error> {
    let OneTask { id, metadata, .. } = read_json(text)?;
    let params = params::CancelTask {
        tenant: Scalar::Absent,
        id,
        metadata,
    };
    params.validate().map(Request::CancelTask)
}

fn subscribe(text: &[u8]) -> Result<Request, Error> {
    let OneTask { id, .. } = read_json(text)?;
    let params = params::SubscribeToTask {
        tenant: Scalar::Absent,
        id,
    };
    let mut request = params.validate()?;
    request.version = Version::V0_3;
    Ok(Request::SubscribeToTask(request))
}

fn set_config(text: &[u8]) -> Result<Request, Error> {
    let SetConfig {
        task_id,
        push_notification_config,
    } = read_json(text)?;
    let Some(config) = push_notification_config else {
        return Err(Error::invalid("pushNotificationConfig", "is required"));
    };
    let config: TaskPushNotificationConfig = config.into_domain(task_id);
    let params = params::CreateConfig { config };
    let request = params.validate()?;
    Ok(Request::CreateTaskPushNotificationConfig(request))
}

fn get_config(text: &[u8]) -> Result<Request, Error> {
    let read: OneConfig = read_json(text)?;
    if read.push_notification_config_id.is_present() {
        return key(read).map(|key| Request::GetTaskPushNotificationConfig(key.into()));
    }
    let list = all_of(read.id)?;
    Ok(Request::GetTaskPushNotificationConfig(GetConfig {
        tenant: list.tenant,
        task_id: list.task_id,
        id: None,
    }))
}

fn list_configs(text: &[u8]) -> Result<Request, Error> {
    let OneConfig { id, .. } = read_json(text)?;
    let mut request = all_of(id)?;
    request.page = PageRequest::everything();
    request.version = Version::V0_3;
    Ok(Request::ListTaskPushNotificationConfigs(request))
}

fn delete_config(text: &[u8]) -> Result<Request, Error> {
    key(read_json(text)?).map(Request::DeleteTaskPushNotificationConfig)
}

/// The card has no parameters, but may be sent an empty object.
fn extended_card(text: &[u8]) -> Result<Request, Error> {
    read_json::<params::GetExtendedAgentCard>(text)?;
    Ok(Request::GetExtendedAgentCard(GetExtendedAgentCard {
        tenant: None,
        otherwise: OtherwiseCard::NotConfigured,
    }))
}

fn key(read: OneConfig) -> Result<ConfigKey, Error> {
    let params = params::ConfigKey {
        tenant: Scalar::Absent,
        task_id: read.id,
        id: read.push_notification_config_id,
    };
    params.validate()
}

fn all_of(task_id: Scalar) -> Result<ListConfigs, Error> {
    let params = params::ListConfigs {
        task_id,
        ..params::ListConfigs::default()
    };
    params.validate()
}

/// What validation found, in words that 0.3 has.
fn told(error: &Error) -> Error {
    let told = |violation: &Violation| Violation {
        field: violation.field.clone(),
        description: violation.description.replace("ROLE_USER", "\"user\"").into(),
    };
    Error::invalid_params(error.violations().iter().map(told).collect())
}
