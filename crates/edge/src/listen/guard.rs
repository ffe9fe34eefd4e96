//! A connection's bytes under watch. It ends a connection that does not begin, or whose peer takes nothing, and sees
//! to it that an answer which ends a connection reaches a peer that is still sending.

use std::{
    io,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll, ready},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    time::{Sleep, sleep},
};

use super::accept::Wire;
use crate::Settings;

/// What HTTP/2 with prior knowledge begins with (RFC 9113 §3.4).
pub(super) const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// How long a peer's remaining bytes are read and dropped after the last answer. Closing at once would make the
/// system answer them with a reset, and that would take the answer back from the peer.
const LINGER: Duration = Duration::from_secs(2);

/// Whether an HTTP/1 peer has sent something that no request has taken.
#[derive(Debug, Clone, Default)]
pub(super) struct Midway(Arc<AtomicBool>);

impl Midway {
    /// A request has come to its end.
    pub(super) fn over(&self) {
        self.0.store(false, Ordering::Relaxed);
    }
}

/// A connection's bytes under watch.
pub(super) struct Guard<I> {
    io: I,
    opening: Option<Opening>,
    stall: Option<Pin<Box<Sleep>>>,
    linger: Option<Pin<Box<Sleep>>>,
    is_http1: bool,
    midway: Midway,
    unacknowledged: Duration,
    write_stall: Duration,
}

/// The time in which a peer has to say which protocol it speaks.
struct Opening {
    seen: usize,
    late: Pin<Box<Sleep>>,
}

impl<I: Wire> Guard<I> {
    pub(super) fn new(io: I, midway: Midway, settings: &Settings) -> Self {
        let unacknowledged = settings.keep_alive - settings.keep_alive / 10;
        io.give_up_after(unacknowledged);
        Self {
            io,
            opening: Some(Opening {
                seen: 0,
                late: Box::pin(sleep(settings.head_timeout)),
            }),
            stall: None,
            linger: None,
            is_http1: true,
            midway,
            unacknowledged,
            write_stall: settings.write_stall,
        }
    }

    /// Notes what the peer sent.
    fn read(&mut self, bytes: &[u8]) {
        if let Some(opening) = &mut self.opening {
            let seen = opening.seen + bytes.len();
            let awaited = &PREFACE[opening.seen..seen.min(PREFACE.len())];
            let agrees = !bytes.is_empty() && bytes.starts_with(awaited);
            self.is_http1 = !agrees;
            opening.seen = seen;
            if !agrees || seen >= PREFACE.len() {
                self.opening = None;
            }
        }
        if self.is_http1 && !bytes.is_empty() {
            self.midway.0.store(true, Ordering::Relaxed);
        }
    }

    /// Ends the connection when its peer has taken nothing for too long.
    fn watched<T>(&mut self, cx: &mut Context<'_>, written: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if written.is_ready() {
            if self.stall.take().is_some() {
                self.io.give_up_after(self.unacknowledged);
            }
            return written;
        }
        let stall = self.stall.get_or_insert_with(|| {
            self.io.give_up_after(self.write_stall);
            Box::pin(sleep(self.write_stall))
        });
        ready!(stall.as_mut().poll(cx));
        Poll::Ready(Err(timed_out("the peer took nothing for too long")))
    }

    /// Reads and drops until the peer has had its answer, or for as long as is fit.
    fn poll_linger(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let late = self.linger.get_or_insert_with(|| Box::pin(sleep(LINGER)));
        let mut dropped = [0; 4096];
        while late.as_mut().poll(cx).is_pending() {
            let mut buffer = ReadBuf::new(&mut dropped);
            match ready!(Pin::new(&mut self.io).poll_read(cx, &mut buffer)) {
                Ok(()) if !buffer.filled().is_empty() => {}
                _ => break,
            }
        }
        Poll::Ready(())
    }
}

fn timed_out(why: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::TimedOut, why)
}

impl<I: Wire> AsyncRead for Guard<I> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        if let Poll::Ready(read) = Pin::new(&mut self.io).poll_read(cx, buffer) {
            self.read(&buffer.filled()[before..]);
            return Poll::Ready(read);
        }
        match &mut self.opening {
            None => Poll::Pending,
            Some(opening) => {
                ready!(opening.late.as_mut().poll(cx));
                Poll::Ready(Err(timed_out("the peer did not begin in time")))
            }
        }
    }
}

impl<I: Wire> AsyncWrite for Guard<I> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.io).poll_write(cx, bytes);
        self.watched(cx, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.io).poll_write_vectored(cx, slices);
        self.watched(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.linger.is_none() {
            ready!(Pin::new(&mut self.io).poll_shutdown(cx))?;
        }
        if self.is_http1 && self.midway.0.load(Ordering::Relaxed) {
            ready!(self.poll_linger(cx));
        }
        Poll::Ready(Ok(()))
    }
}
