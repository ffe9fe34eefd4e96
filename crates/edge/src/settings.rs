//! The bounds of a listener.

use std::time::Duration;

use crate::Budget;

/// The bounds of a listener. Each default is stated at its field.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Bytes of a request's body: 8 MiB.
    pub body_bytes: usize,
    /// Bytes of a request's target and headers together: 16 KiB.
    pub header_bytes: usize,
    /// Bytes of bodies that are held at once, over all clones of these settings: 256 MiB.
    pub held: Budget,
    /// How long a body may take to arrive: 30 s.
    pub body_timeout: Duration,
    /// How long a head may take to arrive, and how long an HTTP/1 connection may be idle between requests: 75 s,
    /// longer than the idle time-outs of common load balancers, so that they close first.
    pub head_timeout: Duration,
    /// After how much silence a stream sends a comment, and an HTTP/2 connection a ping: 15 s.
    pub keep_alive: Duration,
    /// After how long a connection is asked to close, give or take a tenth: 30 min.
    pub connection_age: Duration,
    /// How long a write may make no progress before its connection is given up: 30 s.
    pub write_stall: Duration,
    /// How long running requests may go on once the listener drains: 30 s.
    pub drain: Duration,
    /// Connections held at once by one listener; further ones wait to be accepted: 16,384.
    pub connections: usize,
    /// Requests that run at once on one HTTP/2 connection: 200.
    pub concurrent_streams: u32,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            body_bytes: 8 << 20,
            header_bytes: 16 << 10,
            held: Budget::new(256 << 20),
            body_timeout: Duration::from_secs(30),
            head_timeout: Duration::from_secs(75),
            keep_alive: Duration::from_secs(15),
            connection_age: Duration::from_secs(30 * 60),
            write_stall: Duration::from_secs(30),
            drain: Duration::from_secs(30),
            connections: 16_384,
            concurrent_streams: 200,
        }
    }
}
