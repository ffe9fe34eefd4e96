//! Hostile input for every decoder: texts and bytes that are nearly right, by the thousand in a test run and by the
//! million when asked for. A target panics where a decoder breaks its word: it never panics, never takes memory out of
//! proportion, and always answers in form.
//!
//! Inputs are mutations of the corpus, which is kept. They are not guided by coverage.

#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test harness: what must not be absent fails the test, and progress goes to the terminal"
)]

pub mod bench;
pub mod mutation;
pub mod run;
pub mod targets;

pub use run::fuzz;
