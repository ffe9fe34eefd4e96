//! What does the work behind the gateway: agents that are built in.
//!
//! An agent here knows the domain's ports and nothing else: no store, no binding. It keeps nothing about a task that
//! the task itself doesn't tell, but for the runs under way.

pub mod conformance;
pub mod demo;
pub mod runs;
