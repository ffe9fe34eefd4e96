//! One target for each decoder.

mod cursor;
mod grpc;
mod jsonrpc;
mod message;
mod protobuf;
mod rest;

pub use cursor::CURSOR;
pub use grpc::GRPC;
pub use jsonrpc::JSONRPC;
pub use message::MESSAGE;
pub use protobuf::PROTOBUF;
pub use rest::REST;
