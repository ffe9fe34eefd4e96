//! Domain to protobuf of 0.3. Cannot fail; what 0.3 has no field for is left out.
//!
//! Left out are a message's `reference_task_ids`, file name and media type of text and data, and of a card what
//! [`agent_card`] says.

use gateway_domain::StreamResponse;
use prost::Message;

pub use card::agent_card;
pub use message::{artifact, message};
pub use push::{config, configs};
pub use task::{sent, stream_response, task};

mod card;
mod message;
mod push;
mod task;

/// An encoded event of a stream.
pub fn event(event: &StreamResponse) -> Vec<u8> {
    stream_response(event).encode_to_vec()
}
