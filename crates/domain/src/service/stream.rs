//! The events of a task as a stream: pulled from its log, so that nothing queues up for a reader who is slow.
//!
//! Each reader keeps only its place. It is told that there is more, reads on from the log, and is cut with its cursor
//! when the log no longer holds what comes next or it took nothing for too long. Events are never skipped silently.

use std::sync::Arc;

use futures::stream;
use tokio::{sync::watch, time::Instant};

use super::{Inner, cut};
use crate::{
    Cursor, Error, ErrorKind, Revision, SharedEvent, StreamResponse, TaskId, TaskSnapshot,
    ports::{Pulse, StoredTask},
    reply::{EventStream, StreamItem},
    tail::{Lost, Tail},
};

struct Reader {
    inner: Arc<Inner>,
    task: TaskId,
    tail: Tail,
    /// The first event, where it does not come from the log.
    first: Option<StreamItem>,
    /// Where the last event that went out stands.
    cursor: Option<Cursor>,
    /// When the last event went out.
    handed_out: Option<Instant>,
    ended: bool,
}

/// Every event of a task from its first.
pub(super) fn from_start(inner: &Arc<Inner>, task: TaskId, pulse: watch::Receiver<Pulse>) -> EventStream {
    Reader::new(inner, task, pulse, 0).into_stream()
}

/// A task as it stood at a cursor, then every later event.
pub(super) fn from_snapshot(
    inner: &Arc<Inner>,
    snapshot: TaskSnapshot,
    cursor: Cursor,
    pulse: watch::Receiver<Pulse>,
) -> EventStream {
    let mut reader = Reader::new(inner, snapshot.id.clone(), pulse, cursor.revision);
    reader.first = Some(whole(snapshot, cursor));
    reader.into_stream()
}

fn whole(task: TaskSnapshot, cursor: Cursor) -> StreamItem {
    StreamItem {
        cursor: Some(cursor),
        event: SharedEvent::new(StreamResponse::Task(Arc::new(task))),
    }
}

impl Reader {
    fn new(inner: &Arc<Inner>, task: TaskId, pulse: watch::Receiver<Pulse>, after: Revision) -> Self {
        let most = inner.limits().entries_per_read;
        Self {
            inner: inner.clone(),
            task: task.clone(),
            tail: Tail::new(inner.parts.store.clone(), task, pulse, after, most),
            first: None,
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
            let entry = tokio::select! {
                biased;
                entry = self.tail.next() => entry,
                () = self.inner.streams_end.cancelled() => {
                    let text = "this server is shutting down; come back";
                    return Some(Err(cut(ErrorKind::Unavailable, text, self.cursor)));
                }
            };
            let entry = match entry {
                Ok(entry) => entry,
                // Nothing was shown yet, so nothing is missed by beginning with the task as it stands.
                Err(Lost::Behind) if self.cursor.is_none() => return Some(self.begin_anew().await),
                Err(lost) => return Some(Err(self.lost(lost))),
            };
            if let Some(event) = &entry.outward {
                let item = StreamItem {
                    cursor: Some(entry.cursor),
                    event: event.clone(),
                };
                return Some(Ok(self.hand_out(item)));
            }
        }
    }

    /// An agent may be so fast that its task's first entries have left the log before they were read.
    async fn begin_anew(&mut self) -> Result<StreamItem, Error> {
        let StoredTask { head, task } = self.inner.read(&self.task).await?;
        self.tail.go_on_after(head.cursor.revision);
        Ok(self.hand_out(whole(task, head.cursor)))
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

    fn lost(&self, lost: Lost) -> Error {
        match lost {
            Lost::Behind => cut(
                ErrorKind::ResourceExhausted,
                "the next event is no longer held; read the task and subscribe again",
                self.cursor,
            ),
            Lost::Store(error) => cut(
                ErrorKind::Unavailable,
                "the events cannot be read now",
                self.cursor,
            )
            .because(error.cause),
        }
    }
}
