//! The agent card that clients read: the agent's own, the operator's word above it, the interfaces that are really
//! served, and what the gateway itself adds. Clients of 1.0 and of 0.3 read the same document: each passes over what only
//! the other knows (§5.7).

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use gateway_config::{Settings, typed::CardForm};
use gateway_domain::{
    AgentCard, Binding, Version,
    card::{AgentCapabilities, AgentInterface},
    resume,
};
use gateway_edge::document::Document;
use gateway_wire::{
    operations::{AGENT_CARD_PATH, AGENT_CARD_PATH_OF_OLD},
    params::media_type,
    v0_3::{card::Addresses as OldInterfaces, kind},
};
use serde_json::{Value, to_value};

use crate::{listeners::Addresses, paths::RPC_PATH};

/// The order in which the card names interfaces; the first is the preferred one (§8.3.1).
const PREFERRED: [Binding; 3] = [Binding::JsonRpc, Binding::Grpc, Binding::HttpJson];

/// The card of an agent as this gateway offers it.
pub(crate) fn card(own: AgentCard, settings: &Settings, addresses: &Addresses) -> AgentCard {
    // The newer version first, for clients that speak both.
    let interfaces = [Version::V1_0, Version::V0_3].into_iter().flat_map(|version| {
        PREFERRED.into_iter().filter_map(move |binding| {
            let listener = settings.listeners.serving(binding)?;
            let interface = AgentInterface {
                url: url(binding, settings, addresses)?,
                protocol_binding: binding.name().to_owned(),
                tenant: None,
                protocol_version: version.name().to_owned(),
            };
            listener.versions.contains(&version).then_some(interface)
        })
    });
    let mut card = AgentCard {
        supported_interfaces: interfaces.collect(),
        ..settings.card.over(own)
    };
    add_resume(&mut card.capabilities);
    card
}

/// Streams can be resumed whatever the agent knows of it. One that says the same of itself speaks of its own streams,
/// which no client of the gateway sees.
fn add_resume(capabilities: &mut AgentCapabilities) {
    capabilities
        .extensions
        .retain(|extension| extension.uri != resume::URI);
    if capabilities.streaming == Some(true) {
        capabilities.extensions.push(resume::extension());
    }
}

/// Where clients call a binding: what the operator says, else where it listens, else nowhere.
pub(crate) fn url(binding: Binding, settings: &Settings, addresses: &Addresses) -> Option<String> {
    let listener = addresses.serving(binding)?;
    let own = || match binding {
        Binding::JsonRpc => format!("http://{listener}{RPC_PATH}"),
        Binding::HttpJson => format!("http://{listener}"),
        // What most gRPC clients take as a target.
        Binding::Grpc => listener.to_string(),
    };
    let public = settings.public_urls.of(binding).map(str::to_owned);
    Some(public.unwrap_or_else(own))
}

/// The card as documents, by their paths.
pub(crate) fn documents(
    card: &AgentCard,
    form: CardForm,
    modified: SystemTime,
    max_age: Duration,
) -> Result<Vec<(&'static str, Document)>, String> {
    let forms = forms(card, form).map_err(|error| error.to_string())?;
    let document = |text: Value| Document::new(text.to_string(), media_type::JSON, modified, max_age);
    Ok(forms
        .into_iter()
        .map(|(path, text)| (path, document(text)))
        .collect())
}

/// What stands at each path. Where nobody serves 0.3 there is no card in its form.
fn forms(card: &AgentCard, form: CardForm) -> serde_json::Result<Vec<(&'static str, Value)>> {
    let mut usual = to_value(card)?;
    if OldInterfaces::of(card).first().is_none() {
        return Ok(vec![(AGENT_CARD_PATH, usual)]);
    }
    let old = to_value(kind::Card::of(card))?;
    if form == CardForm::Both {
        add(&mut usual, &old);
    }
    Ok(vec![(AGENT_CARD_PATH, usual), (AGENT_CARD_PATH_OF_OLD, old)])
}

/// Adds what only the other form of the same card has, at whatever depth.
fn add(to: &mut Value, other: &Value) {
    match (to, other) {
        (Value::Object(to), Value::Object(other)) => {
            for (name, member) in other {
                match to.get_mut(name) {
                    Some(held) => add(held, member),
                    None => drop(to.insert(name.clone(), member.clone())),
                }
            }
        }
        (Value::Array(to), Value::Array(other)) if to.len() == other.len() => {
            to.iter_mut().zip(other).for_each(|(to, other)| add(to, other));
        }
        _ => {}
    }
}

