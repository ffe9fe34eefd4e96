//! The gateway from outside: it is started with real sockets, called over every binding, and what it answers is
//! read by code of our own. Scenarios are data, see `scenarios/`; what broke elsewhere is listed in `cases/`.
//!
//! Nothing here promises to be a client library: it panics with a readable text where the gateway breaks its word.

#![allow(
    clippy::unwrap_used,
    clippy::result_large_err,
    reason = "a test harness: what must not be absent fails the test, and an error may cost what it costs"
)]

pub mod balancer;
pub mod chaos;
pub mod client;
pub mod cluster;
pub mod deployment;
pub mod gateway;
pub mod ledger;
pub mod process;
pub mod profile;
pub mod raw;
pub mod samples;
pub mod scenario;
pub mod sweep;
