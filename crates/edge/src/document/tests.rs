//! What a document answers to which validators.

use std::time::{Duration, SystemTime};

use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use http_body_util::BodyExt;

use super::Document;
use crate::Response;

/// Half a second after 2026-11-30 12:00:00.
fn modified() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_millis(1_796_040_000_500)
}

fn document(text: &'static str) -> Document {
    Document::new(text, "application/json", modified(), Duration::from_secs(300))
}

fn answer(method: &Method, headers: &[(HeaderName, &str)]) -> Response {
    let mut map = HeaderMap::new();
    for (name, value) in headers {
        map.append(name, HeaderValue::from_str(value).unwrap());
    }
    document("{}").answer(method, &map)
}

fn tag() -> String {
    let response = answer(&Method::GET, &[]);
    response.headers()[header::ETAG].to_str().unwrap().to_owned()
}

async fn body(response: Response) -> Vec<u8> {
    response.into_body().collect().await.unwrap().to_bytes().to_vec()
}

#[tokio::test]
async fn get_answers_with_the_bytes_and_their_validators() {
    let response = answer(&Method::GET, &[]);
    assert_eq!(response.status(), StatusCode::OK);
    let headers = response.headers();
    assert_eq!(headers[header::CONTENT_TYPE], "application/json");
    assert_eq!(headers[header::CACHE_CONTROL], "public, max-age=300");
    assert_eq!(headers[header::LAST_MODIFIED], "Mon, 30 Nov 2026 12:00:00 GMT");
    assert_eq!(headers[header::ETAG].len(), 34);
    assert_eq!(body(response).await, b"{}");
}

#[tokio::test]
async fn head_answers_as_get_does_but_without_a_body() {
    let (head, get) = (answer(&Method::HEAD, &[]), answer(&Method::GET, &[]));
    assert_eq!(head.status(), get.status());
    assert_eq!(head.headers(), get.headers());
    assert_eq!(head.headers()[header::CONTENT_LENGTH], "2");
    assert!(body(head).await.is_empty());
}

#[tokio::test]
async fn the_tag_changes_with_the_bytes_and_with_nothing_else() {
    let with_host = answer(&Method::GET, &[(header::HOST, "evil.example.com")]);
    assert_eq!(with_host.headers()[header::ETAG], tag());
    let other = document("{ }").answer(&Method::GET, &HeaderMap::new());
    assert_ne!(other.headers()[header::ETAG], tag());
}

#[tokio::test]
async fn a_client_that_has_the_bytes_gets_304_without_a_body() {
    let tag = tag();
    let since = "Mon, 30 Nov 2026 12:00:00 GMT";
    for (name, value) in [
        (header::IF_NONE_MATCH, tag.clone()),
        (header::IF_NONE_MATCH, format!("W/{tag}")),
        (header::IF_NONE_MATCH, format!("\"other\", {tag}")),
        (header::IF_NONE_MATCH, "*".to_owned()),
        (header::IF_MODIFIED_SINCE, since.to_owned()),
    ] {
        for method in [Method::GET, Method::HEAD] {
            let response = answer(&method, &[(name.clone(), &value)]);
            assert_eq!(response.status(), StatusCode::NOT_MODIFIED, "{name}: {value}");
            assert_eq!(response.headers()[header::ETAG], *tag);
            assert!(body(response).await.is_empty());
        }
    }
}

#[tokio::test]
async fn a_client_that_has_other_bytes_gets_them_all() {
    let later = "Tue, 01 Dec 2026 12:00:00 GMT";
    for headers in [
        &[(header::IF_NONE_MATCH, "\"other\"")][..],
        &[(header::IF_NONE_MATCH, "")],
        &[(header::IF_MODIFIED_SINCE, "Mon, 30 Nov 2026 11:59:59 GMT")],
        &[(header::IF_MODIFIED_SINCE, "yesterday")],
        // A tag that does not match wins over a date that does.
        &[
            (header::IF_NONE_MATCH, "\"other\""),
            (header::IF_MODIFIED_SINCE, later),
        ],
    ] {
        assert_eq!(
            answer(&Method::GET, headers).status(),
            StatusCode::OK,
            "{headers:?}"
        );
    }
}

#[test]
fn another_verb_is_told_which_ones_there_are() {
    for method in [Method::POST, Method::PUT, Method::DELETE, Method::OPTIONS] {
        let response = answer(&method, &[]);
        assert_eq!(response.status(), StatusCode::METHOD_NOT_ALLOWED);
        assert_eq!(response.headers()[header::ALLOW], "GET, HEAD");
    }
}
