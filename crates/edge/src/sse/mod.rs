//! Server-sent events: one event a frame, comments while nothing happens.
//!
//! Events that are ready together may travel in one piece; none waits for another. What a reader that is too slow
//! loses, if anything, is decided by whoever makes the frames.

mod write;

use std::{
    convert::Infallible,
    pin::Pin,
    task::{Context, Poll, ready},
    time::Duration,
};

use axum::body::Body;
use bytes::Bytes;
use futures::{Stream, StreamExt, stream::Fuse};
use gateway_domain::Cursor;
use http::{HeaderName, HeaderValue, header};
use pin_project_lite::pin_project;
use tokio::time::{Instant, Sleep};

use crate::{Response, Settings};
use write::Writer;

/// One event.
#[derive(Debug, Clone)]
pub struct Frame {
    /// Where a client resumes after it; sent as `id:`.
    pub id: Option<Cursor>,
    /// One JSON document without raw newlines; sent as one `data:` line. Raw newlines would come back as `\n`.
    pub data: Bytes,
}

/// The media type of an answer with events.
const MEDIA_TYPE: HeaderValue = HeaderValue::from_static("text/event-stream");

/// Proxies must neither keep nor repack the events.
const CACHE_CONTROL: HeaderValue = HeaderValue::from_static("no-cache, no-transform");

/// What nginx reads to pass each event on at once.
const ACCEL_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");

/// Goes out when nothing else did.
const COMMENT: &[u8] = b": ping\n\n";

/// Answers 200 with a stream of events, which ends when the frames do, and with a comment after every
/// `settings.keep_alive` of silence.
pub fn response<S>(frames: S, settings: &Settings) -> Response
where
    S: Stream<Item = Frame> + Send + 'static,
{
    let mut response = Response::new(Body::new(Events::new(frames, settings.keep_alive)));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, MEDIA_TYPE);
    headers.insert(header::CACHE_CONTROL, CACHE_CONTROL);
    headers.insert(ACCEL_BUFFERING, HeaderValue::from_static("no"));
    response
}

pin_project! {
    struct Events<S> {
        #[pin]
        frames: Fuse<S>,
        writer: Writer,
        keep_alive: Duration,
        // When something last went out. The timer is only moved when it fires, not at each event.
        last: Instant,
        #[pin]
        silence: Sleep,
    }
}

impl<S: Stream<Item = Frame>> Events<S> {
    fn new(frames: S, keep_alive: Duration) -> Self {
        Self {
            frames: frames.fuse(),
            writer: Writer::default(),
            keep_alive,
            last: Instant::now(),
            silence: tokio::time::sleep(keep_alive),
        }
    }
}

impl<S: Stream<Item = Frame>> http_body::Body for Events<S> {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<http_body::Frame<Bytes>, Infallible>>> {
        let mut this = self.project();
        while this.writer.has_room() {
            match this.frames.as_mut().poll_next(cx) {
                Poll::Ready(Some(frame)) => this.writer.event(frame),
                Poll::Ready(None) | Poll::Pending => break,
            }
        }
        if let Some(piece) = this.writer.take() {
            *this.last = Instant::now();
            return Poll::Ready(Some(Ok(http_body::Frame::data(piece))));
        }
        if this.frames.is_done() {
            return Poll::Ready(None);
        }
        loop {
            ready!(this.silence.as_mut().poll(cx));
            let now = Instant::now();
            let due = *this.last + *this.keep_alive;
            if due <= now {
                *this.last = now;
                this.silence.as_mut().reset(now + *this.keep_alive);
                return Poll::Ready(Some(Ok(http_body::Frame::data(Bytes::from_static(COMMENT)))));
            }
            this.silence.as_mut().reset(due);
        }
    }

    fn is_end_stream(&self) -> bool {
        self.frames.is_done() && self.writer.is_empty()
    }
}

#[cfg(test)]
mod tests;
