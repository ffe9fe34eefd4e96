//! The operators' port: whether the process lives, whether it wants calls, and its metrics.

use std::{
    convert::Infallible,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use axum::body::Body;
use gateway_edge::Response;
use gateway_telemetry::Metrics;
use http::{
    HeaderValue, Method, Request, StatusCode,
    header::{ALLOW, CONTENT_TYPE},
};

use crate::{port::Answers, store::Kept};

/// Whether the gateway wants calls.
pub(crate) struct Readiness {
    wanted: AtomicBool,
    store: Kept,
}

impl Readiness {
    /// Not yet.
    pub(crate) fn of(store: Kept) -> Self {
        Self {
            wanted: AtomicBool::new(false),
            store,
        }
    }

    pub(crate) fn set(&self, ready: bool) {
        self.wanted.store(ready, Ordering::Release);
    }

    /// Why it wants none, if it does not.
    fn refusal(&self) -> Option<&'static str> {
        if !self.wanted.load(Ordering::Acquire) {
            Some("draining\n")
        } else if !self.store.is_ready() {
            Some("the store does not answer\n")
        } else {
            None
        }
    }
}

/// Serves the operators' paths.
pub(crate) fn service(readiness: Arc<Readiness>, metrics: Arc<Metrics>) -> impl Answers {
    tower::service_fn(move |request: Request<Body>| {
        let response = answer(&request, &readiness, &metrics);
        std::future::ready(Ok::<_, Infallible>(response))
    })
}

fn answer(request: &Request<Body>, readiness: &Readiness, metrics: &Metrics) -> Response {
    let (status, text) = match request.uri().path() {
        // That the process answers is all that there is to it: a store that is away does not become better by a
        // restart.
        "/livez" => (StatusCode::OK, "alive\n".to_owned()),
        "/readyz" => match readiness.refusal() {
            None => (StatusCode::OK, "ready\n".to_owned()),
            Some(text) => (StatusCode::SERVICE_UNAVAILABLE, text.to_owned()),
        },
        "/metrics" => metrics.render().map_or_else(
            |fault| (StatusCode::INTERNAL_SERVER_ERROR, fault),
            |text| (StatusCode::OK, text),
        ),
        _ => (
            StatusCode::NOT_FOUND,
            "here are /livez, /readyz and /metrics\n".to_owned(),
        ),
    };
    let is_metrics = request.uri().path() == "/metrics";
    respond(request.method(), status, text, is_metrics)
}

fn respond(method: &Method, status: StatusCode, text: String, is_metrics: bool) -> Response {
    let mut response = Response::default();
    let headers = response.headers_mut();
    if !matches!(*method, Method::GET | Method::HEAD) {
        headers.insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
        *response.status_mut() = StatusCode::METHOD_NOT_ALLOWED;
        return response;
    }
    let media_type = if is_metrics {
        gateway_telemetry::MEDIA_TYPE
    } else {
        "text/plain; charset=utf-8"
    };
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
    *response.status_mut() = status;
    if *method == Method::GET {
        *response.body_mut() = Body::from(text);
    }
    response
}
