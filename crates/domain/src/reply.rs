//! What the domain answers.

use std::{pin::Pin, sync::Arc};

use futures::Stream;
use serde::Serialize;

use crate::{
    AgentCard, Artifact, ContextId, Cursor, Error, Message, Outcome, PushNotificationConfigId,
    PushNotificationConfigRow, SharedEvent, TaskId, TaskPushNotificationConfig, TaskSnapshot, TaskState,
    Tenant, Timestamp, json::Object, push::AuthenticationInfo,
};

/// An answer: its body, the outcome that it reports, and the extensions that were activated for it.
#[derive(Debug)]
pub struct Reply {
    /// What is said.
    pub body: Body,
    /// How the command ended.
    pub outcome: Outcome,
    /// Extensions asked for and declared by the card, in the order asked for (§3.2.6, §4.6).
    pub activated: Vec<String>,
}

/// The body of an answer.
pub enum Body {
    /// SendMessage (§3.1.1).
    Sent(Sent),
    /// SendStreamingMessage and SubscribeToTask.
    Stream(EventStream),
    /// GetTask, CancelTask and the agent's commands.
    Task(TaskSnapshot),
    /// ListTasks.
    Tasks(TaskPage),
    /// CreateTaskPushNotificationConfig and GetTaskPushNotificationConfig.
    Config(TaskPushNotificationConfig),
    /// ListTaskPushNotificationConfigs.
    Configs(ConfigPage),
    /// DeleteTaskPushNotificationConfig.
    Deleted,
    /// GetExtendedAgentCard.
    Card(Arc<AgentCard>),
    /// The agent's view of every task.
    AllTasks(AllTasksPage),
    /// The agent's view of every configuration.
    AllConfigs(AllConfigsPage),
}

impl std::fmt::Debug for Body {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Sent(_) => "Sent",
            Self::Stream(_) => "Stream",
            Self::Task(_) => "Task",
            Self::Tasks(_) => "Tasks",
            Self::Config(_) => "Config",
            Self::Configs(_) => "Configs",
            Self::Deleted => "Deleted",
            Self::Card(_) => "Card",
            Self::AllTasks(_) => "AllTasks",
            Self::AllConfigs(_) => "AllConfigs",
        })
    }
}

/// The answer to a send: exactly one of a task and a message.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Sent {
    /// The task that the message began or went into.
    Task(TaskSnapshot),
    /// The agent's direct answer.
    Message(Arc<Message>),
}

/// The events of a task, each once and in order. Ends after a terminal state, or with an error.
pub type EventStream = Pin<Box<dyn Stream<Item = Result<StreamItem, Error>> + Send>>;

/// One event of a stream.
#[derive(Debug, Clone)]
pub struct StreamItem {
    /// Where the stream can be resumed after this event; a direct message has no place in a log.
    pub cursor: Option<Cursor>,
    /// The event.
    pub event: SharedEvent,
}

/// A page of ListTasks (§3.1.4). Every member is always there.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskPage {
    /// Newest status first.
    pub tasks: Vec<TaskSnapshot>,
    /// Where the next page begins; empty on the last.
    pub next_page_token: String,
    /// The size of page that was served.
    pub page_size: u32,
    /// How many tasks match on all pages.
    pub total_size: u32,
}

/// A page of a task's configurations (§3.1.9).
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ConfigPage {
    /// By id.
    pub configs: Vec<TaskPushNotificationConfig>,
    /// Where the next page begins; empty on the last.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub next_page_token: String,
}

/// A page of the agent's view of every task.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AllTasksPage {
    /// By id.
    pub tasks: Vec<TaskRow>,
    /// Where the next page begins; empty on the last.
    pub next_page_token: String,
}

/// A task as the agent's view shows it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskRow {
    /// Identity.
    pub id: TaskId,
    /// The conversation.
    pub context_id: ContextId,
    /// The tenant it was stored with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tenant: Option<Tenant>,
    /// The state held.
    pub state: TaskState,
    /// The agent's latest word.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status_message: Option<Arc<Message>>,
    /// When the state or the word changed last.
    pub status_timestamp: Timestamp,
    /// What it produced.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub artifacts: Vec<Arc<Artifact>>,
    /// What was said.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub history: Vec<Arc<Message>>,
    /// Free data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Object>,
}

/// A page of the agent's view of every configuration.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AllConfigsPage {
    /// By row.
    pub configs: Vec<ConfigRow>,
    /// Where the next page begins; empty on the last.
    pub next_page_token: String,
}

/// A configuration as the agent's view shows it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ConfigRow {
    /// Identity of the stored row.
    pub row: PushNotificationConfigRow,
    /// What the client calls it.
    pub config_id: PushNotificationConfigId,
    /// Its only state.
    pub state: ConfigState,
    /// Whose changes.
    pub task_id: TaskId,
    /// The tenant it was stored with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tenant: Option<Tenant>,
    /// Where to post.
    pub url: String,
    /// Handed to the receiver.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
    /// Shown to the receiver.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub authentication: Option<AuthenticationInfo>,
}

/// The one state of a configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum ConfigState {
    /// It is delivered to.
    Active,
}
