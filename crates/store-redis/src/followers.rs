//! Who on this replica follows which task. Each task has one subscription in Redis, however many follow it here, and
//! its newest entries are decoded once for all of them.
//!
//! News are hints: what is told is only where a task stands. A follower that missed one is put right by the next, by
//! a look after silence, or after the connection came back; it reads the log by revision, so nothing is skipped.

mod recent;

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use gateway_domain::{Cursor, TaskId, TaskState, ports::Pulse};
use tokio::{sync::watch, time::Instant};

pub(crate) use recent::Recent;

/// After this time without news a task is looked at.
pub(crate) const SILENCE: Duration = Duration::from_secs(5);

/// What a channel holds before the first look; nobody is handed it.
const NOTHING: Pulse = Pulse {
    cursor: Cursor { revision: 0, mark: 0 },
    status_revision: 0,
    state: TaskState::Submitted,
    hidden: true,
};

/// The tasks that are followed on this replica.
#[derive(Default)]
pub(crate) struct Followers(Mutex<HashMap<TaskId, Arc<Followed>>>);

/// A task that is followed.
pub(crate) struct Followed {
    state: Mutex<State>,
    /// Whether Redis tells of it. Held while that changes.
    pub(crate) subscription: tokio::sync::Mutex<Subscription>,
    /// Set where news may have been missed.
    in_doubt: AtomicBool,
    /// Set where Redis ended the subscription by itself.
    ended: AtomicBool,
    /// Held while somebody reads on, so that the others find what it read.
    pub(crate) recent: tokio::sync::Mutex<Recent>,
}

/// Whether Redis tells of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Subscription {
    /// It does not.
    #[default]
    None,
    /// It was asked to, and has not said that it does.
    Asked,
    /// It does, over the connections of this number.
    Confirmed(u64),
}

/// Where a task stands, looked up with something in mind that was told of it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Standing {
    pub(crate) pulse: Pulse,
    /// The mark of the entry at the revision that had been told, where that entry is held.
    pub(crate) mark_then: Option<u32>,
}

impl Standing {
    /// Whether the task has not got here by way of a place that was told.
    fn lacks(&self, told: Cursor) -> bool {
        let now = self.pulse.cursor;
        let other_entry = self.mark_then.is_some_and(|mark| mark != told.mark);
        now.revision < told.revision
            || (now.revision == told.revision && now.mark != told.mark)
            || (told.revision > 0 && other_entry)
    }
}

struct State {
    /// Nothing once the task is gone: that closes the channel.
    sender: Option<watch::Sender<Pulse>>,
    heard: Instant,
}

impl Followers {
    /// The record of a task, and a receiver that keeps it.
    pub(crate) fn join(&self, id: &TaskId) -> (Arc<Followed>, watch::Receiver<Pulse>) {
        let mut held = self.lock();
        let followed = held.entry(id.clone()).or_default().clone();
        // Under the lock, so that the record is not taken away in between.
        let receiver = followed.receiver();
        (followed, receiver)
    }

    /// The record of a task that somebody follows.
    pub(crate) fn followed(&self, id: &TaskId) -> Option<Arc<Followed>> {
        self.lock()
            .get(id)
            .filter(|followed| !followed.is_left())
            .cloned()
    }

    /// Tells the followers of a task, if there are any. News may come in any order; the newest stay.
    pub(crate) fn tell(&self, id: &TaskId, pulse: Pulse) {
        if let Some(followed) = self.get(id) {
            followed.tell(pulse);
        }
    }

    /// Tells the followers of a task that it is gone.
    pub(crate) fn close(&self, id: &TaskId) {
        if let Some(followed) = self.get(id) {
            followed.close();
        }
    }

    /// A task's news may have been missed.
    pub(crate) fn doubt(&self, id: &TaskId) {
        if let Some(followed) = self.get(id) {
            followed.in_doubt.store(true, Ordering::Relaxed);
        }
    }

    /// News of every task may have been missed.
    pub(crate) fn doubt_all(&self) {
        for followed in self.lock().values() {
            followed.in_doubt.store(true, Ordering::Relaxed);
        }
    }

