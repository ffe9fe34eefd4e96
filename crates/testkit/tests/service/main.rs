//! The domain's service at work, over the store in memory and an agent that is told what to do.
//!
//! Time is paused wherever it matters. What races runs on several threads, many times over.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod cancel;
mod demo;
mod harness;
mod offers;
mod repeats;
mod replicas;
mod resume;
mod send;
mod streams;
mod subscribers;
