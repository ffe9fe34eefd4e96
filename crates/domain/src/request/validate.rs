//! From parameters to requests: every bad field is named, then the request is refused once.

use std::borrow::Cow;

use super::{
    AgentAction, AgentCommand, CancelTask, ConfigKey, CreateConfig, GetExtendedAgentCard, GetTask,
    ListConfigs, ListTasks, OtherwiseCard, PageRequest, Scalar, SendConfiguration, SendMessage,
    SubscribeToTask, TaskFilter, params,
};
use crate::{
    Artifact, Content, Error, Message, Operation, Outcome, Part, PushNotificationConfigId, Role, TaskId,
    TaskPushNotificationConfig, Tenant, Version, error::Violation, ids::id_fault, json, lifecycle::Move,
};

/// The largest page of ListTasks (§3.1.4), and of every other list.
pub const MAX_PAGE_SIZE: u32 = 100;
/// The page of ListTasks where none is asked for (§3.1.4).
const DEFAULT_PAGE_SIZE: u32 = 50;

/// Bad fields that one answer names.
const MAX_VIOLATIONS: usize = 50;

/// The bad fields found so far.
#[derive(Debug, Default)]
pub(super) struct Violations(Vec<Violation>);

impl Violations {
    /// Adds one; the answer stands for the value that is not there.
    pub(super) fn add<T>(
        &mut self,
        field: impl Into<Cow<'static, str>>,
        description: impl Into<Cow<'static, str>>,
    ) -> Option<T> {
        // The answer is bounded, whatever was sent.
        if self.0.len() < MAX_VIOLATIONS {
            self.0.push(Violation {
                field: field.into(),
                description: description.into(),
            });
        }
        None
    }

    fn or<T>(self, request: T) -> Result<T, Error> {
        if self.0.is_empty() {
            Ok(request)
        } else {
            Err(Error::invalid_params(self.0))
        }
    }

    fn id(&mut self, field: impl Into<Cow<'static, str>>, id: &str) {
        if let Some(fault) = id_fault(id) {
            self.add::<()>(field, fault);
        }
    }
}

fn required_id(scalar: Scalar, field: &'static str, violations: &mut Violations) -> String {
    let was_text = matches!(scalar, Scalar::Absent | Scalar::Text(_) | Scalar::Query(_));
    let text = scalar.text(field, violations).unwrap_or_default();
    if was_text {
        violations.id(field, &text);
    }
    text
}

fn optional_id(scalar: Scalar, field: &'static str, violations: &mut Violations) -> Option<String> {
    let text = scalar.text(field, violations)?;
    violations.id(field, &text);
    Some(text)
}

fn tenant(scalar: Scalar, violations: &mut Violations) -> Option<Tenant> {
    optional_id(scalar, "tenant", violations).map(Tenant::new)
}

fn page(size: Scalar, token: Scalar, violations: &mut Violations) -> PageRequest {
    let page_size = size.count("pageSize", violations).filter(|size| *size > 0);
    if page_size.is_some_and(|size| size > MAX_PAGE_SIZE) {
        violations.add::<()>("pageSize", format!("must be at most {MAX_PAGE_SIZE}"));
    }
    PageRequest {
        page_size,
        page_token: token.text("pageToken", violations).unwrap_or_default(),
    }
}

impl params::SendMessage {
    /// # Errors
    /// InvalidParams naming every bad field.
    pub fn validate(self) -> Result<SendMessage, Error> {
        let mut violations = Violations::default();
        let tenant = tenant(self.tenant, &mut violations);
        match &self.message {
            Some(message) => check_client_message(message, &mut violations),
            None => {
                violations.add::<()>("message", "is required");
            }
        }
        check_metadata("metadata", self.metadata.as_ref(), &mut violations);
        let configuration = self.configuration.validate(tenant.as_ref(), &mut violations);
        let Some(message) = self.message else {
            return Err(Error::invalid_params(violations.0));
        };
        violations.or(SendMessage {
            tenant,
            message,
            configuration,
            metadata: self.metadata,
        })
    }
}

/// The path of a configuration that comes with a message, with its dot.
pub(crate) const INLINE_CONFIG: &str = "configuration.taskPushNotificationConfig.";

