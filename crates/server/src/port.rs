//! One port for several bindings: each request is handed to the binding that it is meant for.
//!
//! gRPC is known by its content type, JSON-RPC and documents by their paths; the rest is HTTP+JSON. Whoever is served
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
    /// What is read here without a version, by its path.
    pub(crate) documents: Vec<(&'static str, Document)>,
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
        paths: parts.documents.iter().map(|(path, _)| *path).collect(),
        // Everybody may read them: the card says how to show who one is.
        documents: front(
            Documents(parts.documents.into()),
            RestFace,
            Arc::new(Anonymous(actor)),
            edge,
        ),
    };
    (Port(Arc::new(inner)), health)
}

struct Port<R>(Arc<Inner<R>>);

struct Inner<R> {
    grpc: Option<Front<gateway_grpc::Server, GrpcFace>>,
    jsonrpc: Option<Front<Rpc, RpcFace>>,
    rest: Option<Front<R, RestFace>>,
    documents: Front<Documents, RestFace>,
    paths: Vec<&'static str>,
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
            _ if inner.paths.contains(&path) => inner.documents.clone().call(request),
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

/// Documents by their paths, as a service.
#[derive(Clone)]
struct Documents(Arc<[(&'static str, Document)]>);

impl Service<Request<Body>> for Documents {
    type Response = Response;
    type Error = Infallible;
    type Future = Ready<Result<Response, Infallible>>;

    fn poll_ready(&mut self, _cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let path = request.uri().path();
        let found = self.0.iter().find(|(served, _)| *served == path);
        ready(Ok(match found {
            Some((_, document)) => document.answer(request.method(), request.headers()),
            None => nothing_here(request),
        }))
    }
}
