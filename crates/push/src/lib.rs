//! Webhooks: what happens to a task is posted to the receivers that were configured for it (§4.3.3).
//!
//! Each configuration has one follower, which reads the task's log and sends one event after the other, the next only
//! when the former was taken or given up. Where replicas share a store, another one goes on with what this process leaves;
//! without them a delivery ends with it. A receiver may get an event twice, where its answer was lost or its follower
//! ended before it had noted it.

mod body;
mod client;
mod counts;
mod courier;
mod follower;
pub mod guard;
mod lease;
mod receiver;
mod resolver;
mod retries;
mod target;
#[cfg(test)]
mod tests;

use std::time::Duration;

use ipnet::IpNet;

pub use counts::{Attempt, Counts, DeadLetter};
pub use courier::Courier;
pub use resolver::{Resolver, SystemResolver};
pub use retries::Retries;

/// Bounds of delivery, and where it may go.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// Whether receivers must have public addresses and the usual ports. Without it any caller can have this process
    /// post to whatever it reaches (§13.2).
    pub guard: bool,
    /// Addresses that receivers may have although they are not public, and that may be posted to without TLS.
    pub allowed_ranges: Vec<IpNet>,
    /// Configurations that are delivered to at once; further ones are refused, and left to other replicas.
    pub followers: usize,
    /// How long a receiver has for one answer, with the connecting.
    pub timeout: Duration,
    /// How often a failed call is repeated.
    pub retries: Retries,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            guard: true,
            allowed_ranges: Vec::new(),
            followers: 10_000,
            timeout: Duration::from_secs(10),
            retries: Retries::default(),
        }
    }
}
