//! What callers ask for. [`params`] holds requests as any binding reads them, fields missing or wrong; a request
//! of this module has passed validation, which lists every bad field at once (§3.3.2, §6.5).

pub mod params;
mod scalar;
mod validate;

#[cfg(test)]
mod tests;

pub use scalar::Scalar;
pub(crate) use validate::INLINE_CONFIG;
pub use validate::{MAX_PAGE_SIZE, check_action, check_direct_message};

use crate::{
    Artifact, ContextId, Error, ErrorKind, Message, Operation, PushNotificationConfigId, TaskId,
    TaskPushNotificationConfig, TaskState, Tenant, Timestamp, Version, json::Object, lifecycle::Move,
};

/// A valid request.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "the variants are the operations")]
pub enum Request {
    SendMessage(SendMessage),
    SendStreamingMessage(SendMessage),
    GetTask(GetTask),
    ListTasks(ListTasks),
    CancelTask(CancelTask),
    SubscribeToTask(SubscribeToTask),
    CreateTaskPushNotificationConfig(CreateConfig),
    GetTaskPushNotificationConfig(GetConfig),
    ListTaskPushNotificationConfigs(ListConfigs),
    DeleteTaskPushNotificationConfig(ConfigKey),
    GetExtendedAgentCard(GetExtendedAgentCard),
    AgentCommand(AgentCommand),
    AllTasks(PageRequest),
    AllPushNotificationConfigs(PageRequest),
}

/// SendMessage and SendStreamingMessage (§3.2.1).
#[derive(Debug, Clone, PartialEq)]
pub struct SendMessage {
    /// Selects the agent.
    pub tenant: Option<Tenant>,
    /// What is said.
    pub message: Message,
    /// How it is to be answered.
    pub configuration: SendConfiguration,
    /// Handed to the agent.
    pub metadata: Option<Object>,
}

/// How a send is to be answered (§3.2.2).
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SendConfiguration {
    /// Media types that the client takes; handed to the agent.
    pub accepted_output_modes: Vec<String>,
    /// Stored together with the task.
    pub push: Option<TaskPushNotificationConfig>,
    /// How many messages the answer's task shows; nothing means all.
    pub history_length: Option<u32>,
    /// Answer with the task as soon as it is stored.
    pub return_immediately: bool,
    /// Whose rules say where a stream ends.
    pub version: Version,
}

/// GetTask (§3.1.3).
#[derive(Debug, Clone, PartialEq)]
pub struct GetTask {
    /// The task's tenant.
    pub tenant: Option<Tenant>,
    /// Which task.
    pub id: TaskId,
    /// How many of its messages; nothing means all.
    pub history_length: Option<u32>,
}

/// ListTasks (§3.1.4).
#[derive(Debug, Clone, PartialEq)]
pub struct ListTasks {
    /// Which tasks.
    pub filter: TaskFilter,
    /// 1 to 100.
    pub page_size: u32,
    /// Where the page begins; empty for the first.
    pub page_token: String,
    /// How many messages of each task; nothing means none here.
    pub history_length: Option<u32>,
    /// Whether artifacts are shown.
    pub include_artifacts: bool,
}

/// Which tasks of a scope are meant.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TaskFilter {
    /// The tasks' tenant.
    pub tenant: Option<Tenant>,
    /// Of this conversation.
    pub context_id: Option<ContextId>,
    /// In this state.
    pub status: Option<TaskState>,
    /// With a status of this moment or later.
    pub status_timestamp_after: Option<Timestamp>,
}

/// CancelTask (§3.1.5).
#[derive(Debug, Clone, PartialEq)]
pub struct CancelTask {
    /// The task's tenant.
    pub tenant: Option<Tenant>,
    /// Which task.
    pub id: TaskId,
    /// Handed to the agent.
    pub metadata: Option<Object>,
}

