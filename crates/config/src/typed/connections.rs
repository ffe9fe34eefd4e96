//! Bounds of a listener, and its time-outs.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::text::{Period, Size};

/// Bounds of a listener, and its time-outs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Connections {
    /// Bytes of a request's body, on every binding.
    #[schemars(extend("x-min" = "1 KiB", "x-max" = "64 MiB"))]
    pub body: Size,
    /// Bytes of a request's target and headers together.
    #[schemars(extend("x-min" = "1 KiB", "x-max" = "48 KiB"))]
    pub headers: Size,
    /// Bytes of bodies that are held at once; above it requests are asked to come again.
    #[schemars(extend("x-min" = "1 MiB", "x-max" = "64 GiB"))]
    pub bodies_held: Size,
    /// How long a body may take to arrive.
    #[schemars(extend("x-min" = "1 s", "x-max" = "1 h"))]
    pub body_timeout: Period,
    /// How long a head may take to arrive, and how long an HTTP/1 connection may be idle between requests. Keep it
    /// longer than the idle time-out of a load balancer in front.
    #[schemars(extend("x-min" = "1 s", "x-max" = "1 h"))]
    pub head_timeout: Period,
    /// After how much silence a stream sends a comment, and an HTTP/2 connection a ping.
    #[schemars(extend("x-min" = "1 s", "x-max" = "10 min"))]
    pub keep_alive: Period,
    /// After how long a connection is asked to close, give or take a tenth, so that load spreads to new replicas.
    #[schemars(extend("x-min" = "1 s", "x-max" = "7 d"))]
    pub age: Period,
    /// How long a write may make no progress before its connection is given up.
    #[schemars(extend("x-min" = "1 s", "x-max" = "1 h"))]
    pub write_stall: Period,
    /// How long running requests may go on after the signal to stop.
    #[schemars(extend("x-min" = "0 s", "x-max" = "1 h"))]
    pub drain: Period,
    /// Connections that a listener holds at once; further ones wait.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub most: usize,
    /// Requests that run at once on one HTTP/2 connection.
    #[schemars(range(min = 1, max = 10_000))]
    pub requests_per_connection: u32,
}

impl Default for Connections {
    fn default() -> Self {
        let seconds = |count| Period(Duration::from_secs(count));
        Self {
            body: Size(8 << 20),
            headers: Size(16 << 10),
            bodies_held: Size(256 << 20),
            body_timeout: seconds(30),
            head_timeout: seconds(75),
            keep_alive: seconds(15),
            age: seconds(30 * 60),
            write_stall: seconds(30),
            drain: seconds(30),
            most: 16_384,
            requests_per_connection: 200,
        }
    }
}
