//! Reads a task's log onward, entry by entry, and waits where there is no more yet.
//!
//! Whoever reads keeps only a place: nothing queues up for a reader who is slow, and nothing is skipped silently. What
//! a reader does about an entry that is no longer held is its own affair.

use std::{collections::VecDeque, sync::Arc};

use tokio::sync::watch;

use crate::{
    LogEntry, Revision, TaskId,
    ports::{LogRead, Pulse, Store, StoreError},
};

/// A reader's place in the log of one task.
pub struct Tail {
    store: Arc<dyn Store>,
    task: TaskId,
    pulse: watch::Receiver<Pulse>,
    waiting: VecDeque<Arc<LogEntry>>,
    at: Revision,
    most: usize,
}

/// Why there is no next entry.
#[derive(Debug)]
pub enum Lost {
    /// The next entry is no longer held, or the task is gone.
    Behind,
    /// The store could not be read; the place is kept.
    Store(StoreError),
}

impl Tail {
    /// Reads what comes after a revision, so many entries from the store at a time. `pulse` is the task's, as
    /// [`Store::follow`] gives it.
    pub fn new(
        store: Arc<dyn Store>,
        task: TaskId,
        pulse: watch::Receiver<Pulse>,
        after: Revision,
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
            if let Some(entry) = self.waiting.pop_front() {
                self.at = entry.cursor.revision;
                return Ok(entry);
            }
            self.read_on().await?;
        }
    }

    /// Whether nothing can follow: the task has ended and its last entry was read.
    pub fn is_over(&self) -> bool {
        let pulse = self.pulse.borrow();
        pulse.state.is_terminal() && pulse.cursor.revision <= self.at
    }

    /// Goes on after another revision: the reader has what lies before it from elsewhere.
    pub fn go_on_after(&mut self, revision: Revision) {
        self.waiting.clear();
        self.at = revision;
    }

    async fn read_on(&mut self) -> Result<(), Lost> {
        let at = self.at;
        if self.pulse.borrow().cursor.revision <= at {
            let news = self.pulse.wait_for(|pulse| pulse.cursor.revision > at).await;
            news.map_err(|_| Lost::Behind)?;
            // Whoever else is ready comes first, the agent among them: what it says meanwhile is read, and written to
            // the client, in one go.
            tokio::task::yield_now().await;
        }
        match self.store.log(&self.task, at, self.most).await {
            Ok(LogRead::Entries(entries)) => {
                self.waiting = entries.into();
                Ok(())
            }
            Ok(LogRead::Gone) => Err(Lost::Behind),
            Err(error) => Err(Lost::Store(error)),
        }
    }
}
