//! What the operator learns of a call: one record when it is answered, whatever the answer.

use std::{
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
    time::{Duration, Instant},
};

use futures::Stream;
use gateway_domain::{
    Actor, Binding, Error, ErrorKind, Operation, Outcome, Reply, TaskId, Tenant, Version,
    error::metadata,
    reply::{Body, EventStream, Sent, StreamItem},
};
use pin_project_lite::pin_project;
use tower::Service;

use crate::{
    Call,
    call::{Facts, Head},
};

/// Takes in records. Must not block.
pub trait Observer: Send + Sync {
    /// A call was answered: for a stream, its first event is about to go out.
    fn answered(&self, record: &Record<'_>);

    /// A stream ended: by itself, by its reader leaving, or with an error that its reader was told.
    fn stream_ended(&self, _end: &StreamEnd<'_>) {}
}

/// The end of a stream.
#[derive(Debug)]
pub struct StreamEnd<'a> {
    /// Over which binding.
    pub binding: Binding,
    /// What was asked for.
    pub operation: Option<Operation>,
    /// Under which the operator finds the call.
    pub request_id: &'a str,
    /// Events that went out.
    pub events: u64,
    /// Why it was cut, if it was.
    pub error: Option<&'a Error>,
}

/// One answered call.
#[derive(Debug)]
pub struct Record<'a> {
    /// Over which binding.
    pub binding: Binding,
    /// By whom.
    pub actor: Actor,
    /// What was asked for, if the gateway knows it.
    pub operation: Option<Operation>,
    /// In which version, if it was served.
    pub version: Option<Version>,
    /// The tenant, if it is served.
    pub tenant: Option<&'a Tenant>,
    /// The task that was named or made.
    pub task: Option<&'a TaskId>,
    /// Under which the operator finds the call.
    pub request_id: &'a str,
    /// How the command ended, where it was decided.
    pub outcome: Option<Outcome>,
    /// The error, where the answer is one.
    pub error: Option<&'a Error>,
    /// From the envelope's arrival to the answer.
    pub elapsed: Duration,
}

/// The layer.
#[derive(Clone)]
pub(crate) struct Observe<S> {
    inner: S,
    observer: Arc<dyn Observer>,
}

impl<S> Observe<S> {
    pub(crate) fn new(inner: S, observer: Arc<dyn Observer>) -> Self {
        Self { inner, observer }
    }
}

impl<S: Service<Call, Response = Reply, Error = Error>> Service<Call> for Observe<S> {
    type Response = Reply;
    type Error = Error;
    type Future = Observed<S::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, call: Call) -> Self::Future {
        let Head {
            binding, operation, ..
        } = call.head;
        let seen = Seen {
            binding,
            operation,
            actor: call.head.principal.actor,
            request_id: call.head.request_id.clone(),
            facts: call.head.facts.clone(),
            began: Instant::now(),
        };
        Observed {
            inner: self.inner.call(call),
            seen,
            observer: self.observer.clone(),
        }
    }
}

struct Seen {
    binding: Binding,
    operation: Option<Operation>,
    actor: Actor,
    request_id: Arc<str>,
    facts: Arc<Facts>,
    began: Instant,
}

pin_project! {
    /// A reply on its way to the observer.
    pub(crate) struct Observed<F> {
        #[pin]
        inner: F,
        seen: Seen,
        observer: Arc<dyn Observer>,
    }
}

impl<F: Future<Output = Result<Reply, Error>>> Future for Observed<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.project();
        let mut result = ready!(this.inner.poll(cx)).map_err(|error| traceable(error, &this.seen.request_id));
        let (reply, error) = (result.as_ref().ok(), result.as_ref().err());
        let facts = &this.seen.facts;
        this.observer.answered(&Record {
            binding: this.seen.binding,
            actor: this.seen.actor,
            operation: this.seen.operation,
            version: facts.version.get().copied(),
            tenant: facts.tenant.get(),
            task: facts.task.get().or(reply.and_then(made_task)),
            request_id: &this.seen.request_id,
            outcome: reply
                .map(|reply| reply.outcome)
                .or(error.and_then(Error::decided_outcome)),
            error,
            elapsed: this.seen.began.elapsed(),
        });
        if let Ok(Reply {
            body: Body::Stream(events),
            ..
        }) = &mut result
        {
            let inner = std::mem::replace(events, Box::pin(futures::stream::empty()));
            *events = Box::pin(Watched::new(inner, this.seen, this.observer));
        }
        Poll::Ready(result)
    }
}

/// A stream whose end is told to the observer, once, however it comes.
struct Watched {
    inner: EventStream,
    binding: Binding,
    operation: Option<Operation>,
    request_id: Arc<str>,
    events: u64,
    error: Option<Error>,
    observer: Arc<dyn Observer>,
}

impl Watched {
    fn new(inner: EventStream, seen: &Seen, observer: &Arc<dyn Observer>) -> Self {
        let Seen {
            binding, operation, ..
        } = *seen;
        let (request_id, observer) = (seen.request_id.clone(), observer.clone());
        Self {
            inner,
            binding,
            operation,
            request_id,
            events: 0,
            error: None,
            observer,
        }
    }
}

impl Stream for Watched {
    type Item = Result<StreamItem, Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let item = ready!(self.inner.as_mut().poll_next(cx));
        Poll::Ready(match item {
            Some(Err(error)) => {
                let error = traceable(error, &self.request_id);
                self.error = Some(error.clone());
                Some(Err(error))
            }
            Some(Ok(item)) => {
                self.events += 1;
                Some(Ok(item))
            }
            None => None,
        })
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        self.observer.stream_ended(&StreamEnd {
            binding: self.binding,
            operation: self.operation,
            request_id: &self.request_id,
            events: self.events,
            error: self.error.as_ref(),
        });
    }
}

fn made_task(reply: &Reply) -> Option<&TaskId> {
    match &reply.body {
        Body::Sent(Sent::Task(task)) | Body::Task(task) => Some(&task.id),
        _ => None,
    }
}

/// An error whose cause stays inside tells the caller under which id the operator finds it (§3.3.2).
fn traceable(error: Error, request_id: &str) -> Error {
    match error.kind() {
        ErrorKind::Internal | ErrorKind::Unavailable => error.with_metadata(metadata::REQUEST_ID, request_id),
        _ => error,
    }
}
