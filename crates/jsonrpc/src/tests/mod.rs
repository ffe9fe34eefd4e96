//! The binding over a gateway that the test controls: what reaches it, and what its replies look like.

mod any;
mod calls;
mod refusals;
mod streams;
mod v0_3;

use std::sync::{Arc, Mutex, PoisonError};

use axum::body::Body;
use futures::future::ready;
use gateway_domain::{
    Actor, ContextId, Error, Operation, Outcome, Principal, Reply, Request as DomainRequest, TaskId,
    TaskSnapshot, TaskState, TaskStatus, Tenant, Timestamp, Version, reply,
};
use gateway_edge::RequestContext;
use gateway_pipeline::{Call, Gateway, RequestedVersion};
use http::{HeaderMap, Request, StatusCode};
use http_body_util::BodyExt;
use serde::Deserialize;
use serde_json::{Value, value::RawValue};
use tower::{ServiceExt, service_fn, util::BoxCloneSyncService};

use crate::{Rpc, service};

type Script = dyn Fn(&Result<DomainRequest, Error>) -> Result<Reply, Error> + Send + Sync;

/// A gateway that notes what it is asked and answers as the test says.
#[derive(Clone)]
struct Fake {
    seen: Arc<Mutex<Vec<Seen>>>,
    reply: Arc<Script>,
}

/// What reached the gateway.
#[derive(Debug)]
struct Seen {
    operation: Option<Operation>,
    names: Option<Version>,
    version: RequestedVersion,
    extensions: Vec<String>,
    tenant: Option<Tenant>,
    request: Result<DomainRequest, Error>,
}

impl Fake {
    /// Refuses what cannot be read, and answers everything else in this way.
    fn answering(body: impl Fn() -> reply::Body + Send + Sync + 'static) -> Self {
        Self::replying(move |request| {
            request.as_ref().map_err(Error::clone)?;
            Ok(found(body()))
        })
    }

    fn replying(
        reply: impl Fn(&Result<DomainRequest, Error>) -> Result<Reply, Error> + Send + Sync + 'static,
    ) -> Self {
        Self {
            seen: Arc::default(),
            reply: Arc::new(reply),
        }
    }

    fn gateway(&self) -> Gateway {
        let fake = self.clone();
        BoxCloneSyncService::new(service_fn(move |call: Call| ready(fake.call(call))))
    }

    fn call(&self, Call { head, payload }: Call) -> Result<Reply, Error> {
        let seen = Seen {
            operation: head.operation,
            names: head.names,
            version: head.version,
            extensions: head.extensions.to_vec(),
            tenant: head.tenant,
            // The version rule lets only the version pass whose names were used.
            request: payload.decode(head.names.unwrap_or_default()),
        };
        let reply = (self.reply)(&seen.request);
        self.seen
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(seen);
        reply
    }

    fn seen(&self) -> Vec<Seen> {
        std::mem::take(&mut *self.seen.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn rpc(&self, actor: Actor) -> Rpc {
        service(self.gateway(), actor, Arc::default())
    }

    /// Posts a body to `/rpc` as a client.
    async fn post(&self, body: impl Into<Vec<u8>>) -> Answered {
        self.send(post("/rpc", body)).await
    }

    async fn send(&self, request: Request<Body>) -> Answered {
        send(self.rpc(Actor::Client), Actor::Client, request).await
    }
}

fn post(target: &str, body: impl Into<Vec<u8>>) -> Request<Body> {
    Request::post(target).body(Body::from(body.into())).unwrap()
}

fn found(body: reply::Body) -> Reply {
    Reply {
        body,
        outcome: Outcome::Found,
        activated: Vec::new(),
    }
}

fn task() -> TaskSnapshot {
    TaskSnapshot {
        id: TaskId::new("t-1"),
        context_id: ContextId::new("c-1"),
        status: TaskStatus {
            state: TaskState::Working,
            message: None,
            timestamp: Timestamp::from_millis(0).unwrap(),
        },
        artifacts: Vec::new(),
        history: Vec::new(),
        metadata: None,
    }
}

/// What came back.
#[derive(Debug)]
struct Answered {
    status: StatusCode,
    headers: HeaderMap,
    body: String,
}

async fn send(rpc: Rpc, actor: Actor, mut request: Request<Body>) -> Answered {
    request.extensions_mut().insert(RequestContext {
        request_id: "r-1".into(),
        principal: Arc::new(Principal::anonymous(actor)),
    });
    let response = rpc.oneshot(request).await.unwrap();
    let (parts, body) = response.into_parts();
    let body = body.collect().await.unwrap().to_bytes();
    Answered {
        status: parts.status,
        headers: parts.headers,
        body: String::from_utf8(body.to_vec()).unwrap(),
    }
}

impl Answered {
    fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    /// The one response object.
    fn object(&self) -> Object {
        assert_eq!(self.header("content-type"), Some("application/json"), "{self:?}");
        Object::read(&self.body)
    }

    /// The response objects of a stream, with the ids of their events.
    fn events(&self) -> Vec<(Option<&str>, Object)> {
        assert_eq!(self.header("content-type"), Some("text/event-stream"), "{self:?}");
        let events = self.body.split_terminator("\n\n").map(|event| {
            let line = |name: &str| event.lines().find_map(|line| line.strip_prefix(name));
            assert_eq!(event.lines().filter(|line| line.starts_with("data:")).count(), 1);
            (line("id: "), Object::read(line("data: ").unwrap()))
        });
        events.collect()
    }
}

/// A response object.
#[derive(Debug, Clone, PartialEq)]
struct Object {
    /// As it was written.
    id: String,
    outcome: Result<Value, Value>,
}

impl Object {
    /// Reads a response object and makes sure that it is one.
    fn read(text: &str) -> Self {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Members {
            jsonrpc: String,
            id: Box<RawValue>,
            result: Option<Value>,
            error: Option<Value>,
        }
        let members: Members = serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"));
        assert_eq!(members.jsonrpc, "2.0");
        Self {
            id: members.id.get().to_owned(),
            outcome: match (members.result, members.error) {
                (Some(result), None) => Ok(result),
                (None, Some(error)) => {
                    assert!(error["code"].is_i64() && error["message"].is_string(), "{text}");
                    Err(error)
                }
                _ => panic!("neither a result nor an error, or both: {text}"),
            },
        }
    }

    fn code(&self) -> Option<i64> {
        self.outcome
            .as_ref()
            .err()
            .and_then(|error| error["code"].as_i64())
    }

    fn message(&self) -> &str {
        let error = self.outcome.as_ref().unwrap_err();
        error["message"].as_str().unwrap()
    }
}
