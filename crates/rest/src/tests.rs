//! The binding before a gateway that the tests hold: what it is asked, and what becomes of what it says.

mod properties;
mod replies;
mod requests;
mod v0_3;

use std::sync::{Arc, Mutex};

use axum::body::Body;
use gateway_domain::{Error, Outcome, Principal, Reply, Version, principal::Actor, reply};
use gateway_edge::{RequestContext, Response, Settings};
use gateway_pipeline::{Call, Gateway, Head};
use gateway_wire::errors::Edition;
use http::{Request, StatusCode, request::Builder};
use serde_json::Value;
use tower::{ServiceExt, util::BoxCloneSyncService};

/// A call that reached the gateway.
struct Seen {
    head: Head,
    request: gateway_domain::Request,
}

/// A gateway that serves every version, notes what it is asked and answers as it was told to.
#[derive(Clone)]
struct Fake {
    seen: Arc<Mutex<Vec<Seen>>>,
    actor: Actor,
    edition: Edition,
    answer: Arc<dyn Fn() -> Result<Reply, Error> + Send + Sync>,
}

impl Fake {
    fn answering(answer: impl Fn() -> Result<reply::Body, Error> + Send + Sync + 'static) -> Self {
        Self {
            seen: Arc::default(),
            actor: Actor::Client,
            edition: Edition::default(),
            answer: Arc::new(move || answer().map(replied)),
        }
    }

    fn deleting() -> Self {
        Self::answering(|| Ok(reply::Body::Deleted))
    }

    fn for_actor(self, actor: Actor) -> Self {
        Self { actor, ..self }
    }

    fn of_edition(self, edition: Edition) -> Self {
        Self { edition, ..self }
    }

    fn gateway(&self) -> Gateway {
        let fake = self.clone();
        BoxCloneSyncService::new(tower::service_fn(move |call: Call| {
            let fake = fake.clone();
            async move {
                let head = call.head;
                let request = call.payload.decode(head.names.unwrap_or(Version::V1_0))?;
                fake.seen.lock().unwrap().push(Seen { head, request });
                (fake.answer)()
            }
        }))
    }

    async fn send(&self, mut request: Request<Body>) -> Response {
        request.extensions_mut().insert(RequestContext {
            request_id: "r-1".into(),
            principal: Arc::new(Principal::anonymous(self.actor)),
        });
        let service = crate::service(
            self.gateway(),
            self.actor,
            Arc::new(Settings::default()),
            self.edition,
        );
        service.oneshot(request).await.unwrap()
    }

    /// Sends a request that is served, and tells what reached the gateway.
    async fn reach(&self, request: Request<Body>) -> Seen {
        let response = self.send(request).await;
        assert_eq!(response.status(), StatusCode::OK, "{}", text(response).await);
        self.seen.lock().unwrap().pop().unwrap()
    }

    /// Sends a request that is refused before it reaches the gateway, and tells the error.
    async fn refusal(&self, request: Request<Body>) -> Refusal {
        let response = self.send(request).await;
        assert!(self.seen.lock().unwrap().is_empty(), "it reached the gateway");
        Refusal::read(response).await
    }
}

/// An error that was answered.
struct Refusal {
    status: u16,
    headers: http::HeaderMap,
    error: Value,
}

impl Refusal {
    async fn read(response: Response) -> Self {
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let mut body: Value = serde_json::from_str(&text(response).await).unwrap();
        assert_eq!(body["error"]["code"], status, "{body}");
        Self {
            status,
            headers,
            error: body["error"].take(),
        }
    }

    /// The fields at fault.
    fn fields(&self) -> Vec<&str> {
        let details = self.error["details"].as_array().unwrap();
        let violations = details
            .iter()
            .filter_map(|detail| detail["fieldViolations"].as_array());
        violations
            .flatten()
            .map(|violation| violation["field"].as_str().unwrap())
            .collect()
    }

    fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }
}

fn replied(body: reply::Body) -> Reply {
    Reply {
        body,
        outcome: Outcome::Found,
        activated: Vec::new(),
    }
}

fn request(verb: &str, target: &str) -> Builder {
    Request::builder().method(verb).uri(target)
}

fn without_body(verb: &str, target: &str) -> Request<Body> {
    request(verb, target).body(Body::empty()).unwrap()
}

fn post(target: &str, json: &str) -> Request<Body> {
    request("POST", target)
        .header("content-type", "application/a2a+json")
        .body(Body::from(json.to_owned()))
        .unwrap()
}

async fn text(response: Response) -> String {
    let bytes = axum::body::to_bytes(response.into_body(), usize::MAX)
        .await
        .unwrap();
    String::from_utf8(bytes.into()).unwrap()
}
