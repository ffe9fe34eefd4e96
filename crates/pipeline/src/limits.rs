//! Bounds on streams: so many per named caller, so many per process. A permit is held by the stream itself and is
//! given back once, however it ends.

use std::{
    collections::HashMap,
    future::Future,
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll, ready},
    time::Duration,
};

use futures::{Stream, future::Either};
use gateway_domain::{
    Error, ErrorKind, Reply, Subject,
    reply::{Body, EventStream, StreamItem},
};
use pin_project_lite::pin_project;
use tower::Service;

use crate::call::Routed;

/// The permits of one process.
#[derive(Debug)]
pub struct StreamPermits {
    per_caller: usize,
    per_replica: usize,
    held: Mutex<Held>,
}

#[derive(Debug, Default)]
struct Held {
    all: usize,
    by_caller: HashMap<Subject, usize>,
}

impl StreamPermits {
    /// So many streams per named caller, and so many in all. Callers without a name are bounded only together.
    pub fn new(per_caller: usize, per_replica: usize) -> Arc<Self> {
        Arc::new(Self {
            per_caller,
            per_replica,
            held: Mutex::default(),
        })
    }

    /// Streams open now.
    pub fn held(&self) -> usize {
        self.held.lock().unwrap_or_else(PoisonError::into_inner).all
    }

    fn take(self: &Arc<Self>, caller: Option<&Subject>) -> Result<Permit, Error> {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if held.all >= self.per_replica {
            let text = "this server holds as many streams as it can; try another or try again";
            return Err(Error::new(ErrorKind::Unavailable, text).retry_after(Duration::from_secs(1)));
        }
        if let Some(caller) = caller {
            if held.by_caller.get(caller).copied().unwrap_or(0) >= self.per_caller {
                let text = format!(
                    "a caller may hold {} streams at a time; close one first",
                    self.per_caller
                );
                return Err(
                    Error::new(ErrorKind::ResourceExhausted, text).retry_after(Duration::from_secs(1))
                );
            }
            *held.by_caller.entry(caller.clone()).or_default() += 1;
        }
        held.all += 1;
        Ok(Permit {
            permits: self.clone(),
            caller: caller.cloned(),
        })
    }

    fn give_back(&self, caller: Option<&Subject>) {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        held.all -= 1;
        if let Some(caller) = caller
            && let Some(of_caller) = held.by_caller.get_mut(caller)
        {
            *of_caller -= 1;
            if *of_caller == 0 {
                held.by_caller.remove(caller);
            }
        }
    }
}

struct Permit {
    permits: Arc<StreamPermits>,
    caller: Option<Subject>,
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.permits.give_back(self.caller.as_ref());
    }
}

/// The layer.
#[derive(Clone)]
pub(crate) struct Limits<S> {
    inner: S,
    permits: Arc<StreamPermits>,
}

impl<S> Limits<S> {
    pub(crate) fn new(inner: S, permits: Arc<StreamPermits>) -> Self {
        Self { inner, permits }
    }
}

impl<S: Service<Routed, Response = Reply, Error = Error>> Service<Routed> for Limits<S> {
    type Response = Reply;
    type Error = Error;
    type Future = Either<Permitted<S::Future>, std::future::Ready<Result<Reply, Error>>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, call: Routed) -> Self::Future {
        let permit = if call.operation.is_streaming() {
            self.permits.take(call.head.principal.subject.as_ref()).map(Some)
        } else {
            Ok(None)
        };
        match permit {
            Ok(permit) => Either::Left(Permitted {
                inner: self.inner.call(call),
                permit,
            }),
            Err(error) => Either::Right(std::future::ready(Err(error))),
        }
    }
}

pin_project! {
    /// A reply whose stream will hold the permit.
    pub(crate) struct Permitted<F> {
        #[pin]
        inner: F,
        permit: Option<Permit>,
    }
}

impl<F: Future<Output = Result<Reply, Error>>> Future for Permitted<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.project();
        let mut reply = ready!(this.inner.poll(cx))?;
        if let (Body::Stream(events), Some(permit)) = (&mut reply.body, this.permit.take()) {
            let events = std::mem::replace(events, Box::pin(futures::stream::empty()));
            reply.body = Body::Stream(Box::pin(Holding {
                events,
                _permit: permit,
            }));
        }
        Poll::Ready(Ok(reply))
    }
}

struct Holding {
    events: EventStream,
    _permit: Permit,
}

impl Stream for Holding {
    type Item = Result<StreamItem, Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.events.as_mut().poll_next(cx)
    }
}

#[cfg(test)]
mod tests {
    use gateway_domain::{ErrorKind, Subject};

    use super::StreamPermits;

    #[test]
    fn a_caller_at_its_bound_is_refused_and_others_are_not() {
        let permits = StreamPermits::new(1, 3);
        let (a, b) = (Subject::new("a"), Subject::new("b"));
        let first = permits.take(Some(&a)).map_err(|e| e.kind()).ok();
        assert!(first.is_some());
        assert_eq!(
            permits.take(Some(&a)).err().unwrap().kind(),
            ErrorKind::ResourceExhausted
        );
        let _second = permits.take(Some(&b)).ok().unwrap();
        let _third = permits.take(None).ok().unwrap();
        assert_eq!(permits.take(None).err().unwrap().kind(), ErrorKind::Unavailable);
        drop(first);
        assert_eq!(permits.held(), 2);
        assert!(permits.take(Some(&a)).is_ok());
    }
}
