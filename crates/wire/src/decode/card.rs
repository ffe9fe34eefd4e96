//! The agent card.

use gateway_domain::{
    Error,
    card::{
        AgentCapabilities, AgentCard, AgentCardSignature, AgentExtension, AgentInterface, AgentProvider,
        AgentSkill, SecurityRequirement, StringList,
    },
};

use super::{At, Faults, each, non_empty, value, whole};
use crate::pb::v1;

mod security;

/// Reads a card.
///
/// # Errors
/// InvalidParams with every fault of form; capabilities have to be there.
pub fn agent_card(card: v1::AgentCard) -> Result<AgentCard, Error> {
    whole(|faults, at| {
        let capabilities = required_capabilities(card.capabilities, faults, at);
        let signatures = each(card.signatures, faults, &at.field("signatures"), signature);
        let security_schemes = security::schemes(card.security_schemes, faults, &at.field("securitySchemes"));
        Some(AgentCard {
            name: card.name,
            description: card.description,
            supported_interfaces: card.supported_interfaces.into_iter().map(interface).collect(),
            provider: card.provider.map(provider),
            version: card.version,
            documentation_url: card.documentation_url,
            capabilities: capabilities?,
            security_schemes,
            security_requirements: card.security_requirements.into_iter().map(requirement).collect(),
            default_input_modes: card.default_input_modes,
            default_output_modes: card.default_output_modes,
            skills: card.skills.into_iter().map(skill).collect(),
            signatures,
            icon_url: card.icon_url,
        })
    })
}

fn interface(interface: v1::AgentInterface) -> AgentInterface {
    AgentInterface {
        url: interface.url,
        protocol_binding: interface.protocol_binding,
        tenant: non_empty(interface.tenant),
        protocol_version: interface.protocol_version,
    }
}

fn provider(provider: v1::AgentProvider) -> AgentProvider {
    AgentProvider {
        url: provider.url,
        organization: provider.organization,
    }
}

fn required_capabilities(
    capabilities: Option<v1::AgentCapabilities>,
    faults: &mut Faults,
    at: &At<'_>,
) -> Option<AgentCapabilities> {
    let at = at.field("capabilities");
    let capabilities = faults.required(&at, capabilities)?;
    Some(AgentCapabilities {
        streaming: capabilities.streaming,
        push_notifications: capabilities.push_notifications,
        extensions: each(
            capabilities.extensions,
            faults,
            &at.field("extensions"),
            extension,
        ),
        extended_agent_card: capabilities.extended_agent_card,
    })
}

fn extension(extension: v1::AgentExtension, faults: &mut Faults, at: &At<'_>) -> Option<AgentExtension> {
    Some(AgentExtension {
        uri: extension.uri,
        description: extension.description,
        required: extension.required,
        params: extension
            .params
            .and_then(|params| value::object(params, faults, &at.field("params"))),
    })
}

fn skill(skill: v1::AgentSkill) -> AgentSkill {
    AgentSkill {
        id: skill.id,
        name: skill.name,
        description: skill.description,
        tags: skill.tags,
        examples: skill.examples,
        input_modes: skill.input_modes,
        output_modes: skill.output_modes,
        security_requirements: skill.security_requirements.into_iter().map(requirement).collect(),
    }
}

fn signature(
    signature: v1::AgentCardSignature,
    faults: &mut Faults,
    at: &At<'_>,
) -> Option<AgentCardSignature> {
    Some(AgentCardSignature {
        protected: signature.protected,
        signature: signature.signature,
        header: signature
            .header
            .and_then(|header| value::object(header, faults, &at.field("header"))),
    })
}

fn requirement(requirement: v1::SecurityRequirement) -> SecurityRequirement {
    let schemes = requirement.schemes.into_iter();
    SecurityRequirement {
        schemes: schemes
            .map(|(name, scopes)| (name, StringList { list: scopes.list }))
            .collect(),
    }
}
