//! The events of a task as a stream: pulled from its log, so that nothing queues up for a reader who is slow.
//!
//! Each reader keeps only its place. It is told that there is more, reads on from the log, and is cut with its cursor
//! when the log no longer holds what comes next or it took nothing for too long. Events are never skipped silently: where
//! commits were lost that it has shown, it starts over with the task. A store that cannot be read is waited for.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use futures::stream;
use tokio::{
    sync::watch,
    time::{Instant, timeout},
};

use super::{Inner, cut};
use crate::{
    Cursor, Error, ErrorKind, LogEntry, SharedEvent, StreamResponse, TaskId, TaskSnapshot, Version,
    ports::{Pulse, StoreError, StoredTask},
    reply::{EventStream, StreamItem},
    resume::{self, StartedOver},
    tail::{Lost, Tail},
};

struct Reader {
    inner: Arc<Inner>,
    task: TaskId,
    tail: Tail,
    rules: Rules,
    /// The first event, where it does not come from the log.
    first: Option<StreamItem>,
    /// Where the last event that went out stands, or where the reader says that it is.
    cursor: Option<Cursor>,
    /// When the last event went out.
    handed_out: Option<Instant>,
    /// Whether nothing follows the next event, whatever it says itself.
    last: bool,
    ended: bool,
}

/// What a stream has to be like for its reader.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rules {
    /// Whether events carry their cursor.
    pub(super) resumable: bool,
    /// Whose rules say where the stream ends.
    pub(super) version: Version,
}

/// Every event of a task from its first.
///
/// # Errors
/// Unavailable, TaskNotFound.
pub(super) async fn from_start(
    inner: &Arc<Inner>,
    task: TaskId,
    pulse: watch::Receiver<Pulse>,
    rules: Rules,
) -> Result<EventStream, Error> {
    let mut reader = Reader::new(inner, task, pulse, Cursor::START, rules);
    reader.look().await?;
    Ok(reader.into_stream())
}

/// A task as it stood at a cursor, then every later event.
pub(super) fn from_snapshot(
    inner: &Arc<Inner>,
    snapshot: TaskSnapshot,
    cursor: Cursor,
    pulse: watch::Receiver<Pulse>,
    rules: Rules,
) -> EventStream {
    let mut reader = Reader::new(inner, snapshot.id.clone(), pulse, cursor, rules);
    reader.first = Some(reader.whole(snapshot, cursor, None));
    reader.into_stream()
}

/// Every event after a cursor, though the task may have ended meanwhile; the task as it stands in place of events that
/// are no longer held.
///
/// # Errors
/// Unavailable, TaskNotFound.
pub(super) async fn after(
    inner: &Arc<Inner>,
    task: TaskId,
    cursor: Cursor,
    pulse: watch::Receiver<Pulse>,
    rules: Rules,
) -> Result<EventStream, Error> {
    let mut reader = Reader::new(inner, task, pulse, cursor, rules);
    reader.cursor = Some(cursor);
    if !reader.look().await? {
        inner.resumed.continued.fetch_add(1, Relaxed);
    }
    Ok(reader.into_stream())
}

/// Whether nothing follows an event. A task that waits for input when it is first shown may be about to go on.
fn ends(event: &StreamResponse, version: Version) -> bool {
    match event {
        StreamResponse::StatusUpdate(update) => version.ends_streams_at(update.status.state),
        event => event.terminal_state().is_some(),
    }
}

impl Reader {
    fn new(
        inner: &Arc<Inner>,
        task: TaskId,
        pulse: watch::Receiver<Pulse>,
        after: Cursor,
        rules: Rules,
    ) -> Self {
        let most = inner.limits().entries_per_read;
        Self {
            inner: inner.clone(),
            task: task.clone(),
            tail: Tail::new(inner.parts.store.clone(), task, pulse, after, most),
            rules,
            first: None,
            cursor: None,
            handed_out: None,
            last: false,
            ended: false,
        }
    }

