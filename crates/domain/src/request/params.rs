//! Requests as any binding reads them. Every field may be missing or wrong; `validate` (in the module beside this
//! one) turns them into requests. Names in JSON are camelCase, snake_case is read too; unknown members are ignored.

use serde::Deserialize;

use super::Scalar;
use crate::{
    Artifact, Message, TaskPushNotificationConfig, json,
    json::Object,
    notation::{Int32, null_default},
};

/// SendMessage and SendStreamingMessage.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", expecting = "an object", default, remote = "Self")]
pub struct SendMessage {
    /// The tenant.
    pub tenant: Scalar,
    /// The message.
    pub message: Option<Message>,
    /// How to answer.
    #[serde(deserialize_with = "null_default")]
    pub configuration: SendConfiguration,
    /// For the agent.
    #[serde(deserialize_with = "json::optional_object")]
    pub metadata: Option<Object>,
}

/// How to answer a send.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", expecting = "an object", default, remote = "Self")]
pub struct SendConfiguration {
    /// Media types that the client takes.
    #[serde(alias = "accepted_output_modes", deserialize_with = "null_default")]
    pub accepted_output_modes: Vec<String>,
    /// A webhook.
    #[serde(alias = "task_push_notification_config")]
    pub task_push_notification_config: Option<TaskPushNotificationConfig>,
    /// Messages in the answer.
    #[serde(alias = "history_length")]
    pub history_length: Option<Int32>,
    /// Answer at once.
    #[serde(alias = "return_immediately", deserialize_with = "null_default")]
    pub return_immediately: bool,
}

/// GetTask.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", expecting = "an object", default, remote = "Self")]
pub struct GetTask {
    /// The tenant.
    pub tenant: Scalar,
    /// The task.
    pub id: Scalar,
    /// Messages in the answer.
    #[serde(alias = "history_length")]
    pub history_length: Scalar,
}

/// ListTasks.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", expecting = "an object", default, remote = "Self")]
pub struct ListTasks {
    /// The tenant.
    pub tenant: Scalar,
    /// Filter by conversation.
    #[serde(alias = "context_id")]
    pub context_id: Scalar,
    /// Filter by state.
    pub status: Scalar,
    /// Rows on a page.
    #[serde(alias = "page_size")]
    pub page_size: Scalar,
    /// Where the page begins.
    #[serde(alias = "page_token")]
    pub page_token: Scalar,
    /// Messages of each task.
    #[serde(alias = "history_length")]
    pub history_length: Scalar,
    /// Filter by time.
    #[serde(alias = "status_timestamp_after")]
    pub status_timestamp_after: Scalar,
    /// Whether artifacts are shown.
    #[serde(alias = "include_artifacts")]
    pub include_artifacts: Scalar,
}

/// CancelTask.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", expecting = "an object", default, remote = "Self")]
pub struct CancelTask {
    /// The tenant.
    pub tenant: Scalar,
    /// The task.
    pub id: Scalar,
    /// For the agent.
    #[serde(deserialize_with = "json::optional_object")]
    pub metadata: Option<Object>,
}

/// SubscribeToTask.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", expecting = "an object", default, remote = "Self")]
pub struct SubscribeToTask {
    /// The tenant.
    pub tenant: Scalar,
    /// The task.
    pub id: Scalar,
}

/// CreateTaskPushNotificationConfig: the configuration itself.
#[derive(Debug, Clone, Deserialize)]
#[serde(transparent)]
pub struct CreateConfig {
    /// The configuration, tenant and task included.
    pub config: TaskPushNotificationConfig,
}

/// GetTaskPushNotificationConfig and DeleteTaskPushNotificationConfig.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", expecting = "an object", default, remote = "Self")]
pub struct ConfigKey {
    /// The tenant.
    pub tenant: Scalar,
    /// The task.
    #[serde(alias = "task_id")]
    pub task_id: Scalar,
    /// The configuration.
    pub id: Scalar,
}

/// ListTaskPushNotificationConfigs.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", expecting = "an object", default, remote = "Self")]
pub struct ListConfigs {
    /// The tenant.
    pub tenant: Scalar,
    /// The task.
    #[serde(alias = "task_id")]
    pub task_id: Scalar,
    /// Rows on a page; 0 is as good as absent.
    #[serde(alias = "page_size")]
    pub page_size: Scalar,
    /// Where the page begins.
    #[serde(alias = "page_token")]
    pub page_token: Scalar,
}

/// GetExtendedAgentCard.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", expecting = "an object", default, remote = "Self")]
pub struct GetExtendedAgentCard {
    /// The tenant.
    pub tenant: Scalar,
}

/// The agent's moves, and ReportProgress.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", expecting = "an object", default, remote = "Self")]
pub struct AgentMove {
    /// The task.
    pub id: Scalar,
    /// What the agent says.
    #[serde(alias = "status_message")]
    pub status_message: Option<Message>,
}

/// UpdateArtifact.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", expecting = "an object", default, remote = "Self")]
pub struct UpdateArtifact {
    /// The task.
    pub id: Scalar,
    /// The artifact or the chunk.
    pub artifact: Option<Artifact>,
    /// Required.
    pub append: Scalar,
    /// Required.
    #[serde(alias = "last_chunk")]
    pub last_chunk: Scalar,
}

/// The agent's views.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", expecting = "an object", default, remote = "Self")]
pub struct Page {
    /// Rows on a page; 0 is as good as absent.
    #[serde(alias = "page_size")]
    pub page_size: Scalar,
    /// Where the page begins.
    #[serde(alias = "page_token")]
    pub page_token: Scalar,
}

crate::notation::read_as_object!(
    SendMessage,
    SendConfiguration,
    GetTask,
    ListTasks,
    CancelTask,
    SubscribeToTask,
    ConfigKey,
    ListConfigs,
    GetExtendedAgentCard,
    AgentMove,
    UpdateArtifact,
    Page,
);
