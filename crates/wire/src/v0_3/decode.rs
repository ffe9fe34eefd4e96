//! Protobuf of 0.3 to domain. Requests come out valid; fails with InvalidParams that names every bad field.
//!
//! Only form is judged here: whether a request makes sense is validated in the domain, where requests of every binding
//! and version pass.

use gateway_domain::{
    Error, ErrorKind, Operation, Request, TaskPushNotificationConfig,
    request::{ConfigKey, CreateConfig, Scalar, SendMessage},
};
use prost::Message;

use super::{
    names,
    request::{self, Configuration, Create, NamedConfig, Send},
};
use crate::{
    decode::{At, Faults, whole},
    pb::v0_3,
    weight,
};

pub use message::{artifact, message};
pub use push::{config, configs};
pub use task::{sent, stream_response, task};

mod message;
mod push;
mod task;

/// Reads and validates the message of an operation.
///
/// # Errors
/// ParseError where the bytes are not the operation's message or nest too deep, PayloadTooLarge where they would become
/// too many values, MethodNotFound where 0.3 has no such operation, InvalidParams with every bad field.
pub fn request(operation: Operation, bytes: &[u8]) -> Result<Request, Error> {
    weight::check_0_3(operation, bytes)?;
    Ok(match operation {
        Operation::SendMessage => Request::SendMessage(send(parse(bytes)?)?),
        Operation::SendStreamingMessage => Request::SendStreamingMessage(send(parse(bytes)?)?),
        Operation::GetTask => {
            let v0_3::GetTaskRequest {
                tenant,
                name,
                history_length,
            } = parse(bytes)?;
            let length = Scalar::Integer(history_length.into());
            Request::GetTask(request::get_task(
                Scalar::from_text(tenant),
                task_id(&name)?,
                length,
            )?)
        }
        Operation::CancelTask => {
            let v0_3::CancelTaskRequest { tenant, name } = parse(bytes)?;
            Request::CancelTask(request::cancel_task(Scalar::from_text(tenant), task_id(&name)?)?)
        }
        Operation::SubscribeToTask => {
            let v0_3::TaskSubscriptionRequest { tenant, name } = parse(bytes)?;
            Request::SubscribeToTask(request::subscribe(Scalar::from_text(tenant), task_id(&name)?)?)
        }
        Operation::CreateTaskPushNotificationConfig => {
            Request::CreateTaskPushNotificationConfig(create(parse(bytes)?)?)
        }
        Operation::GetTaskPushNotificationConfig => {
            let v0_3::GetTaskPushNotificationConfigRequest { tenant, name } = parse(bytes)?;
            Request::GetTaskPushNotificationConfig(config_key(tenant, &name)?.into())
        }
        Operation::ListTaskPushNotificationConfigs => {
            let v0_3::ListTaskPushNotificationConfigRequest {
                tenant,
                parent,
                page_size,
                page_token,
            } = parse(bytes)?;
            let (tenant, task) = (Scalar::from_text(tenant), parent_id(&parent)?);
            let (size, token) = (Scalar::Integer(page_size.into()), Scalar::from_text(page_token));
            Request::ListTaskPushNotificationConfigs(request::list_configs(tenant, task, size, token)?)
        }
        Operation::DeleteTaskPushNotificationConfig => {
            let v0_3::DeleteTaskPushNotificationConfigRequest { tenant, name } = parse(bytes)?;
            Request::DeleteTaskPushNotificationConfig(config_key(tenant, &name)?)
        }
        Operation::GetExtendedAgentCard => {
            let v0_3::GetAgentCardRequest { tenant } = parse(bytes)?;
            Request::GetExtendedAgentCard(request::get_card(Scalar::from_text(tenant))?)
        }
        other => return Err(super::no_such_operation(other)),
    })
}

/// A message that cannot be read is its sender's fault.
fn parse<M: Message + Default>(bytes: &[u8]) -> Result<M, Error> {
    M::decode(bytes).map_err(|error| {
        let text = format!("the message is not one of this method: {error}");
        Error::new(ErrorKind::ParseError, text)
    })
}

fn task_id(name: &str) -> Result<String, Error> {
    let id = names::task_id(name).ok_or_else(|| Error::invalid("name", names::A_TASK))?;
    Ok(id.to_owned())
}

fn parent_id(parent: &str) -> Result<String, Error> {
    let id = names::parent_id(parent).ok_or_else(|| Error::invalid("parent", names::A_TASK))?;
    Ok(id.to_owned())
}

fn config_key(tenant: String, name: &str) -> Result<ConfigKey, Error> {
    let (task, config) = names::config_ids(name).ok_or_else(|| Error::invalid("name", names::A_CONFIG))?;
    request::config_key(Scalar::from_text(tenant), task.to_owned(), config.to_owned())
}

fn send(request: v0_3::SendMessageRequest) -> Result<SendMessage, Error> {
    let send = whole(|faults, at| {
        let message = request.request;
        Some(Send {
            tenant: Scalar::from_text(request.tenant),
            message: message.and_then(|message| message::message_at(message, faults, &at.field("message"))),
            configuration: request.configuration.map(configuration),
            metadata: message::metadata(request.metadata, faults, at),
        })
    })?;
    send.request()
}

fn configuration(configuration: v0_3::SendMessageConfiguration) -> Configuration {
    Configuration {
        accepted_output_modes: configuration.accepted_output_modes,
        push: configuration.push_notification.map(push::plain),
        history_length: configuration.history_length,
        blocking: configuration.blocking,
    }
}

fn create(request: v0_3::CreateTaskPushNotificationConfigRequest) -> Result<CreateConfig, Error> {
    let named = |config: v0_3::TaskPushNotificationConfig| NamedConfig {
        name: config.name,
        config: config.push_notification_config.map(push::plain),
    };
    let create = Create {
        tenant: request.tenant,
        parent: request.parent,
        config_id: request.config_id,
        config: request.config.map(named),
    };
    create.request()
}
