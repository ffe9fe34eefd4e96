//! Replies: one JSON document each, or a stream of them (§11.4, §11.7).

use axum::body::Body;
use bytes::Bytes;
use futures::StreamExt;
use gateway_domain::{
    Error, Reply, StreamResponse,
    reply::{self, StreamItem},
};
use gateway_edge::{
    Response, Settings, negotiate,
    sse::{self, Frame},
};
use gateway_wire::{errors::Edition, notation, params::EXTENSIONS};
use http::{HeaderValue, header};
use serde::Serialize;
use serde_json::json;

use crate::{media::MediaType, refusal};

/// A reply as an answer. Streams are of their own media type.
pub(crate) fn response(
    reply: Reply,
    media_type: MediaType,
    edition: Edition,
    settings: &Settings,
) -> Response {
    let document = |bytes: Bytes| json_response(Body::from(bytes), media_type);
    let mut response = match reply.body {
        reply::Body::Stream(events) => sse::response(events.map(move |item| frame(item, edition)), settings),
        reply::Body::Sent(sent) => document(json(&sent)),
        reply::Body::Task(task) => document(json(&task)),
        reply::Body::Tasks(page) => document(json(&page)),
        reply::Body::Config(config) => document(json(&config)),
        reply::Body::Configs(page) => document(json(&page)),
        reply::Body::Deleted => document(json(&json!({}))),
        reply::Body::Card(card) => private(document(json(&card))),
        reply::Body::AllTasks(page) => document(json(&page)),
        reply::Body::AllConfigs(page) => document(json(&page)),
    };
    if let Some(activated) = negotiate::list_value(&reply.activated) {
        response.headers_mut().insert(EXTENSIONS.header, activated);
    }
    response
}

/// A 200 of a media type.
pub(crate) fn json_response(body: Body, media_type: MediaType) -> Response {
    let mut response = Response::new(body);
    let media_type = HeaderValue::from_static(media_type);
    response.headers_mut().insert(header::CONTENT_TYPE, media_type);
    response
}

/// Canonical JSON.
pub(crate) fn json(value: &impl Serialize) -> Bytes {
    serde_json::to_vec(value)
        .expect("every type that is answered has text keys and writes to memory")
        .into()
}

/// Once an event has gone out there is no status code left: an error is the last event.
fn frame(item: Result<StreamItem, Error>, edition: Edition) -> Frame {
    match item {
        Ok(StreamItem { cursor, event }) => Frame {
            id: cursor,
            data: event.encoded(notation::JSON, |event: &StreamResponse| json(event)),
        },
        Err(error) => Frame {
            id: None,
            data: refusal::body(&error, edition),
        },
    }
}

/// What only this caller may read must not be kept for another (§13.3).
fn private(mut response: Response) -> Response {
    let headers = response.headers_mut();
    headers.insert(
        header::CACHE_CONTROL,
        HeaderValue::from_static("private, no-store"),
    );
    headers.insert(header::VARY, HeaderValue::from_static("Authorization"));
    response
}
