//! What went wrong, by meaning. Which number that is on which binding stands in `wire`'s error table.
//!
//! An [`Error`] carries two texts: the outward one tells the caller what to change, the inward one tells the
//! operator what happened and never leaves the process except by a log.

use std::{borrow::Cow, collections::BTreeMap, fmt, time::Duration};

use crate::{Outcome, TaskState};

/// The closed list of meanings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(
    missing_docs,
    reason = "the names are the specification's; §5.4 describes them"
)]
pub enum ErrorKind {
    TaskNotFound,
    TaskNotCancelable,
    PushNotificationNotSupported,
    UnsupportedOperation,
    ContentTypeNotSupported,
    InvalidAgentResponse,
    ExtendedAgentCardNotConfigured,
    ExtensionSupportRequired,
    VersionNotSupported,
    ContextMismatch,
    ContextNotAccepted,
    InvalidParams,
    ParseError,
    InvalidRequest,
    MethodNotFound,
    Internal,
    ResourceExhausted,
    TaskStateConflict,
    Unauthenticated,
    PermissionDenied,
    Unavailable,
    DeadlineExceeded,
    MethodNotAllowed,
    PayloadTooLarge,
    UnsupportedMediaType,
    HeadersTooLarge,
    TenantNotServed,
}

impl ErrorKind {
    /// Every meaning.
    pub const ALL: [Self; 27] = [
        Self::TaskNotFound,
        Self::TaskNotCancelable,
        Self::PushNotificationNotSupported,
        Self::UnsupportedOperation,
        Self::ContentTypeNotSupported,
        Self::InvalidAgentResponse,
        Self::ExtendedAgentCardNotConfigured,
        Self::ExtensionSupportRequired,
        Self::VersionNotSupported,
        Self::ContextMismatch,
        Self::ContextNotAccepted,
        Self::InvalidParams,
        Self::ParseError,
        Self::InvalidRequest,
        Self::MethodNotFound,
        Self::Internal,
        Self::ResourceExhausted,
        Self::TaskStateConflict,
        Self::Unauthenticated,
        Self::PermissionDenied,
        Self::Unavailable,
        Self::DeadlineExceeded,
        Self::MethodNotAllowed,
        Self::PayloadTooLarge,
        Self::UnsupportedMediaType,
        Self::HeadersTooLarge,
        Self::TenantNotServed,
    ];

    /// The name; the same as that of the variant. Used in logs, as a metric label and in test data.
    pub fn name(self) -> &'static str {
        match self {
            Self::TaskNotFound => "TaskNotFound",
            Self::TaskNotCancelable => "TaskNotCancelable",
            Self::PushNotificationNotSupported => "PushNotificationNotSupported",
            Self::UnsupportedOperation => "UnsupportedOperation",
            Self::ContentTypeNotSupported => "ContentTypeNotSupported",
            Self::InvalidAgentResponse => "InvalidAgentResponse",
            Self::ExtendedAgentCardNotConfigured => "ExtendedAgentCardNotConfigured",
            Self::ExtensionSupportRequired => "ExtensionSupportRequired",
            Self::VersionNotSupported => "VersionNotSupported",
            Self::ContextMismatch => "ContextMismatch",
            Self::ContextNotAccepted => "ContextNotAccepted",
            Self::InvalidParams => "InvalidParams",
            Self::ParseError => "ParseError",
            Self::InvalidRequest => "InvalidRequest",
            Self::MethodNotFound => "MethodNotFound",
            Self::Internal => "Internal",
            Self::ResourceExhausted => "ResourceExhausted",
            Self::TaskStateConflict => "TaskStateConflict",
            Self::Unauthenticated => "Unauthenticated",
            Self::PermissionDenied => "PermissionDenied",
            Self::Unavailable => "Unavailable",
            Self::DeadlineExceeded => "DeadlineExceeded",
            Self::MethodNotAllowed => "MethodNotAllowed",
            Self::PayloadTooLarge => "PayloadTooLarge",
            Self::UnsupportedMediaType => "UnsupportedMediaType",
            Self::HeadersTooLarge => "HeadersTooLarge",
            Self::TenantNotServed => "TenantNotServed",
        }
    }
}

/// One bad field: its path in the request (`message.parts[0]`) and what to change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// Where, in camelCase, from the root of the request.
    pub field: Cow<'static, str>,
    /// What is wrong with it, as the rest of a sentence: "is required".
    pub description: Cow<'static, str>,
}

/// A refusal or a failure, on its way out.
#[derive(Clone)]
pub struct Error(Box<Inner>);

#[derive(Debug, Clone)]
struct Inner {
    kind: ErrorKind,
    message: Cow<'static, str>,
    violations: Vec<Violation>,
    metadata: BTreeMap<&'static str, String>,
    retry_after: Option<Duration>,
    outcome: Option<Outcome>,
    cause: Option<String>,
}

