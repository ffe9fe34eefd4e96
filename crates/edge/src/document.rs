//! Documents that change seldom: answered whole, or with 304 to a client that has them already.
//!
//! An answer depends on the document, the verb and the validators sent, and on nothing else: not on Host, not on
//! forwarded headers.

use std::{
    fmt::Write,
    time::{Duration, SystemTime},
};

use axum::body::Body;
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use sha2::{Digest, Sha256};

use crate::{Response, negotiate};

/// A document with its validators.
#[derive(Debug, Clone)]
pub struct Document {
    bytes: Bytes,
    media_type: HeaderValue,
    tag: HeaderValue,
    modified: SystemTime,
    last_modified: HeaderValue,
    cache_control: HeaderValue,
}

impl Document {
    /// A document, last changed at a time, that caches may keep so long without asking again. Its tag is made of its
    /// bytes alone, so that it is the same on all replicas.
    pub fn new(
        bytes: impl Into<Bytes>,
        media_type: &'static str,
        modified: SystemTime,
        max_age: Duration,
    ) -> Self {
        let bytes = bytes.into();
        Self {
            tag: text(&tag(&bytes)),
            media_type: HeaderValue::from_static(media_type),
            modified,
            last_modified: text(&httpdate::fmt_http_date(modified)),
            cache_control: text(&format!("public, max-age={}", max_age.as_secs())),
            bytes,
        }
    }

    /// Answers GET and HEAD; any other verb with 405 and an empty body.
    pub fn answer(&self, method: &Method, headers: &HeaderMap) -> Response {
        let mut response = Response::default();
        if !matches!(*method, Method::GET | Method::HEAD) {
            *response.status_mut() = StatusCode::METHOD_NOT_ALLOWED;
            let allowed = HeaderValue::from_static("GET, HEAD");
            response.headers_mut().insert(header::ALLOW, allowed);
            return response;
        }
        let out = response.headers_mut();
        out.insert(header::ETAG, self.tag.clone());
        out.insert(header::LAST_MODIFIED, self.last_modified.clone());
        out.insert(header::CACHE_CONTROL, self.cache_control.clone());
        if self.is_held_by(headers) {
            *response.status_mut() = StatusCode::NOT_MODIFIED;
            return response;
        }
        out.insert(header::CONTENT_TYPE, self.media_type.clone());
        out.insert(header::CONTENT_LENGTH, self.bytes.len().into());
        if method == Method::GET {
            *response.body_mut() = Body::from(self.bytes.clone());
        }
        response
    }

    /// Whether the validators say that the client has these bytes. Tags decide where any are sent (RFC 9110 §13.2.2).
    fn is_held_by(&self, headers: &HeaderMap) -> bool {
        if headers.contains_key(header::IF_NONE_MATCH) {
            // The tag holds no comma, so that a list can be cut at them.
            return negotiate::list(headers, &header::IF_NONE_MATCH)
                .any(|sent| sent == "*" || sent.strip_prefix("W/").unwrap_or(sent) == self.tag);
        }
        headers
            .get(header::IF_MODIFIED_SINCE)
            .and_then(|since| httpdate::parse_http_date(since.to_str().ok()?).ok())
            .is_some_and(|since| seconds(self.modified) <= seconds(since))
    }
}

/// A strong tag: the first half of the digest, quoted.
fn tag(bytes: &[u8]) -> String {
    let mut tag = String::from("\"");
    for byte in &Sha256::digest(bytes)[..16] {
        // Writing into a string cannot fail.
        let _ = write!(tag, "{byte:02x}");
    }
    tag.push('"');
    tag
}

/// A date in a header has no fractions.
fn seconds(time: SystemTime) -> u64 {
    time.duration_since(SystemTime::UNIX_EPOCH)
        .map_or(0, |since| since.as_secs())
}

fn text(text: &str) -> HeaderValue {
    HeaderValue::from_str(text).expect("hexadecimal digits, dates and numbers are visible ASCII")
}

#[cfg(test)]
mod tests;
