//! The two actors are kept apart: neither may do what is the other's.

use std::{
    future::{Ready, ready},
    task::{Context, Poll},
};

use futures::future::Either;
use gateway_domain::{Error, ErrorKind, Reply};
use tower::Service;

use crate::call::Routed;

/// The layer.
#[derive(Clone)]
pub(crate) struct Authorize<S>(S);

impl<S> Authorize<S> {
    pub(crate) fn new(inner: S) -> Self {
        Self(inner)
    }
}

impl<S: Service<Routed, Response = Reply, Error = Error>> Service<Routed> for Authorize<S> {
    type Response = Reply;
    type Error = Error;
    type Future = Either<S::Future, Ready<Result<Reply, Error>>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        self.0.poll_ready(cx)
    }

    fn call(&mut self, call: Routed) -> Self::Future {
        if call.head.principal.actor == call.operation.actor() {
            return Either::Left(self.0.call(call));
        }
        let text = "this operation belongs to the other kind of caller";
        Either::Right(ready(Err(Error::new(ErrorKind::PermissionDenied, text))))
    }
}
