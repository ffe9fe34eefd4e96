//! The gateway, put together: the one crate that names stores, agents and bindings side by side. It builds them from
//! the settings, listens, and drains; it has no rule of the domain of its own.

mod admin;
mod announce;
mod assembly;
mod bounds;
mod card;
mod domain;
mod ids;
mod listeners;
mod observers;
mod paths;
mod port;
mod purge;
mod running;
pub mod settings;
mod store;
mod webhooks;

pub use announce::announcement;
pub use assembly::Assembly;
pub use gateway_push::Resolver;
pub use listeners::{Addresses, StartError};
pub use running::Running;

/// The version of this program.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
