//! The stack, in one place, with the reason for each place that matters. Calls travel down, replies and refusals up:
//!
//! ```text
//! observe → deadline → version → decode → tenant → extensions → limits → authorize → dispatch
//! ```

use std::sync::Arc;

use gateway_domain::{Error, Reply, Service};
use tower::{ServiceBuilder, util::BoxCloneSyncService};

use crate::{
    Call, Observer, Versions,
    authorize::Authorize,
    deadline::Deadline,
    decode::Decode,
    dispatch::Dispatch,
    extensions::Extensions,
    limits::{Limits, StreamPermits},
    observe::Observe,
    tenant::TenantRule,
    version::VersionRule,
};

/// What bindings call: the whole stack with the domain at its end.
pub type Gateway = BoxCloneSyncService<Call, Reply, Error>;

/// What differs from listener to listener.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Versions served, and the one that is assumed.
    pub versions: Versions,
    /// Permits for streams, shared by all listeners.
    pub permits: Arc<StreamPermits>,
}

/// Builds the stack.
pub fn stack(service: &Service, settings: Settings, observer: Arc<dyn Observer>) -> Gateway {
    let layers = ServiceBuilder::new()
        // Outermost: it sees every call with its outcome, refusals included.
        .layer_fn(|inner| Observe::new(inner, observer.clone()))
        // Before any work is done for a caller who no longer waits.
        .layer_fn(Deadline::new)
        // Before the parameters are read: those of another version need not parse.
        .layer_fn(|inner| VersionRule::new(inner, settings.versions.clone()))
        .layer_fn(Decode::new)
        // After decode, since the tenant stands in the body as often as in the path; before extensions, since it
        // selects the agent whose card says which extensions are required.
        .layer_fn(|inner| TenantRule::new(inner, service.clone()))
        .layer_fn(Extensions::new)
        // After the refusals that cost nothing, so that those use up no permit.
        .layer_fn(|inner| Limits::new(inner, settings.permits.clone()))
        .layer_fn(Authorize::new);
    BoxCloneSyncService::new(layers.service(Dispatch::new(service.clone())))
}
