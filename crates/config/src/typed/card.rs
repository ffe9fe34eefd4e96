//! What the agent card says (§4.4). Interfaces are not here: they follow from `public_urls`.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::text::Period;

/// The agent card. What is left out is said by the agent itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Card {
    /// The agent's name, for people.
    #[schemars(length(min = 1), example = &"Translator")]
    pub name: Option<String>,
    /// What the agent does, for people.
    #[schemars(example = &"Translates between languages.")]
    pub description: Option<String>,
    /// The agent's own version.
    #[schemars(length(min = 1), example = &"1.0.0")]
    pub version: Option<String>,
    /// Where to read more.
    #[schemars(example = &"https://example.com/docs")]
    pub documentation_url: Option<String>,
    /// A picture.
    #[schemars(example = &"https://example.com/icon.png")]
    pub icon_url: Option<String>,
    /// Whether clients may stream; without it streaming operations are refused.
    pub streaming: bool,
    /// Whether clients may configure webhooks; without it those operations are refused.
    pub push_notifications: bool,
    /// Media types that the agent takes.
    #[schemars(example = ["text/plain", "image/*"])]
    pub input_modes: Option<Vec<String>>,
    /// Media types that the agent gives.
    #[schemars(example = ["text/plain"])]
    pub output_modes: Option<Vec<String>>,
    /// In which form the card is served: `both` has the fields of protocol 0.3 beside those of 1.0, each side passes
    /// over the other's; `1.0` has its own alone. /.well-known/agent.json always has the form of 0.3.
    pub form: CardForm,
    /// How long clients may keep the card before they ask again.
    #[schemars(extend("x-min" = "0 s", "x-max" = "7 d"))]
    pub max_age: Period,
    /// Who offers the agent.
    pub provider: Option<Provider>,
    /// What the agent is good at.
    pub skills: Option<Vec<Skill>>,
    /// Extensions of the protocol.
    pub extensions: Option<Vec<Extension>>,
    /// A second card that says more, which clients read by GetExtendedAgentCard. It is this one with what is said
    /// here. Without it the card does not declare one.
    pub extended: Option<Extended>,
}

impl Default for Card {
    fn default() -> Self {
        Self {
            name: None,
            description: None,
            version: None,
            documentation_url: None,
            icon_url: None,
            streaming: true,
            push_notifications: true,
            input_modes: None,
            output_modes: None,
            form: CardForm::Both,
            max_age: Period(Duration::from_secs(300)),
            provider: None,
            skills: None,
            extensions: None,
            extended: None,
        }
    }
}

/// Forms of the card.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub enum CardForm {
    /// For clients of either version.
    #[default]
    #[serde(rename = "both")]
    Both,
    /// For clients of 1.0.
    #[serde(rename = "1.0")]
    V1_0,
}

/// Who offers the agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Provider {
    /// Their name.
    #[schemars(example = &"Example Ltd.")]
    pub organization: String,
    /// Where to find them.
    #[schemars(example = &"https://example.com")]
    pub url: String,
}

/// Something the agent is good at.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Skill {
    /// Identity within the card.
    #[schemars(length(min = 1), example = &"translate")]
    pub id: String,
    /// For people.
    #[schemars(example = &"Translation")]
    pub name: String,
    /// For people.
    #[schemars(example = &"Translates between languages.")]
    pub description: String,
    /// Keywords.
    #[serde(default)]
    #[schemars(example = ["text"])]
    pub tags: Vec<String>,
    /// What one might say to it.
    #[serde(default)]
    #[schemars(example = ["say hello in Welsh"])]
    pub examples: Vec<String>,
    /// Media types it takes beyond those of the card.
    #[serde(default)]
    #[schemars(example = ["text/html"])]
    pub input_modes: Vec<String>,
    /// Media types it gives beyond those of the card.
    #[serde(default)]
    #[schemars(example = ["text/html"])]
    pub output_modes: Vec<String>,
}

/// What the extended card says besides.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Extended {
    /// Whether callers without credentials may read it as well. The specification forbids that; it is for trial.
    #[serde(default)]
    #[schemars(example = false)]
    pub open: bool,
    /// What the agent does, in place of the card's text.
    #[serde(default)]
    #[schemars(example = &"Translates between languages, and drafts letters.")]
    pub description: Option<String>,
    /// Skills after those of the card.
    #[serde(default)]
    #[schemars(example = [Skill::example()])]
    pub skills: Vec<Skill>,
}

impl Skill {
    fn example() -> Self {
        Self {
            id: "letters".into(),
            name: "Letters".into(),
            description: "Drafts letters.".into(),
            tags: Vec::new(),
            examples: Vec::new(),
            input_modes: Vec::new(),
            output_modes: Vec::new(),
        }
    }
}

/// An extension of the protocol.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Extension {
    /// Which.
    #[schemars(length(min = 1), example = &"https://example.com/ext/v1")]
    pub uri: String,
    /// For people.
    #[serde(default)]
    #[schemars(example = &"Adds an example.")]
    pub description: String,
    /// Whether every client command must declare it.
    #[serde(default)]
    #[schemars(example = false)]
    pub required: bool,
    /// Its own settings, a free table.
    #[serde(default)]
    pub params: Option<Map<String, Value>>,
}
