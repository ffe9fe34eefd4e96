//! The agent card that clients read: the agent's own, the operator's word above it, the interfaces that are really
//! served, and what the gateway itself adds.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use gateway_config::Settings;
use gateway_domain::{
    AgentCard, Binding, Version,
    card::{AgentCapabilities, AgentInterface},
    resume,
};
use gateway_edge::document::Document;
use gateway_wire::params::media_type;

use crate::{listeners::Addresses, paths::RPC_PATH};

/// The order in which the card names interfaces; the first is the preferred one (§8.3.1).
const PREFERRED: [Binding; 3] = [Binding::JsonRpc, Binding::Grpc, Binding::HttpJson];

/// The card of an agent as this gateway offers it.
pub(crate) fn card(own: AgentCard, settings: &Settings, addresses: &Addresses) -> AgentCard {
    let interfaces = PREFERRED.into_iter().filter_map(|binding| {
        Some(AgentInterface {
            url: url(binding, settings, addresses)?,
            protocol_binding: binding.name().to_owned(),
            tenant: None,
            protocol_version: Version::V1_0.name().to_owned(),
        })
    });
    let mut card = AgentCard {
        supported_interfaces: interfaces.collect(),
        ..settings.card.over(own)
    };
    add_resume(&mut card.capabilities);
    card
}

/// Streams can be resumed whatever the agent knows of it. One that says the same of itself speaks of its own streams,
/// which no client of the gateway sees.
fn add_resume(capabilities: &mut AgentCapabilities) {
    capabilities
        .extensions
        .retain(|extension| extension.uri != resume::URI);
    if capabilities.streaming == Some(true) {
        capabilities.extensions.push(resume::extension());
    }
}

/// Where clients call a binding: what the operator says, else where it listens, else nowhere.
pub(crate) fn url(binding: Binding, settings: &Settings, addresses: &Addresses) -> Option<String> {
    let listener = addresses.serving(binding)?;
    let own = || match binding {
        Binding::JsonRpc => format!("http://{listener}{RPC_PATH}"),
        Binding::HttpJson => format!("http://{listener}"),
        // What most gRPC clients take as a target.
        Binding::Grpc => listener.to_string(),
    };
    let public = settings.public_urls.of(binding).map(str::to_owned);
    Some(public.unwrap_or_else(own))
}

/// The card as a document.
pub(crate) fn document(
    card: &AgentCard,
    modified: SystemTime,
    max_age: Duration,
) -> Result<Document, String> {
    let bytes = serde_json::to_vec(card).map_err(|error| error.to_string())?;
    Ok(Document::new(bytes, media_type::JSON, modified, max_age))
}

/// When this program was built.
pub(crate) fn built() -> SystemTime {
    let seconds = env!("BUILD_SECONDS").parse().unwrap_or_default();
    UNIX_EPOCH + Duration::from_secs(seconds)
}
