//! The tasks of HTTP/2 streams: owned by the listener, and ended when their peer takes nothing for too long.
//!
//! A connection that is alive says nothing about its streams: a peer may answer pings for ever and let one of them
//! stand still. The answer's body tells whether it has handed over a piece and not yet been asked for more.

use std::{
    cell::Cell,
    future::Future,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use hyper::rt::Executor;
use pin_project_lite::pin_project;
use tokio::time::Sleep;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

/// Starts the tasks of streams.
#[derive(Clone)]
pub(super) struct Streams {
    pub(super) tasks: TaskTracker,
    pub(super) end: CancellationToken,
    pub(super) write_stall: Duration,
}

impl<F> Executor<F> for Streams
where
    F: Future + Send + 'static,
    F::Output: Send,
{
    fn execute(&self, stream: F) {
        // Boxed, since the runtime copies a future several times before and after its life.
        let watched = Box::pin(Watched {
            stream,
            taking: Taking::default(),
            write_stall: self.write_stall,
            stall: None,
        });
        self.tasks
            .spawn(self.end.clone().run_until_cancelled_owned(watched));
    }
}

/// How far an answer's body has got.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Taking {
    /// Pieces handed over.
    pieces: u64,
    /// Whether the last of them has not been followed by a question for more.
    in_hand: bool,
}

tokio::task_local! {
    static TAKING: Cell<Taking>;
}

/// An answer's body was asked for more, and had it or had not.
pub(super) fn handed_over(had: bool) {
    // HTTP/1 has no tasks of streams: there a full socket tells.
    let _ = TAKING.try_with(|taking| {
        let pieces = taking.get().pieces + u64::from(had);
        taking.set(Taking { pieces, in_hand: had });
    });
}

pin_project! {
    /// A stream that ends when its peer takes nothing for too long. Dropping it resets it.
    struct Watched<F> {
        #[pin]
        stream: F,
        taking: Taking,
        write_stall: Duration,
        stall: Option<Pin<Box<Sleep>>>,
    }
}

impl<F: Future> Future for Watched<F> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = self.project();
        let (polled, taking) = TAKING.sync_scope(Cell::new(*this.taking), || {
            (this.stream.poll(cx), TAKING.with(Cell::get))
        });
        let moved = std::mem::replace(this.taking, taking) != taking;
        if polled.is_ready() || !taking.in_hand {
            *this.stall = None;
            return polled.map(|_| ());
        }
        if moved {
            *this.stall = None;
        }
        let write_stall = *this.write_stall;
        let stall = this
            .stall
            .get_or_insert_with(|| Box::pin(tokio::time::sleep(write_stall)));
        stall
            .as_mut()
            .poll(cx)
            .map(|()| tracing::debug!("ending a stream whose peer took nothing for too long"))
    }
}
