//! A caller's deadline ends the wait, never the task (§3.5.1).

use std::{
    future::Future,
    pin::Pin,
    task::{Context, Poll},
};

use futures::{
    FutureExt, Stream,
    future::{BoxFuture, Either},
};
use gateway_domain::{
    Error, ErrorKind, Reply,
    reply::{Body, EventStream, StreamItem},
};
use tokio::time::{Instant, Sleep, sleep_until, timeout_at};
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
        // A call that ends without waiting would be carried out whatever its deadline.
        if deadline <= Instant::now() {
            return Either::Right(std::future::ready(Err(passed())).boxed());
        }
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
        reply.body = Body::Stream(Box::pin(Bounded {
            events,
            end: Some(Box::pin(sleep_until(deadline))),
        }));
    }
    reply
}

/// Events until the deadline, which is the last item if it comes first.
struct Bounded {
    events: EventStream,
    /// Nothing once it has passed.
    end: Option<Pin<Box<Sleep>>>,
}

impl Stream for Bounded {
    type Item = Result<StreamItem, Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let Some(end) = &mut self.end else {
            return Poll::Ready(None);
        };
        if end.as_mut().poll(cx).is_ready() {
            self.end = None;
            return Poll::Ready(Some(Err(passed())));
        }
        self.events.as_mut().poll_next(cx)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use futures::{StreamExt, stream};
    use gateway_domain::{ErrorKind, Outcome, Reply, reply::Body};
    use tokio::time::Instant;

    use super::bounded;

    #[tokio::test(start_paused = true)]
    async fn a_silent_stream_ends_at_the_deadline_with_an_error_and_nothing_after_it() {
        let body = Body::Stream(Box::pin(stream::pending()));
        let reply = Reply {
            body,
            outcome: Outcome::Subscribed,
            activated: Vec::new(),
        };
        let deadline = Instant::now() + Duration::from_secs(5);
        let Body::Stream(events) = bounded(reply, deadline).body else {
            panic!("no stream")
        };
        let items: Vec<_> = events.collect().await;
        assert_eq!(Instant::now(), deadline);
        assert_eq!(items.len(), 1);
        assert_eq!(items[0].as_ref().unwrap_err().kind(), ErrorKind::DeadlineExceeded);
    }
}
