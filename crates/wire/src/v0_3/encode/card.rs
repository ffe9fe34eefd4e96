//! The agent card.

// The protocol keeps two deprecated flows, and cards that have them must come through.
#![allow(deprecated)]

use gateway_domain::card::{
    AgentCapabilities, AgentCard, AgentCardSignature, AgentExtension, AgentInterface, AgentProvider,
    AgentSkill, OAuth2SecurityScheme, OAuthFlows, SecurityRequirement, SecurityScheme,
};

use crate::{
    encode::{object, or_empty},
    pb::v0_3::{self, o_auth_flows::Flow, security_scheme::Scheme},
    v0_3::card::{Addresses, PROTOCOL_VERSION},
};

/// Writes a card as 0.3 has it.
///
/// Left out are interfaces of other versions, the flow by device code, and whether PKCE is required.
pub fn agent_card(card: &AgentCard) -> v0_3::AgentCard {
    let addresses = Addresses::of(card);
    let first = addresses.first();
    v0_3::AgentCard {
        protocol_version: PROTOCOL_VERSION.to_owned(),
        name: card.name.clone(),
        description: card.description.clone(),
        url: first.map(|first| first.url.clone()).unwrap_or_default(),
        preferred_transport: first
            .map(|first| first.protocol_binding.clone())
            .unwrap_or_default(),
        additional_interfaces: addresses.all().map(interface).collect(),
        provider: card.provider.as_ref().map(provider),
        version: card.version.clone(),
        documentation_url: or_empty(card.documentation_url.as_ref()),
        capabilities: Some(capabilities(&card.capabilities)),
        security_schemes: card
            .security_schemes
            .iter()
            .map(|(name, scheme)| (name.clone(), self::scheme(scheme)))
            .collect(),
        security: card.security_requirements.iter().map(requirement).collect(),
        default_input_modes: card.default_input_modes.clone(),
        default_output_modes: card.default_output_modes.clone(),
        skills: card.skills.iter().map(skill).collect(),
        supports_authenticated_extended_card: card.capabilities.extended_agent_card == Some(true),
        signatures: card.signatures.iter().map(signature).collect(),
        icon_url: or_empty(card.icon_url.as_ref()),
    }
}

fn interface(interface: &AgentInterface) -> v0_3::AgentInterface {
    v0_3::AgentInterface {
        url: interface.url.clone(),
        transport: interface.protocol_binding.clone(),
        tenant: or_empty(interface.tenant.as_ref()),
    }
}

fn provider(provider: &AgentProvider) -> v0_3::AgentProvider {
    v0_3::AgentProvider {
        url: provider.url.clone(),
        organization: provider.organization.clone(),
    }
}

fn capabilities(capabilities: &AgentCapabilities) -> v0_3::AgentCapabilities {
    v0_3::AgentCapabilities {
        streaming: capabilities.streaming.unwrap_or_default(),
        push_notifications: capabilities.push_notifications.unwrap_or_default(),
        extensions: capabilities.extensions.iter().map(extension).collect(),
    }
}

fn extension(extension: &AgentExtension) -> v0_3::AgentExtension {
    v0_3::AgentExtension {
        uri: extension.uri.clone(),
        description: extension.description.clone(),
        required: extension.required,
        params: extension.params.as_ref().map(object),
    }
}

fn skill(skill: &AgentSkill) -> v0_3::AgentSkill {
    v0_3::AgentSkill {
        id: skill.id.clone(),
        name: skill.name.clone(),
        description: skill.description.clone(),
        tags: skill.tags.clone(),
        examples: skill.examples.clone(),
        input_modes: skill.input_modes.clone(),
        output_modes: skill.output_modes.clone(),
        security: skill.security_requirements.iter().map(requirement).collect(),
    }
}

fn signature(signature: &AgentCardSignature) -> v0_3::AgentCardSignature {
    v0_3::AgentCardSignature {
        protected: signature.protected.clone(),
        signature: signature.signature.clone(),
        header: signature.header.as_ref().map(object),
    }
}

fn requirement(requirement: &SecurityRequirement) -> v0_3::Security {
    let list = |list: &[String]| v0_3::StringList { list: list.to_vec() };
    let schemes = requirement.schemes.iter();
    v0_3::Security {
        schemes: schemes
            .map(|(name, scopes)| (name.clone(), list(&scopes.list)))
            .collect(),
    }
}

fn scheme(scheme: &SecurityScheme) -> v0_3::SecurityScheme {
    let scheme = match scheme {
        SecurityScheme::ApiKey(scheme) => Scheme::ApiKeySecurityScheme(v0_3::ApiKeySecurityScheme {
            description: scheme.description.clone(),
            location: scheme.location.clone(),
            name: scheme.name.clone(),
        }),
        SecurityScheme::HttpAuth(scheme) => Scheme::HttpAuthSecurityScheme(v0_3::HttpAuthSecurityScheme {
            description: scheme.description.clone(),
            scheme: scheme.scheme.clone(),
            bearer_format: scheme.bearer_format.clone(),
        }),
        SecurityScheme::OAuth2(scheme) => Scheme::Oauth2SecurityScheme(oauth2(scheme)),
        SecurityScheme::OpenIdConnect(scheme) => {
            Scheme::OpenIdConnectSecurityScheme(v0_3::OpenIdConnectSecurityScheme {
                description: scheme.description.clone(),
                open_id_connect_url: scheme.open_id_connect_url.clone(),
            })
        }
        SecurityScheme::MutualTls(scheme) => Scheme::MtlsSecurityScheme(v0_3::MutualTlsSecurityScheme {
            description: scheme.description.clone(),
        }),
    };
    v0_3::SecurityScheme { scheme: Some(scheme) }
}

fn oauth2(scheme: &OAuth2SecurityScheme) -> v0_3::OAuth2SecurityScheme {
    let flow = scheme.flows.as_ref().and_then(flow);
    v0_3::OAuth2SecurityScheme {
        description: scheme.description.clone(),
        flows: flow.map(|flow| v0_3::OAuthFlows { flow: Some(flow) }),
        oauth2_metadata_url: scheme.oauth2_metadata_url.clone(),
    }
}

fn flow(flows: &OAuthFlows) -> Option<Flow> {
    Some(match flows {
        OAuthFlows::AuthorizationCode(flow) => Flow::AuthorizationCode(v0_3::AuthorizationCodeOAuthFlow {
            authorization_url: flow.authorization_url.clone(),
            token_url: flow.token_url.clone(),
            refresh_url: flow.refresh_url.clone(),
            scopes: flow.scopes.clone(),
        }),
        OAuthFlows::ClientCredentials(flow) => Flow::ClientCredentials(v0_3::ClientCredentialsOAuthFlow {
            token_url: flow.token_url.clone(),
            refresh_url: flow.refresh_url.clone(),
            scopes: flow.scopes.clone(),
        }),
        OAuthFlows::Implicit(flow) => Flow::Implicit(v0_3::ImplicitOAuthFlow {
            authorization_url: flow.authorization_url.clone(),
            refresh_url: flow.refresh_url.clone(),
            scopes: flow.scopes.clone(),
        }),
        OAuthFlows::Password(flow) => Flow::Password(v0_3::PasswordOAuthFlow {
            token_url: flow.token_url.clone(),
            refresh_url: flow.refresh_url.clone(),
            scopes: flow.scopes.clone(),
        }),
        OAuthFlows::DeviceCode(_) => return None,
    })
}
