//! The way of one request: find the operation, read the body, call the gateway, render.

use std::{convert::Infallible, sync::Arc};

use axum::body::{Body, HttpBody};
use gateway_domain::{Error, ErrorKind, Version, principal::Actor};
use gateway_edge::{HeldBytes, RequestContext, Response, Settings, read_body};
use gateway_pipeline::{Call, Gateway, Head, Payload};
use gateway_wire::{errors::Edition, operations::Verb, v0_3};
use http::{HeaderMap, Request, request::Parts};
use tower::{Service, ServiceExt};

use crate::{
    body,
    fields::{self, Fields},
    form::Form,
    head, media, refusal, reply,
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
        let target = self.routes.find(parts.method.as_str(), parts.uri.path());
        let form = Form::new(&parts.headers, self.edition);
        let mut form = match &target {
            Target::Operation(found) => form.of(found.version, Some(found.operation)),
            Target::OtherVerbs(version, _) => form.of(*version, None),
            Target::Nowhere => form,
        };
        let answer = self.answer(&parts, body, &target, &mut form).await;
        Ok(answer.unwrap_or_else(|error| {
            let response = refusal::response(&error, form);
            match (error.kind(), &target) {
                (ErrorKind::MethodNotAllowed, Target::OtherVerbs(_, verbs)) => {
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
        form: &mut Form,
    ) -> Result<Response, Error> {
        let context = parts
            .extensions
            .get::<RequestContext>()
            .ok_or_else(|| Error::internal("the binding does not stand behind the edge's front"))?;
        let names = match target {
            Target::Operation(found) => Some(found.version),
            Target::OtherVerbs(version, _) => Some(*version),
            Target::Nowhere => None,
        };
        let head = head::head(parts, context, names);
        let call = match target {
            Target::Operation(found) => self.call(head, parts, body, found).await,
            // These travel as calls too: the version is judged before the path is.
            Target::OtherVerbs(_, verbs) => refused(head, refusal::method_not_allowed(parts, verbs)),
            Target::Nowhere => return self.nowhere(head, parts, form).await,
        };
        let reply = self.gateway.clone().oneshot(call).await?;
        Ok(reply::response(reply, *form, &self.settings))
    }

    /// Refuses a path of no version, in the version that the request asks for.
    async fn nowhere(&self, head: Head, parts: &Parts, form: &mut Form) -> Result<Response, Error> {
        let facts = head.facts.clone();
        let call = refused(head, refusal::not_found(parts));
        let reply = self.gateway.clone().oneshot(call).await;
        *form = form.of(facts.version.get().copied().unwrap_or_default(), None);
        Ok(reply::response(reply?, *form, &self.settings))
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
        if found.version == Version::V0_3 {
            return self.payload_0_3(parts, body, found, fields).await;
        }
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

    async fn payload_0_3(
        &self,
        parts: &Parts,
        body: Body,
        found: &Match<'_>,
        fields: Fields,
    ) -> Result<Box<dyn Payload>, Error> {
        let operation = found.operation;
        let held = match found.verb {
            Verb::Get | Verb::Delete => None,
            Verb::Post => Some(self.read(&parts.headers, body).await?),
        };
        let ids = fields.ids();
        let fields = fields.with_query(parts.uri.query());
        Ok(Box::new(move |_: Version| {
            let body = held.as_deref().unwrap_or_default();
            v0_3::json::request(operation, &ids, |name| fields.scalar(name), body)
        }))
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
