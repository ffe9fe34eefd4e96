//! The service: from an HTTP request to a call, and from its reply to an HTTP response.

use std::{
    convert::Infallible,
    sync::Arc,
    task::{Context, Poll},
};

use futures::future::BoxFuture;
use gateway_domain::{Actor, Error, ErrorKind, Version};
use gateway_edge::{Response, read_body};
use gateway_pipeline::{Call, Gateway, Payload};
use gateway_wire::{
    errors::Edition,
    operations::{self, Row},
    v0_3,
};
use http::{Request, StatusCode, request::Parts};
use tonic::service::{AxumBody as Body, AxumRouter};
use tower::{Service, ServiceExt};

use crate::{
    Health, envelope,
    form::Form,
    request, respond,
    standard::{self, services_of},
};

/// What a listener's gRPC needs to know.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The bounds on bodies that come in. A message travels with a prefix of 5 bytes, which count as well.
    pub edge: Arc<gateway_edge::Settings>,
    /// Bytes of a reply's message: 64 MiB. Has to be above what is stored of a task, which grows by less than half
    /// on its way into protobuf; a page of tasks may come to more, and is then ResourceExhausted.
    pub reply_bytes: usize,
    /// The release of the specification whose statuses are told.
    pub edition: Edition,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            edge: Arc::default(),
            reply_bytes: 64 << 20,
            edition: Edition::default(),
        }
    }
}

/// Makes the binding for a listener of one kind of caller, and the handle to its health.
///
/// It belongs behind [`gateway_edge::front`] with a [`GrpcFace`](crate::GrpcFace).
pub async fn service(gateway: Gateway, actor: Actor, settings: Settings) -> (Server, Health) {
    let (standard, health) = standard::services(actor).await;
    let inner = Inner {
        gateway,
        actor,
        settings,
        standard,
    };
    (Server(Arc::new(inner)), health)
}

/// The binding as a tower service. Clones share everything.
#[derive(Clone)]
pub struct Server(Arc<Inner>);

struct Inner {
    gateway: Gateway,
    actor: Actor,
    settings: Settings,
    standard: AxumRouter,
}

impl Service<Request<Body>> for Server {
    type Response = Response;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Response, Infallible>>;

    fn poll_ready(&mut self, _cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        if let Err(status) = envelope::check(&request) {
            return Box::pin(std::future::ready(Ok(not_grpc(status))));
        }
        if envelope::is_standard(request.uri().path()) {
            return Box::pin(self.0.standard.clone().oneshot(request));
        }
        let inner = self.0.clone();
        Box::pin(async move {
            let (parts, body) = request.into_parts();
            let row = operations::by_grpc(inner.actor, parts.uri.path());
            let form = Form::of(row, inner.settings.edition);
            let answer = inner.answer(&parts, body, row, form).await;
            Ok(answer.unwrap_or_else(|error| form.status(&error).into_http()))
        })
    }
}

impl Inner {
    async fn answer(
        &self,
        parts: &Parts,
        body: Body,
        row: Option<&'static Row>,
        form: Form,
    ) -> Result<Response, Error> {
        if let Some(encoding) = envelope::compression(&parts.headers) {
            return Ok(respond::compressed(&encoding));
        }
        let head = envelope::head(parts, row)?;
        let payload = match row {
            Some(row) => self.payload(row, parts, body).await,
            None => self.unknown(parts.uri.path()),
        };
        let reply = self.gateway.clone().oneshot(Call { head, payload }).await?;
        respond::reply(reply, self.settings.reply_bytes, form)
    }

    /// The message. That there is none, or too much of it, is told like any fault of it: after the version.
    async fn payload(&self, row: &Row, parts: &Parts, body: Body) -> Box<dyn Payload> {
        let body = read_body(&self.settings.edge, &parts.headers, body).await;
        let operation = row.operation;
        Box::new(move |version: Version| {
            let body = body?;
            let message = envelope::message(&body)?;
            match version {
                Version::V1_0 => request::read(operation, message),
                Version::V0_3 => v0_3::decode::request(operation, message),
            }
        })
    }

    fn unknown(&self, path: &str) -> Box<dyn Payload> {
        let services = services_of(self.actor).join(" and ");
        let text = format!("there is no method {path} here; this listener serves those of {services}");
        let error = Error::new(ErrorKind::MethodNotFound, text);
        Box::new(move |_: Version| Err(error))
    }
}

/// What is no gRPC at all is told in HTTP: its sender does not look for a gRPC status.
fn not_grpc(status: StatusCode) -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = status;
    response
}
