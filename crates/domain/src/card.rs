//! The agent card (§4.4): who an agent is and what it takes. Optional flags keep the difference between absent
//! and false, since a signature over the card does (§8.4.1).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::json::Object;

/// The card of an agent (§4.4.1).
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentCard {
    /// For people.
    pub name: String,
    /// For people.
    pub description: String,
    /// Where and how it can be called, the preferred way first.
    pub supported_interfaces: Vec<AgentInterface>,
    /// Who offers it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<AgentProvider>,
    /// The agent's own version.
    pub version: String,
    /// Where to read more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub documentation_url: Option<String>,
    /// What it can do.
    pub capabilities: AgentCapabilities,
    /// How callers can show who they are, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub security_schemes: BTreeMap<String, SecurityScheme>,
    /// Which of these will do; one of the entries is enough.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub security_requirements: Vec<SecurityRequirement>,
    /// Media types it takes.
    pub default_input_modes: Vec<String>,
    /// Media types it gives.
    pub default_output_modes: Vec<String>,
    /// What it is good at.
    pub skills: Vec<AgentSkill>,
    /// Signatures over the card (§8.4).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub signatures: Vec<AgentCardSignature>,
    /// A picture.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub icon_url: Option<String>,
}

impl AgentCard {
    /// The extensions that every client command must declare.
    pub fn required_extensions(&self) -> impl Iterator<Item = &str> {
        self.capabilities
            .extensions
            .iter()
            .filter(|extension| extension.required)
            .map(|extension| &*extension.uri)
    }

    /// Whether the card names an extension.
    pub fn declares_extension(&self, uri: &str) -> bool {
        self.capabilities
            .extensions
            .iter()
            .any(|extension| extension.uri == uri)
    }

    /// Every media type that the agent takes, by default or for a skill.
    pub fn input_modes(&self) -> impl Iterator<Item = &str> {
        let of_skills = self.skills.iter().flat_map(|skill| &skill.input_modes);
        self.default_input_modes
            .iter()
            .chain(of_skills)
            .map(String::as_str)
    }
}

/// One way to call the agent (§4.4.6).
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentInterface {
    /// Where.
    pub url: String,
    /// Which binding.
    pub protocol_binding: String,
    /// The tenant to name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
    /// Which version.
    pub protocol_version: String,
}

/// Who offers the agent (§4.4.2).
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct AgentProvider {
    /// Where to find them.
    pub url: String,
    /// Their name.
    pub organization: String,
}

/// What the agent can do (§4.4.3).
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentCapabilities {
    /// Streams.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub streaming: Option<bool>,
    /// Webhooks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub push_notifications: Option<bool>,
    /// Extensions of the protocol.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub extensions: Vec<AgentExtension>,
    /// A further card for authenticated callers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extended_agent_card: Option<bool>,
}

/// An extension of the protocol (§4.4.4).
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct AgentExtension {
    /// Which.
    #[serde(default)]
    pub uri: String,
    /// For people.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// Whether every client command must declare it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub required: bool,
    /// Its settings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub params: Option<Object>,
}

/// Something the agent is good at (§4.4.5).
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentSkill {
    /// Identity within the card.
    pub id: String,
    /// For people.
    pub name: String,
    /// For people.
    pub description: String,
    /// Keywords.
    pub tags: Vec<String>,
    /// What one might say to it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub examples: Vec<String>,
    /// Media types it takes beyond the default ones.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub input_modes: Vec<String>,
    /// Media types it gives beyond the default ones.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub output_modes: Vec<String>,
    /// Which security schemes it wants.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub security_requirements: Vec<SecurityRequirement>,
}

/// A signature over the card, as JWS has it (§4.4.7).
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct AgentCardSignature {
    /// The protected header, base64url.
    pub protected: String,
    /// The signature, base64url.
    pub signature: String,
    /// The unprotected header.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub header: Option<Object>,
}

/// Schemes that must hold together, each with its scopes.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct SecurityRequirement {
    /// By the scheme's name.
    #[serde(default)]
    pub schemes: BTreeMap<String, StringList>,
}

/// A list of texts.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct StringList {
    /// The texts.
    #[serde(default)]
    pub list: Vec<String>,
}

/// How a caller can show who they are (§4.5).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[allow(clippy::enum_variant_names, reason = "the names are the protocol's")]
pub enum SecurityScheme {
    /// A key in a header, query or cookie.
    #[serde(rename = "apiKeySecurityScheme")]
    ApiKey(ApiKeySecurityScheme),
    /// The Authorization header.
    #[serde(rename = "httpAuthSecurityScheme")]
    HttpAuth(HttpAuthSecurityScheme),
    /// OAuth 2.
    #[serde(rename = "oauth2SecurityScheme")]
    OAuth2(OAuth2SecurityScheme),
    /// OpenID Connect.
    #[serde(rename = "openIdConnectSecurityScheme")]
    OpenIdConnect(OpenIdConnectSecurityScheme),
    /// A client certificate.
    #[serde(rename = "mtlsSecurityScheme")]
    MutualTls(MutualTlsSecurityScheme),
}

