//! What an operator reads when the gateway has started: where to send requests, and which settings are for trial
//! only.

use std::fmt::Write;

use gateway_config::{Settings, typed};
use gateway_domain::Binding;
use gateway_wire::operations::AGENT_CARD_PATH;

use crate::{Addresses, VERSION, card::url};

/// The block of text.
pub fn announcement(settings: &Settings, addresses: &Addresses) -> String {
    let mut text = format!("a2a-gateway {VERSION} listens\n");
    let mut line = |name: &str, what: &str| {
        // Writing to a text cannot fail.
        let _ = writeln!(text, "  {name:<12}{what}");
    };
    for binding in Binding::ALL {
        if let Some(url) = url(binding, settings, addresses) {
            line(binding.name(), &url);
        }
    }
    if let Some(address) = addresses.client.or(addresses.rest).or(addresses.jsonrpc) {
        line("agent card", &format!("http://{address}{AGENT_CARD_PATH}"));
    }
    if let Some(address) = addresses.agent {
        line("agent side", &format!("http://{address}"));
    }
    if let Some(address) = addresses.admin {
        line("operators", &format!("http://{address}/livez, /readyz, /metrics"));
    }
    for trial in trials(settings, addresses) {
        line("for trial", &trial);
    }
    text
}

/// What is fine for trying the gateway out, and not for running it.
pub(crate) fn trials(settings: &Settings, addresses: &Addresses) -> Vec<String> {
    let mut trials = Vec::new();
    if settings.store.kind == typed::StoreKind::Memory {
        trials.push("store.kind = \"memory\": tasks end with this process".into());
    }
    trials.push(match settings.agent {
        typed::AgentKind::Demo => "agent.kind = \"demo\": the built-in agent answers".into(),
        typed::AgentKind::Conformance => {
            "agent.kind = \"conformance\": the agent of the compatibility suite answers".into()
        }
    });
    if settings.error_table == typed::ErrorTable::V1_0_0 {
        trials.push("wire.error_table = \"1.0.0\": errors have the status codes of an older release".into());
    }
    if settings.card.is_extended_open() {
        trials.push("card.extended.open: everybody reads the extended card".into());
    }
    if !settings.push.guard {
        trials.push("push.guard is off: callers can have this process post anywhere".into());
    }
    if settings.store.redis.tls.accept_any_certificate {
        trials.push("store.redis.tls.accept_any_certificate: whoever comes between reads all tasks".into());
    }
    if settings.page_key.is_none() && settings.store.kind == typed::StoreKind::Memory {
        trials.push("secrets.page_key is not set: page tokens end with this process".into());
    }
    trials.push("callers are anonymous: no credentials are asked for".into());
    if addresses.agent.is_some() {
        trials.push("listeners.agent asks for no credentials: whoever reaches it commands any task".into());
    }
    trials
}
