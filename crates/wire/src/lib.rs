//! What the protocol looks like on the wire: generated protobuf, conversions to and from the domain, the one table
//! of operations, the one table of errors, the names of service parameters.
//!
//! Version 1.0; what 0.3 has of its own is in [`v0_3`]. It has never heard of sockets, HTTP servers or stores; canonical JSON is the domain's own notation.

pub mod decode;
pub mod encode;
pub mod errors;
pub mod notation;
pub mod operations;
pub mod params;
pub mod pb;
pub mod schema;
pub mod v0_3;
pub mod weight;
