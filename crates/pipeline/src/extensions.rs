//! Required extensions (§3.3.4, §4.6.3): the nine client commands must declare each that the agent's card requires.

use std::{
    future::{Ready, ready},
    task::{Context, Poll},
};

use futures::future::Either;
use gateway_domain::{Error, ErrorKind, Outcome, Reply, error::metadata};
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
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    let missing = missing.join(", ");
    let text = format!("the agent requires the extension {missing}: declare it in A2A-Extensions");
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