impl params::SendConfiguration {
    fn validate(self, tenant: Option<&Tenant>, violations: &mut Violations) -> SendConfiguration {
        let history_length = self.history_length.and_then(|length| {
            u32::try_from(length.0)
                .ok()
                .or_else(|| violations.add("configuration.historyLength", "must not be negative"))
        });
        if let Some(config) = &self.task_push_notification_config {
            check_config(config, INLINE_CONFIG, violations);
            if config.tenant.is_some() && config.tenant.as_ref() != tenant {
                let field = format!("{INLINE_CONFIG}tenant");
                violations.add::<()>(field, "must be absent or the tenant of the request");
            }
        }
        SendConfiguration {
            accepted_output_modes: self.accepted_output_modes,
            push: self.task_push_notification_config,
            history_length,
            return_immediately: self.return_immediately,
            version: Version::V1_0,
        }
    }
}

fn check_client_message(message: &Message, violations: &mut Violations) {
    check_message(message, "message", violations);
    match message.role {
        Role::User => {}
        Role::Unspecified => {
            violations.add::<()>("message.role", "is required");
        }
        Role::Agent => {
            violations.add::<()>(
                "message.role",
                "must be ROLE_USER in a message that a client sends",
            );
        }
    }
}

fn check_message(message: &Message, at: &'static str, violations: &mut Violations) {
    violations.id(format!("{at}.messageId"), message.message_id.as_str());
    if let Some(id) = &message.context_id {
        violations.id(format!("{at}.contextId"), id.as_str());
    }
    if let Some(id) = &message.task_id {
        violations.id(format!("{at}.taskId"), id.as_str());
    }
    for (index, id) in message.reference_task_ids.iter().enumerate() {
        if let Some(fault) = id_fault(id.as_str()) {
            violations.add::<()>(format!("{at}.referenceTaskIds[{index}]"), fault);
        }
    }
    if message.parts.is_empty() {
        violations.add::<()>(format!("{at}.parts"), "must have at least one part");
    }
    check_parts(&message.parts, at, violations);
    if message.metadata.as_ref().is_some_and(json::object_too_deep) {
        violations.add::<()>(format!("{at}.metadata"), TOO_DEEP);
    }
}

const TOO_DEEP: &str = "must not nest deeper than 32 levels";

fn check_metadata(field: &'static str, metadata: Option<&json::Object>, violations: &mut Violations) {
    if metadata.is_some_and(json::object_too_deep) {
        violations.add::<()>(field, TOO_DEEP);
    }
}

fn check_parts(parts: &[Part], at: &'static str, violations: &mut Violations) {
    for (index, part) in parts.iter().enumerate() {
        let field = || format!("{at}.parts[{index}]");
        match &part.content {
            None => {
                violations.add::<()>(field(), "must hold one of text, raw, url and data");
            }
            Some(Content::Data(value)) if json::too_deep(value) => {
                violations.add::<()>(format!("{}.data", field()), TOO_DEEP);
            }
            Some(_) => {}
        }
        if part.metadata.as_ref().is_some_and(json::object_too_deep) {
            violations.add::<()>(format!("{}.metadata", field()), TOO_DEEP);
        }
    }
}

/// Checks the fields of a push-notification configuration; `at` is the path before them, with its dot.
fn check_config(config: &TaskPushNotificationConfig, at: &'static str, violations: &mut Violations) {
    if let Some(id) = &config.id {
        violations.id(format!("{at}id"), id.as_str());
    }
    if config.url.is_empty() {
        violations.add::<()>(format!("{at}url"), "is required");
    }
    let control = |text: &str| text.chars().any(char::is_control);
    let mut no_control = |field: &str, text: Option<&str>| {
        if text.is_some_and(control) {
            violations.add::<()>(format!("{at}{field}"), "must not contain control characters");
        }
    };
    no_control("url", Some(&config.url));
    no_control("token", config.token.as_deref());
    if let Some(authentication) = &config.authentication {
        no_control("authentication.scheme", Some(&authentication.scheme));
        no_control(
            "authentication.credentials",
            authentication.credentials.as_deref(),
        );
        if authentication.scheme.is_empty() {
            violations.add::<()>(format!("{at}authentication.scheme"), "is required");
        }
    }
}

