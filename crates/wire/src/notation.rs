//! The notations in which an event is kept encoded: the numbers that bindings pass to
//! [`SharedEvent::encoded`](gateway_domain::SharedEvent::encoded).

/// Canonical JSON of version 1.0: the `StreamResponse` object alone, without an envelope.
pub const JSON: usize = 0;
/// Protobuf of version 1.0: the encoded `StreamResponse`.
pub const PROTOBUF: usize = 1;
/// JSON-RPC of version 0.3: the event alone, told by its `kind`, without an envelope.
pub const KIND: usize = 2;
/// Protobuf of version 0.3: the encoded `StreamResponse`.
pub const PROTOBUF_0_3: usize = 3;
/// HTTP+JSON of version 0.3: the JSON of that `StreamResponse`.
pub const JSON_0_3: usize = 4;
