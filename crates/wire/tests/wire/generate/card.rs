//! Generated agent cards. What the protocol requires is there and not empty, as in every card that is one.

use std::collections::BTreeMap;

use gateway_domain::card::{
    AgentCapabilities, AgentCard, AgentCardSignature, AgentExtension, AgentInterface, AgentProvider,
    AgentSkill, ApiKeySecurityScheme, AuthorizationCodeOAuthFlow, ClientCredentialsOAuthFlow,
    DeviceCodeOAuthFlow, HttpAuthSecurityScheme, ImplicitOAuthFlow, MutualTlsSecurityScheme,
    OAuth2SecurityScheme, OAuthFlows, OpenIdConnectSecurityScheme, PasswordOAuthFlow, SecurityRequirement,
    SecurityScheme, StringList,
};
use proptest::{
    collection::{btree_map, vec},
    option,
    prelude::*,
};

use super::{non_empty, object, scopes, text, texts};

pub(crate) fn card() -> impl Strategy<Value = AgentCard> {
    let words = (
        non_empty(),
        non_empty(),
        non_empty(),
        option::of(text()),
        option::of(text()),
    );
    let modes = (vec(non_empty(), 1..3), vec(non_empty(), 1..3));
    let security = (btree_map(text(), scheme(), 0..4), vec(requirement(), 0..3));
    let parts = (
        vec(interface(), 1..3),
        option::of(provider()),
        capabilities(),
        vec(skill(), 1..3),
        vec(signature(), 0..2),
    );
    (words, modes, security, parts).prop_map(
        |(
            (name, description, version, documentation_url, icon_url),
            (default_input_modes, default_output_modes),
            (security_schemes, security_requirements),
            (supported_interfaces, provider, capabilities, skills, signatures),
        )| AgentCard {
            name,
            description,
            supported_interfaces,
            provider,
            version,
            documentation_url,
            capabilities,
            security_schemes,
            security_requirements,
            default_input_modes,
            default_output_modes,
            skills,
            signatures,
            icon_url,
        },
    )
}

fn interface() -> impl Strategy<Value = AgentInterface> {
    (non_empty(), non_empty(), option::of(non_empty()), non_empty()).prop_map(
        |(url, protocol_binding, tenant, protocol_version)| AgentInterface {
            url,
            protocol_binding,
            tenant,
            protocol_version,
        },
    )
}

fn provider() -> impl Strategy<Value = AgentProvider> {
    (non_empty(), non_empty()).prop_map(|(url, organization)| AgentProvider { url, organization })
}

fn capabilities() -> impl Strategy<Value = AgentCapabilities> {
    let extension = (text(), text(), any::<bool>(), option::of(object())).prop_map(
        |(uri, description, required, params)| AgentExtension {
            uri,
            description,
            required,
            params,
        },
    );
    (any::<[Option<bool>; 3]>(), vec(extension, 0..3)).prop_map(
        |([streaming, push_notifications, extended_agent_card], extensions)| AgentCapabilities {
            streaming,
            push_notifications,
            extensions,
            extended_agent_card,
        },
    )
}

fn skill() -> impl Strategy<Value = AgentSkill> {
    (
        (non_empty(), non_empty(), non_empty()),
        (vec(non_empty(), 1..3), texts(), texts(), texts()),
        vec(requirement(), 0..2),
    )
        .prop_map(
            |(
                (id, name, description),
                (tags, examples, input_modes, output_modes),
                security_requirements,
            )| AgentSkill {
                id,
                name,
                description,
                tags,
                examples,
                input_modes,
                output_modes,
                security_requirements,
            },
        )
}

fn signature() -> impl Strategy<Value = AgentCardSignature> {
    (non_empty(), non_empty(), option::of(object())).prop_map(|(protected, signature, header)| {
        AgentCardSignature {
            protected,
            signature,
            header,
        }
    })
}

fn requirement() -> impl Strategy<Value = SecurityRequirement> {
    btree_map(text(), texts().prop_map(|list| StringList { list }), 0..3)
        .prop_map(|schemes: BTreeMap<_, _>| SecurityRequirement { schemes })
}

fn scheme() -> impl Strategy<Value = SecurityScheme> {
    prop_oneof![
        (text(), text(), text()).prop_map(|(description, location, name)| {
            SecurityScheme::ApiKey(ApiKeySecurityScheme {
                description,
                location,
                name,
            })
        }),
        (text(), text(), text()).prop_map(|(description, scheme, bearer_format)| {
            SecurityScheme::HttpAuth(HttpAuthSecurityScheme {
                description,
                scheme,
                bearer_format,
            })
        }),
        (text(), option::of(flow()), text()).prop_map(|(description, flows, oauth2_metadata_url)| {
            SecurityScheme::OAuth2(OAuth2SecurityScheme {
                description,
                flows,
                oauth2_metadata_url,
            })
        }),
        (text(), text()).prop_map(|(description, open_id_connect_url)| {
            SecurityScheme::OpenIdConnect(OpenIdConnectSecurityScheme {
                description,
                open_id_connect_url,
            })
        }),
        text().prop_map(|description| SecurityScheme::MutualTls(MutualTlsSecurityScheme { description })),
    ]
}

fn flow() -> impl Strategy<Value = OAuthFlows> {
    let fields = || (text(), text(), text(), scopes());
    prop_oneof![
        (fields(), any::<bool>()).prop_map(
            |((authorization_url, token_url, refresh_url, scopes), pkce_required)| {
                OAuthFlows::AuthorizationCode(AuthorizationCodeOAuthFlow {
                    authorization_url,
                    token_url,
                    refresh_url,
                    scopes,
                    pkce_required,
                })
            }
        ),
        fields().prop_map(|(_, token_url, refresh_url, scopes)| {
            OAuthFlows::ClientCredentials(ClientCredentialsOAuthFlow {
                token_url,
                refresh_url,
                scopes,
            })
        }),
        fields().prop_map(|(authorization_url, _, refresh_url, scopes)| {
            OAuthFlows::Implicit(ImplicitOAuthFlow {
                authorization_url,
                refresh_url,
                scopes,
            })
        }),
        fields().prop_map(|(_, token_url, refresh_url, scopes)| {
            OAuthFlows::Password(PasswordOAuthFlow {
                token_url,
                refresh_url,
                scopes,
            })
        }),
        fields().prop_map(|(device_authorization_url, token_url, refresh_url, scopes)| {
            OAuthFlows::DeviceCode(DeviceCodeOAuthFlow {
                device_authorization_url,
                token_url,
                refresh_url,
                scopes,
            })
        }),
    ]
}
