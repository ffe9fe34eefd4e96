//! The operators' port: whether the process lives, whether it wants calls, its metrics, and the end of tasks at their
//! word. Whoever reaches it may do all of that.

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

use crate::{port::Answers, purge, store::Kept};

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
pub(crate) fn service(
    readiness: Arc<Readiness>,
    metrics: Arc<Metrics>,
    tasks: gateway_domain::Service,
) -> impl Answers {
    tower::service_fn(move |request: Request<Body>| {
        let (readiness, metrics, tasks) = (readiness.clone(), metrics.clone(), tasks.clone());
        async move {
            // By a verb that no page in a browser can send here unasked.
            let response = match purge::of(request.uri()) {
                Some(what) if request.method() == Method::DELETE => purge::answer(&tasks, &what).await,
                Some(_) => refuse_method("DELETE"),
                None => answer(&request, &readiness, &metrics),
            };
            Ok::<_, Infallible>(response)
        }
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
            format!("here are /livez, /readyz and /metrics, and {}\n", purge::PATHS),
        ),
    };
    let is_metrics = request.uri().path() == "/metrics";
    respond(request.method(), status, text, is_metrics)
}

fn respond(method: &Method, status: StatusCode, text: String, is_metrics: bool) -> Response {
    if !matches!(*method, Method::GET | Method::HEAD) {
        return refuse_method("GET, HEAD");
    }
    let mut response = Response::default();
    let headers = response.headers_mut();
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

fn refuse_method(allowed: &'static str) -> Response {
    let mut response = Response::default();
    response
        .headers_mut()
        .insert(ALLOW, HeaderValue::from_static(allowed));
    *response.status_mut() = StatusCode::METHOD_NOT_ALLOWED;
    response
}
