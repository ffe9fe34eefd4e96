//! Required extensions (§3.3.4, §4.6.3): the nine client commands must declare each that the agent's card requires,
//! but for those that the agent itself looks after.

use std::{
    future::{Ready, ready},
    task::{Context, Poll},
};

use futures::future::Either;
use gateway_domain::{Error, ErrorKind, Outcome, Reply, Version, error::metadata};
use tower::Service;

use crate::call::Routed;

/// The layer.
#[derive(Clone)]
pub(crate) struct Extensions<S>(S);

impl<S> Extensions<S> {
    pub(crate) fn new(inner: S) -> Self {
        Self(inner)
    }
}

fn check(call: &Routed) -> Result<(), Error> {
    if !call.operation.requires_extensions() {
        return Ok(());
    }
    let asked = &call.head.extensions;
    let missing: Vec<_> = call
        .agent
        .card
        .required_extensions()
        .filter(|uri| !asked.iter().any(|asked| asked == uri))
        .filter(|uri| !call.agent.agent.enforces_extension(uri))
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    let missing = missing.join(", ");
    let header = match call.head.facts.version.get() {
        Some(Version::V0_3) => "X-A2A-Extensions",
        _ => "A2A-Extensions",
    };
    let text = format!("the agent requires the extension {missing}: declare it in {header}");
    Err(Error::new(ErrorKind::ExtensionSupportRequired, text)
        .with_metadata(metadata::REQUIRED_EXTENSIONS, missing)
        .outcome(Outcome::ExtensionRequired))
}

impl<S: Service<Routed, Response = Reply, Error = Error>> Service<Routed> for Extensions<S> {
    type Response = Reply;
    type Error = Error;
    type Future = Either<S::Future, Ready<Result<Reply, Error>>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        self.0.poll_ready(cx)
    }

    fn call(&mut self, call: Routed) -> Self::Future {
        match check(&call) {
            Ok(()) => Either::Left(self.0.call(call)),
            Err(error) => Either::Right(ready(Err(error))),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use async_trait::async_trait;
    use gateway_domain::{
        Actor, AgentCard, Binding, ErrorKind, Operation, Principal, Request, TaskId,
        card::AgentExtension,
        directory::{MediaTypes, ServedAgent},
        json::Object,
        ports::{Agent, AgentFault, Answer, CancelAnswer, Desk, Offer},
        request::{GetExtendedAgentCard, GetTask, OtherwiseCard},
    };

    use super::check;
    use crate::{Head, RequestedVersion, call::Routed};

    /// Looks after one extension itself.
    struct Careful;

    #[async_trait]
    impl Agent for Careful {
        fn enforces_extension(&self, uri: &str) -> bool {
            uri == "urn:own"
        }

        async fn offer(&self, _offer: Offer, _desk: Arc<dyn Desk>) -> Result<Answer, AgentFault> {
            Ok(Answer::Accepted)
        }

        async fn cancel(&self, _task: &TaskId, _metadata: Option<&Object>) -> CancelAnswer {
            CancelAnswer::NoRun
        }
    }

    fn call(operation: Operation, required: &[&str], asked: &[&str]) -> Routed {
        let mut card = AgentCard::default();
        card.capabilities.extensions = required
            .iter()
            .map(|uri| AgentExtension {
                uri: (*uri).to_owned(),
                required: true,
                ..AgentExtension::default()
            })
            .collect();
        let request = match operation {
            Operation::GetExtendedAgentCard => Request::GetExtendedAgentCard(GetExtendedAgentCard {
                tenant: None,
                otherwise: OtherwiseCard::Refuse,
            }),
            _ => Request::GetTask(GetTask {
                tenant: None,
                id: TaskId::new("t"),
                history_length: None,
            }),
        };
        Routed {
            head: Head {
                binding: Binding::JsonRpc,
                operation: Some(operation),
                version: RequestedVersion::default(),
                names: None,
                extensions: asked.iter().map(|uri| (*uri).to_owned()).collect(),
                cursor: None,
                tenant: None,
                principal: Arc::new(Principal::anonymous(Actor::Client)),
                deadline: None,
                request_id: "r".into(),
                facts: Arc::default(),
            },
            operation,
            request,
            agent: Arc::new(ServedAgent {
                card: Arc::new(card),
                extended_card: None,
                agent: Arc::new(Careful),
                media_types: MediaTypes::Any,
            }),
        }
    }

    #[test]
    fn what_the_card_requires_must_be_declared_unless_the_agent_looks_after_it() {
        let refused = Some(ErrorKind::ExtensionSupportRequired);
        for (operation, required, asked, refusal) in [
            (Operation::GetTask, &["urn:a"][..], &[][..], refused),
            (Operation::GetTask, &["urn:a"], &["urn:a"], None),
            (Operation::GetTask, &["urn:own"], &[], None),
            (Operation::GetTask, &["urn:own", "urn:a"], &[], refused),
            (Operation::GetTask, &[], &["urn:unknown"], None),
            (Operation::GetExtendedAgentCard, &["urn:a"], &[], None),
        ] {
            let checked = check(&call(operation, required, asked)).map_err(|error| error.kind());
            assert_eq!(checked.err(), refusal, "{operation:?} {required:?} {asked:?}");
        }
    }
}
