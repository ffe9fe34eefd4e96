//! What the card of 0.3 makes of the interfaces in a card of 1.0.

use gateway_domain::{AgentCard, Version, card::AgentInterface};

/// What a card of 0.3 says of its version.
pub const PROTOCOL_VERSION: &str = "0.3.0";

/// The ways to call an agent by 0.3, in the card's order: the first is the preferred one.
#[derive(Debug, Clone, Copy)]
pub struct Addresses<'a>(&'a [AgentInterface]);

impl<'a> Addresses<'a> {
    /// Those of a card.
    pub fn of(card: &'a AgentCard) -> Self {
        Self(&card.supported_interfaces)
    }

    /// The one whose URL and transport the card itself shows.
    pub fn first(self) -> Option<&'a AgentInterface> {
        self.all().next()
    }

    /// All of them, the first included.
    pub fn all(self) -> impl Iterator<Item = &'a AgentInterface> {
        let speaks =
            |interface: &&AgentInterface| Version::parse(&interface.protocol_version) == Some(Version::V0_3);
        self.0.iter().filter(speaks)
    }
}