    /// Redis has ended the subscription of a task, as it was asked to or as its bucket went elsewhere.
    pub(crate) fn unsubscribed(&self, id: &TaskId) {
        if let Some(followed) = self.get(id) {
            followed.ended.store(true, Ordering::Relaxed);
            followed.in_doubt.store(true, Ordering::Relaxed);
        }
    }

    /// The tasks that are to be looked at.
    pub(crate) fn doubtful(&self) -> Vec<TaskId> {
        let held = self.lock();
        let doubtful = held.iter().filter(|(_, followed)| followed.take_doubt());
        doubtful.map(|(id, _)| id.clone()).collect()
    }

    /// The tasks that nobody follows any more.
    pub(crate) fn left(&self) -> Vec<(TaskId, Arc<Followed>)> {
        let held = self.lock();
        let left = held.iter().filter(|(_, followed)| followed.is_left());
        left.map(|(id, followed)| (id.clone(), followed.clone()))
            .collect()
    }

    /// Forgets a task, unless somebody has come meanwhile.
    pub(crate) fn forget(&self, id: &TaskId) {
        let mut held = self.lock();
        if held.get(id).is_some_and(|followed| followed.is_left()) {
            held.remove(id);
        }
    }

    /// How many tasks are followed or about to be forgotten.
    #[cfg(test)]
    pub(crate) fn count(&self) -> usize {
        self.lock().len()
    }

    fn get(&self, id: &TaskId) -> Option<Arc<Followed>> {
        self.lock().get(id).cloned()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<TaskId, Arc<Followed>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for Followed {
    fn default() -> Self {
        Self {
            state: Mutex::new(State {
                sender: None,
                heard: Instant::now(),
            }),
            subscription: tokio::sync::Mutex::default(),
            in_doubt: AtomicBool::default(),
            ended: AtomicBool::default(),
            recent: tokio::sync::Mutex::default(),
        }
    }
}

impl Followed {
    /// A receiver whose latest news count as seen; nothing where the task is gone.
    pub(crate) fn follow(&self) -> Option<watch::Receiver<Pulse>> {
        self.lock().sender.as_ref().map(watch::Sender::subscribe)
    }

    /// Takes in where a task stands.
    pub(crate) fn tell(&self, pulse: Pulse) {
        let mut state = self.lock();
        state.heard = Instant::now();
        if let Some(sender) = &state.sender {
            sender.send_if_modified(|told| {
                let newer = pulse.cursor.revision > told.cursor.revision;
                if newer {
                    *told = pulse;
                }
                newer
            });
        }
    }

    /// Takes in where a task stands as somebody looked it up after something was told. A task that has not got there
    /// by way of what was told lost commits in a failover: its readers have seen what is no more, so their channel
    /// closes, and they begin again. Says whether it was so.
    pub(crate) fn compare(&self, told_before: Pulse, found: &Standing) -> bool {
        let set_back = found.lacks(told_before.cursor);
        if set_back {
            self.close();
        } else {
            self.tell(found.pulse);
        }
        set_back
    }

    /// Whether Redis has ended the subscription since this was asked last.
    pub(crate) fn take_end(&self) -> bool {
        self.ended.swap(false, Ordering::Relaxed)
    }

    /// What was told last.
    pub(crate) fn told(&self) -> Option<Pulse> {
        self.lock().sender.as_ref().map(|sender| *sender.borrow())
    }

    /// Closes the channel.
    pub(crate) fn close(&self) {
        self.lock().sender = None;
    }

    fn receiver(&self) -> watch::Receiver<Pulse> {
        let mut state = self.lock();
        let sender = state.sender.get_or_insert_with(|| watch::Sender::new(NOTHING));
        sender.subscribe()
    }

    fn is_left(&self) -> bool {
        let state = self.lock();
        state
            .sender
            .as_ref()
            .is_none_or(|sender| sender.receiver_count() == 0)
    }

    fn take_doubt(&self) -> bool {
        let doubted = self.in_doubt.swap(false, Ordering::Relaxed);
        let mut state = self.lock();
        let silent = state.heard.elapsed() >= SILENCE;
        if silent {
            state.heard = Instant::now();
        }
        (doubted || silent) && state.sender.is_some()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
