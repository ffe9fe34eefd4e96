//! A caller's deadline ends the wait, never the task (§3.5.1).

use std::task::{Context, Poll};

use futures::{
    FutureExt, StreamExt,
    future::{BoxFuture, Either},
    stream,
};
use gateway_domain::{
    Error, ErrorKind, Reply,
    reply::{Body, EventStream},
};
use tokio::time::{Instant, sleep_until, timeout_at};
use tower::Service;

use crate::Call;

/// The layer.
#[derive(Clone)]
pub(crate) struct Deadline<S>(S);

impl<S> Deadline<S> {
    pub(crate) fn new(inner: S) -> Self {
        Self(inner)
    }
}

impl<S> Service<Call> for Deadline<S>
where
    S: Service<Call, Response = Reply, Error = Error>,
    S::Future: Send + 'static,
{
    type Response = Reply;
    type Error = Error;
    type Future = Either<S::Future, BoxFuture<'static, Result<Reply, Error>>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        self.0.poll_ready(cx)
    }

    fn call(&mut self, call: Call) -> Self::Future {
        let Some(deadline) = call.head.deadline.map(Instant::from_std) else {
            return Either::Left(self.0.call(call));
        };
        let reply = timeout_at(deadline, self.0.call(call));
        Either::Right(
            reply
                .map(move |reply| Ok(bounded(reply.map_err(|_| passed())??, deadline)))
                .boxed(),
        )
    }
}

fn passed() -> Error {
    Error::new(
        ErrorKind::DeadlineExceeded,
        "the caller's deadline passed; the task goes on",
    )
}

/// A stream ends at the deadline too.
fn bounded(mut reply: Reply, deadline: Instant) -> Reply {
    if let Body::Stream(events) = reply.body {
        reply.body = Body::Stream(until(events, deadline));
    }
    reply
}

fn until(events: EventStream, deadline: Instant) -> EventStream {
    let end = stream::once(sleep_until(deadline)).map(|()| Err(passed()));
    let mut over = false;
    // The deadline is the stream's last item if it comes first; the events' own end is the end otherwise.
    let events = events.map(Some).chain(stream::iter([None]));
    let merged = stream::select(events, end.map(Some));
    Box::pin(
        merged
            .take_while(move |item| {
                let last = over || item.is_none();
                over = matches!(item, Some(Err(_)));
                std::future::ready(!last)
            })
            .filter_map(std::future::ready),
    )
}
