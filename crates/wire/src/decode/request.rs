//! Requests of clients, into the same unvalidated parameters that the JSON bindings fill.

use gateway_domain::{
    Error, Timestamp,
    notation::Int32,
    request::{Scalar, params},
};

use super::{
    config,
    message::{message_at, metadata},
    whole,
};
use crate::pb::v1;

/// SendMessage and SendStreamingMessage.
///
/// # Errors
/// InvalidParams with every fault of form.
pub fn send_message(request: v1::SendMessageRequest) -> Result<params::SendMessage, Error> {
    whole(|faults, at| {
        let message = request
            .message
            .and_then(|message| message_at(message, faults, &at.field("message")));
        Some(params::SendMessage {
            tenant: Scalar::from_text(request.tenant),
            message,
            configuration: request.configuration.map(configuration).unwrap_or_default(),
            metadata: metadata(request.metadata, faults, at),
        })
    })
}

/// GetTask.
pub fn get_task(request: v1::GetTaskRequest) -> params::GetTask {
    params::GetTask {
        tenant: Scalar::from_text(request.tenant),
        id: Scalar::from_text(request.id),
        history_length: Scalar::from_integer(request.history_length),
    }
}

/// ListTasks.
pub fn list_tasks(request: v1::ListTasksRequest) -> params::ListTasks {
    params::ListTasks {
        tenant: Scalar::from_text(request.tenant),
        context_id: Scalar::from_text(request.context_id),
        status: Scalar::Integer(request.status.into()),
        page_size: Scalar::from_integer(request.page_size),
        page_token: Scalar::from_text(request.page_token),
        history_length: Scalar::from_integer(request.history_length),
        status_timestamp_after: request.status_timestamp_after.map_or(Scalar::Absent, timestamp),
        include_artifacts: Scalar::from_bool(request.include_artifacts),
    }
}

/// CancelTask.
///
/// # Errors
/// InvalidParams with every fault of form.
pub fn cancel_task(request: v1::CancelTaskRequest) -> Result<params::CancelTask, Error> {
    whole(|faults, at| {
        Some(params::CancelTask {
            tenant: Scalar::from_text(request.tenant),
            id: Scalar::from_text(request.id),
            metadata: metadata(request.metadata, faults, at),
        })
    })
}

/// SubscribeToTask.
pub fn subscribe_to_task(request: v1::SubscribeToTaskRequest) -> params::SubscribeToTask {
    params::SubscribeToTask {
        tenant: Scalar::from_text(request.tenant),
        id: Scalar::from_text(request.id),
    }
}

/// CreateTaskPushNotificationConfig.
pub fn create_config(request: v1::TaskPushNotificationConfig) -> params::CreateConfig {
    params::CreateConfig {
        config: config(request),
    }
}

/// GetTaskPushNotificationConfig.
pub fn get_config(request: v1::GetTaskPushNotificationConfigRequest) -> params::ConfigKey {
    config_key(request.tenant, request.task_id, request.id)
}

/// ListTaskPushNotificationConfigs.
pub fn list_configs(request: v1::ListTaskPushNotificationConfigsRequest) -> params::ListConfigs {
    params::ListConfigs {
        tenant: Scalar::from_text(request.tenant),
        task_id: Scalar::from_text(request.task_id),
        page_size: Scalar::Integer(request.page_size.into()),
        page_token: Scalar::from_text(request.page_token),
    }
}

/// DeleteTaskPushNotificationConfig.
pub fn delete_config(request: v1::DeleteTaskPushNotificationConfigRequest) -> params::ConfigKey {
    config_key(request.tenant, request.task_id, request.id)
}

/// GetExtendedAgentCard.
pub fn get_extended_agent_card(request: v1::GetExtendedAgentCardRequest) -> params::GetExtendedAgentCard {
    params::GetExtendedAgentCard {
        tenant: Scalar::from_text(request.tenant),
    }
}

fn configuration(configuration: v1::SendMessageConfiguration) -> params::SendConfiguration {
    params::SendConfiguration {
        accepted_output_modes: configuration.accepted_output_modes,
        task_push_notification_config: configuration.task_push_notification_config.map(config),
        history_length: configuration.history_length.map(Int32),
        return_immediately: configuration.return_immediately,
    }
}

fn config_key(tenant: String, task_id: String, id: String) -> params::ConfigKey {
    params::ConfigKey {
        tenant: Scalar::from_text(tenant),
        task_id: Scalar::from_text(task_id),
        id: Scalar::from_text(id),
    }
}

/// A moment as the text that JSON has for it. One out of range becomes a text that is no moment, so that the
/// validation names it together with what else is wrong.
fn timestamp(moment: prost_types::Timestamp) -> Scalar {
    Scalar::Text(
        match Timestamp::from_seconds_nanos(moment.seconds, moment.nanos) {
            Some(moment) => moment.to_string(),
            None => format!("{} s {} ns", moment.seconds, moment.nanos),
        },
    )
}
