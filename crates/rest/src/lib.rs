//! The HTTP+JSON binding (§11): from verb, path, query and body to a call, and back to a body or a stream.
//!
//! It owns the envelope and nothing else: routes come from the operation table, codes from the error table, the JSON of
//! each version from `wire`. The agent card is no operation and not served here.

mod body;
mod fields;
mod form;
mod head;
mod media;
pub mod openapi;
mod refusal;
mod reply;
mod routes;
mod service;

#[cfg(test)]
mod tests;

pub use refusal::RestFace;
pub use service::service;
