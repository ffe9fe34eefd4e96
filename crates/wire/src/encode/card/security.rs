//! The security schemes of an agent card.

// The protocol keeps two deprecated flows, and cards that have them must come through.
#![allow(deprecated)]

use gateway_domain::card::{OAuth2SecurityScheme, OAuthFlows, SecurityScheme};

use crate::pb::v1::{self, o_auth_flows::Flow, security_scheme::Scheme};

/// Writes a scheme.
pub(super) fn scheme(scheme: &SecurityScheme) -> v1::SecurityScheme {
    let scheme = match scheme {
        SecurityScheme::ApiKey(scheme) => Scheme::ApiKeySecurityScheme(v1::ApiKeySecurityScheme {
            description: scheme.description.clone(),
            location: scheme.location.clone(),
            name: scheme.name.clone(),
        }),
        SecurityScheme::HttpAuth(scheme) => Scheme::HttpAuthSecurityScheme(v1::HttpAuthSecurityScheme {
            description: scheme.description.clone(),
            scheme: scheme.scheme.clone(),
            bearer_format: scheme.bearer_format.clone(),
        }),
        SecurityScheme::OAuth2(scheme) => Scheme::Oauth2SecurityScheme(oauth2(scheme)),
        SecurityScheme::OpenIdConnect(scheme) => {
            Scheme::OpenIdConnectSecurityScheme(v1::OpenIdConnectSecurityScheme {
                description: scheme.description.clone(),
                open_id_connect_url: scheme.open_id_connect_url.clone(),
            })
        }
        SecurityScheme::MutualTls(scheme) => Scheme::MtlsSecurityScheme(v1::MutualTlsSecurityScheme {
            description: scheme.description.clone(),
        }),
    };
    v1::SecurityScheme { scheme: Some(scheme) }
}

fn oauth2(scheme: &OAuth2SecurityScheme) -> v1::OAuth2SecurityScheme {
    v1::OAuth2SecurityScheme {
        description: scheme.description.clone(),
        flows: scheme.flows.as_ref().map(|flows| v1::OAuthFlows {
            flow: Some(flow(flows)),
        }),
        oauth2_metadata_url: scheme.oauth2_metadata_url.clone(),
    }
}

fn flow(flows: &OAuthFlows) -> Flow {
    match flows {
        OAuthFlows::AuthorizationCode(flow) => Flow::AuthorizationCode(v1::AuthorizationCodeOAuthFlow {
            authorization_url: flow.authorization_url.clone(),
            token_url: flow.token_url.clone(),
            refresh_url: flow.refresh_url.clone(),
            scopes: flow.scopes.clone(),
            pkce_required: flow.pkce_required,
        }),
        OAuthFlows::ClientCredentials(flow) => Flow::ClientCredentials(v1::ClientCredentialsOAuthFlow {
            token_url: flow.token_url.clone(),
            refresh_url: flow.refresh_url.clone(),
            scopes: flow.scopes.clone(),
        }),
        OAuthFlows::Implicit(flow) => Flow::Implicit(v1::ImplicitOAuthFlow {
            authorization_url: flow.authorization_url.clone(),
            refresh_url: flow.refresh_url.clone(),
            scopes: flow.scopes.clone(),
        }),
        OAuthFlows::Password(flow) => Flow::Password(v1::PasswordOAuthFlow {
            token_url: flow.token_url.clone(),
            refresh_url: flow.refresh_url.clone(),
            scopes: flow.scopes.clone(),
        }),
        OAuthFlows::DeviceCode(flow) => Flow::DeviceCode(v1::DeviceCodeOAuthFlow {
            device_authorization_url: flow.device_authorization_url.clone(),
            token_url: flow.token_url.clone(),
            refresh_url: flow.refresh_url.clone(),
            scopes: flow.scopes.clone(),
        }),
    }
}