/// SubscribeToTask (§3.1.6).
#[derive(Debug, Clone, PartialEq)]
pub struct SubscribeToTask {
    /// The task's tenant.
    pub tenant: Option<Tenant>,
    /// Which task.
    pub id: TaskId,
    /// Whose rules say where the stream ends. By those of 0.3 a task that has ended is answered with the task.
    pub version: Version,
}

/// CreateTaskPushNotificationConfig (§3.1.7).
#[derive(Debug, Clone, PartialEq)]
pub struct CreateConfig {
    /// The task's tenant.
    pub tenant: Option<Tenant>,
    /// Which task.
    pub task_id: TaskId,
    /// What is to be stored; its id may be absent.
    pub config: TaskPushNotificationConfig,
}

/// GetTaskPushNotificationConfig (§3.1.8).
#[derive(Debug, Clone, PartialEq)]
pub struct GetConfig {
    /// The task's tenant.
    pub tenant: Option<Tenant>,
    /// Which task.
    pub task_id: TaskId,
    /// Which of its configurations; nothing means the first, which only 0.3 can say.
    pub id: Option<PushNotificationConfigId>,
}

impl From<ConfigKey> for GetConfig {
    fn from(key: ConfigKey) -> Self {
        Self {
            tenant: key.tenant,
            task_id: key.task_id,
            id: Some(key.id),
        }
    }
}

/// A configuration by its names: DeleteTaskPushNotificationConfig (§3.1.10), and what [`GetConfig`] is made of.
#[derive(Debug, Clone, PartialEq)]
pub struct ConfigKey {
    /// The task's tenant.
    pub tenant: Option<Tenant>,
    /// Which task.
    pub task_id: TaskId,
    /// Which of its configurations.
    pub id: PushNotificationConfigId,
}

/// ListTaskPushNotificationConfigs (§3.1.9).
#[derive(Debug, Clone, PartialEq)]
pub struct ListConfigs {
    /// The task's tenant.
    pub tenant: Option<Tenant>,
    /// Which task.
    pub task_id: TaskId,
    /// Which page.
    pub page: PageRequest,
    /// By the rules of 0.3 a token is good for pages of the same size only.
    pub version: Version,
}

/// A page of a list by id.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PageRequest {
    /// How many rows; nothing means all that a page may hold.
    pub page_size: Option<u32>,
    /// Where the page begins; empty for the first.
    pub page_token: String,
}

impl PageRequest {
    /// All rows on one page, however many there are.
    pub fn everything() -> Self {
        Self {
            page_size: Some(u32::MAX),
            page_token: String::new(),
        }
    }

    /// How many rows the page may hold.
    pub(crate) fn rows(&self) -> usize {
        usize::try_from(self.page_size.unwrap_or(MAX_PAGE_SIZE)).unwrap_or(usize::MAX)
    }
}

/// GetExtendedAgentCard (§3.1.11).
#[derive(Debug, Clone, PartialEq)]
pub struct GetExtendedAgentCard {
    /// Whose agent.
    pub tenant: Option<Tenant>,
    /// What a caller gets who is not shown the extended card.
    pub otherwise: OtherwiseCard,
}

/// What is answered where there is no extended card for the caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OtherwiseCard {
    /// The error that says why (§3.1.11).
    #[default]
    Refuse,
    /// The public card: GetAgentCard of 0.3.
    PublicCard,
    /// ExtendedAgentCardNotConfigured, whatever the reason: `agent/getAuthenticatedExtendedCard` of 0.3.
    NotConfigured,
}

/// A command of the agent side.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentCommand {
    /// Which task.
    pub id: TaskId,
    /// What is to happen to it.
    pub action: AgentAction,
}

/// What an agent does to a task.
#[derive(Debug, Clone, PartialEq)]
pub enum AgentAction {
    /// A move; a status message that is absent clears the stored one.
    Move(Move, Option<Message>),
    /// A report in the state held.
    ReportProgress(Option<Message>),
    /// An artifact, whole or a chunk.
    UpdateArtifact {
        /// The artifact or the chunk.
        artifact: Artifact,
        /// Whether its parts go after those held.
        append: bool,
        /// Whether nothing may be appended after it.
        last_chunk: bool,
    },
}

