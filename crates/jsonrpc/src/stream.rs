//! A method with a stream of answers: each event is a response object with the request's id (§9.4.2, §9.4.6).
//!
//! An error that comes before the first event is an ordinary answer; in 0.3, where methods with a stream of answers have no
//! other, it is the only event. One that comes after the first event is the last one, with its own code. What is not
//! sent any more is the
//! domain's business: a client that leaves ends its stream, not the task.

use std::future::ready;

use bytes::Bytes;
use futures::{Stream, StreamExt, stream};
use gateway_domain::{
    Error, Reply, Version,
    reply::{Body, EventStream, StreamItem},
};
use gateway_edge::{
    Response, Settings,
    sse::{self, Frame},
};
use gateway_wire::{notation, operations::Row, v0_3::kind};
use http::StatusCode;

use crate::{envelope::Id, respond};

/// Answers with the events of a reply, or with the error that came in place of them, to a caller of one of these
/// names.
pub(crate) fn answer(
    id: Id,
    reply: Result<Reply, Error>,
    row: &'static Row,
    settings: &Settings,
) -> Response {
    match reply.and_then(events) {
        Ok((events, activated)) => {
            let mut response = sse::response(frames(id, events, row), settings);
            response
                .headers_mut()
                .extend(respond::extensions(&activated, row.version));
            response
        }
        Err(error) => refusal(&id, &error, row, settings),
    }
}

/// An error in place of the events. What HTTP itself has a status for is told by that, in either version.
fn refusal(id: &Id, error: &Error, row: &'static Row, settings: &Settings) -> Response {
    let answer = respond::error(id, error, Some(row));
    if row.version == Version::V1_0 || answer.status() != StatusCode::OK {
        return answer;
    }
    let only = Frame {
        id: None,
        data: respond::error_json(id, error, Some(row)),
    };
    sse::response(stream::iter([only]), settings)
}

fn events(reply: Reply) -> Result<(EventStream, Vec<String>), Error> {
    match reply.body {
        Body::Stream(events) => Ok((events, reply.activated)),
        _ => Err(respond::broken("one answer where a stream of them belongs")),
    }
}

/// The events as they are sent; nothing follows an error.
fn frames(
    id: Id,
    events: impl Stream<Item = Result<StreamItem, Error>> + Send + 'static,
    row: &'static Row,
) -> impl Stream<Item = Frame> + Send + 'static {
    events
        .scan(false, |over, item| {
            let item = (!*over).then_some(item);
            *over = matches!(item, Some(Err(_)));
            ready(item)
        })
        .map(move |item| frame(&id, item, row))
}

fn frame(id: &Id, item: Result<StreamItem, Error>, row: &'static Row) -> Frame {
    match item {
        Ok(StreamItem { cursor, event }) => {
            let json = match row.version {
                Version::V1_0 => event.encoded(notation::JSON, |event| {
                    Bytes::from(serde_json::to_vec(event).expect("an event has names for keys"))
                }),
                Version::V0_3 => event.encoded(notation::KIND, kind::event),
            };
            Frame {
                id: cursor,
                data: respond::result_json(id, &json),
            }
        }
        Err(error) => Frame {
            id: None,
            data: respond::error_json(id, &error, Some(row)),
        },
    }
}
