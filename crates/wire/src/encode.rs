//! Domain to protobuf. Cannot fail: what the domain holds has a form on the wire.
//!
//! Functions borrow, since most of what goes out is shared between readers. Integers above 2^53 in free data become
//! the nearest double, which is all that protobuf's `Value` can hold; canonical JSON keeps them exactly.

pub use agent::{all_configs, all_tasks};
pub use card::agent_card;
pub use message::{artifact, message, part};
pub use push::{authentication, config, configs};
pub use task::{sent, status, stream_response, task, tasks, timestamp};
pub use value::{object, value};

mod agent;
mod card;
mod message;
mod push;
mod task;
mod value;

/// Where protobuf has no absence the empty string says it.
pub(crate) fn or_empty(text: Option<&impl ToString>) -> String {
    text.map(ToString::to_string).unwrap_or_default()
}
