//! The agent card.

use gateway_domain::card::{
    AgentCapabilities, AgentCard, AgentCardSignature, AgentExtension, AgentInterface, AgentProvider,
    AgentSkill, SecurityRequirement,
};

use super::{object, or_empty};
use crate::pb::v1;

mod security;

/// Writes a card.
pub fn agent_card(card: &AgentCard) -> v1::AgentCard {
    v1::AgentCard {
        name: card.name.clone(),
        description: card.description.clone(),
        supported_interfaces: card.supported_interfaces.iter().map(interface).collect(),
        provider: card.provider.as_ref().map(provider),
        version: card.version.clone(),
        documentation_url: card.documentation_url.clone(),
        capabilities: Some(capabilities(&card.capabilities)),
        security_schemes: card
            .security_schemes
            .iter()
            .map(|(name, scheme)| (name.clone(), security::scheme(scheme)))
            .collect(),
        security_requirements: card.security_requirements.iter().map(requirement).collect(),
        default_input_modes: card.default_input_modes.clone(),
        default_output_modes: card.default_output_modes.clone(),
        skills: card.skills.iter().map(skill).collect(),
        signatures: card.signatures.iter().map(signature).collect(),
        icon_url: card.icon_url.clone(),
    }
}

fn interface(interface: &AgentInterface) -> v1::AgentInterface {
    v1::AgentInterface {
        url: interface.url.clone(),
        protocol_binding: interface.protocol_binding.clone(),
        tenant: or_empty(interface.tenant.as_ref()),
        protocol_version: interface.protocol_version.clone(),
    }
}

fn provider(provider: &AgentProvider) -> v1::AgentProvider {
    v1::AgentProvider {
        url: provider.url.clone(),
        organization: provider.organization.clone(),
    }
}

fn capabilities(capabilities: &AgentCapabilities) -> v1::AgentCapabilities {
    v1::AgentCapabilities {
        streaming: capabilities.streaming,
        push_notifications: capabilities.push_notifications,
        extensions: capabilities.extensions.iter().map(extension).collect(),
        extended_agent_card: capabilities.extended_agent_card,
    }
}

fn extension(extension: &AgentExtension) -> v1::AgentExtension {
    v1::AgentExtension {
        uri: extension.uri.clone(),
        description: extension.description.clone(),
        required: extension.required,
        params: extension.params.as_ref().map(object),
    }
}

fn skill(skill: &AgentSkill) -> v1::AgentSkill {
    v1::AgentSkill {
        id: skill.id.clone(),
        name: skill.name.clone(),
        description: skill.description.clone(),
        tags: skill.tags.clone(),
        examples: skill.examples.clone(),
        input_modes: skill.input_modes.clone(),
        output_modes: skill.output_modes.clone(),
        security_requirements: skill.security_requirements.iter().map(requirement).collect(),
    }
}

fn signature(signature: &AgentCardSignature) -> v1::AgentCardSignature {
    v1::AgentCardSignature {
        protected: signature.protected.clone(),
        signature: signature.signature.clone(),
        header: signature.header.as_ref().map(object),
    }
}

fn requirement(requirement: &SecurityRequirement) -> v1::SecurityRequirement {
    let schemes = requirement
        .schemes
        .iter()
        .map(|(name, scopes)| {
            (
                name.clone(),
                v1::StringList {
                    list: scopes.list.clone(),
                },
            )
        })
        .collect();
    v1::SecurityRequirement { schemes }
}
