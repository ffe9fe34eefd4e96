//! Where tasks are kept, and for how long.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::text::{Period, Size};

/// The store.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Store {
    /// Which store. `memory` keeps tasks in this process: they end with it.
    pub kind: StoreKind,
    /// Finished tasks that are kept of a tenant, or of all callers without one; the oldest are retired first.
    #[schemars(range(min = 1, max = 100_000_000))]
    pub finished_per_tenant: usize,
    /// Bytes of finished tasks that are kept in all; the oldest are retired first.
    #[schemars(extend("x-min" = "1 MiB", "x-max" = "1024 GiB"))]
    pub finished_bytes: Size,
    /// How long a finished task is kept.
    #[schemars(extend("x-min" = "1 s", "x-max" = "365 d"))]
    pub finished_age: Period,
    /// Events that are kept of a task, so that streams can be resumed.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub log_entries: usize,
    /// Bytes of events that are kept of a task.
    #[schemars(extend("x-min" = "64 KiB", "x-max" = "1 GiB"))]
    pub log_bytes: Size,
}

/// Which store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum StoreKind {
    /// In this process.
    Memory,
}

impl Default for Store {
    fn default() -> Self {
        Self {
            kind: StoreKind::Memory,
            finished_per_tenant: 200_000,
            finished_bytes: Size(1 << 30),
            finished_age: Period(Duration::from_secs(24 * 60 * 60)),
            log_entries: 2_000,
            log_bytes: Size(8 << 20),
        }
    }
}