impl params::GetTask {
    /// # Errors
    /// InvalidParams naming every bad field.
    pub fn validate(self) -> Result<GetTask, Error> {
        let mut violations = Violations::default();
        let request = GetTask {
            tenant: tenant(self.tenant, &mut violations),
            id: TaskId::new(required_id(self.id, "id", &mut violations)),
            history_length: self.history_length.count("historyLength", &mut violations),
        };
        violations.or(request)
    }
}

impl params::ListTasks {
    /// # Errors
    /// InvalidParams naming every bad field.
    pub fn validate(self) -> Result<ListTasks, Error> {
        let mut violations = Violations::default();
        let found = &mut violations;
        // Presence counts here: an explicit 0 is an error, absence the default (§3.1.4).
        let page_size = self
            .page_size
            .int32("pageSize", found)
            .map(|size| u32::try_from(size).unwrap_or(0));
        if page_size.is_some_and(|size| !(1..=MAX_PAGE_SIZE).contains(&size)) {
            found.add::<()>("pageSize", format!("must be 1 to {MAX_PAGE_SIZE}"));
        }
        let request = ListTasks {
            filter: TaskFilter {
                tenant: tenant(self.tenant, found),
                context_id: optional_id(self.context_id, "contextId", found).map(crate::ContextId::new),
                status: self.status.task_state("status", found),
                status_timestamp_after: self
                    .status_timestamp_after
                    .timestamp("statusTimestampAfter", found),
            },
            page_size: page_size.unwrap_or(DEFAULT_PAGE_SIZE),
            page_token: self.page_token.text("pageToken", found).unwrap_or_default(),
            history_length: self.history_length.count("historyLength", found),
            include_artifacts: self
                .include_artifacts
                .boolean("includeArtifacts", found)
                .unwrap_or(false),
        };
        violations
            .or(request)
            .map_err(|error| error.outcome(Outcome::Invalid))
    }
}

impl params::CancelTask {
    /// # Errors
    /// InvalidParams naming every bad field.
    pub fn validate(self) -> Result<CancelTask, Error> {
        let mut violations = Violations::default();
        check_metadata("metadata", self.metadata.as_ref(), &mut violations);
        let request = CancelTask {
            tenant: tenant(self.tenant, &mut violations),
            id: TaskId::new(required_id(self.id, "id", &mut violations)),
            metadata: self.metadata,
        };
        violations.or(request)
    }
}

impl params::SubscribeToTask {
    /// # Errors
    /// InvalidParams naming every bad field.
    pub fn validate(self) -> Result<SubscribeToTask, Error> {
        let mut violations = Violations::default();
        let request = SubscribeToTask {
            tenant: tenant(self.tenant, &mut violations),
            id: TaskId::new(required_id(self.id, "id", &mut violations)),
            version: Version::V1_0,
        };
        violations.or(request)
    }
}

impl params::CreateConfig {
    /// # Errors
    /// InvalidParams naming every bad field.
    pub fn validate(self) -> Result<CreateConfig, Error> {
        let mut violations = Violations::default();
        let config = self.config;
        if let Some(tenant) = &config.tenant {
            violations.id("tenant", tenant.as_str());
        }
        violations.id("taskId", config.task_id.as_ref().map_or("", TaskId::as_str));
        check_config(&config, "", &mut violations);
        let task_id = config.task_id.clone().unwrap_or_default();
        violations.or(CreateConfig {
            tenant: config.tenant.clone(),
            task_id,
            config,
        })
    }
}

impl params::ConfigKey {
    /// # Errors
    /// InvalidParams naming every bad field.
    pub fn validate(self) -> Result<ConfigKey, Error> {
        let mut violations = Violations::default();
        let request = ConfigKey {
            tenant: tenant(self.tenant, &mut violations),
            task_id: TaskId::new(required_id(self.task_id, "taskId", &mut violations)),
            id: PushNotificationConfigId::new(required_id(self.id, "id", &mut violations)),
        };
        violations.or(request)
    }
}

impl params::ListConfigs {
    /// # Errors
    /// InvalidParams naming every bad field.
    pub fn validate(self) -> Result<ListConfigs, Error> {
        let mut violations = Violations::default();
        let request = ListConfigs {
            tenant: tenant(self.tenant, &mut violations),
            task_id: TaskId::new(required_id(self.task_id, "taskId", &mut violations)),
            page: page(self.page_size, self.page_token, &mut violations),
            version: Version::V1_0,
        };
        violations.or(request)
    }
}

