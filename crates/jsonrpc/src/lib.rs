//! The JSON-RPC binding (§9): reads the envelope, hands the call on, renders the reply or the error.
//!
//! One request a POST. Batches and notifications are refused, since every method has an answer; an id comes back as
//! it was written, digit for digit. It knows nothing of the tenant rule or the version rule.

mod envelope;
mod head;
mod methods;
mod params;
mod path;
mod respond;
mod service;
mod stream;
mod surrogates;
#[cfg(test)]
mod tests;
mod unary;

pub use path::matches;
pub use respond::RpcFace;
pub use service::{Rpc, service};
