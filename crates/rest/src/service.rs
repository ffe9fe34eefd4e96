//! The way of one request: find the operation, read the body, call the gateway, render.

use std::{convert::Infallible, sync::Arc};

use axum::body::{Body, HttpBody};
use gateway_domain::{Error, ErrorKind, Version, principal::Actor};
use gateway_edge::{HeldBytes, RequestContext, Response, Settings, read_body};
use gateway_pipeline::{Call, Gateway, Head, Payload};
use gateway_wire::{errors::Edition, operations::Verb};
use http::{HeaderMap, Request, request::Parts};
use tower::{Service, ServiceExt};

use crate::{
    body,
    fields::{self, Fields},
    head,
    media::{self, MediaType},
    refusal, reply,
    routes::{Match, Routes, Target},
};

/// Serves the operations of one kind of caller. Stands behind [`gateway_edge::front`], which says who calls.
///
/// An answer is 200 with canonical JSON, a stream of events, or an error in the form of §11.6. An empty body reads
/// as `{}`; a body without a Content-Type reads as JSON.
pub fn service(
    gateway: Gateway,
    actor: Actor,
    settings: Arc<Settings>,
    edition: Edition,
) -> impl Service<Request<Body>, Response = Response, Error = Infallible, Future: Send + 'static>
+ Clone
+ Send
+ Sync
+ 'static {
    let rest = Arc::new(Rest {
        gateway,
        routes: Routes::of(actor),
        settings,
        edition,
    });
    tower::service_fn(move |request| rest.clone().serve(request))
}

struct Rest {
    gateway: Gateway,
    routes: Routes,
    settings: Arc<Settings>,
    edition: Edition,
}

impl Rest {
    async fn serve(self: Arc<Self>, request: Request<Body>) -> Result<Response, Infallible> {
        let (parts, body) = request.into_parts();
        let media_type = media::of_reply(&parts.headers);
        let target = self.routes.find(parts.method.as_str(), parts.uri.path());
        let answer = self.answer(&parts, body, &target, media_type).await;
        Ok(answer.unwrap_or_else(|error| {
            let response = refusal::response(&error, media_type, self.edition);
            match (error.kind(), &target) {
                (ErrorKind::MethodNotAllowed, Target::OtherVerbs(verbs)) => {
                    refusal::allowing(response, verbs)
                }
                _ => response,
            }
        }))
    }

    async fn answer(
        &self,
        parts: &Parts,
        body: Body,
        target: &Target<'_>,
        media_type: MediaType,
    ) -> Result<Response, Error> {
        let context = parts
            .extensions
            .get::<RequestContext>()
            .ok_or_else(|| Error::internal("the binding does not stand behind the edge's front"))?;
        let head = head::head(parts, context);
        let call = match target {
            Target::Operation(found) => self.call(head, parts, body, found).await,
            // These travel as calls too: the version is judged before the path is.
            Target::OtherVerbs(verbs) => refused(head, refusal::method_not_allowed(parts, verbs)),
            Target::Nowhere => refused(head, refusal::not_found(parts)),
        };
        let reply = self.gateway.clone().oneshot(call).await?;
        Ok(reply::response(reply, media_type, self.edition, &self.settings))
    }

    async fn call(&self, mut head: Head, parts: &Parts, body: Body, found: &Match<'_>) -> Call {
        head.operation = Some(found.operation);
        match self.payload(&mut head, parts, body, found).await {
            Ok(payload) => Call { head, payload },
            Err(error) => refused(head, error),
        }
    }

    async fn payload(
        &self,
        head: &mut Head,
        parts: &Parts,
        body: Body,
        found: &Match<'_>,
    ) -> Result<Box<dyn Payload>, Error> {
        head.tenant = found.tenant.map(head::tenant).transpose()?;
        let fields = Fields::of_path(&found.variables)?;
        let operation = found.operation;
        Ok(match found.verb {
            Verb::Get | Verb::Delete => {
                let uri = parts.uri.clone();
                Box::new(move |_: Version| fields::request(operation, &fields.with_query(uri.query())))
            }
            Verb::Post => {
                let held = self.read(&parts.headers, body).await?;
                Box::new(move |_: Version| body::request(operation, &fields, &held))
            }
        })
    }

    /// Reads a body of a type that we know. One of another type is refused unread.
    async fn read(&self, headers: &HeaderMap, body: Body) -> Result<HeldBytes, Error> {
        if !body.is_end_stream() {
            media::check(headers)?;
        }
        read_body(&self.settings, headers, body).await
    }
}

/// A call that is refused as soon as its version is found to be served.
fn refused(head: Head, error: Error) -> Call {
    Call {
        head,
        payload: Box::new(move |_: Version| Err(error)),
    }
}
