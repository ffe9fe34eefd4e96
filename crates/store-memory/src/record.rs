//! One task as it is held: head, snapshot, log and followers behind one lock, so that they always agree.
//!
//! A commit costs its own size. Only the first one after a read pays for a copy of what it touches, since the reader's
//! snapshot still shares it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use gateway_domain::{
    Cursor, TaskSnapshot,
    ports::{Change, CommitError, Creation, LogRead, Pulse, StoredTask, TaskHead},
};
use tokio::sync::watch;

use crate::{Settings, log::Log};

/// Bytes that a held task takes besides its content and its log, roughly: ids, head, places in the indexes.
const RECORD_BYTES: usize = 2048;

#[derive(Debug)]
pub(crate) struct Record(Mutex<State>);

#[derive(Debug)]
struct State {
    head: Arc<TaskHead>,
    task: Arc<TaskSnapshot>,
    log: Log,
    /// There only while somebody follows.
    followers: Option<watch::Sender<Pulse>>,
}

impl State {
    /// A finished task is changed no more but kept for long: whoever looks at it tidies up after those who followed.
    fn forget_followers(&mut self) {
        self.followers
            .take_if(|followers| followers.receiver_count() == 0);
    }
}

impl Record {
    pub(crate) fn new(creation: Creation, settings: &Settings) -> Self {
        Self(Mutex::new(State {
            head: Arc::new(creation.head),
            task: creation.task,
            log: Log::new(creation.entry, settings),
            followers: None,
        }))
    }

    pub(crate) fn head(&self) -> Arc<TaskHead> {
        self.lock().head.clone()
    }

    /// The task as it stands now. Copies nothing, so that it may be taken under any lock.
    pub(crate) fn view(&self) -> View {
        let mut state = self.lock();
        state.forget_followers();
        View {
            head: state.head.clone(),
            task: state.task.clone(),
        }
    }

    pub(crate) fn apply(&self, change: Change) -> Result<News, CommitError> {
        let mut state = self.lock();
        if change.entry.cursor.revision != state.head.cursor.revision + 1 {
            return Err(CommitError::Conflict);
        }
        let pulse = change.head.pulse();
        state.head = Arc::new(change.head);
        Arc::make_mut(&mut state.task).apply(&change.entry.entry);
        state.log.push(change.entry);
        state.forget_followers();
        Ok(News {
            followers: state.followers.clone(),
            pulse,
        })
    }

    pub(crate) fn log(&self, after: Cursor, most: usize) -> LogRead {
        self.lock().log.read(after, most)
    }

    pub(crate) fn follow(&self) -> watch::Receiver<Pulse> {
        let mut state = self.lock();
        let pulse = state.head.pulse();
        state
            .followers
            .get_or_insert_with(|| watch::Sender::new(pulse))
            .subscribe()
    }

    /// Bytes of everything that is held for the task, roughly.
    pub(crate) fn weight(&self) -> usize {
        let state = self.lock();
        RECORD_BYTES + state.head.stored_bytes() + state.log.bytes()
    }

    // A panic while a change is applied would leave the record half changed; but applying one cannot panic.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[cfg(test)]
    pub(crate) fn log_entries(&self) -> usize {
        self.lock().log.len()
    }

    #[cfg(test)]
    pub(crate) fn is_followed(&self) -> bool {
        self.lock().followers.is_some()
    }
}

/// A task at one moment, shared with its record.
#[derive(Debug)]
pub(crate) struct View {
    pub(crate) head: Arc<TaskHead>,
    pub(crate) task: Arc<TaskSnapshot>,
}

impl View {
    /// To be called outside of all locks: it costs the number of the task's members.
    pub(crate) fn into_stored(self) -> StoredTask {
        StoredTask {
            head: self.head,
            task: Arc::unwrap_or_clone(self.task),
        }
    }
}

/// What followers are to be told of a commit, once it can be seen.
#[must_use = "followers wait for it"]
pub(crate) struct News {
    followers: Option<watch::Sender<Pulse>>,
    pulse: Pulse,
}

impl News {
    /// To be called outside of all locks, since it wakes others. Two commits may get here in either order, and
    /// followers must end up with the later one.
    pub(crate) fn tell(self) {
        let Some(followers) = self.followers else {
            return;
        };
        followers.send_if_modified(|told| {
            let newer = self.pulse.cursor.revision > told.cursor.revision;
            if newer {
                *told = self.pulse;
            }
            newer
        });
    }
}
