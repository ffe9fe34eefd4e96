//! What an operator takes away for good, whether it has ended or not.

use super::TaskHead;
use crate::{ContextId, TaskId, Tenant};

/// Which tasks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Purge {
    /// This one, whoever's it is.
    Task(TaskId),
    /// Those of a conversation among the tasks of a tenant, or of those without one.
    Context {
        /// Whose.
        tenant: Option<Tenant>,
        /// Which conversation.
        context: ContextId,
    },
    /// All of a tenant, or all without one; and what is remembered of its sends.
    Tenant(Option<Tenant>),
}

impl Purge {
    /// Whether it takes a task.
    pub fn takes(&self, head: &TaskHead) -> bool {
        match self {
            Self::Task(id) => head.id == *id,
            Self::Context { tenant, context } => head.scope.tenant == *tenant && head.context_id == *context,
            Self::Tenant(tenant) => head.scope.tenant == *tenant,
        }
    }

    /// Whose tasks it looks at; nothing where it looks at one only.
    pub fn tenant(&self) -> Option<&Option<Tenant>> {
        match self {
            Self::Task(_) => None,
            Self::Context { tenant, .. } | Self::Tenant(tenant) => Some(tenant),
        }
    }
}

/// What one step of a purge did.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PurgeStep {
    /// How many tasks it took.
    pub removed: usize,
    /// Those of them that had not ended.
    pub live: Vec<TaskId>,
    /// Where the next step begins; nothing where all was looked at.
    pub next: Option<TaskId>,
}
