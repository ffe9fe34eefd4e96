//! The front before a binding that the test controls.

use std::{
    convert::Infallible,
    sync::{Arc, Mutex},
};

use axum::body::Body;
use gateway_domain::{
    Actor, Error, ErrorKind, Principal, Subject,
    error::metadata,
    principal::{Anonymous, Authenticator},
};
use http::{Request, StatusCode, header, request::Parts};
use http_body_util::BodyExt;
use tower::ServiceExt;

use super::{Face, RequestContext, front};
use crate::{Response, Settings};

/// Writes what it is told.
#[derive(Clone)]
struct Plain;

impl Face for Plain {
    fn refuse(&self, parts: &Parts, error: &Error) -> Response {
        let id = error
            .facts()
            .get(metadata::REQUEST_ID)
            .map_or("-", String::as_str);
        let text = format!("{} {} {id}", parts.uri.path(), error.kind().name());
        let mut response = Response::new(Body::from(text));
        *response.status_mut() = StatusCode::IM_A_TEAPOT;
        response
    }
}

/// Takes one credential.
struct Key;

impl Authenticator for Key {
    fn authenticate(&self, authorization: Option<&[u8]>) -> Result<Principal, Error> {
        match authorization {
            Some(b"Bearer key") => Ok(Principal::named(Actor::Client, Subject::new("somebody"))),
            _ => Err(Error::new(ErrorKind::Unauthenticated, "send the key")),
        }
    }
}

/// What the binding saw of a request.
type Seen = Arc<Mutex<Vec<Parts>>>;

async fn send(authenticator: impl Authenticator + 'static, request: Request<Body>) -> (Response, Vec<Parts>) {
    let seen = Seen::default();
    let binding = {
        let seen = seen.clone();
        tower::service_fn(move |request: Request<Body>| {
            let path = request.uri().path().to_owned();
            assert!(path != "/panic/at/once", "a panic before the answer's future");
            seen.lock().unwrap().push(request.into_parts().0);
            async move {
                assert!(path != "/panic", "a panic with a {}", "text");
                Ok::<_, Infallible>(Response::new(Body::from("served")))
            }
        })
    };
    let settings = Arc::new(Settings {
        header_bytes: 1_000,
        ..Settings::default()
    });
    let front = front(binding, Plain, Arc::new(authenticator), settings);
    let response = front.oneshot(request).await.unwrap();
    let seen = std::mem::take(&mut *seen.lock().unwrap());
    (response, seen)
}

async fn text(response: Response) -> String {
    let body = response.into_body().collect().await.unwrap().to_bytes();
    String::from_utf8(body.to_vec()).unwrap()
}

fn request(path: &str, headers: &[(&str, &str)]) -> Request<Body> {
    let mut request = Request::get(path);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    request.body(Body::empty()).unwrap()
}

#[tokio::test]
async fn a_request_that_passes_carries_its_id_and_its_sender_and_no_credentials() {
    let headers = [
        ("authorization", "Bearer key"),
        ("x-request-id", "abc"),
        ("accept", "x/y"),
    ];
    let (response, seen) = send(Key, request("/", &headers)).await;
    assert_eq!(response.headers()["x-request-id"], "abc");
    assert_eq!(text(response).await, "served");
    let context = seen[0].extensions.get::<RequestContext>().unwrap();
    assert_eq!(&*context.request_id, "abc");
    assert_eq!(context.principal.subject, Some(Subject::new("somebody")));
    assert!(!seen[0].headers.contains_key(header::AUTHORIZATION));
    assert_eq!(seen[0].headers[header::ACCEPT], "x/y");
}

#[tokio::test]
async fn a_request_without_an_id_is_given_one() {
    let (response, seen) = send(Anonymous(Actor::Client), request("/", &[])).await;
    let id = response.headers()["x-request-id"].to_str().unwrap();
    assert!(!id.is_empty());
    assert_eq!(
        &*seen[0].extensions.get::<RequestContext>().unwrap().request_id,
        id
    );
}

#[tokio::test]
async fn credentials_that_will_not_do_stop_a_request_in_the_bindings_own_form() {
    for headers in [&[][..], &[("authorization", "Bearer other")]] {
        let (response, seen) = send(Key, request("/x", headers)).await;
        assert_eq!(response.status(), StatusCode::IM_A_TEAPOT);
        assert!(response.headers().contains_key("x-request-id"));
        assert_eq!(text(response).await, "/x Unauthenticated -");
        assert!(seen.is_empty());
    }
}

#[tokio::test]
async fn repeated_credentials_are_refused_even_if_one_would_do() {
    let headers = [("authorization", "Bearer key"), ("authorization", "Bearer other")];
    let (response, seen) = send(Key, request("/x", &headers)).await;
    assert_eq!(text(response).await, "/x InvalidRequest -");
    assert!(seen.is_empty());
}

#[tokio::test]
async fn a_head_of_the_bound_passes_and_one_of_a_byte_more_does_not() {
    // "/x" and "a: " with a line's end come to seven bytes more.
    for (length, served) in [(993, true), (994, false)] {
        let filler = "f".repeat(length);
        for request in [
            request("/x", &[("a", &filler)]),
            request(&format!("/x?{}", "f".repeat(length + 4)), &[]),
        ] {
            let (response, seen) = send(Anonymous(Actor::Client), request).await;
            let expected = if served { "served" } else { "/x HeadersTooLarge -" };
            assert_eq!(text(response).await, expected);
            assert_eq!(seen.len(), usize::from(served));
        }
    }
}

#[tokio::test]
async fn the_bound_on_the_head_comes_before_credentials() {
    let filler = "f".repeat(1_000);
    let (response, _) = send(Key, request("/x", &[("a", &filler)])).await;
    assert_eq!(text(response).await, "/x HeadersTooLarge -");
}

#[tokio::test]
async fn a_panic_becomes_an_answer_that_names_the_request() {
    for path in ["/panic", "/panic/at/once"] {
        let (response, _) = send(
            Anonymous(Actor::Client),
            request(path, &[("x-request-id", "abc")]),
        )
        .await;
        assert_eq!(response.headers()["x-request-id"], "abc");
        assert_eq!(text(response).await, format!("{path} Internal abc"));
    }
}

#[tokio::test]
async fn a_transfer_coding_that_nobody_undoes_is_refused() {
    for (codings, served) in [
        (&["chunked"][..], true),
        (&["Chunked"], true),
        (&["gzip, chunked"], false),
        (&["chunked, chunked"], false),
        (&["chunked", "chunked"], false),
    ] {
        let headers: Vec<_> = codings
            .iter()
            .map(|coding| ("transfer-encoding", *coding))
            .collect();
        let (response, seen) = send(Anonymous(Actor::Client), request("/x", &headers)).await;
        let expected = if served {
            "served"
        } else {
            "/x UnsupportedMediaType -"
        };
        assert_eq!(text(response).await, expected, "{codings:?}");
        assert_eq!(seen.len(), usize::from(served));
    }
}
