//! The gRPC binding (§10): reads a call's path, metadata and message, hands a [`Call`](gateway_pipeline::Call) on,
//! renders the reply or the error. Health and reflection are served beside the operations.
//!
//! It works from the operation table, not from generated service code: a message is read only once the version is
//! known, and an event is written once for all its readers. Both versions are served; the service of a call says which it
//! is. Compression is not offered.

mod envelope;
mod form;
mod request;
mod respond;
mod server;
mod standard;
mod status;

pub use server::{Server, Settings, service};
pub use standard::Health;
pub use status::GrpcFace;
