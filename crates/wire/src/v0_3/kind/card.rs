//! The agent card as 0.3 has it: one address in front, further ones behind it, security schemes told by their `type`.
//!
//! Of the interfaces only those of version 0.3 count. The device flow of OAuth and the demand for PKCE have no place
//! in it.

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

/// Writes a card in the form of 0.3. Where no interface speaks 0.3 its `url` is empty.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Card<'a> {
    protocol_version: &'static str,
    name: &'a str,
    description: &'a str,
    url: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    preferred_transport: Option<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    additional_interfaces: Vec<Interface<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    icon_url: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    provider: Option<&'a AgentProvider>,
    version: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    documentation_url: Option<&'a str>,
    capabilities: Capabilities<'a>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    security_schemes: BTreeMap<&'a str, Scheme<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    security: Vec<Requirement<'a>>,
    default_input_modes: &'a [String],
    default_output_modes: &'a [String],
    skills: Vec<Skill<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    supports_authenticated_extended_card: Option<bool>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    signatures: &'a [AgentCardSignature],
}

impl<'a> Card<'a> {
    /// The card's form in 0.3.
    pub fn of(card: &'a AgentCard) -> Self {
        let interfaces: Vec<_> = Addresses::of(card).all().map(Interface::of).collect();
        let first = interfaces.first();
        Self {
            protocol_version: PROTOCOL_VERSION,
            name: &card.name,
            description: &card.description,
            url: first.map_or("", |first| first.url),
            preferred_transport: first.map(|first| first.transport),
            icon_url: card.icon_url.as_deref(),
            provider: card.provider.as_ref(),
            version: &card.version,
            documentation_url: card.documentation_url.as_deref(),
            capabilities: Capabilities::of(&card.capabilities),
            security_schemes: card
                .security_schemes
                .iter()
                .map(|(name, scheme)| (name.as_str(), Scheme::of(scheme)))
                .collect(),
            security: requirements(&card.security_requirements),
            default_input_modes: &card.default_input_modes,
            default_output_modes: &card.default_output_modes,
            skills: card.skills.iter().map(Skill::of).collect(),
            supports_authenticated_extended_card: card.capabilities.extended_agent_card,
            signatures: &card.signatures,
            additional_interfaces: interfaces,
        }
    }
}

#[derive(Serialize)]
struct Interface<'a> {
    url: &'a str,
    transport: &'a str,
}

impl<'a> Interface<'a> {
    fn of(interface: &'a AgentInterface) -> Self {
        Self {
            url: &interface.url,
            transport: &interface.protocol_binding,
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Capabilities<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    streaming: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    push_notifications: Option<bool>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    extensions: &'a [AgentExtension],
}

impl<'a> Capabilities<'a> {
    fn of(capabilities: &'a AgentCapabilities) -> Self {
        Self {
            streaming: capabilities.streaming,
            push_notifications: capabilities.push_notifications,
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
    #[serde(skip_serializing_if = "Vec::is_empty")]
    security: Vec<Requirement<'a>>,
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
            security: requirements(&skill.security_requirements),
        }
    }
}

type Requirement<'a> = BTreeMap<&'a str, &'a [String]>;

fn requirements(all: &[SecurityRequirement]) -> Vec<Requirement<'_>> {
    all.iter().map(requirement).collect()
}

fn requirement(requirement: &SecurityRequirement) -> Requirement<'_> {
    let schemes = requirement.schemes.iter();
    schemes
        .map(|(name, scopes)| (name.as_str(), scopes.list.as_slice()))
        .collect()
}

/// How callers show who they are, told by its type.
#[derive(Serialize)]
#[serde(tag = "type", rename_all_fields = "camelCase")]
enum Scheme<'a> {
    #[serde(rename = "apiKey")]
    ApiKey {
        #[serde(skip_serializing_if = "str::is_empty")]
        description: &'a str,
        r#in: &'a str,
        name: &'a str,
    },
    #[serde(rename = "http")]
    Http {
        #[serde(skip_serializing_if = "str::is_empty")]
        description: &'a str,
        scheme: &'a str,
        #[serde(skip_serializing_if = "str::is_empty")]
        bearer_format: &'a str,
    },
    #[serde(rename = "oauth2")]
    OAuth2 {
        #[serde(skip_serializing_if = "str::is_empty")]
        description: &'a str,
        flows: BTreeMap<&'static str, Flow<'a>>,
        #[serde(rename = "oauth2MetadataUrl", skip_serializing_if = "str::is_empty")]
        metadata_url: &'a str,
    },
    #[serde(rename = "openIdConnect")]
    OpenIdConnect {
        #[serde(skip_serializing_if = "str::is_empty")]
        description: &'a str,
        open_id_connect_url: &'a str,
    },
    #[serde(rename = "mutualTLS")]
    MutualTls {
        #[serde(skip_serializing_if = "str::is_empty")]
        description: &'a str,
    },
}

impl<'a> Scheme<'a> {
    fn of(scheme: &'a SecurityScheme) -> Self {
        match scheme {
            SecurityScheme::ApiKey(key) => Self::ApiKey {
                description: &key.description,
                r#in: &key.location,
                name: &key.name,
            },
            SecurityScheme::HttpAuth(http) => Self::Http {
                description: &http.description,
                scheme: &http.scheme,
                bearer_format: &http.bearer_format,
            },
            SecurityScheme::OAuth2(oauth) => Self::OAuth2 {
                description: &oauth.description,
                flows: oauth.flows.iter().filter_map(Flow::of).collect(),
                metadata_url: &oauth.oauth2_metadata_url,
            },
            SecurityScheme::OpenIdConnect(open_id) => Self::OpenIdConnect {
                description: &open_id.description,
                open_id_connect_url: &open_id.open_id_connect_url,
            },
            SecurityScheme::MutualTls(tls) => Self::MutualTls {
                description: &tls.description,
            },
        }
    }
}

/// How to get a token. Which of the addresses there are depends on the flow.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Flow<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    authorization_url: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    token_url: Option<&'a str>,
    #[serde(skip_serializing_if = "str::is_empty")]
    refresh_url: &'a str,
    scopes: &'a BTreeMap<String, String>,
}

impl<'a> Flow<'a> {
    fn of(flow: &'a OAuthFlows) -> Option<(&'static str, Self)> {
        let (name, authorization_url, token_url, refresh_url, scopes) = match flow {
            OAuthFlows::AuthorizationCode(flow) => (
                "authorizationCode",
                Some(&flow.authorization_url),
                Some(&flow.token_url),
                &flow.refresh_url,
                &flow.scopes,
            ),
            OAuthFlows::ClientCredentials(flow) => (
                "clientCredentials",
                None,
                Some(&flow.token_url),
                &flow.refresh_url,
                &flow.scopes,
            ),
            OAuthFlows::Implicit(flow) => (
                "implicit",
                Some(&flow.authorization_url),
                None,
                &flow.refresh_url,
                &flow.scopes,
            ),
            OAuthFlows::Password(flow) => (
                "password",
                None,
                Some(&flow.token_url),
                &flow.refresh_url,
                &flow.scopes,
            ),
            OAuthFlows::DeviceCode(_) => return None,
        };
        let flow = Self {
            authorization_url: authorization_url.map(String::as_str),
            token_url: token_url.map(String::as_str),
            refresh_url,
            scopes,
        };
        Some((name, flow))
    }
}
