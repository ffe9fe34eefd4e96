//! Bounds of the domain. The defaults are the domain's own.

use gateway_domain::repeats::Repeats;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::text::{Period, Size};

/// Bounds on what is kept and how long is waited.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// Parts in one message or artifact update.
    #[schemars(range(min = 1, max = 10_000))]
    pub parts_per_message: usize,
    /// Messages in a task's history.
    #[schemars(range(min = 2, max = 100_000))]
    pub history_messages: usize,
    /// Artifacts of a task.
    #[schemars(range(min = 1, max = 10_000))]
    pub artifacts_per_task: usize,
    /// Bytes stored for a task: history, status and artifacts.
    #[schemars(extend("x-min" = "64 KiB", "x-max" = "256 MiB"))]
    pub stored_bytes_per_task: Size,
    /// Push-notification configurations of a task.
    #[schemars(range(min = 1, max = 1_000))]
    pub push_configs_per_task: usize,
    /// Unfinished tasks of a tenant, or of all callers without one. Further sends are refused.
    #[schemars(range(min = 1, max = 10_000_000))]
    pub live_tasks_per_tenant: usize,
    /// Tenants that may begin tasks where `tenants.names` is not given.
    #[schemars(range(min = 0, max = 1_000_000))]
    pub unconfigured_tenants: usize,
    /// Streams of one authenticated caller at a time.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub streams_per_caller: usize,
    /// Streams of this process at a time.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub streams_per_replica: usize,
    /// How long a send may stay unseen while the agent decides between a task and a direct answer.
    #[schemars(extend("x-min" = "0 s", "x-max" = "1 min"))]
    pub accept_window: Period,
    /// How long a cancel waits for the agent before the task is canceled without it.
    #[schemars(extend("x-min" = "1 ms", "x-max" = "5 min"))]
    pub cancel_wait: Period,
    /// How long a blocking send may wait; then it is answered with the task as it stands. Without it as long as it
    /// takes.
    #[schemars(extend("x-min" = "100 ms", "x-max" = "24 h"), example = &"10 min")]
    pub blocking_wait: Option<Period>,
    /// How long a stream may hold an event that its reader does not take.
    #[schemars(extend("x-min" = "1 s", "x-max" = "1 h"))]
    pub reader_stall: Period,
    /// How long a stream is held open while the store cannot be read; then it ends with its cursor, so that its client
    /// goes on at another replica.
    #[schemars(extend("x-min" = "0 s", "x-max" = "1 h"))]
    pub stream_hold: Period,
    /// Events that a stream takes from the log at a time.
    #[schemars(range(min = 1, max = 2_000))]
    pub events_per_read: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self::from(&gateway_domain::Limits::default())
    }
}

impl From<&gateway_domain::Limits> for Limits {
    fn from(limits: &gateway_domain::Limits) -> Self {
        Self {
            parts_per_message: limits.parts_per_message,
            history_messages: limits.history_messages,
            artifacts_per_task: limits.artifacts_per_task,
            stored_bytes_per_task: Size(limits.stored_bytes_per_task),
            push_configs_per_task: limits.push_configs_per_task,
            live_tasks_per_tenant: limits.live_tasks_per_tenant,
            unconfigured_tenants: limits.unconfigured_tenants,
            streams_per_caller: limits.streams_per_caller,
            streams_per_replica: limits.streams_per_replica,
            accept_window: Period(limits.accept_window),
            cancel_wait: Period(limits.cancel_wait),
            blocking_wait: limits.blocking_wait.map(Period),
            reader_stall: Period(limits.reader_stall),
            stream_hold: Period(limits.stream_hold),
            events_per_read: limits.entries_per_read,
        }
    }
}

impl From<&Limits> for gateway_domain::Limits {
    fn from(limits: &Limits) -> Self {
        Self {
            parts_per_message: limits.parts_per_message,
            history_messages: limits.history_messages,
            artifacts_per_task: limits.artifacts_per_task,
            stored_bytes_per_task: limits.stored_bytes_per_task.0,
            push_configs_per_task: limits.push_configs_per_task,
            live_tasks_per_tenant: limits.live_tasks_per_tenant,
            unconfigured_tenants: limits.unconfigured_tenants,
            streams_per_caller: limits.streams_per_caller,
            streams_per_replica: limits.streams_per_replica,
            accept_window: limits.accept_window.0,
            cancel_wait: limits.cancel_wait.0,
            blocking_wait: limits.blocking_wait.map(|wait| wait.0),
            reader_stall: limits.reader_stall.0,
            stream_hold: limits.stream_hold.0,
            entries_per_read: limits.events_per_read,
            repeats: Repeats::default(),
        }
    }
}
