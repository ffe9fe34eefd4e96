//! Replies: one JSON document each, or a stream of them (§11.4, §11.7).

use axum::body::Body;
use bytes::Bytes;
use futures::StreamExt;
use gateway_domain::{
    Error, Reply, StreamResponse, Version,
    reply::{self, StreamItem},
};
use gateway_edge::{
    Response, Settings, negotiate,
    sse::{self, Frame},
};
use gateway_wire::{notation, v0_3};
use http::{HeaderValue, header};
use serde::Serialize;
use serde_json::json;

use crate::{form::Form, media::MediaType, refusal};

/// A reply as an answer. Streams are of their own media type.
pub(crate) fn response(reply: Reply, form: Form, settings: &Settings) -> Response {
    let mut response = match reply.body {
        reply::Body::Stream(events) => sse::response(events.map(move |item| frame(item, form)), settings),
        body => document(&body, form),
    };
    if let Some(activated) = negotiate::list_value(&reply.activated) {
        response.headers_mut().insert(form.extensions(), activated);
    }
    response
}

fn document(body: &reply::Body, form: Form) -> Response {
    let json = match form.version {
        Version::V1_0 => canonical(body),
        Version::V0_3 => v0_3::json::reply(body),
    };
    let Some(json) = json else {
        let error = Error::internal("this version has no document for this answer");
        return refusal::response(&error, form);
    };
    let response = json_response(Body::from(json), form.media_type());
    match body {
        reply::Body::Card(_) => private(response),
        _ => response,
    }
}

/// The document of version 1.0; nothing for a stream.
fn canonical(body: &reply::Body) -> Option<Bytes> {
    Some(match body {
        reply::Body::Sent(sent) => json(sent),
        reply::Body::Task(task) => json(task),
        reply::Body::Tasks(page) => json(page),
        reply::Body::Config(config) => json(config),
        reply::Body::Configs(page) => json(page),
        reply::Body::Deleted => json(&json!({})),
        reply::Body::Card(card) => json(card),
        reply::Body::AllTasks(page) => json(page),
        reply::Body::AllConfigs(page) => json(page),
        reply::Body::Stream(_) => return None,
    })
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
fn frame(item: Result<StreamItem, Error>, form: Form) -> Frame {
    match item {
        Ok(StreamItem { cursor, event }) => Frame {
            id: cursor,
            data: match form.version {
                Version::V1_0 => event.encoded(notation::JSON, |event: &StreamResponse| json(event)),
                Version::V0_3 => event.encoded(notation::JSON_0_3, v0_3::json::event),
            },
        },
        Err(error) => Frame {
            id: None,
            data: refusal::body(&error, form),
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
