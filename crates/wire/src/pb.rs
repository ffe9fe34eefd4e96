//! The generated protobuf of `proto/`, messages and service code. Lints are off here, since nobody wrote it.

#[allow(
    clippy::all,
    clippy::pedantic,
    missing_docs,
    unreachable_pub,
    unused_qualifications,
    deprecated
)]
mod generated {
    include!(concat!(env!("OUT_DIR"), "/mod.rs"));
}

pub use generated::{a2a::v1 as v0_3, gateway::agent::v1 as agent, lf::a2a::v1};

/// Every descriptor of `proto/` as an encoded `FileDescriptorSet`, options kept; for reflection.
pub const DESCRIPTORS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/descriptors.bin"));
