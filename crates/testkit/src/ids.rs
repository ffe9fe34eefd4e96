//! Ids that can be read and foretold.

use std::sync::atomic::{AtomicU64, Ordering};

use gateway_domain::{
    ContextId, MessageId, PushNotificationConfigId, PushNotificationConfigRow, TaskId, ports::Ids,
};

/// Counts each kind from 1: `task-1`, `context-1`, `message-1`, `config-1`, `row-1`.
#[derive(Debug, Default)]
pub struct SequentialIds {
    tasks: AtomicU64,
    contexts: AtomicU64,
    messages: AtomicU64,
    configs: AtomicU64,
    rows: AtomicU64,
    marks: AtomicU64,
}

fn next(counter: &AtomicU64) -> u64 {
    counter.fetch_add(1, Ordering::Relaxed) + 1
}

impl Ids for SequentialIds {
    fn task_id(&self) -> TaskId {
        TaskId::new(format!("task-{}", next(&self.tasks)))
    }

    fn context_id(&self) -> ContextId {
        ContextId::new(format!("context-{}", next(&self.contexts)))
    }

    fn message_id(&self) -> MessageId {
        MessageId::new(format!("message-{}", next(&self.messages)))
    }

    fn config_id(&self) -> PushNotificationConfigId {
        PushNotificationConfigId::new(format!("config-{}", next(&self.configs)))
    }

    fn config_row(&self) -> PushNotificationConfigRow {
        PushNotificationConfigRow::new(format!("row-{}", next(&self.rows)))
    }

    fn mark(&self) -> u32 {
        // Spread, so that marks of neighbours have nothing in common but are the same in every run.
        u32::try_from(next(&self.marks).wrapping_mul(0x9E37_79B9) & 0xFFFF_FFFF).unwrap_or_default()
    }
}
