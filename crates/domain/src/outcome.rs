//! The outcomes of the client's commands, one list: what the domain decides, what metrics count and what the
//! coverage test demands of every binding are the same names.

use crate::Operation;

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(
    missing_docs,
    reason = "the names are those of the tasks domain and explain themselves"
)]
pub enum Outcome {
    VersionNotSupported,
    ExtensionRequired,
    StreamingNotSupported,
    PushNotSupported,
    TaskNotFound,
    OtherTenant,
    TaskTerminal,
    ContextMismatch,
    ContextNotAccepted,
    ContentTypeNotSupported,
    TaskLimit,
    HistoryLimit,
    Continued,
    DirectMessage,
    TaskCreated,
    Found,
    NotCancelable,
    NotCancelableNow,
    Canceled,
    Subscribed,
    ConfigLimit,
    Created,
    Assigned,
    ConfigNotFound,
    Listed,
    Deleted,
    Invalid,
    Unsupported,
    NotConfigured,
    Unauthenticated,
    WrongState,
    Moved,
    ArtifactTerminal,
    ArtifactClosed,
    Updated,
}

impl Outcome {
    /// The name, as the tasks domain writes it; a metric label.
    pub fn name(self) -> &'static str {
        match self {
            Self::VersionNotSupported => "version-not-supported",
            Self::ExtensionRequired => "extension-required",
            Self::StreamingNotSupported => "streaming-not-supported",
            Self::PushNotSupported => "push-not-supported",
            Self::TaskNotFound => "task-not-found",
            Self::OtherTenant => "other-tenant",
            Self::TaskTerminal => "task-terminal",
            Self::ContextMismatch => "context-mismatch",
            Self::ContextNotAccepted => "context-not-accepted",
            Self::ContentTypeNotSupported => "content-type-not-supported",
            Self::TaskLimit => "task-limit",
            Self::HistoryLimit => "history-limit",
            Self::Continued => "continued",
            Self::DirectMessage => "direct-message",
            Self::TaskCreated => "task-created",
            Self::Found => "found",
            Self::NotCancelable => "not-cancelable",
            Self::NotCancelableNow => "not-cancelable-now",
            Self::Canceled => "canceled",
            Self::Subscribed => "subscribed",
            Self::ConfigLimit => "config-limit",
            Self::Created => "created",
            Self::Assigned => "assigned",
            Self::ConfigNotFound => "config-not-found",
            Self::Listed => "listed",
            Self::Deleted => "deleted",
            Self::Invalid => "invalid",
            Self::Unsupported => "unsupported",
            Self::NotConfigured => "not-configured",
            Self::Unauthenticated => "unauthenticated",
            Self::WrongState => "wrong-state",
            Self::Moved => "moved",
            Self::ArtifactTerminal => "artifact-terminal",
            Self::ArtifactClosed => "artifact-closed",
            Self::Updated => "updated",
        }
    }

    /// Every outcome of an operation, in its order of decision.
    pub fn of(operation: Operation) -> &'static [Self] {
        use Outcome::{
            ArtifactClosed, ArtifactTerminal, Assigned, Canceled, ConfigLimit, ConfigNotFound,
            ContentTypeNotSupported, ContextMismatch, ContextNotAccepted, Continued, Created, Deleted,
            DirectMessage, ExtensionRequired, Found, HistoryLimit, Invalid, Listed, Moved, NotCancelable,
            NotCancelableNow, NotConfigured, OtherTenant, PushNotSupported, StreamingNotSupported,
            Subscribed, TaskCreated, TaskLimit, TaskNotFound, TaskTerminal, Unauthenticated, Unsupported,
            Updated, VersionNotSupported, WrongState,
        };
        match operation {
            Operation::SendMessage => &[
                VersionNotSupported,
                ExtensionRequired,
                TaskNotFound,
                TaskTerminal,
                ContextMismatch,
                ContextNotAccepted,
                ContentTypeNotSupported,
                TaskLimit,
                HistoryLimit,
                Continued,
                DirectMessage,
                TaskCreated,
            ],
            Operation::SendStreamingMessage => &[
                VersionNotSupported,
                ExtensionRequired,
                StreamingNotSupported,
                TaskNotFound,
                TaskTerminal,
                ContextMismatch,
                ContextNotAccepted,
                ContentTypeNotSupported,
                TaskLimit,
                HistoryLimit,
                Continued,
                DirectMessage,
                TaskCreated,
            ],
            Operation::GetTask => &[
                VersionNotSupported,
                ExtensionRequired,
                TaskNotFound,
                OtherTenant,
                Found,
            ],
            Operation::ListTasks => &[VersionNotSupported, Invalid, Listed],
            Operation::CancelTask => &[
                VersionNotSupported,
                ExtensionRequired,
                TaskNotFound,
                OtherTenant,
                NotCancelable,
                NotCancelableNow,
                Canceled,
            ],
            Operation::SubscribeToTask => &[
                VersionNotSupported,
                ExtensionRequired,
                StreamingNotSupported,
                TaskNotFound,
                OtherTenant,
                TaskTerminal,
                Subscribed,
            ],
            Operation::CreateTaskPushNotificationConfig => &[
                VersionNotSupported,
                ExtensionRequired,
                PushNotSupported,
                TaskNotFound,
                ConfigLimit,
                Created,
                Assigned,
            ],
            Operation::GetTaskPushNotificationConfig => &[
                VersionNotSupported,
                ExtensionRequired,
                PushNotSupported,
                TaskNotFound,
                ConfigNotFound,
                Found,
            ],
            Operation::ListTaskPushNotificationConfigs => &[
                VersionNotSupported,
                ExtensionRequired,
                PushNotSupported,
                TaskNotFound,
                OtherTenant,
                Listed,
            ],
            Operation::DeleteTaskPushNotificationConfig => &[
                VersionNotSupported,
                ExtensionRequired,
                PushNotSupported,
                TaskNotFound,
                Deleted,
            ],
            Operation::GetExtendedAgentCard => &[
                VersionNotSupported,
                Unsupported,
                NotConfigured,
                Unauthenticated,
                Found,
            ],
            Operation::StartWorking
            | Operation::ReportProgress
            | Operation::RequireInput
            | Operation::RequireAuth
            | Operation::CompleteTask
            | Operation::FailTask
            | Operation::RejectTask => &[TaskNotFound, WrongState, Moved],
            Operation::UpdateArtifact => &[TaskNotFound, ArtifactTerminal, ArtifactClosed, Updated],
            Operation::AllTasks | Operation::AllPushNotificationConfigs => &[Listed],
        }
    }
}
