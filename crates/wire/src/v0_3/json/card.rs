//! The agent card in JSON. What it leaves out is what [`encode::agent_card`](crate::v0_3::encode::agent_card) does.

use std::collections::BTreeMap;

use gateway_domain::{
    AgentCard,
    card::{
        AgentCapabilities, AgentCardSignature, AgentExtension, AgentInterface, AgentProvider, AgentSkill,
        OAuthFlows, SecurityRequirement, SecurityScheme,
    },
};
use serde::Serialize;

use crate::v0_3::card::{Addresses, PROTOCOL_VERSION};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Card<'a> {
    protocol_version: &'static str,
    name: &'a str,
    description: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    url: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    preferred_transport: &'a str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    additional_interfaces: Vec<Interface<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    provider: Option<&'a AgentProvider>,
    version: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    documentation_url: Option<&'a str>,
    capabilities: Capabilities<'a>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    security_schemes: BTreeMap<&'a str, SecurityScheme>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    security: &'a [SecurityRequirement],
    default_input_modes: &'a [String],
    default_output_modes: &'a [String],
    skills: Vec<Skill<'a>>,
    supports_authenticated_extended_card: bool,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    signatures: &'a [AgentCardSignature],
    #[serde(skip_serializing_if = "Option::is_none")]
    icon_url: Option<&'a str>,
}

impl<'a> Card<'a> {
    pub(super) fn of(card: &'a AgentCard) -> Self {
        let addresses = Addresses::of(card);
        let first = addresses.first();
        let schemes = card.security_schemes.iter();
        Self {
            protocol_version: PROTOCOL_VERSION,
            name: &card.name,
            description: &card.description,
            url: first.map_or("", |first| &first.url),
            preferred_transport: first.map_or("", |first| &first.protocol_binding),
            additional_interfaces: addresses.all().map(Interface::of).collect(),
            provider: card.provider.as_ref(),
            version: &card.version,
            documentation_url: card.documentation_url.as_deref(),
            capabilities: Capabilities::of(&card.capabilities),
            security_schemes: schemes
                .map(|(name, scheme)| (name.as_str(), known(scheme)))
                .collect(),
            security: &card.security_requirements,
            default_input_modes: &card.default_input_modes,
            default_output_modes: &card.default_output_modes,
            skills: card.skills.iter().map(Skill::of).collect(),
            supports_authenticated_extended_card: card.capabilities.extended_agent_card == Some(true),
            signatures: &card.signatures,
            icon_url: card.icon_url.as_deref(),
        }
    }
}

/// A scheme without what 0.3 does not know of it; what is left is written the same way.
fn known(scheme: &SecurityScheme) -> SecurityScheme {
    let mut scheme = scheme.clone();
    if let SecurityScheme::OAuth2(oauth2) = &mut scheme {
        match &mut oauth2.flows {
            Some(OAuthFlows::AuthorizationCode(flow)) => flow.pkce_required = false,
            Some(OAuthFlows::DeviceCode(_)) => oauth2.flows = None,
            _ => {}
        }
    }
    scheme
}

#[derive(Serialize)]
struct Interface<'a> {
    url: &'a str,
    transport: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    tenant: Option<&'a str>,
}

impl<'a> Interface<'a> {
    fn of(interface: &'a AgentInterface) -> Self {
        Self {
            url: &interface.url,
            transport: &interface.protocol_binding,
            tenant: interface.tenant.as_deref(),
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Capabilities<'a> {
    streaming: bool,
    push_notifications: bool,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    extensions: &'a [AgentExtension],
}

impl<'a> Capabilities<'a> {
    fn of(capabilities: &'a AgentCapabilities) -> Self {
        Self {
            streaming: capabilities.streaming == Some(true),
            push_notifications: capabilities.push_notifications == Some(true),
            extensions: &capabilities.extensions,
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Skill<'a> {
    id: &'a str,
    name: &'a str,
    description: &'a str,
    tags: &'a [String],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    examples: &'a [String],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    input_modes: &'a [String],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    output_modes: &'a [String],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    security: &'a [SecurityRequirement],
}

impl<'a> Skill<'a> {
    fn of(skill: &'a AgentSkill) -> Self {
        Self {
            id: &skill.id,
            name: &skill.name,
            description: &skill.description,
            tags: &skill.tags,
            examples: &skill.examples,
            input_modes: &skill.input_modes,
            output_modes: &skill.output_modes,
            security: &skill.security_requirements,
        }
    }
}
