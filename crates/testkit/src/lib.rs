//! What tests put in the place of the world: agents, callers, clocks and ids that do as they are told.
//!
//! Nothing here is part of the gateway, and nothing is made for load.

pub mod agent;
pub mod authenticator;
pub mod build;
pub mod clock;
pub mod contract;
pub mod ids;
pub mod receiver;
pub mod redis;
pub mod severed;

/// A store for tests that are not about stores.
pub use gateway_store_memory as store;
