//! The binding from outside: gRPC clients against a gateway that the test plays.
#![allow(clippy::unwrap_used, reason = "a test ends at what it did not expect")]

mod envelope;
mod messages;
mod operations;
mod sockets;
mod standard;
mod streams;
mod support;
mod v0_3;