    /// Reads what is there already, so that an error in place of the first event is the call's own. Waits for no news.
    /// Says whether the stream starts over.
    async fn look(&mut self) -> Result<bool, Error> {
        loop {
            match self.tail.next_held().await {
                Ok(Some(entry)) => self.first = self.item(&entry),
                Ok(None) => {
                    self.ended = self.tail.is_over();
                    return Ok(false);
                }
                Err(lost) => {
                    let begun = self.in_place_of(lost, Some(StartedOver::CursorTooOld)).await;
                    self.first = Some(begun.map_err(|lost| self.lost(lost))?);
                    return Ok(true);
                }
            }
            if self.first.is_some() {
                return Ok(false);
            }
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
        let mut hold = None;
        loop {
            let read = tokio::select! {
                biased;
                read = self.tail.next() => read,
                () = self.inner.streams_end.cancelled() => return Some(Err(self.shut_down())),
            };
            let item = match read {
                Ok(entry) => Ok(self.item(&entry)),
                // Boxed like the wait below, since streams are many and hardly any comes here.
                Err(lost) => Box::pin(self.in_place_of(lost, None)).await.map(Some),
            };
            match item {
                Ok(Some(item)) => return Some(Ok(self.hand_out(item))),
                Ok(None) => {}
                Err(Lost::Store(error)) => {
                    let hold = hold.get_or_insert_with(|| Hold::new(self.inner.limits().stream_hold));
                    if let Err(error) = Box::pin(self.wait_for_store(hold, error)).await {
                        return Some(Err(error));
                    }
                }
                Err(lost) => return Some(Err(self.lost(lost))),
            }
        }
    }

    /// The task as it stands in place of what is lost, where that will do. A reader who has fallen behind in the middle of
    /// a stream is cut instead, and gets it on coming back: `behind` is what it is told then.
    async fn in_place_of(&mut self, lost: Lost, behind: Option<StartedOver>) -> Result<StreamItem, Lost> {
        let why = match lost {
            // Nothing was shown yet, so nothing is missed: an agent may be so fast that its task's first entries have
            // left the log before they were read.
            Lost::Behind if self.cursor.is_none() => None,
            Lost::Behind if behind.is_some() => behind,
            Lost::Diverged => Some(StartedOver::OtherTimeline),
            lost => return Err(lost),
        };
        let stored = self.inner.store().read(&self.task).await.map_err(Lost::Store)?;
        let StoredTask { head, task } = stored.filter(|stored| !stored.head.hidden).ok_or(Lost::Gone)?;
        self.tail.go_on_after(head.cursor);
        self.inner.resumed.count(why);
        // It stands for the updates that were missed, and one of them may have been the last.
        self.last = self.rules.version.ends_streams_at(task.status.state);
        Ok(self.whole(task, head.cursor, why))
    }

    fn whole(&self, task: TaskSnapshot, cursor: Cursor, why: Option<StartedOver>) -> StreamItem {
        let mut event = StreamResponse::Task(Arc::new(task));
        if self.rules.resumable {
            event = resume::with_cursor(&event, cursor, why);
        }
        StreamItem {
            cursor: Some(cursor),
            event: SharedEvent::new(event),
        }
    }

    fn item(&self, entry: &LogEntry) -> Option<StreamItem> {
        let event = entry.outward.as_ref()?;
        Some(StreamItem {
            cursor: Some(entry.cursor),
            event: if self.rules.resumable {
                event.with_cursor(entry.cursor)
            } else {
                event.clone()
            },
        })
    }

    /// A reader is asked for its next event as soon as there is room for it, so a pause between two says that its
    /// client took nothing.
    fn stalled(&self) -> bool {
        self.handed_out
            .is_some_and(|at| at.elapsed() > self.inner.limits().reader_stall)
    }

    fn hand_out(&mut self, item: StreamItem) -> StreamItem {
        self.ended = std::mem::take(&mut self.last) || ends(item.event.event(), self.rules.version);
        self.cursor = item.cursor;
        item
    }

    /// Waits a little, unless the store has been waited for long enough or the streams are to end.
    async fn wait_for_store(&self, hold: &mut Hold, error: StoreError) -> Result<(), Error> {
        let Some(pause) = hold.next_pause(self.inner.parts.ids.mark()) else {
            return Err(self.lost(Lost::Store(error)));
        };
        tracing::debug!(task = %self.task, cause = error.cause, "stream waits for the store");
        match timeout(pause, self.inner.streams_end.cancelled()).await {
            Ok(()) => Err(self.shut_down()),
            Err(_) => Ok(()),
        }
    }

    fn shut_down(&self) -> Error {
        let text = "this server is shutting down; come back";
        cut(ErrorKind::Unavailable, text, self.cursor)
    }

    fn lost(&self, lost: Lost) -> Error {
        match lost {
            Lost::Behind | Lost::Diverged => cut(
                ErrorKind::ResourceExhausted,
                "the next event is no longer held; read the task and subscribe again",
                self.cursor,
            ),
            Lost::Gone => Error::task_not_found(),
            Lost::Store(error) => cut(
                ErrorKind::Unavailable,
                "the events cannot be read now",
                self.cursor,
            )
            .because(error.cause),
        }
    }
}

/// The wait for a store that cannot be read: pauses that grow, up to an end.
struct Hold {
    until: Instant,
    pause: Duration,
}

impl Hold {
    const FIRST: Duration = Duration::from_millis(50);
    const LONGEST: Duration = Duration::from_secs(2);

    fn new(patience: Duration) -> Self {
        Self {
            until: Instant::now() + patience,
            pause: Self::FIRST,
        }
    }

    /// How long to wait before the next try, nothing where there is to be none. Drawn, so that streams that lost the
    /// store together do not come back together.
    fn next_pause(&mut self, drawn: u32) -> Option<Duration> {
        let left = self.until.checked_duration_since(Instant::now())?;
        let whole = self.pause.min(left).max(Duration::from_millis(1));
        self.pause = (self.pause * 2).min(Self::LONGEST);
        Some(whole.mul_f64(0.5 + f64::from(drawn) / f64::from(u32::MAX) / 2.0))
    }
}

/// How streams went on.
#[derive(Debug, Default)]
pub(super) struct Counts {
    continued: AtomicU64,
    too_old: AtomicU64,
    other_timeline: AtomicU64,
}

impl Counts {
    /// Each by its name.
    pub(super) fn all(&self) -> Vec<(&'static str, u64)> {
        vec![
            ("continued", self.continued.load(Relaxed)),
            (StartedOver::CursorTooOld.name(), self.too_old.load(Relaxed)),
            (
                StartedOver::OtherTimeline.name(),
                self.other_timeline.load(Relaxed),
            ),
        ]
    }

    fn count(&self, why: Option<StartedOver>) {
        match why {
            None => return,
            Some(StartedOver::CursorTooOld) => &self.too_old,
            Some(StartedOver::OtherTimeline) => &self.other_timeline,
        }
        .fetch_add(1, Relaxed);
    }
}
