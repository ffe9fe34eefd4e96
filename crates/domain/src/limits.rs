//! The bounds of what is kept and taken in; each is a setting.

use std::time::Duration;

use crate::repeats::Repeats;

/// Bounds of the domain. Those of connections, headers and bodies are the edge's.
#[derive(Debug, Clone, PartialEq)]
pub struct Limits {
    /// Parts in one message or artifact update.
    pub parts_per_message: usize,
    /// Messages in a task's history.
    pub history_messages: usize,
    /// Artifacts of a task.
    pub artifacts_per_task: usize,
    /// Bytes stored for a task: history, status and artifacts.
    pub stored_bytes_per_task: usize,
    /// Push-notification configurations of a task.
    pub push_configs_per_task: usize,
    /// Tasks of a tenant (or: of all without one) that are not terminal.
    pub live_tasks_per_tenant: usize,
    /// Tenants that are served though nobody configured them.
    pub unconfigured_tenants: usize,
    /// Streams of one named caller at a time.
    pub streams_per_caller: usize,
    /// Streams of one process at a time.
    pub streams_per_replica: usize,
    /// How long a send may stay unseen while the agent makes up its mind.
    pub accept_window: Duration,
    /// How long a cancel waits for the agent.
    pub cancel_wait: Duration,
    /// How long a blocking send may wait; nothing means as long as it takes.
    pub blocking_wait: Option<Duration>,
    /// How long a stream may hold an event that its reader does not take.
    pub reader_stall: Duration,
    /// How long a stream waits for a store that cannot be read.
    pub stream_hold: Duration,
    /// Entries that a stream takes from the log at a time.
    pub entries_per_read: usize,
    /// Sends that are recognised when they are repeated.
    pub repeats: Repeats,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            parts_per_message: 100,
            history_messages: 1_000,
            artifacts_per_task: 100,
            stored_bytes_per_task: 32 << 20,
            push_configs_per_task: 10,
            live_tasks_per_tenant: 100_000,
            unconfigured_tenants: 1_000,
            streams_per_caller: 100,
            streams_per_replica: 10_000,
            accept_window: Duration::from_secs(2),
            cancel_wait: Duration::from_secs(3),
            blocking_wait: None,
            reader_stall: Duration::from_secs(30),
            stream_hold: Duration::from_secs(30),
            entries_per_read: 64,
            repeats: Repeats::default(),
        }
    }
}
