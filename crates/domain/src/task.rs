//! What a client sees of a task (§4.1.1 to §4.1.3).

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{
    Artifact, ContextId, Entry, Message, Role, TaskId, Timestamp,
    event::Keep,
    json,
    json::Object,
    notation::{null_default, proto_enum},
};

/// A task as it stands. Large members are shared, so that a copy costs the count of its members, not their size.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskSnapshot {
    /// Made by the gateway.
    pub id: TaskId,
    /// The conversation it belongs to.
    #[serde(alias = "context_id")]
    pub context_id: ContextId,
    /// How it stands.
    pub status: TaskStatus,
    /// What it produced, in the order of first appearance.
    #[serde(
        default,
        deserialize_with = "null_default",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub artifacts: Vec<Arc<Artifact>>,
    /// What was said, oldest first; the agent's latest word stands in the status alone.
    #[serde(
        default,
        deserialize_with = "null_default",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub history: Vec<Arc<Message>>,
    /// Free data.
    #[serde(
        default,
        deserialize_with = "json::optional_object",
        skip_serializing_if = "Option::is_none"
    )]
    pub metadata: Option<Object>,
}

/// How a task stands (§4.1.2).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TaskStatus {
    /// Where in its life.
    pub state: TaskState,
    /// What the agent says about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<Arc<Message>>,
    /// When the gateway recorded it.
    pub timestamp: Timestamp,
}

proto_enum! {
    /// Where a task is in its life (§4.1.3).
    TaskState {
        /// Taken, not begun.
        Submitted = 1 "TASK_STATE_SUBMITTED",
        /// The agent is at it.
        Working = 2 "TASK_STATE_WORKING",
        /// Done.
        Completed = 3 "TASK_STATE_COMPLETED",
        /// Ended by a fault.
        Failed = 4 "TASK_STATE_FAILED",
        /// Ended on request.
        Canceled = 5 "TASK_STATE_CANCELED",
        /// The agent waits for a message.
        InputRequired = 6 "TASK_STATE_INPUT_REQUIRED",
        /// The agent will not do it.
        Rejected = 7 "TASK_STATE_REJECTED",
        /// The agent waits for credentials.
        AuthRequired = 8 "TASK_STATE_AUTH_REQUIRED",
    }
}

impl TaskState {
    /// Nothing changes any more.
    pub fn is_terminal(self) -> bool {
        matches!(
            self,
            Self::Completed | Self::Failed | Self::Canceled | Self::Rejected
        )
    }

    /// The task waits for its client.
    pub fn is_interrupted(self) -> bool {
        matches!(self, Self::InputRequired | Self::AuthRequired)
    }
}

impl TaskSnapshot {
    /// Takes in one entry of the log: a snapshot is the fold of the log over the first one.
    pub fn apply(&mut self, entry: &Entry) {
        match entry {
            Entry::Created { .. } | Entry::Shown(_) => {}
            Entry::MessageTaken(message) => self.history.push(message.clone()),
            Entry::StatusUpdated { event, displaced } => {
                let former = std::mem::replace(&mut self.status, event.status.clone());
                if let Some(message) = former.message {
                    self.keep(message, *displaced);
                }
            }
            Entry::ArtifactUpdated(event) => self.take_artifact(&event.artifact, event.append),
        }
    }

    fn keep(&mut self, message: Arc<Message>, keep: Keep) {
        match keep {
            Keep::Drop => return,
            Keep::Append => {}
            Keep::AppendForOldestAgentMessage => {
                if let Some(oldest) = self
                    .history
                    .iter()
                    .position(|message| message.role == Role::Agent)
                {
                    self.history.remove(oldest);
                }
            }
        }
        self.history.push(message);
    }

    fn take_artifact(&mut self, artifact: &Arc<Artifact>, append: bool) {
        let held = self
            .artifacts
            .iter_mut()
            .find(|held| held.artifact_id == artifact.artifact_id);
        match held {
            Some(held) if append => Arc::make_mut(held).append(artifact),
            Some(held) => *held = artifact.clone(),
            None => self.artifacts.push(artifact.clone()),
        }
    }

    /// The same task with at most so many of its latest messages (§3.2.4): nothing given means all.
    #[must_use]
    pub fn with_history(mut self, length: Option<u32>) -> Self {
        if let Some(length) = length.and_then(|length| usize::try_from(length).ok()) {
            let surplus = self.history.len().saturating_sub(length);
            self.history.drain(..surplus);
        }
        self
    }
}