/// When this program was built.
pub(crate) fn built() -> SystemTime {
    let seconds = env!("BUILD_SECONDS").parse().unwrap_or_default();
    UNIX_EPOCH + Duration::from_secs(seconds)
}

#[cfg(test)]
mod tests {
    use gateway_config::typed::CardForm;
    use gateway_domain::{
        AgentCard,
        card::{
            AgentInterface, AgentSkill, HttpAuthSecurityScheme, SecurityRequirement, SecurityScheme,
            StringList,
        },
    };
    use gateway_wire::v0_3::kind;
    use serde_json::{Value, json, to_value};

    use super::{AGENT_CARD_PATH, AGENT_CARD_PATH_OF_OLD, forms};

    fn card(versions: &[&str]) -> AgentCard {
        let interface = |version: &&str| AgentInterface {
            url: format!("http://127.0.0.1/{version}"),
            protocol_binding: "JSONRPC".into(),
            tenant: None,
            protocol_version: (*version).into(),
        };
        let scheme = HttpAuthSecurityScheme {
            scheme: "Bearer".into(),
            ..Default::default()
        };
        let requirement = SecurityRequirement {
            schemes: [(
                "token".to_owned(),
                StringList {
                    list: vec!["read".into()],
                },
            )]
            .into(),
        };
        let mut card = AgentCard {
            name: "agent".into(),
            supported_interfaces: versions.iter().map(interface).collect(),
            security_schemes: [("token".to_owned(), SecurityScheme::HttpAuth(scheme))].into(),
            security_requirements: vec![requirement.clone()],
            skills: vec![AgentSkill {
                id: "skill".into(),
                security_requirements: vec![requirement],
                ..AgentSkill::default()
            }],
            ..AgentCard::default()
        };
        card.capabilities.streaming = Some(true);
        card.capabilities.extended_agent_card = Some(true);
        card
    }

    /// Whether everything that one value has is in another.
    fn holds(all: &Value, part: &Value) -> bool {
        match (all, part) {
            (Value::Object(all), Value::Object(part)) => part
                .iter()
                .all(|(name, member)| all.get(name).is_some_and(|held| holds(held, member))),
            (Value::Array(all), Value::Array(part)) => {
                all.len() == part.len() && all.iter().zip(part).all(|(all, part)| holds(all, part))
            }
            (all, part) => all == part,
        }
    }

    #[test]
    fn one_document_has_everything_of_both_forms_and_the_older_path_has_that_of_0_3_alone() {
        let card = card(&["1.0", "0.3"]);
        let forms = forms(&card, CardForm::Both).unwrap();
        let (new, old) = (to_value(&card).unwrap(), to_value(kind::Card::of(&card)).unwrap());
        let [(AGENT_CARD_PATH, both), (AGENT_CARD_PATH_OF_OLD, alone)] = &forms[..] else {
            panic!("{forms:?}")
        };
        assert!(holds(both, &new) && holds(both, &old), "{both:#}");
        assert_eq!(alone, &old);
        assert_eq!(both["url"], "http://127.0.0.1/0.3");
        let scheme =
            json!({ "httpAuthSecurityScheme": { "scheme": "Bearer" }, "type": "http", "scheme": "Bearer" });
        assert_eq!(both["securitySchemes"]["token"], scheme);
        assert_eq!(both["skills"][0]["security"], json!([{ "token": ["read"] }]));
    }

    #[test]
    fn a_setting_keeps_the_fields_of_0_3_out_of_the_usual_document() {
        let card = card(&["1.0", "0.3"]);
        let forms = forms(&card, CardForm::V1_0).unwrap();
        assert_eq!(forms[0], (AGENT_CARD_PATH, to_value(&card).unwrap()));
        assert_eq!(forms[1].0, AGENT_CARD_PATH_OF_OLD);
    }

    #[test]
    fn where_0_3_is_not_served_no_card_has_its_form() {
        let card = card(&["1.0"]);
        for form in [CardForm::Both, CardForm::V1_0] {
            assert_eq!(
                forms(&card, form).unwrap(),
                [(AGENT_CARD_PATH, to_value(&card).unwrap())]
            );
        }
    }
}
