//! The notations in which an event is kept encoded: the numbers that bindings pass to
//! [`SharedEvent::encoded`](gateway_domain::SharedEvent::encoded).

/// Canonical JSON of version 1.0: the `StreamResponse` object alone, without an envelope.
pub const JSON: usize = 0;
/// Protobuf of version 1.0: the encoded `StreamResponse`.
pub const PROTOBUF: usize = 1;
