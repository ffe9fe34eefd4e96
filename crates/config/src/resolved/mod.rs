//! The settings as they are meant: addresses that fit together, a card, tenants that can be reached. Made from
//! [`Typed`](crate::typed::Typed) after each value has been checked by itself.

mod card;
mod listeners;
mod secrets;
mod store;
mod tenants;

use gateway_domain::{Limits, Tenant, directory};

pub use card::Card;
pub use listeners::{ClientListener, Listeners, PublicUrls};

use crate::{
    Outside,
    fault::{Fault, Faults},
    text::Secret,
    typed::{self, AgentKind, Connections, ErrorTable, Logging, Push, Store, Telemetry, Typed},
};

/// Every setting, ready to be carried out.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Where to listen.
    pub listeners: Listeners,
    /// What the card says about that; nothing where the listener's own address is meant.
    pub public_urls: PublicUrls,
    /// Which agent.
    pub agent: AgentKind,
    /// Which media types are taken.
    pub media_types: directory::MediaTypes,
    /// What the card says besides its interfaces.
    pub card: Card,
    /// By which table errors are told.
    pub error_table: ErrorTable,
    /// The tenants served; nothing where all are.
    pub tenants: Option<Vec<Tenant>>,
    /// Bounds of the domain.
    pub limits: Limits,
    /// Bounds of listeners.
    pub connections: Connections,
    /// The store and its bounds.
    pub store: Store,
    /// Delivery to webhooks.
    pub push: Push,
    /// The log.
    pub logging: Logging,
    /// Metrics.
    pub telemetry: Telemetry,
    /// Seals page tokens; nothing where a random one is to be made.
    pub page_key: Option<Secret>,
    /// Lets the gateway into Redis.
    pub redis_password: Option<Secret>,
    /// Lets the gateway in at Redis's Sentinels.
    pub redis_sentinel_password: Option<Secret>,
}

impl Settings {
    /// Works out what the settings mean together. Reads the files that hold secrets.
    ///
    /// # Errors
    /// Everything that does not fit together.
    pub fn resolve(typed: Typed, outside: &Outside<'_>) -> Result<Self, Faults> {
        let mut faults = Vec::new();
        if let Err(fault) = (outside.check_level)(&typed.logging.level) {
            faults.push(Fault::of("logging.level", fault));
        }
        store::check(&typed, &mut faults);
        let secrets = secrets::resolve(typed.secrets, &mut faults);
        let settings = Self {
            listeners: listeners::resolve(&typed.listeners, &mut faults),
            public_urls: listeners::public_urls(&typed.public_urls, &typed.listeners, &mut faults),
            agent: typed.agent.kind,
            media_types: media_types(&typed.agent.media_types, &mut faults),
            card: card::resolve(typed.card, &mut faults),
            error_table: error_table(typed.wire.error_table, typed.agent.kind, &mut faults),
            tenants: tenants::resolve(typed.tenants.names, outside.reserved, &mut faults),
            limits: Limits {
                repeats: (&typed.repeats).into(),
                ..Limits::from(&typed.limits)
            },
            connections: typed.connections,
            store: typed.store,
            push: typed.push,
            logging: typed.logging,
            telemetry: typed.telemetry,
            page_key: secrets.page_key,
            redis_password: secrets.redis_password,
            redis_sentinel_password: secrets.redis_sentinel_password,
        };
        Faults::or(faults, settings)
    }
}

/// Clients go by the table of today; only a suite that has none newer may be told by an older one.
fn error_table(table: ErrorTable, agent: AgentKind, faults: &mut Vec<Fault>) -> ErrorTable {
    if table == ErrorTable::V1_0_0 && agent != AgentKind::Conformance {
        let text = "may be \"1.0.0\" only where agent.kind is \"conformance\": leave it out";
        faults.push(Fault::of("wire.error_table", text));
    }
    table
}

fn media_types(typed: &typed::MediaTypes, faults: &mut Vec<Fault>) -> directory::MediaTypes {
    use typed::{MediaTypes, NamedMediaTypes};
    match typed {
        MediaTypes::Named(NamedMediaTypes::Any) => directory::MediaTypes::Any,
        MediaTypes::Named(NamedMediaTypes::Card) => directory::MediaTypes::OfCard,
        MediaTypes::These(modes) => {
            card::check_modes("agent.media_types", modes, faults);
            directory::MediaTypes::Only(modes.clone())
        }
    }
}