/// Keys of an error's metadata (`google.rpc.ErrorInfo.metadata`).
pub mod metadata {
    /// The state a task is held in, on TaskStateConflict.
    pub const STATE: &str = "state";
    /// Where a cut stream can be resumed.
    pub const CURSOR: &str = "cursor";
    /// The versions served, on VersionNotSupported.
    pub const SUPPORTED_VERSIONS: &str = "supportedVersions";
    /// The extensions that were not declared, on ExtensionSupportRequired.
    pub const REQUIRED_EXTENSIONS: &str = "requiredExtensions";
    /// The id under which the operator finds the cause, on Internal and Unavailable.
    pub const REQUEST_ID: &str = "requestId";
    /// All of them.
    pub const ALL: [&str; 5] = [STATE, CURSOR, SUPPORTED_VERSIONS, REQUIRED_EXTENSIONS, REQUEST_ID];
}

impl Error {
    /// An error of a meaning, with the text its caller reads.
    pub fn new(kind: ErrorKind, message: impl Into<Cow<'static, str>>) -> Self {
        Self(Box::new(Inner {
            kind,
            message: message.into(),
            violations: Vec::new(),
            metadata: BTreeMap::new(),
            retry_after: None,
            outcome: None,
            cause: None,
        }))
    }

    /// One bad parameter.
    pub fn invalid(field: impl Into<Cow<'static, str>>, description: impl Into<Cow<'static, str>>) -> Self {
        Self::invalid_params(vec![Violation {
            field: field.into(),
            description: description.into(),
        }])
    }

    /// Every bad parameter of a request at once.
    pub fn invalid_params(violations: Vec<Violation>) -> Self {
        Self::new(ErrorKind::InvalidParams, invalid_text(&violations)).with_violations(violations)
    }

    /// No task of that id that the caller can reach; also what a task of somebody else looks like (§13.1).
    pub fn task_not_found() -> Self {
        Self::new(ErrorKind::TaskNotFound, "task not found").outcome(Outcome::TaskNotFound)
    }

    /// A command that the state held does not allow.
    pub fn task_state_conflict(state: TaskState, why: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorKind::TaskStateConflict, why).with_metadata(metadata::STATE, state.name())
    }

    /// Something that is the gateway's fault. The cause is for the log, not for the caller.
    pub fn internal(cause: impl fmt::Display) -> Self {
        Self::new(ErrorKind::Internal, "internal error").because(cause)
    }

    /// The store or the agent cannot be reached. The cause is for the log, not for the caller.
    pub fn unavailable(cause: impl fmt::Display) -> Self {
        Self::new(ErrorKind::Unavailable, "temporarily unavailable; try again")
            .retry_after(Duration::from_secs(1))
            .because(cause)
    }

    /// Adds bad fields.
    #[must_use]
    pub fn with_violations(mut self, violations: Vec<Violation>) -> Self {
        self.0.violations = violations;
        self
    }

    /// Tells the bad fields by other names, in the text that is made of them as well. What gets no new name keeps its own.
    #[must_use]
    pub fn rename_fields(mut self, rename: impl Fn(&str) -> Option<String>) -> Self {
        let made = invalid_text(&self.0.violations);
        for violation in &mut self.0.violations {
            if let Some(name) = rename(&violation.field) {
                violation.field = name.into();
            }
        }
        if self.0.message == made {
            self.0.message = invalid_text(&self.0.violations).into();
        }
        self
    }

    /// Adds one bad field to an error that has a text of its own.
    #[must_use]
    pub fn at(mut self, field: impl Into<Cow<'static, str>>) -> Self {
        let description = self.0.message.clone();
        self.0.violations.push(Violation {
            field: field.into(),
            description,
        });
        self
    }

    /// Adds a fact for machines; keys are listed in [`metadata`].
    #[must_use]
    pub fn with_metadata(mut self, key: &'static str, value: impl Into<String>) -> Self {
        self.0.metadata.insert(key, value.into());
        self
    }

    /// Says when a repetition may help.
    #[must_use]
    pub fn retry_after(mut self, wait: Duration) -> Self {
        self.0.retry_after = Some(wait);
        self
    }

    /// Names the outcome of the command that this error reports.
    #[must_use]
    pub fn outcome(mut self, outcome: Outcome) -> Self {
        self.0.outcome = Some(outcome);
        self
    }

    /// Adds the inward text.
    #[must_use]
    pub fn because(mut self, cause: impl fmt::Display) -> Self {
        self.0.cause = Some(cause.to_string());
        self
    }

    /// The meaning.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The outward text.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// The bad fields.
    pub fn violations(&self) -> &[Violation] {
        &self.0.violations
    }

    /// Facts for machines.
    pub fn facts(&self) -> &BTreeMap<&'static str, String> {
        &self.0.metadata
    }

    /// When a repetition may help.
    pub fn retry_delay(&self) -> Option<Duration> {
        self.0.retry_after
    }

    /// The outcome of the command, where a command decided.
    pub fn decided_outcome(&self) -> Option<Outcome> {
        self.0.outcome
    }

    /// The inward text; for logs only.
    pub fn cause(&self) -> Option<&str> {
        self.0.cause.as_deref()
    }
}

fn invalid_text(violations: &[Violation]) -> String {
    let faults = violations
        .iter()
        .map(|violation| format!("{} {}", violation.field, violation.description));
    format!("invalid parameters: {}", faults.collect::<Vec<_>>().join("; "))
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.0.kind.name(), self.0.message)
    }
}

impl std::error::Error for Error {}
