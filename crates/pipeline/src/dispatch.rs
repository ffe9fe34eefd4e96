//! The end of the stack: the domain.

use std::task::{Context, Poll};

use futures::future::BoxFuture;
use gateway_domain::{Error, Reply, Service as Domain, service};
use tower::Service;

use crate::call::Routed;

/// Calls the domain.
#[derive(Clone)]
pub(crate) struct Dispatch(Domain);

impl Dispatch {
    pub(crate) fn new(domain: Domain) -> Self {
        Self(domain)
    }
}

impl Service<Routed> for Dispatch {
    type Response = Reply;
    type Error = Error;
    type Future = BoxFuture<'static, Result<Reply, Error>>;

    fn poll_ready(&mut self, _cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, call: Routed) -> Self::Future {
        let domain = self.0.clone();
        let context = service::Context {
            principal: call.head.principal,
            agent: call.agent,
            requested_extensions: call.head.extensions,
            cursor: call.head.cursor,
        };
        Box::pin(async move { domain.handle(&context, call.request).await })
    }
}