impl Request {
    /// The tenant that the request itself names.
    pub fn tenant(&self) -> Option<&Tenant> {
        match self {
            Self::SendMessage(request) | Self::SendStreamingMessage(request) => request.tenant.as_ref(),
            Self::GetTask(request) => request.tenant.as_ref(),
            Self::ListTasks(request) => request.filter.tenant.as_ref(),
            Self::CancelTask(request) => request.tenant.as_ref(),
            Self::SubscribeToTask(request) => request.tenant.as_ref(),
            Self::CreateTaskPushNotificationConfig(request) => request.tenant.as_ref(),
            Self::GetTaskPushNotificationConfig(request) => request.tenant.as_ref(),
            Self::DeleteTaskPushNotificationConfig(request) => request.tenant.as_ref(),
            Self::ListTaskPushNotificationConfigs(request) => request.tenant.as_ref(),
            Self::GetExtendedAgentCard(request) => request.tenant.as_ref(),
            Self::AgentCommand(_) | Self::AllTasks(_) | Self::AllPushNotificationConfigs(_) => None,
        }
    }

    /// Gives the request the tenant that its envelope names.
    pub fn set_tenant(&mut self, tenant: Tenant) {
        let slot = match self {
            Self::SendMessage(request) | Self::SendStreamingMessage(request) => &mut request.tenant,
            Self::GetTask(request) => &mut request.tenant,
            Self::ListTasks(request) => &mut request.filter.tenant,
            Self::CancelTask(request) => &mut request.tenant,
            Self::SubscribeToTask(request) => &mut request.tenant,
            Self::CreateTaskPushNotificationConfig(request) => &mut request.tenant,
            Self::GetTaskPushNotificationConfig(request) => &mut request.tenant,
            Self::DeleteTaskPushNotificationConfig(request) => &mut request.tenant,
            Self::ListTaskPushNotificationConfigs(request) => &mut request.tenant,
            Self::GetExtendedAgentCard(request) => &mut request.tenant,
            Self::AgentCommand(_) | Self::AllTasks(_) | Self::AllPushNotificationConfigs(_) => return,
        };
        *slot = Some(tenant);
    }

    /// The task that the request names, for logs.
    pub fn task_id(&self) -> Option<&TaskId> {
        match self {
            Self::SendMessage(request) | Self::SendStreamingMessage(request) => {
                request.message.task_id.as_ref()
            }
            Self::GetTask(request) => Some(&request.id),
            Self::CancelTask(request) => Some(&request.id),
            Self::SubscribeToTask(request) => Some(&request.id),
            Self::CreateTaskPushNotificationConfig(request) => Some(&request.task_id),
            Self::GetTaskPushNotificationConfig(request) => Some(&request.task_id),
            Self::DeleteTaskPushNotificationConfig(request) => Some(&request.task_id),
            Self::ListTaskPushNotificationConfigs(request) => Some(&request.task_id),
            Self::AgentCommand(request) => Some(&request.id),
            Self::ListTasks(_)
            | Self::GetExtendedAgentCard(_)
            | Self::AllTasks(_)
            | Self::AllPushNotificationConfigs(_) => None,
        }
    }
}

