//! The security schemes of an agent card.

// The protocol keeps two deprecated flows, and cards that have them must come through.
#![allow(deprecated)]

use std::collections::BTreeMap;

use gateway_domain::card::{
    ApiKeySecurityScheme, AuthorizationCodeOAuthFlow, ClientCredentialsOAuthFlow, DeviceCodeOAuthFlow,
    HttpAuthSecurityScheme, ImplicitOAuthFlow, MutualTlsSecurityScheme, OAuth2SecurityScheme, OAuthFlows,
    OpenIdConnectSecurityScheme, PasswordOAuthFlow, SecurityScheme,
};

use super::{At, Faults};
use crate::pb::v1::{self, o_auth_flows::Flow, security_scheme::Scheme};

/// Reads the schemes of a card by name.
pub(super) fn schemes(
    schemes: BTreeMap<String, v1::SecurityScheme>,
    faults: &mut Faults,
    at: &At<'_>,
) -> BTreeMap<String, SecurityScheme> {
    let mut read = BTreeMap::new();
    for (name, pb) in schemes {
        match pb.scheme {
            Some(pb) => {
                read.insert(name, scheme(pb));
            }
            None => {
                faults.add::<()>(
                    &at.field(&name),
                    "must hold one of the security schemes of this protocol",
                );
            }
        }
    }
    read
}

fn scheme(scheme: Scheme) -> SecurityScheme {
    match scheme {
        Scheme::ApiKeySecurityScheme(scheme) => SecurityScheme::ApiKey(ApiKeySecurityScheme {
            description: scheme.description,
            location: scheme.location,
            name: scheme.name,
        }),
        Scheme::HttpAuthSecurityScheme(scheme) => SecurityScheme::HttpAuth(HttpAuthSecurityScheme {
            description: scheme.description,
            scheme: scheme.scheme,
            bearer_format: scheme.bearer_format,
        }),
        Scheme::Oauth2SecurityScheme(scheme) => SecurityScheme::OAuth2(OAuth2SecurityScheme {
            description: scheme.description,
            flows: scheme.flows.and_then(|flows| flows.flow).map(flow),
            oauth2_metadata_url: scheme.oauth2_metadata_url,
        }),
        Scheme::OpenIdConnectSecurityScheme(scheme) => {
            SecurityScheme::OpenIdConnect(OpenIdConnectSecurityScheme {
                description: scheme.description,
                open_id_connect_url: scheme.open_id_connect_url,
            })
        }
        Scheme::MtlsSecurityScheme(scheme) => SecurityScheme::MutualTls(MutualTlsSecurityScheme {
            description: scheme.description,
        }),
    }
}

fn flow(flow: Flow) -> OAuthFlows {
    match flow {
        Flow::AuthorizationCode(flow) => OAuthFlows::AuthorizationCode(AuthorizationCodeOAuthFlow {
            authorization_url: flow.authorization_url,
            token_url: flow.token_url,
            refresh_url: flow.refresh_url,
            scopes: flow.scopes,
            pkce_required: flow.pkce_required,
        }),
        Flow::ClientCredentials(flow) => OAuthFlows::ClientCredentials(ClientCredentialsOAuthFlow {
            token_url: flow.token_url,
            refresh_url: flow.refresh_url,
            scopes: flow.scopes,
        }),
        Flow::Implicit(flow) => OAuthFlows::Implicit(ImplicitOAuthFlow {
            authorization_url: flow.authorization_url,
            refresh_url: flow.refresh_url,
            scopes: flow.scopes,
        }),
        Flow::Password(flow) => OAuthFlows::Password(PasswordOAuthFlow {
            token_url: flow.token_url,
            refresh_url: flow.refresh_url,
            scopes: flow.scopes,
        }),
        Flow::DeviceCode(flow) => OAuthFlows::DeviceCode(DeviceCodeOAuthFlow {
            device_authorization_url: flow.device_authorization_url,
            token_url: flow.token_url,
            refresh_url: flow.refresh_url,
            scopes: flow.scopes,
        }),
    }
}
