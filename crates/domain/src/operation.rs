//! The operations: the eleven that a client may invoke (§5.3) and those of the agent side. Also the bindings
//! and protocol versions by name. Wire names, paths and numbers are not here; they stand in `wire`.

use crate::{TaskState, principal::Actor};

/// One thing a caller can ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Operation {
    /// §3.1.1
    SendMessage,
    /// §3.1.2
    SendStreamingMessage,
    /// §3.1.3
    GetTask,
    /// §3.1.4
    ListTasks,
    /// §3.1.5
    CancelTask,
    /// §3.1.6
    SubscribeToTask,
    /// §3.1.7
    CreateTaskPushNotificationConfig,
    /// §3.1.8
    GetTaskPushNotificationConfig,
    /// §3.1.9
    ListTaskPushNotificationConfigs,
    /// §3.1.10
    DeleteTaskPushNotificationConfig,
    /// §3.1.11
    GetExtendedAgentCard,
    /// The agent moves the task to Working.
    StartWorking,
    /// The agent reports in the state held: new status message and timestamp, no move.
    ReportProgress,
    /// The agent moves the task to InputRequired.
    RequireInput,
    /// The agent moves the task to AuthRequired.
    RequireAuth,
    /// The agent moves the task to Completed.
    CompleteTask,
    /// The agent moves the task to Failed.
    FailTask,
    /// The agent moves the task to Rejected.
    RejectTask,
    /// The agent sets, replaces or appends to an artifact.
    UpdateArtifact,
    /// The agent reads every task.
    AllTasks,
    /// The agent reads every push-notification configuration.
    AllPushNotificationConfigs,
}

impl Operation {
    /// The client's operations, in the order of §5.3.
    pub const CLIENT: [Self; 11] = [
        Self::SendMessage,
        Self::SendStreamingMessage,
        Self::GetTask,
        Self::ListTasks,
        Self::CancelTask,
        Self::SubscribeToTask,
        Self::CreateTaskPushNotificationConfig,
        Self::GetTaskPushNotificationConfig,
        Self::ListTaskPushNotificationConfigs,
        Self::DeleteTaskPushNotificationConfig,
        Self::GetExtendedAgentCard,
    ];

    /// The agent's commands and views.
    pub const AGENT: [Self; 10] = [
        Self::StartWorking,
        Self::ReportProgress,
        Self::RequireInput,
        Self::RequireAuth,
        Self::CompleteTask,
        Self::FailTask,
        Self::RejectTask,
        Self::UpdateArtifact,
        Self::AllTasks,
        Self::AllPushNotificationConfigs,
    ];

    /// Every operation.
    pub fn all() -> impl Iterator<Item = Self> {
        Self::CLIENT.into_iter().chain(Self::AGENT)
    }

    /// The specification's name; used in logs and as a metric label.
    pub fn name(self) -> &'static str {
        match self {
            Self::SendMessage => "SendMessage",
            Self::SendStreamingMessage => "SendStreamingMessage",
            Self::GetTask => "GetTask",
            Self::ListTasks => "ListTasks",
            Self::CancelTask => "CancelTask",
            Self::SubscribeToTask => "SubscribeToTask",
            Self::CreateTaskPushNotificationConfig => "CreateTaskPushNotificationConfig",
            Self::GetTaskPushNotificationConfig => "GetTaskPushNotificationConfig",
            Self::ListTaskPushNotificationConfigs => "ListTaskPushNotificationConfigs",
            Self::DeleteTaskPushNotificationConfig => "DeleteTaskPushNotificationConfig",
            Self::GetExtendedAgentCard => "GetExtendedAgentCard",
            Self::StartWorking => "StartWorking",
            Self::ReportProgress => "ReportProgress",
            Self::RequireInput => "RequireInput",
            Self::RequireAuth => "RequireAuth",
            Self::CompleteTask => "CompleteTask",
            Self::FailTask => "FailTask",
            Self::RejectTask => "RejectTask",
            Self::UpdateArtifact => "UpdateArtifact",
            Self::AllTasks => "AllTasks",
            Self::AllPushNotificationConfigs => "AllPushNotificationConfigs",
        }
    }

    /// Who may invoke it; nobody may do what is the other's.
    pub fn actor(self) -> Actor {
        if Self::CLIENT.contains(&self) {
            Actor::Client
        } else {
            Actor::Agent
        }
    }

    /// Whether the answer is a stream of events.
    pub fn is_streaming(self) -> bool {
        matches!(self, Self::SendStreamingMessage | Self::SubscribeToTask)
    }

    /// Whether a card's required extensions gate it: the nine client commands, not ListTasks and not
    /// GetExtendedAgentCard.
    pub fn requires_extensions(self) -> bool {
        self.actor() == Actor::Client && !matches!(self, Self::ListTasks | Self::GetExtendedAgentCard)
    }

    /// Whether it always names an existing task; a send may name one too.
    pub fn names_a_task(self) -> bool {
        self.actor() == Actor::Client
            && !matches!(
                self,
                Self::SendMessage | Self::SendStreamingMessage | Self::ListTasks | Self::GetExtendedAgentCard
            )
    }
}

/// A protocol binding (§5); here only a label for logs, metrics and tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Binding {
    /// §10
    Grpc,
    /// §9
    JsonRpc,
    /// §11
    HttpJson,
}

impl Binding {
    /// Every binding.
    pub const ALL: [Self; 3] = [Self::Grpc, Self::JsonRpc, Self::HttpJson];

    /// The specification's name of the binding, as an agent card writes it (§5.8).
    pub fn name(self) -> &'static str {
        match self {
            Self::Grpc => "GRPC",
            Self::JsonRpc => "JSONRPC",
            Self::HttpJson => "HTTP+JSON",
        }
    }
}

/// A protocol version that the gateway knows; patch numbers are not compared (§3.6).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub enum Version {
    /// Also what an absent or empty `A2A-Version` means (§3.6.2).
    V0_3,
    /// The version of this specification.
    #[default]
    V1_0,
}

impl Version {
    /// `Major.Minor`, as it is sent.
    pub fn name(self) -> &'static str {
        match self {
            Self::V0_3 => "0.3",
            Self::V1_0 => "1.0",
        }
    }

    /// Whether a stream ends with a status update of this state. In 0.3 that is what `final` says.
    pub fn ends_streams_at(self, state: TaskState) -> bool {
        match self {
            Self::V1_0 => state.is_terminal(),
            Self::V0_3 => state.is_terminal() || state == TaskState::InputRequired,
        }
    }

    /// Reads `Major.Minor`, or the same followed by a patch number, which is ignored.
    pub fn parse(text: &str) -> Option<Self> {
        let mut numbers = text.split('.').map(|number| number.parse::<u16>().ok());
        let (major, minor) = (numbers.next()??, numbers.next()??);
        let patch_is_fine = match numbers.next() {
            None => true,
            Some(patch) => patch.is_some() && numbers.next().is_none(),
        };
        match (major, minor, patch_is_fine) {
            (1, 0, true) => Some(Self::V1_0),
            (0, 3, true) => Some(Self::V0_3),
            _ => None,
        }
    }
}
