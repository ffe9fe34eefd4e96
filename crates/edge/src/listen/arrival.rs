//! A request's body on its way in. It tells when the peer has sent all of it.

use std::{
    pin::Pin,
    task::{Context, Poll, ready},
};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;

use super::guard::Midway;

/// A request's body.
pub(super) struct Arrival {
    body: Incoming,
    midway: Midway,
}

impl Arrival {
    pub(super) fn new(body: Incoming, midway: Midway) -> Self {
        if body.is_end_stream() {
            midway.over();
        }
        Self { body, midway }
    }
}

impl Body for Arrival {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(cx));
        if frame.is_none() || self.body.is_end_stream() {
            self.midway.over();
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
