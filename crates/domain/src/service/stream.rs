//! The events of a task as a stream: pulled from its log, so that nothing queues up for a reader who is slow.
//!
//! Each reader keeps only its place. It is told that there is more, reads on from the log, and is cut with its cursor
//! when the log no longer holds what comes next or it took nothing for too long. Events are never skipped silently.

use std::{collections::VecDeque, sync::Arc};

use futures::stream;
use tokio::{sync::watch, time::Instant};

use super::{Inner, cut};
use crate::{
    Cursor, Error, ErrorKind, LogEntry, Revision, SharedEvent, StreamResponse, TaskId, TaskSnapshot,
    ports::{LogRead, Pulse},
    reply::{EventStream, StreamItem},
};

struct Reader {
    inner: Arc<Inner>,
    task: TaskId,
    pulse: watch::Receiver<Pulse>,
    /// The first event, where it does not come from the log.
    first: Option<StreamItem>,
    waiting: VecDeque<Arc<LogEntry>>,
    /// The revision up to which the reader has everything.
    at: Revision,
    /// Where the last event that went out stands.
    cursor: Option<Cursor>,
    /// When the last event went out.
    handed_out: Option<Instant>,
    ended: bool,
}

/// Every event of a task from its first.
pub(super) fn from_start(inner: &Arc<Inner>, task: TaskId, pulse: watch::Receiver<Pulse>) -> EventStream {
    Reader::new(inner, task, pulse).into_stream()
}

/// A task as it stood at a cursor, then every later event.
pub(super) fn from_snapshot(
    inner: &Arc<Inner>,
    snapshot: TaskSnapshot,
    cursor: Cursor,
    pulse: watch::Receiver<Pulse>,
) -> EventStream {
    let mut reader = Reader::new(inner, snapshot.id.clone(), pulse);
    reader.at = cursor.revision;
    let event = SharedEvent::new(StreamResponse::Task(Arc::new(snapshot)));
    reader.first = Some(StreamItem {
        cursor: Some(cursor),
        event,
    });
    reader.into_stream()
}

impl Reader {
    fn new(inner: &Arc<Inner>, task: TaskId, pulse: watch::Receiver<Pulse>) -> Self {
        Self {
            inner: inner.clone(),
            task,
            pulse,
            first: None,
            waiting: VecDeque::new(),
            at: 0,
            cursor: None,
            handed_out: None,
            ended: false,
        }
    }

    fn into_stream(self) -> EventStream {
        Box::pin(stream::unfold(self, |mut reader| async move {
            let item = reader.next().await?;
            reader.ended |= item.is_err();
            reader.handed_out = Some(Instant::now());
            Some((item, reader))
        }))
    }

    async fn next(&mut self) -> Option<Result<StreamItem, Error>> {
        if self.ended {
            return None;
        }
        if self.stalled() {
            return Some(Err(cut(
                ErrorKind::ResourceExhausted,
                "the reader took no event for too long",
                self.cursor,
            )));
        }
        if let Some(first) = self.first.take() {
            return Some(Ok(self.hand_out(first)));
        }
        loop {
            while let Some(entry) = self.waiting.pop_front() {
                self.at = entry.cursor.revision;
                if let Some(event) = &entry.outward {
                    let item = StreamItem {
                        cursor: Some(entry.cursor),
                        event: event.clone(),
                    };
                    return Some(Ok(self.hand_out(item)));
                }
            }
            if let Err(error) = self.read_on().await {
                return Some(Err(error));
            }
        }
    }

    /// A reader is asked for its next event as soon as there is room for it, so a pause between two says that its
    /// client took nothing.
    fn stalled(&self) -> bool {
        self.handed_out
            .is_some_and(|at| at.elapsed() > self.inner.limits().reader_stall)
    }

    fn hand_out(&mut self, item: StreamItem) -> StreamItem {
        self.ended = item.event.event().terminal_state().is_some();
        self.cursor = item.cursor;
        item
    }

    /// Waits until the log holds more, and takes some of it.
    async fn read_on(&mut self) -> Result<(), Error> {
        let at = self.at;
        let draining = self.inner.draining.clone();
        let news = tokio::select! {
            biased;
            news = self.pulse.wait_for(|pulse| pulse.cursor.revision > at) => news.map(|_| ()),
            () = draining.cancelled() => {
                return Err(cut(ErrorKind::Unavailable, "this server is shutting down; come back", self.cursor));
            }
        };
        if news.is_err() {
            return Err(self.fell_behind());
        }
        let most = self.inner.limits().entries_per_read;
        match self.inner.store().log(&self.task, at, most).await {
            Ok(LogRead::Entries(entries)) => {
                self.waiting = entries.into();
                Ok(())
            }
            Ok(LogRead::Gone) => Err(self.fell_behind()),
            Err(error) => Err(cut(
                ErrorKind::Unavailable,
                "the events cannot be read now",
                self.cursor,
            )
            .because(error.cause)),
        }
    }

    fn fell_behind(&self) -> Error {
        cut(
            ErrorKind::ResourceExhausted,
            "the next event is no longer held; read the task and subscribe again",
            self.cursor,
        )
    }
}