impl params::GetExtendedAgentCard {
    /// # Errors
    /// InvalidParams naming every bad field.
    pub fn validate(self) -> Result<GetExtendedAgentCard, Error> {
        let mut violations = Violations::default();
        let request = GetExtendedAgentCard {
            tenant: tenant(self.tenant, &mut violations),
            otherwise: OtherwiseCard::Refuse,
        };
        violations.or(request)
    }
}

impl params::AgentMove {
    /// # Errors
    /// InvalidParams naming every bad field.
    pub fn validate(self, operation: Operation) -> Result<AgentCommand, Error> {
        let mut violations = Violations::default();
        let id = TaskId::new(required_id(self.id, "id", &mut violations));
        let message = self
            .status_message
            .map(|message| agent_message(message, &mut violations));
        let action = match operation {
            Operation::StartWorking => AgentAction::Move(Move::Work, message),
            Operation::RequireInput => AgentAction::Move(Move::RequireInput, message),
            Operation::RequireAuth => AgentAction::Move(Move::RequireAuth, message),
            Operation::CompleteTask => AgentAction::Move(Move::Complete, message),
            Operation::FailTask => AgentAction::Move(Move::Fail, message),
            Operation::RejectTask => AgentAction::Move(Move::Reject, message),
            Operation::ReportProgress => AgentAction::ReportProgress(message),
            other => {
                return Err(Error::internal(format_args!(
                    "{} is no report of an agent",
                    other.name()
                )));
            }
        };
        violations.or(AgentCommand { id, action })
    }
}

/// A status message speaks for the agent, whatever role it was sent with or without.
fn agent_message(mut message: Message, violations: &mut Violations) -> Message {
    message.role = Role::Agent;
    check_message(&message, "statusMessage", violations);
    message
}

impl params::UpdateArtifact {
    /// # Errors
    /// InvalidParams naming every bad field.
    pub fn validate(self) -> Result<AgentCommand, Error> {
        let mut violations = Violations::default();
        let id = TaskId::new(required_id(self.id, "id", &mut violations));
        let append = required_flag(self.append, "append", &mut violations);
        let last_chunk = required_flag(self.last_chunk, "lastChunk", &mut violations);
        match &self.artifact {
            Some(artifact) => check_artifact(artifact, &mut violations),
            None => {
                violations.add::<()>("artifact", "is required");
            }
        }
        let Some(artifact) = self.artifact else {
            return Err(Error::invalid_params(violations.0));
        };
        violations.or(AgentCommand {
            id,
            action: AgentAction::UpdateArtifact {
                artifact,
                append,
                last_chunk,
            },
        })
    }
}

fn required_flag(scalar: Scalar, field: &'static str, violations: &mut Violations) -> bool {
    if !scalar.is_present() {
        violations.add::<()>(field, "is required");
    }
    scalar.boolean(field, violations).unwrap_or(false)
}

fn check_artifact(artifact: &Artifact, violations: &mut Violations) {
    violations.id("artifact.artifactId", artifact.artifact_id.as_str());
    check_parts(&artifact.parts, "artifact", violations);
    check_metadata("artifact.metadata", artifact.metadata.as_ref(), violations);
}

impl params::Page {
    /// # Errors
    /// InvalidParams naming every bad field.
    pub fn validate(self) -> Result<PageRequest, Error> {
        let mut violations = Violations::default();
        let request = page(self.page_size, self.page_token, &mut violations);
        violations.or(request)
    }
}

/// Checks an agent's direct answer, which comes over the port as well.
///
/// # Errors
/// InvalidParams naming every bad field.
pub fn check_direct_message(message: &Message) -> Result<(), Error> {
    let mut violations = Violations::default();
    check_message(message, "message", &mut violations);
    violations.or(())
}

/// Checks what an agent's run reports over the port, where no binding has validated it.
///
/// # Errors
/// InvalidParams naming every bad field.
pub fn check_action(action: &AgentAction) -> Result<(), Error> {
    let mut violations = Violations::default();
    match action {
        AgentAction::Move(_, Some(message)) | AgentAction::ReportProgress(Some(message)) => {
            check_message(message, "statusMessage", &mut violations);
        }
        AgentAction::UpdateArtifact { artifact, .. } => check_artifact(artifact, &mut violations),
        AgentAction::Move(_, None) | AgentAction::ReportProgress(None) => {}
    }
    violations.or(())
}
