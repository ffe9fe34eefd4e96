//! What the wire crate promises, tested from outside: the protos and tables against the facts of the protocol, the
//! conversions against themselves and against ProtoJSON by reflection.

#![allow(clippy::unwrap_used)]

mod descriptors;
mod errors;
mod generate;
mod kind;
mod proto_json;
mod requests;
mod round_trip;
mod v0_3;
