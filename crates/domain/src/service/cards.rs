//! GetExtendedAgentCard (§3.1.11).

use std::sync::Arc;

use super::{Answered, Context, Service};
use crate::{
    AgentCard, Error, ErrorKind, Outcome, directory::ServedAgent, reply::Body, request::OtherwiseCard,
};

impl Service {
    #[allow(clippy::unused_self, reason = "an operation like the others")]
    pub(super) fn extended_card(&self, context: &Context, otherwise: OtherwiseCard) -> Answered {
        let card = shown(&context.agent, context.principal.subject.is_some(), otherwise)?;
        Ok((Outcome::Found, Body::Card(card.clone())))
    }
}

/// The card that a caller is shown.
fn shown(agent: &ServedAgent, named: bool, otherwise: OtherwiseCard) -> Result<&Arc<AgentCard>, Error> {
    match (extended(agent, named), otherwise) {
        (Err(_), OtherwiseCard::PublicCard) => Ok(&agent.card),
        (Err(_), OtherwiseCard::NotConfigured) => Err(not_configured()),
        (card, _) => card,
    }
}

fn not_configured() -> Error {
    let text = "no extended agent card is configured for this caller";
    Error::new(ErrorKind::ExtendedAgentCardNotConfigured, text).outcome(Outcome::NotConfigured)
}

/// The extended card for a caller with or without a name.
fn extended(agent: &ServedAgent, named: bool) -> Result<&Arc<AgentCard>, Error> {
    if agent.card.capabilities.extended_agent_card != Some(true) {
        let text = "the agent's card does not declare capabilities.extendedAgentCard";
        return Err(Error::new(ErrorKind::UnsupportedOperation, text).outcome(Outcome::Unsupported));
    }
    let Some(extended) = &agent.extended_card else {
        return Err(not_configured());
    };
    if !named && !extended.open {
        let text = "the extended agent card is for authenticated callers";
        return Err(Error::new(ErrorKind::Unauthenticated, text).outcome(Outcome::Unauthenticated));
    }
    Ok(&extended.card)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use async_trait::async_trait;

    use super::shown;
    use crate::{
        AgentCard, ErrorKind, TaskId,
        directory::{ExtendedCard, MediaTypes, ServedAgent},
        json::Object,
        ports::{Agent, AgentFault, Answer, CancelAnswer, Desk, Offer},
        request::OtherwiseCard,
    };

    struct Idle;

    #[async_trait]
    impl Agent for Idle {
        async fn offer(&self, _offer: Offer, _desk: Arc<dyn Desk>) -> Result<Answer, AgentFault> {
            Ok(Answer::Accepted)
        }

        async fn cancel(&self, _task: &TaskId, _metadata: Option<&Object>) -> CancelAnswer {
            CancelAnswer::NoRun
        }
    }

    fn agent(declared: bool, open: Option<bool>) -> ServedAgent {
        let mut card = AgentCard::default();
        card.capabilities.extended_agent_card = Some(declared);
        ServedAgent {
            card: Arc::new(card),
            extended_card: open.map(|open| ExtendedCard {
                card: Arc::default(),
                open,
            }),
            agent: Arc::new(Idle),
            media_types: MediaTypes::Any,
        }
    }

    #[test]
    fn the_extended_card_needs_a_declaration_then_a_card_then_a_name_unless_it_is_open() {
        let closed = Some(false);
        for (declared, open, named, refusal) in [
            (false, closed, true, Some(ErrorKind::UnsupportedOperation)),
            (true, None, true, Some(ErrorKind::ExtendedAgentCardNotConfigured)),
            (true, None, false, Some(ErrorKind::ExtendedAgentCardNotConfigured)),
            (true, closed, false, Some(ErrorKind::Unauthenticated)),
            (true, closed, true, None),
            (true, Some(true), false, None),
        ] {
            let agent = agent(declared, open);
            let answer = |otherwise| shown(&agent, named, otherwise).map_err(|error| error.kind());
            let case = format!("{declared} {open:?} {named}");
            assert_eq!(answer(OtherwiseCard::Refuse).err(), refusal, "{case}");
            // What 0.3 answers instead: always a card, or always the same refusal.
            assert_eq!(answer(OtherwiseCard::PublicCard).err(), None, "{case}");
            let not_configured = refusal.map(|_| ErrorKind::ExtendedAgentCardNotConfigured);
            assert_eq!(
                answer(OtherwiseCard::NotConfigured).err(),
                not_configured,
                "{case}"
            );
        }
    }
}
