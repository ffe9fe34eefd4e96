//! Replies as gRPC responses: one message or a stream of them, then the status.

use std::{
    convert::Infallible,
    pin::Pin,
    task::{Context, Poll, ready},
};

use bytes::{BufMut, Bytes, BytesMut};
use futures::{Stream, StreamExt, future, stream};
use gateway_domain::{Error, ErrorKind, Reply, SharedEvent, StreamResponse, Version, reply};
use gateway_edge::{Response, negotiate};
use gateway_wire::{encode, notation, v0_3};
use http::{HeaderMap, HeaderValue, header::CONTENT_TYPE};
use http_body::Frame;
use prost::Message;
use tonic::{Status, metadata::GRPC_CONTENT_TYPE, service::AxumBody as Body};

use crate::{
    envelope::{self, PREFIX},
    form::Form,
};

/// Renders a reply.
///
/// # Errors
/// ResourceExhausted where the message is larger than may be sent.
pub(crate) fn reply(reply: Reply, most: usize, form: Form) -> Result<Response, Error> {
    let body = match reply.body {
        reply::Body::Stream(events) => events_body(events, form),
        body => {
            let message = match form.version {
                Version::V1_0 => message(&body, most)?,
                Version::V0_3 => message_0_3(&body, most)?,
            };
            let only = stream::once(future::ready(Ok(message)));
            Body::new(Messages::new(only, form))
        }
    };
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, GRPC_CONTENT_TYPE);
    if let Some(activated) = negotiate::list_value(&reply.activated) {
        headers.insert(envelope::extensions(form.version), activated);
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

fn events_body(events: reply::EventStream, form: Form) -> Body {
    let messages = events.map(move |item| item.map(|item| event(&item.event, form.version)));
    Body::new(Messages::new(messages, form))
}

/// An event in its frame. It is encoded by the first of its readers.
fn event(event: &SharedEvent, version: Version) -> Bytes {
    let encode = |event: &StreamResponse| encode::stream_response(event).encode_to_vec().into();
    let encoded = match version {
        Version::V1_0 => event.encoded(notation::PROTOBUF, encode),
        Version::V0_3 => event.encoded(notation::PROTOBUF_0_3, |event| v0_3::encode::event(event).into()),
    };
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

fn message_0_3(body: &reply::Body, most: usize) -> Result<Bytes, Error> {
    match body {
        reply::Body::Sent(sent) => framed(&v0_3::encode::sent(sent), most),
        reply::Body::Task(task) => framed(&v0_3::encode::task(task), most),
        reply::Body::Config(config) => framed(&v0_3::encode::config(config), most),
        reply::Body::Configs(page) => framed(&v0_3::encode::configs(page), most),
        reply::Body::Deleted => framed(&(), most),
        reply::Body::Card(card) => framed(&v0_3::encode::agent_card(card), most),
        reply::Body::Stream(_)
        | reply::Body::Tasks(_)
        | reply::Body::AllTasks(_)
        | reply::Body::AllConfigs(_) => Err(Error::internal("version 0.3 has no message for this answer")),
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

/// Up to so many bytes a message is sent in pieces.
const IN_PIECES: usize = 2 << 10;

/// The length of a piece. h2 copies what is shorter than 256 bytes behind what else goes out, the trailers too; what is
/// longer it hands to the system as it lies, and all that follows in a call of its own, which costs more than the copies.
const PIECE: usize = 255;

/// Messages in their frames, then the status in the trailers.
struct Messages<S> {
    messages: S,
    /// What is left of a message that goes out in pieces.
    rest: Bytes,
    form: Form,
    ended: bool,
}

impl<S> Messages<S> {
    fn new(messages: S, form: Form) -> Self {
        Self {
            messages,
            rest: Bytes::new(),
            form,
            ended: false,
        }
    }

    /// The next piece of a message.
    fn piece(&mut self) -> Bytes {
        let whole = self.rest.len();
        self.rest.split_to(if whole > IN_PIECES {
            whole
        } else {
            whole.min(PIECE)
        })
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
        if !self.rest.is_empty() {
            return Poll::Ready(Some(Ok(Frame::data(self.piece()))));
        }
        let status = match ready!(self.messages.poll_next_unpin(cx)) {
            Some(Ok(message)) => {
                self.rest = message;
                return Poll::Ready(Some(Ok(Frame::data(self.piece()))));
            }
            Some(Err(error)) => self.form.status(&error),
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
