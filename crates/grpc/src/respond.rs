//! Replies as gRPC responses: one message or a stream of them, then the status.

use std::{
    convert::Infallible,
    pin::Pin,
    task::{Context, Poll, ready},
};

use bytes::{BufMut, Bytes, BytesMut};
use futures::{Stream, StreamExt, future, stream};
use gateway_domain::{Error, ErrorKind, Reply, SharedEvent, StreamResponse, reply};
use gateway_edge::{Response, negotiate};
use gateway_wire::{encode, errors::Edition, notation};
use http::{HeaderMap, HeaderValue, header::CONTENT_TYPE};
use http_body::Frame;
use prost::Message;
use tonic::{Status, metadata::GRPC_CONTENT_TYPE, service::AxumBody as Body};

use crate::{
    envelope::{EXTENSIONS, PREFIX},
    status::to_status,
};

/// Renders a reply.
///
/// # Errors
/// ResourceExhausted where the message is larger than may be sent.
pub(crate) fn reply(reply: Reply, most: usize, edition: Edition) -> Result<Response, Error> {
    let body = match reply.body {
        reply::Body::Stream(events) => events_body(events, edition),
        body => {
            let only = stream::once(future::ready(Ok(message(&body, most)?)));
            Body::new(Messages::new(only, edition))
        }
    };
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, GRPC_CONTENT_TYPE);
    if let Some(activated) = negotiate::list_value(&reply.activated) {
        headers.insert(EXTENSIONS, activated);
    }
    Ok(response)
}

/// Refuses compression, with what is taken instead.
pub(crate) fn compressed(encoding: &str) -> Response {
    let text = format!("messages compressed by {encoding} are not taken; send them as they are");
    let mut response: Response = Status::unimplemented(text).into_http();
    response
        .headers_mut()
        .insert("grpc-accept-encoding", HeaderValue::from_static("identity"));
    response
}

fn events_body(events: reply::EventStream, edition: Edition) -> Body {
    let messages = events.map(|item| item.map(|item| event(&item.event)));
    Body::new(Messages::new(messages, edition))
}

/// An event in its frame. It is encoded by the first of its readers.
fn event(event: &SharedEvent) -> Bytes {
    let encode = |event: &StreamResponse| encode::stream_response(event).encode_to_vec().into();
    let encoded = event.encoded(notation::PROTOBUF, encode);
    let mut framed = frame(encoded.len());
    framed.put_slice(&encoded);
    framed.freeze()
}

fn message(body: &reply::Body, most: usize) -> Result<Bytes, Error> {
    match body {
        reply::Body::Sent(sent) => framed(&encode::sent(sent), most),
        reply::Body::Task(task) => framed(&encode::task(task), most),
        reply::Body::Tasks(page) => framed(&encode::tasks(page), most),
        reply::Body::Config(config) => framed(&encode::config(config), most),
        reply::Body::Configs(page) => framed(&encode::configs(page), most),
        reply::Body::Deleted => framed(&(), most),
        reply::Body::Card(card) => framed(&encode::agent_card(card), most),
        reply::Body::AllTasks(page) => framed(&encode::all_tasks(page), most),
        reply::Body::AllConfigs(page) => framed(&encode::all_configs(page), most),
        reply::Body::Stream(_) => Err(Error::internal("a stream was answered in place of a message")),
    }
}

fn framed(message: &impl Message, most: usize) -> Result<Bytes, Error> {
    let length = message.encoded_len();
    if length > most {
        let text = format!(
            "the answer takes {length} bytes, more than the {most} that are sent at a time; \
             ask for a smaller page, for less of the history, or without artifacts"
        );
        return Err(Error::new(ErrorKind::ResourceExhausted, text));
    }
    let mut framed = frame(length);
    message
        .encode(&mut framed)
        .map_err(|cause| Error::internal(format_args!("encoding a reply: {cause}")))?;
    Ok(framed.freeze())
}

/// The prefix of a message of that length, with room for the message.
fn frame(length: usize) -> BytesMut {
    let mut frame = BytesMut::with_capacity(PREFIX + length);
    frame.put_u8(0);
    // No message is longer: a task is bounded far below, and so is a reply.
    frame.put_u32(u32::try_from(length).unwrap_or(u32::MAX));
    frame
}

/// Messages in their frames, then the status in the trailers.
struct Messages<S> {
    messages: S,
    edition: Edition,
    ended: bool,
}

impl<S> Messages<S> {
    fn new(messages: S, edition: Edition) -> Self {
        Self {
            messages,
            edition,
            ended: false,
        }
    }
}

impl<S: Stream<Item = Result<Bytes, Error>> + Unpin> http_body::Body for Messages<S> {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if self.ended {
            return Poll::Ready(None);
        }
        let status = match ready!(self.messages.poll_next_unpin(cx)) {
            Some(Ok(message)) => return Poll::Ready(Some(Ok(Frame::data(message)))),
            Some(Err(error)) => to_status(&error, self.edition),
            None => Status::ok(""),
        };
        self.ended = true;
        Poll::Ready(Some(Ok(Frame::trailers(trailers(&status)))))
    }

    fn is_end_stream(&self) -> bool {
        self.ended
    }
}

fn trailers(status: &Status) -> HeaderMap {
    let mut trailers = HeaderMap::new();
    status
        .add_header(&mut trailers)
        .expect("a status escapes what a header does not take");
    trailers
}
