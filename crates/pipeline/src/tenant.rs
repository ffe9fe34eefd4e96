//! The tenant rule (§8.3.2): the tenant selects the agent. One that is not served, or not this caller's, is answered
//! as if nothing were there.

use std::{
    future::{Ready, ready},
    sync::Arc,
    task::{Context, Poll},
};

use futures::future::Either;
use gateway_domain::{
    Error, Outcome, Reply, Service as Domain, Tenant,
    directory::{ServedAgent, tenant_not_served},
    ids::id_fault,
};
use tower::Service;

use crate::call::{Decoded, Routed};

/// The layer.
#[derive(Clone)]
pub(crate) struct TenantRule<S> {
    inner: S,
    domain: Domain,
}

impl<S> TenantRule<S> {
    pub(crate) fn new(inner: S, domain: Domain) -> Self {
        Self { inner, domain }
    }

    fn route(&self, decoded: &mut Decoded) -> Result<Arc<ServedAgent>, Error> {
        agree(decoded)?;
        let tenant = decoded.request.tenant();
        let agent = self
            .domain
            .directory()
            .find(tenant)
            .filter(|_| decoded.head.principal.may_name(tenant));
        let agent = agent.ok_or_else(|| not_served(decoded))?;
        if let Some(tenant) = tenant {
            let _ = decoded.head.facts.tenant.set(tenant.clone());
        }
        Ok(agent)
    }
}

/// Who names a task, be it in a message, learns only that the task is not there.
fn not_served(decoded: &Decoded) -> Error {
    if decoded.request.task_id().is_none() {
        return tenant_not_served();
    }
    let error = Error::task_not_found();
    if Outcome::of(decoded.operation).contains(&Outcome::OtherTenant) {
        error.outcome(Outcome::OtherTenant)
    } else {
        error
    }
}

/// The envelope and the parameters may each name a tenant; both must name the same.
fn agree(decoded: &mut Decoded) -> Result<(), Error> {
    let Some(of_envelope) = decoded.head.tenant.clone() else {
        return Ok(());
    };
    if let Some(fault) = id_fault(of_envelope.as_str()) {
        return Err(Error::invalid("tenant", fault));
    }
    match decoded.request.tenant() {
        Some(of_request) if *of_request != of_envelope => {
            let names = |tenant: &Tenant| tenant.as_str().to_owned();
            let text = format!(
                "is {:?} in the path and {:?} in the request",
                names(&of_envelope),
                names(of_request)
            );
            Err(Error::invalid("tenant", text))
        }
        _ => {
            decoded.request.set_tenant(of_envelope);
            Ok(())
        }
    }
}

impl<S: Service<Routed, Response = Reply, Error = Error>> Service<Decoded> for TenantRule<S> {
    type Response = Reply;
    type Error = Error;
    type Future = Either<S::Future, Ready<Result<Reply, Error>>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, mut decoded: Decoded) -> Self::Future {
        match self.route(&mut decoded) {
            Ok(agent) => {
                let Decoded {
                    head,
                    operation,
                    request,
                } = decoded;
                Either::Left(self.inner.call(Routed {
                    head,
                    operation,
                    request,
                    agent,
                }))
            }
            Err(error) => Either::Right(ready(Err(error))),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use gateway_domain::{
        Actor, Binding, Operation, Principal, Request, Tenant,
        request::{GetExtendedAgentCard, Scalar, params},
    };

    use super::agree;
    use crate::call::{Decoded, Head, RequestedVersion};

    fn decoded(of_envelope: Option<&str>, of_request: Option<&str>) -> Decoded {
        let tenant = of_request.map_or(Scalar::Absent, |name| Scalar::Text(name.to_owned()));
        let request: GetExtendedAgentCard = params::GetExtendedAgentCard { tenant }.validate().unwrap();
        Decoded {
            head: Head {
                binding: Binding::HttpJson,
                operation: Some(Operation::GetExtendedAgentCard),
                version: RequestedVersion::default(),
                names: None,
                extensions: Arc::default(),
                cursor: None,
                tenant: of_envelope.map(Tenant::new),
                principal: Arc::new(Principal::anonymous(Actor::Client)),
                deadline: None,
                request_id: "r-1".into(),
                facts: Arc::default(),
            },
            operation: Operation::GetExtendedAgentCard,
            request: Request::GetExtendedAgentCard(request),
        }
    }

    #[test]
    fn the_envelope_and_the_request_name_one_tenant() {
        for (envelope, request, agreed) in [
            (None, None, Some(None)),
            (None, Some("acme"), Some(Some("acme"))),
            (Some("acme"), None, Some(Some("acme"))),
            (Some("acme"), Some("acme"), Some(Some("acme"))),
            (Some("acme"), Some("globex"), None),
        ] {
            let mut decoded = decoded(envelope, request);
            let result = agree(&mut decoded).map(|()| decoded.request.tenant().map(Tenant::as_str));
            assert_eq!(result.ok(), agreed, "{envelope:?} {request:?}");
        }
    }

    #[test]
    fn a_tenant_of_the_envelope_is_held_to_the_rules_of_ids() {
        for name in ["", "a\u{0}", "a\nb", &"a".repeat(257)] {
            let error = agree(&mut decoded(Some(name), None)).unwrap_err();
            assert_eq!(error.violations()[0].field, "tenant", "{name:?}");
        }
    }
}
