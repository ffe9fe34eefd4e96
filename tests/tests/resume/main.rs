//! Resuming streams from outside: over every binding, from replica to replica, while the store is away, and after
//! commits were lost. What it looks like on one gateway stands in `scenarios/resumption.toml`.

#![allow(clippy::unwrap_used, reason = "what must not be absent fails the test")]

mod away;
mod places;
mod replicas;
mod support;
mod timelines;
