//! Server-sent events.

use axum::body::Body;
use bytes::{BufMut, Bytes, BytesMut};
use futures::{Stream, StreamExt};
use gateway_domain::Cursor;

use crate::{Response, Settings};

/// One event.
#[derive(Debug, Clone)]
pub struct Frame {
    /// Where a client resumes after it.
    pub id: Option<Cursor>,
    /// One JSON document.
    pub data: Bytes,
}

/// Answers with a stream of events.
pub fn response<S>(frames: S, _settings: &Settings) -> Response
where
    S: Stream<Item = Frame> + Send + 'static,
{
    let body = frames.map(|frame| {
        let mut bytes = BytesMut::new();
        if let Some(id) = frame.id {
            bytes.put_slice(format!("id: {id}\n").as_bytes());
        }
        bytes.put_slice(b"data: ");
        bytes.put_slice(&frame.data);
        bytes.put_slice(b"\n\n");
        Ok::<_, std::convert::Infallible>(bytes.freeze())
    });
    let mut response = Response::new(Body::from_stream(body));
    let headers = response.headers_mut();
    headers.insert(
        http::header::CONTENT_TYPE,
        http::HeaderValue::from_static("text/event-stream"),
    );
    response
}
