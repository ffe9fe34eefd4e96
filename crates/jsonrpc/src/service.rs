//! One request from its arrival to its answer.

use std::{
    convert::Infallible,
    sync::Arc,
    task::{Context, Poll},
};

use axum::body::Body;
use futures::future::BoxFuture;
use gateway_domain::{Actor, Error, ErrorKind, Version};
use gateway_edge::{HeldBytes, Response, Settings, negotiate, read_body};
use gateway_pipeline::{Call, Gateway, Head};
use gateway_wire::params::media_type;
use http::{HeaderMap, Method, Request, request::Parts};
use tower::{Service, ServiceExt};

use crate::{
    envelope::{self, Id, Refusal},
    head,
    methods::{Meaning, Methods},
    params::{Parameters, Wanted},
    path, respond, stream, unary,
};

/// The binding as a service; see [`service`]. Cheap to clone.
#[derive(Clone)]
pub struct Rpc(Arc<Inner>);

struct Inner {
    gateway: Gateway,
    actor: Actor,
    methods: Methods,
    settings: Arc<Settings>,
}

/// Serves the methods of one kind of caller. Stands behind `edge::front` with [`RpcFace`](crate::RpcFace), and gets
/// the requests whose path [`matches`](crate::matches).
pub fn service(gateway: Gateway, actor: Actor, settings: Arc<Settings>) -> Rpc {
    Rpc(Arc::new(Inner {
        methods: Methods::of(actor, &gateway),
        gateway,
        actor,
        settings,
    }))
}

impl Service<Request<Body>> for Rpc {
    type Response = Response;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Response, Infallible>>;

    fn poll_ready(&mut self, _cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let inner = self.0.clone();
        Box::pin(async move {
            let answer = inner.answer(request).await;
            Ok(answer.unwrap_or_else(|refusal| respond::error(&refusal.id, &refusal.error, None)))
        })
    }
}

impl Inner {
    async fn answer(&self, request: Request<Body>) -> Result<Response, Refusal> {
        let (parts, body) = request.into_parts();
        let head = head::read(&parts)?;
        let body = self.read(&parts, body).await?;
        let envelope::Request {
            id,
            lacks_id,
            method,
            params,
        } = envelope::read(&body)?;
        let meaning = self.methods.find(&method);
        let row = meaning.row();
        if lacks_id && row.is_some_and(|row| row.version == Version::V1_0) {
            return Err(envelope::without_id().into());
        }
        // What is wrong with the path or the method is said by the payload: after the version check.
        let (tenant, wanted) = match (path::tenant(parts.uri.path(), self.actor), row) {
            (Ok(tenant), Some(row)) => (tenant, Wanted::Operation(row.operation)),
            (tenant, None) => (tenant.unwrap_or_default(), Wanted::Unknown(self.actor, method)),
            (Err(error), Some(_)) => (None, Wanted::Refused(error)),
        };
        let version = row.map_or(Version::V1_0, |row| row.version);
        let call = Call {
            head: Head {
                operation: row.map(|row| row.operation),
                names: row.map(|row| row.version),
                extensions: head::extensions(&parts, version),
                tenant,
                ..head
            },
            payload: Box::new(Parameters {
                wanted,
                lacks_id,
                body,
                params,
            }),
        };
        Ok(self.carry_out(meaning, id, call).await)
    }

    /// Only what can be read without knowing a method: verb, media type, body.
    async fn read(&self, parts: &Parts, body: Body) -> Result<HeldBytes, Error> {
        if parts.method != Method::POST {
            let text = format!("JSON-RPC is called by POST, not by {}", parts.method);
            return Err(Error::new(ErrorKind::MethodNotAllowed, text));
        }
        check_media_type(&parts.headers)?;
        read_body(&self.settings, &parts.headers, body).await
    }

    async fn carry_out(&self, meaning: Meaning<'_>, id: Id, call: Call) -> Response {
        match meaning {
            Meaning::Unary(row, method) => unary::call(method, &id, call, row).await,
            Meaning::Streaming(row) => {
                let reply = self.gateway.clone().oneshot(call).await;
                stream::answer(id, reply, row, &self.settings)
            }
            Meaning::Unknown => {
                let reply = self.gateway.clone().oneshot(call).await;
                let done = |_| respond::broken("an unknown method was carried out");
                respond::error(&id, &reply.map_or_else(|error| error, done), None)
            }
        }
    }
}

/// A body without a type is taken as JSON: nothing else can be meant here.
fn check_media_type(headers: &HeaderMap) -> Result<(), Error> {
    const TAKEN: [&str; 2] = [media_type::JSON, media_type::A2A_JSON];
    match negotiate::content_type(headers) {
        Some(sent) if !TAKEN.contains(&sent.as_str()) => {
            let text = format!("the body's Content-Type must be {}", TAKEN.join(" or "));
            Err(Error::new(ErrorKind::UnsupportedMediaType, text))
        }
        _ => Ok(()),
    }
}