/// Reads the canonical JSON of a request's parameters.
///
/// # Errors
/// ParseError where the text is no JSON, nests too deep or is not UTF-8; PayloadTooLarge where it has too many values;
/// InvalidParams naming the field where a member has the wrong form.
pub fn read_json<'de, T: serde::Deserialize<'de>>(text: &'de [u8]) -> Result<T, Error> {
    crate::json::check_document(text)?;
    let error = match serde_json::from_slice(text) {
        Ok(value) => return Ok(value),
        Err(error) => error,
    };
    // Only now, on the way to an error, are slower readers worth their price. A reader stops at the first fault it
    // sees, so what follows a wrong member may be no JSON at all.
    let broken = if error.is_syntax() || error.is_eof() {
        Some(error)
    } else {
        serde_json::from_slice::<serde::de::IgnoredAny>(text).err()
    };
    if let Some(error) = broken {
        return Err(Error::new(
            ErrorKind::ParseError,
            format!("the body is not valid JSON: {error}"),
        ));
    }
    if std::str::from_utf8(text).is_err() {
        return Err(Error::new(ErrorKind::ParseError, "the body is not valid UTF-8"));
    }
    let mut reader = serde_json::Deserializer::from_slice(text);
    match serde_path_to_error::deserialize(&mut reader) {
        Ok(value) => Ok(value),
        Err(error) => Err(field_error(&error)),
    }
}

fn field_error(error: &serde_path_to_error::Error<serde_json::Error>) -> Error {
    let path = error.path().to_string();
    let text = error.inner().to_string();
    let description = match text.rfind(" at line ") {
        Some(end) => text[..end].to_owned(),
        None => text,
    };
    match path.as_str() {
        "." | "?" => Error::invalid("params", description),
        _ => Error::invalid(path, description),
    }
}

/// The operation's parameters by name, so that a binding need not know their types.
///
/// # Errors
/// As [`read_json`] and the validation of the operation's parameters.
pub fn from_json(operation: Operation, text: &[u8]) -> Result<Request, Error> {
    use params::{
        AgentMove, CancelTask, ConfigKey, CreateConfig, GetExtendedAgentCard, GetTask, ListConfigs,
        ListTasks, Page, SendMessage, SubscribeToTask, UpdateArtifact,
    };
    Ok(match operation {
        Operation::SendMessage => Request::SendMessage(read_json::<SendMessage>(text)?.validate()?),
        Operation::SendStreamingMessage => {
            Request::SendStreamingMessage(read_json::<SendMessage>(text)?.validate()?)
        }
        Operation::GetTask => Request::GetTask(read_json::<GetTask>(text)?.validate()?),
        Operation::ListTasks => Request::ListTasks(read_json::<ListTasks>(text)?.validate()?),
        Operation::CancelTask => Request::CancelTask(read_json::<CancelTask>(text)?.validate()?),
        Operation::SubscribeToTask => {
            Request::SubscribeToTask(read_json::<SubscribeToTask>(text)?.validate()?)
        }
        Operation::CreateTaskPushNotificationConfig => {
            Request::CreateTaskPushNotificationConfig(read_json::<CreateConfig>(text)?.validate()?)
        }
        Operation::GetTaskPushNotificationConfig => {
            Request::GetTaskPushNotificationConfig(read_json::<ConfigKey>(text)?.validate()?.into())
        }
        Operation::ListTaskPushNotificationConfigs => {
            Request::ListTaskPushNotificationConfigs(read_json::<ListConfigs>(text)?.validate()?)
        }
        Operation::DeleteTaskPushNotificationConfig => {
            Request::DeleteTaskPushNotificationConfig(read_json::<ConfigKey>(text)?.validate()?)
        }
        Operation::GetExtendedAgentCard => {
            Request::GetExtendedAgentCard(read_json::<GetExtendedAgentCard>(text)?.validate()?)
        }
        Operation::UpdateArtifact => Request::AgentCommand(read_json::<UpdateArtifact>(text)?.validate()?),
        Operation::AllTasks => Request::AllTasks(read_json::<Page>(text)?.validate()?),
        Operation::AllPushNotificationConfigs => {
            Request::AllPushNotificationConfigs(read_json::<Page>(text)?.validate()?)
        }
        Operation::StartWorking
        | Operation::ReportProgress
        | Operation::RequireInput
        | Operation::RequireAuth
        | Operation::CompleteTask
        | Operation::FailTask
        | Operation::RejectTask => Request::AgentCommand(read_json::<AgentMove>(text)?.validate(operation)?),
    })
}
