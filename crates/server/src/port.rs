//! One port for several bindings: each request is handed to the binding that it is meant for.
//!
//! gRPC is known by its content type, JSON-RPC and the card by their paths; the rest is HTTP+JSON. Whoever is served
//! stands behind the edge's front, with the face of its binding.

use std::{
    convert::Infallible,
    future::{Ready, ready},
    sync::Arc,
    task::{Context, Poll},
};

use axum::body::Body;
use futures::future::BoxFuture;
use gateway_domain::{
    Actor, Binding, Error, ErrorKind,
    principal::{Anonymous, Authenticator},
};
use gateway_edge::{Face, Front, Response, document::Document, front};
use gateway_grpc::GrpcFace;
use gateway_jsonrpc::{Rpc, RpcFace};
use gateway_pipeline::Gateway;
use gateway_rest::RestFace;
use gateway_wire::operations::AGENT_CARD_PATH;
use http::{Request, header::CONTENT_TYPE};
use tower::Service;

/// What a port is made of.
pub(crate) struct Parts {
    /// The stack.
    pub(crate) gateway: Gateway,
    /// Who calls here.
    pub(crate) actor: Actor,
    /// Finds out who it is.
    pub(crate) authenticator: Arc<dyn Authenticator>,
    /// Bounds.
    pub(crate) edge: Arc<gateway_edge::Settings>,
    /// Bounds of gRPC, and by which numbers errors are told.
    pub(crate) grpc: gateway_grpc::Settings,
    /// The card, where it is read here.
    pub(crate) card: Option<Document>,
}

/// Answers whatever comes to a port.
pub(crate) trait Answers:
    Service<Request<Body>, Response = Response, Error = Infallible, Future: Send> + Clone + Send + Sync + 'static
{
}

impl<S> Answers for S where
    S: Service<Request<Body>, Response = Response, Error = Infallible, Future: Send>
        + Clone
        + Send
        + Sync
        + 'static
{
}

/// A port that serves these bindings, and the handle to the health of its gRPC.
pub(crate) async fn port(
    parts: Parts,
    bindings: &[Binding],
) -> (impl Answers + use<>, Option<gateway_grpc::Health>) {
    let Parts {
        gateway,
        actor,
        authenticator,
        edge,
        ..
    } = parts;
    let edition = parts.grpc.edition;
    let serves = |binding| bindings.contains(&binding);
    let (grpc, health) = if serves(Binding::Grpc) {
        let (grpc, health) = gateway_grpc::service(gateway.clone(), actor, parts.grpc).await;
        (Some(grpc), Some(health))
    } else {
        (None, None)
    };
    let jsonrpc =
        serves(Binding::JsonRpc).then(|| gateway_jsonrpc::service(gateway.clone(), actor, edge.clone()));
    let rest = serves(Binding::HttpJson)
        .then(|| gateway_rest::service(gateway.clone(), actor, edge.clone(), edition));
    let inner = Inner {
        grpc: grpc.map(|grpc| front(grpc, GrpcFace, authenticator.clone(), edge.clone())),
        jsonrpc: jsonrpc.map(|jsonrpc| front(jsonrpc, RpcFace, authenticator.clone(), edge.clone())),
        rest: rest.map(|rest| front(rest, RestFace, authenticator.clone(), edge.clone())),
        // Everybody may read the card: it says how to show who one is.
        card: parts
            .card
            .map(|card| front(Card(Arc::new(card)), RestFace, Arc::new(Anonymous(actor)), edge)),
    };
    (Port(Arc::new(inner)), health)
}

struct Port<R>(Arc<Inner<R>>);

struct Inner<R> {
    grpc: Option<Front<gateway_grpc::Server, GrpcFace>>,
    jsonrpc: Option<Front<Rpc, RpcFace>>,
    rest: Option<Front<R, RestFace>>,
    card: Option<Front<Card, RestFace>>,
}

impl<R> Clone for Port<R> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<R: Answers> Service<Request<Body>> for Port<R> {
    type Response = Response;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Response, Infallible>>;

    fn poll_ready(&mut self, _cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let (inner, path) = (&*self.0, request.uri().path());
        match inner {
            Inner { grpc: Some(grpc), .. } if is_grpc(&request) => grpc.clone().call(request),
            Inner { card: Some(card), .. } if path == AGENT_CARD_PATH => card.clone().call(request),
            Inner {
                jsonrpc: Some(jsonrpc),
                ..
            } if gateway_jsonrpc::matches(path) => jsonrpc.clone().call(request),
            Inner { rest: Some(rest), .. } => rest.clone().call(request),
            // A port for gRPC alone says itself what is no gRPC.
            Inner {
                grpc: Some(grpc),
                jsonrpc: None,
                ..
            } => grpc.clone().call(request),
            _ => Box::pin(ready(Ok(nothing_here(request)))),
        }
    }
}

fn is_grpc(request: &Request<Body>) -> bool {
    let content_type = request.headers().get(CONTENT_TYPE).map(|value| value.as_bytes());
    content_type.is_some_and(|value| {
        let prefix = value.get(..16).unwrap_or_default();
        prefix.eq_ignore_ascii_case(b"application/grpc")
    })
}

fn nothing_here(request: Request<Body>) -> Response {
    let text = format!(
        "nothing is served at {} on this port; the agent card says where each binding is",
        request.uri().path()
    );
    let error = Error::new(ErrorKind::MethodNotFound, text);
    RestFace.refuse(&request.into_parts().0, &error)
}

/// The card's document as a service.
#[derive(Clone)]
struct Card(Arc<Document>);

impl Service<Request<Body>> for Card {
    type Response = Response;
    type Error = Infallible;
    type Future = Ready<Result<Response, Infallible>>;

    fn poll_ready(&mut self, _cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        ready(Ok(self.0.answer(request.method(), request.headers())))
    }
}
