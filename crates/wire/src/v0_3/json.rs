//! The JSON of HTTP+JSON in 0.3: what ProtoJSON makes of the package `a2a.v1`, written and read by hand from and to the
//! domain, so that numbers in free data stay as they are.

use bytes::Bytes;
use gateway_domain::{StreamResponse, reply::Body};
use serde::Serialize;

pub use read::request;

mod card;
mod read;
mod write;

/// The JSON that answers an operation; nothing for a stream and for what 0.3 has no operation for.
pub fn reply(body: &Body) -> Option<Bytes> {
    Some(match body {
        Body::Sent(sent) => json(&write::Sent(sent)),
        Body::Task(task) => json(&write::Task(task)),
        Body::Config(config) => json(&write::Config::of(config)),
        Body::Configs(page) => json(&write::Configs::of(page)),
        Body::Deleted => Bytes::from_static(b"{}"),
        Body::Card(card) => json(&card::Card::of(card)),
        Body::Stream(_) | Body::Tasks(_) | Body::AllTasks(_) | Body::AllConfigs(_) => return None,
    })
}

/// The JSON of an event of a stream.
pub fn event(event: &StreamResponse) -> Bytes {
    json(&write::Event(event))
}

fn json(value: &impl Serialize) -> Bytes {
    let text = serde_json::to_vec(value);
    text.expect("what is written here has text keys and goes to memory")
        .into()
}
