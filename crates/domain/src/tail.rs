//! Reads a task's log onward, entry by entry, and waits where there is no more yet.
//!
//! Whoever reads keeps only a place: nothing queues up for a reader who is slow, and nothing is skipped silently. What
//! a reader does about an entry that is no longer held, or about commits that were lost, is its own affair.

use std::{collections::VecDeque, sync::Arc};

use futures::{StreamExt, stream::FuturesUnordered};
use tokio::sync::watch;

use crate::{
    Cursor, LogEntry, TaskId,
    ports::{LogRead, Pulse, Store, StoreError},
};

/// Turns that a reader who was woken leaves to others, at most, while the log grows.
const MOST_TURNS: usize = 16;

/// A reader's place in the log of one task.
pub struct Tail {
    store: Arc<dyn Store>,
    task: TaskId,
    pulse: watch::Receiver<Pulse>,
    waiting: VecDeque<Arc<LogEntry>>,
    at: Cursor,
    most: usize,
}

/// Why there is no next entry.
#[derive(Debug)]
pub enum Lost {
    /// The next entry is no longer held.
    Behind,
    /// The place is none of the log any more: what was read there was lost.
    Diverged,
    /// The task is gone.
    Gone,
    /// The store could not be read; the place is kept.
    Store(StoreError),
}

impl Tail {
    /// Reads what comes after a place, so many entries from the store at a time. `pulse` is the task's, as
    /// [`Store::follow`] gives it.
    pub fn new(
        store: Arc<dyn Store>,
        task: TaskId,
        pulse: watch::Receiver<Pulse>,
        after: Cursor,
        most: usize,
    ) -> Self {
        Self {
            store,
            task,
            pulse,
            waiting: VecDeque::new(),
            at: after,
            most,
        }
    }

    /// The next entry, as soon as there is one. A wait that is given up loses nothing.
    ///
    /// # Errors
    /// See [`Lost`].
    pub async fn next(&mut self) -> Result<Arc<LogEntry>, Lost> {
        loop {
            if let Some(entry) = self.take() {
                return Ok(entry);
            }
            self.wait_for_news().await?;
            self.read_on().await?;
        }
    }

    /// The next entry if it is there already; it waits for nothing but the store.
    ///
    /// # Errors
    /// See [`Lost`].
    pub async fn next_held(&mut self) -> Result<Option<Arc<LogEntry>>, Lost> {
        if self.waiting.is_empty() {
            self.read_on().await?;
        }
        Ok(self.take())
    }

    /// Whether nothing can follow: the task has ended and its last entry was read.
    pub fn is_over(&self) -> bool {
        let pulse = self.pulse.borrow();
        pulse.state.is_terminal() && pulse.cursor.revision <= self.at.revision
    }

    /// Goes on after another place: the reader has what lies before it from elsewhere.
    pub fn go_on_after(&mut self, place: Cursor) {
        self.waiting.clear();
        self.at = place;
    }

    fn take(&mut self) -> Option<Arc<LogEntry>> {
        let entry = self.waiting.pop_front()?;
        self.at = entry.cursor;
        Some(entry)
    }

    async fn wait_for_news(&mut self) -> Result<(), Lost> {
        let at = self.at;
        // News that are older than what was read may just be late.
        let new = |pulse: &Pulse| pulse.cursor != at && pulse.cursor.revision >= at.revision;
        if new(&self.pulse.borrow()) {
            return Ok(());
        }
        if self.pulse.wait_for(new).await.is_ok() {
            self.give_way().await;
            return Ok(());
        }
        // Nothing more is told: the task is gone, or it stands where it cannot have stood before. The log says.
        let again = self.store.follow(&self.task).await.map_err(Lost::Store)?;
        self.pulse = again.ok_or(Lost::Gone)?;
        Ok(())
    }

    /// Lets whoever else is ready go first, the agent among them, as long as more is said meanwhile: all of it is read,
    /// and written to the client, in one go. Where nothing more is said it costs two turns: in the first one the reader
    /// may come before the agent.
    async fn give_way(&self) {
        let mut told = self.pulse.borrow().cursor;
        let mut in_vain = 0;
        // Whoever asks for the next event may ask several times in a turn, as hyper does; in a set, a future is polled
        // when it was woken itself.
        let mut turn = FuturesUnordered::new();
        for _ in 0..MOST_TURNS {
            turn.push(tokio::task::yield_now());
            turn.next().await;
            let pulse = *self.pulse.borrow();
            in_vain = if pulse.cursor == told { in_vain + 1 } else { 0 };
            if in_vain == 2 || pulse.state.is_terminal() {
                break;
            }
            told = pulse.cursor;
        }
    }

    async fn read_on(&mut self) -> Result<(), Lost> {
        match self.store.log(&self.task, self.at, self.most).await {
            Ok(LogRead::Entries(entries)) => {
                self.waiting = entries.into();
                Ok(())
            }
            Ok(LogRead::Gone) => Err(Lost::Behind),
            Ok(LogRead::Diverged) => Err(Lost::Diverged),
            Err(error) => Err(Lost::Store(error)),
        }
    }
}
