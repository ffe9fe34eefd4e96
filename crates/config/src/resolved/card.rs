//! The agent card without what only a running gateway knows: its interfaces.

use std::{sync::Arc, time::Duration};

use gateway_domain::{
    AgentCard,
    card::{AgentCapabilities, AgentExtension, AgentProvider, AgentSkill},
    directory::ExtendedCard,
    json::object_too_deep,
};

use super::listeners::http_url_fault;
use crate::{fault::Fault, typed};

/// What the operator says on the card.
#[derive(Debug, Clone)]
pub struct Card {
    said: typed::Card,
    /// In which form it is served.
    pub form: typed::CardForm,
    /// How long clients may keep it.
    pub max_age: Duration,
}

pub(super) fn resolve(said: typed::Card, faults: &mut Vec<Fault>) -> Card {
    check(&said, faults);
    let (form, max_age) = (said.form, said.max_age.0);
    Card { said, form, max_age }
}

impl Card {
    /// The card of an agent, with the operator's word above the agent's own.
    pub fn over(&self, own: AgentCard) -> AgentCard {
        let said = self.said.clone();
        let provider = said.provider.map(|provider| AgentProvider {
            url: provider.url,
            organization: provider.organization,
        });
        let extensions = said
            .extensions
            .map(|all| all.into_iter().map(extension).collect());
        AgentCard {
            name: said.name.unwrap_or(own.name),
            description: said.description.unwrap_or(own.description),
            version: said.version.unwrap_or(own.version),
            documentation_url: said.documentation_url.or(own.documentation_url),
            icon_url: said.icon_url.or(own.icon_url),
            provider: provider.or(own.provider),
            capabilities: AgentCapabilities {
                streaming: Some(said.streaming),
                push_notifications: Some(said.push_notifications),
                extensions: extensions.unwrap_or(own.capabilities.extensions),
                extended_agent_card: said
                    .extended
                    .map(|_| true)
                    .or(own.capabilities.extended_agent_card),
            },
            default_input_modes: said.input_modes.unwrap_or(own.default_input_modes),
            default_output_modes: said.output_modes.unwrap_or(own.default_output_modes),
            skills: said
                .skills
                .map_or(own.skills, |all| all.into_iter().map(skill).collect()),
            ..own
        }
    }

    /// The extended card that belongs to a card.
    pub fn extended(&self, card: &AgentCard) -> Option<ExtendedCard> {
        let said = self.said.extended.clone()?;
        let mut card = card.clone();
        card.description = said.description.unwrap_or(card.description);
        card.skills.extend(said.skills.into_iter().map(skill));
        Some(ExtendedCard {
            card: Arc::new(card),
            open: said.open,
        })
    }

    /// Whether everybody may read the extended card.
    pub fn is_extended_open(&self) -> bool {
        self.said.extended.as_ref().is_some_and(|extended| extended.open)
    }
}

fn extension(typed: typed::Extension) -> AgentExtension {
    AgentExtension {
        uri: typed.uri,
        description: typed.description,
        required: typed.required,
        params: typed.params,
    }
}

fn skill(typed: typed::Skill) -> AgentSkill {
    AgentSkill {
        id: typed.id,
        name: typed.name,
        description: typed.description,
        tags: typed.tags,
        examples: typed.examples,
        input_modes: typed.input_modes,
        output_modes: typed.output_modes,
        ..AgentSkill::default()
    }
}

fn check(card: &typed::Card, faults: &mut Vec<Fault>) {
    for (path, modes) in [
        ("card.input_modes", &card.input_modes),
        ("card.output_modes", &card.output_modes),
    ] {
        check_modes(path, modes.as_deref().unwrap_or_default(), faults);
    }
    let urls = [
        ("card.documentation_url", card.documentation_url.as_deref()),
        ("card.icon_url", card.icon_url.as_deref()),
        (
            "card.provider.url",
            card.provider.as_ref().map(|provider| &*provider.url),
        ),
    ];
    for (path, url) in urls {
        if let Some(fault) = url.and_then(http_url_fault) {
            faults.push(Fault::of(path, fault));
        }
    }
    check_skills("card.skills", card.skills.iter().flatten(), faults);
    let further = card.extended.iter().flat_map(|extended| &extended.skills);
    check_skills("card.extended.skills", further, faults);
    let uris: Vec<_> = card
        .extensions
        .iter()
        .flatten()
        .map(|extension| &*extension.uri)
        .collect();
    check_distinct("card.extensions", "uri", &uris, faults);
    for (index, extension) in card.extensions.iter().flatten().enumerate() {
        if extension.params.as_ref().is_some_and(object_too_deep) {
            faults.push(Fault::of(
                format!("card.extensions[{index}].params"),
                "nests too deep",
            ));
        }
    }
}

fn check_skills<'a>(
    path: &str,
    skills: impl Iterator<Item = &'a typed::Skill> + Clone,
    faults: &mut Vec<Fault>,
) {
    for (index, skill) in skills.clone().enumerate() {
        check_modes(
            &format!("{path}[{index}].input_modes"),
            &skill.input_modes,
            faults,
        );
        check_modes(
            &format!("{path}[{index}].output_modes"),
            &skill.output_modes,
            faults,
        );
    }
    let ids: Vec<_> = skills.map(|skill| &*skill.id).collect();
    check_distinct(path, "id", &ids, faults);
}

fn check_distinct(list: &str, key: &str, values: &[&str], faults: &mut Vec<Fault>) {
    for (index, value) in values.iter().enumerate() {
        if values[..index].contains(value) {
            let text = format!("is {value:?}, which stands in the list already");
            faults.push(Fault::of(format!("{list}[{index}].{key}"), text));
        }
    }
}

/// Refuses what is no media type.
pub(super) fn check_modes(path: &str, modes: &[String], faults: &mut Vec<Fault>) {
    let is_media_type = |mode: &str| {
        let halves = mode.split_once('/');
        halves.is_some_and(|(main, sub)| !main.is_empty() && !sub.is_empty())
            && !mode.contains(|letter: char| letter.is_control())
    };
    for (index, mode) in modes.iter().enumerate() {
        if !is_media_type(mode) {
            let text = format!("must be a media type such as \"text/plain\", not {mode:?}");
            faults.push(Fault::of(format!("{path}[{index}]"), text));
        }
    }
}
