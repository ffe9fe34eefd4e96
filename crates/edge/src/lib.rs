//! What is true of every HTTP listener: accepting and draining connections, bounds on heads and bodies, request
//! ids, the authenticator's place, the panic guard, SSE framing, documents with validators.
//!
//! It has never heard of an A2A operation. How a refusal looks is the binding's: it hands in a [`Face`].

mod body;
pub mod document;
mod front;
pub mod listen;
pub mod negotiate;
pub mod query;
mod request_id;
mod settings;
pub mod sse;

pub use body::{Budget, HeldBytes, read_body};
pub use front::{Face, Front, RequestContext, front};
pub use settings::Settings;

/// What a binding answers with.
pub type Response = http::Response<axum::body::Body>;
