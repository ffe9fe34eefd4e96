//! GetExtendedAgentCard (§3.1.11).

use super::{Answered, Context, Service};
use crate::{Error, ErrorKind, Outcome, reply::Body};

impl Service {
    #[allow(clippy::unused_self, reason = "an operation like the others")]
    pub(super) fn extended_card(&self, context: &Context) -> Answered {
        let agent = &context.agent;
        if agent.card.capabilities.extended_agent_card != Some(true) {
            let text = "the agent's card does not declare capabilities.extendedAgentCard";
            return Err(Error::new(ErrorKind::UnsupportedOperation, text).outcome(Outcome::Unsupported));
        }
        let Some(card) = &agent.extended_card else {
            let text = "no extended agent card is configured";
            return Err(
                Error::new(ErrorKind::ExtendedAgentCardNotConfigured, text).outcome(Outcome::NotConfigured)
            );
        };
        if context.principal.subject.is_none() {
            let text = "the extended agent card is for authenticated callers";
            return Err(Error::new(ErrorKind::Unauthenticated, text).outcome(Outcome::Unauthenticated));
        }
        Ok((Outcome::Found, Body::Card(card.clone())))
    }
}
