//! Delivery to webhooks, and where it may go.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::text::{Period, Range};

/// Delivery to webhooks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Push {
    /// Whether webhooks may point to public addresses only, by https, at port 80, 443 or one from 1024. Without it
    /// callers can have this process post to whatever it reaches, its own network included.
    pub guard: bool,
    /// Ranges of addresses that webhooks may point to all the same, also by http, such as
    /// ["10.1.0.0/16", "fd00::/8"].
    pub allowed_ranges: Vec<Range>,
    /// Webhooks that are delivered to at once. Further ones are refused; what another replica left waits for a place.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub most: usize,
    /// How long a receiver has for its answer.
    #[schemars(extend("x-min" = "100 ms", "x-max" = "5 min"))]
    pub timeout: Period,
    /// How often an event is tried. An answer that refuses it (a status of 300 to 499 other than 408, 425 and 429) ends
    /// the trying at once.
    #[schemars(range(min = 1, max = 1_000))]
    pub attempts: u32,
    /// How long is waited after the first failure; then twice as long each time.
    #[schemars(extend("x-min" = "1 ms", "x-max" = "1 h"))]
    pub first_pause: Period,
    /// How long is waited at most.
    #[schemars(extend("x-min" = "1 ms", "x-max" = "24 h"))]
    pub longest_pause: Period,
    /// How long an event is tried.
    #[schemars(extend("x-min" = "1 s", "x-max" = "7 d"))]
    pub patience: Period,
}

impl Default for Push {
    fn default() -> Self {
        Self {
            guard: true,
            allowed_ranges: Vec::new(),
            most: 10_000,
            timeout: Period(Duration::from_secs(10)),
            attempts: 10,
            first_pause: Period(Duration::from_millis(500)),
            longest_pause: Period(Duration::from_secs(60)),
            patience: Period(Duration::from_secs(60 * 60)),
        }
    }
}
