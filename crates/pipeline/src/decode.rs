//! Reads the parameters, now that the version says how.

use std::{
    future::{Ready, ready},
    task::{Context, Poll},
};

use futures::future::Either;
use gateway_domain::{Error, ErrorKind, Reply, Request};
use tower::Service;

use crate::call::{Decoded, Versioned};

/// The layer.
#[derive(Clone)]
pub(crate) struct Decode<S>(S);

impl<S> Decode<S> {
    pub(crate) fn new(inner: S) -> Self {
        Self(inner)
    }
}

impl<S: Service<Decoded, Response = Reply, Error = Error>> Service<Versioned> for Decode<S> {
    type Response = Reply;
    type Error = Error;
    type Future = Either<S::Future, Ready<Result<Reply, Error>>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        self.0.poll_ready(cx)
    }

    fn call(&mut self, Versioned { call, version }: Versioned) -> Self::Future {
        let head = call.head;
        let decoded = call
            .payload
            .decode(version)
            .and_then(|request: Request| match head.operation {
                Some(operation) => Ok((operation, request)),
                None => Err(Error::new(ErrorKind::MethodNotFound, "no such operation")),
            });
        match decoded {
            Ok((operation, request)) => {
                if let Some(task) = request.task_id() {
                    let _ = head.facts.task.set(task.clone());
                }
                Either::Left(self.0.call(Decoded {
                    head,
                    operation,
                    request,
                }))
            }
            Err(error) => Either::Right(ready(Err(error))),
        }
    }
}