macro_rules! record {
    ($(#[$doc:meta])* $name:ident { $($(#[$fdoc:meta])* $field:ident: $type:ty),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
        #[serde(rename_all = "camelCase", default)]
        pub struct $name { $($(#[$fdoc])* pub $field: $type),* }
    };
}

record! {
    /// A key in a header, query or cookie (§4.5.2).
    ApiKeySecurityScheme {
        /// For people.
        #[serde(skip_serializing_if = "String::is_empty")]
        description: String,
        /// `query`, `header` or `cookie`.
        location: String,
        /// The name of the header, query parameter or cookie.
        name: String,
    }
}
record! {
    /// The Authorization header (§4.5.3).
    HttpAuthSecurityScheme {
        /// For people.
        #[serde(skip_serializing_if = "String::is_empty")]
        description: String,
        /// Such as `Bearer`.
        scheme: String,
        /// A hint, such as `JWT`.
        #[serde(skip_serializing_if = "String::is_empty")]
        bearer_format: String,
    }
}
record! {
    /// OAuth 2 (§4.5.4).
    OAuth2SecurityScheme {
        /// For people.
        #[serde(skip_serializing_if = "String::is_empty")]
        description: String,
        /// How to get a token.
        #[serde(skip_serializing_if = "Option::is_none")]
        flows: Option<OAuthFlows>,
        /// The authorization server's own description.
        #[serde(skip_serializing_if = "String::is_empty")]
        oauth2_metadata_url: String,
    }
}
record! {
    /// OpenID Connect (§4.5.5).
    OpenIdConnectSecurityScheme {
        /// For people.
        #[serde(skip_serializing_if = "String::is_empty")]
        description: String,
        /// The discovery document.
        open_id_connect_url: String,
    }
}
record! {
    /// A client certificate (§4.5.6).
    MutualTlsSecurityScheme {
        /// For people.
        #[serde(skip_serializing_if = "String::is_empty")]
        description: String,
    }
}

/// How to get a token (§4.5.7).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum OAuthFlows {
    /// With a person in front of a browser.
    AuthorizationCode(AuthorizationCodeOAuthFlow),
    /// Between machines.
    ClientCredentials(ClientCredentialsOAuthFlow),
    /// Deprecated by the protocol.
    Implicit(ImplicitOAuthFlow),
    /// Deprecated by the protocol.
    Password(PasswordOAuthFlow),
    /// On a device without a keyboard.
    DeviceCode(DeviceCodeOAuthFlow),
}

record! {
    /// §4.5.8
    AuthorizationCodeOAuthFlow {
        /// Where the person says yes.
        authorization_url: String,
        /// Where the token is.
        token_url: String,
        /// Where it is renewed.
        #[serde(skip_serializing_if = "String::is_empty")]
        refresh_url: String,
        /// What may be asked for, with a text for people.
        scopes: BTreeMap<String, String>,
        /// Whether PKCE is demanded.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        pkce_required: bool,
    }
}
record! {
    /// §4.5.9
    ClientCredentialsOAuthFlow {
        /// Where the token is.
        token_url: String,
        /// Where it is renewed.
        #[serde(skip_serializing_if = "String::is_empty")]
        refresh_url: String,
        /// What may be asked for, with a text for people.
        scopes: BTreeMap<String, String>,
    }
}
record! {
    /// Deprecated by the protocol.
    ImplicitOAuthFlow {
        /// Where the person says yes.
        #[serde(skip_serializing_if = "String::is_empty")]
        authorization_url: String,
        /// Where it is renewed.
        #[serde(skip_serializing_if = "String::is_empty")]
        refresh_url: String,
        /// What may be asked for, with a text for people.
        #[serde(skip_serializing_if = "BTreeMap::is_empty")]
        scopes: BTreeMap<String, String>,
    }
}
record! {
    /// Deprecated by the protocol.
    PasswordOAuthFlow {
        /// Where the token is.
        #[serde(skip_serializing_if = "String::is_empty")]
        token_url: String,
        /// Where it is renewed.
        #[serde(skip_serializing_if = "String::is_empty")]
        refresh_url: String,
        /// What may be asked for, with a text for people.
        #[serde(skip_serializing_if = "BTreeMap::is_empty")]
        scopes: BTreeMap<String, String>,
    }
}
record! {
    /// §4.5.10
    DeviceCodeOAuthFlow {
        /// Where the device asks.
        device_authorization_url: String,
        /// Where the token is.
        token_url: String,
        /// Where it is renewed.
        #[serde(skip_serializing_if = "String::is_empty")]
        refresh_url: String,
        /// What may be asked for, with a text for people.
        scopes: BTreeMap<String, String>,
    }
}
