//! The store that keeps tasks in the memory of one process: the default, so that the gateway runs from one command.
//!
//! It keeps every promise of [`Store`] except the one of other replicas: nothing outlives the process. Finished tasks
//! are bounded in number and bytes, and the oldest leave first; live ones never leave.

mod configs;
mod due;
mod index;
mod log;
mod record;
mod retention;
mod sends;
mod shelves;
#[cfg(test)]
mod tests;
mod work;

use std::{
    sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard},
    time::Duration,
};

use async_trait::async_trait;
use gateway_domain::{
    Cursor, Entry, Message, PushNotificationConfigId, PushNotificationConfigRow, TaskId, Timestamp,
    ports::{
        Change, CommitError, ConfigPut, CreateError, Creation, Epoch, Granted, ListQuery, Listing, LogRead,
        Pulse, Purge, PurgeStep, PutConfigError, RunGrant, Store, StoreError, StoredTask, TaskHead, WorkNews,
    },
    push::StoredConfig,
    repeats::{FirstSend, SendKey},
};
use tokio::sync::{broadcast, watch};

use crate::{record::Record, shelves::Shelves};

pub use crate::{retention::Retired, shelves::Held};

/// Tasks of one process. Cheap to share behind an `Arc`.
///
/// Two kinds of lock: one for the shelves (what is held, in which order), one for each record (a task and its log).
/// Whoever needs both takes the shelves first. Neither is held while anything waits.
#[derive(Debug)]
pub struct MemoryStore {
    shelves: RwLock<Shelves>,
    /// Of due work, for other services over this store.
    news: broadcast::Sender<WorkNews>,
}

impl Default for MemoryStore {
    fn default() -> Self {
        Self::new(Settings::default())
    }
}

/// Bounds of what a [`MemoryStore`] keeps. Those of a single task's content are the domain's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// Entries in the log of a task, at least 1.
    pub log_entries: usize,
    /// Bytes in the log of a task, roughly. The newest entry is held however large it is.
    pub log_bytes: usize,
    /// Finished tasks of a tenant (or: of all without one).
    pub finished_per_tenant: usize,
    /// Bytes of all finished tasks with their logs, roughly.
    pub finished_bytes: usize,
    /// How long a finished task is kept where there is room.
    pub finished_kept: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            log_entries: 2_000,
            log_bytes: 8 << 20,
            finished_per_tenant: 200_000,
            finished_bytes: 1 << 30,
            finished_kept: Duration::from_secs(24 * 60 * 60),
        }
    }
}

/// Tasks that one hold of the lock removes in a sweep: few enough for calls to get their turn in between.
const SWEPT_AT_ONCE: usize = 256;

impl MemoryStore {
    /// An empty store.
    pub fn new(settings: Settings) -> Self {
        Self {
            shelves: RwLock::new(Shelves::new(settings)),
            news: broadcast::Sender::new(work::MOST_NEWS),
        }
    }

    /// Removes the finished tasks whose time is over; says how many. Nothing else looks at their age, so somebody
    /// has to call this now and then.
    pub fn sweep(&self, now: Timestamp) -> usize {
        let mut swept = 0;
        self.write().sweep_sends(now);
        loop {
            let removed = self.write().sweep(now, SWEPT_AT_ONCE);
            swept += removed.len();
            if removed.len() < SWEPT_AT_ONCE {
                return swept;
            }
        }
    }

    /// How many finished tasks have been removed so far, and why.
    pub fn retired(&self) -> Retired {
        self.read_shelves().retired()
    }

    /// How many tasks are held now.
    pub fn held(&self) -> Held {
        self.read_shelves().held()
    }

    fn record(&self, id: &TaskId) -> Option<Arc<Record>> {
        self.read_shelves().record(id).cloned()
    }

    // Nothing panics halfway through a change of the shelves, so what a poisoned lock guards is whole.
    fn read_shelves(&self) -> RwLockReadGuard<'_, Shelves> {
        self.shelves.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Shelves> {
        self.shelves.write().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether an entry may change a task's place in the lists or end it. Those commits take turns; all others, the
/// chunks of artifacts above all, only meet at their task.
fn moves(entry: &Entry) -> bool {
    match entry {
        Entry::Created { .. } | Entry::Shown(_) | Entry::StatusUpdated { .. } => true,
        Entry::MessageTaken(_) | Entry::ArtifactUpdated(_) => false,
    }
}

/// Whether a change is about more than its task.
fn concerns_more(change: &Change) -> bool {
    change.config.is_some() || change.run.is_some() || change.owner.is_some() || change.send.is_some()
}

#[async_trait]
impl Store for MemoryStore {
    async fn create(&self, creation: Creation) -> Result<Granted, CreateError> {
        self.write().create(creation)
    }

    async fn discard(&self, id: &TaskId) -> Result<bool, StoreError> {
        let removed = self.write().discard(id, None);
        Ok(removed.is_some())
    }

    async fn discard_answered(&self, id: &TaskId, answer: &Arc<Message>) -> Result<bool, StoreError> {
        let removed = self.write().discard(id, Some(answer));
        Ok(removed.is_some())
    }

    async fn first_send(&self, key: &SendKey, now: Timestamp) -> Result<Option<FirstSend>, StoreError> {
        Ok(self.read_shelves().first_send(key, now).cloned())
    }

    async fn forget_send(&self, key: &SendKey) -> Result<(), StoreError> {
        self.write().forget_send(key);
        Ok(())
    }

    async fn head(&self, id: &TaskId) -> Result<Option<Arc<TaskHead>>, StoreError> {
        Ok(self.record(id).map(|record| record.head()))
    }

    async fn read(&self, id: &TaskId) -> Result<Option<StoredTask>, StoreError> {
        Ok(self.record(id).map(|record| record.view().into_stored()))
    }

    async fn commit(&self, change: Change) -> Result<Granted, CommitError> {
        let news = if moves(&change.entry.entry) || concerns_more(&change) {
            let id = change.head.id.clone();
            // What it retired is dropped after the followers were told, and outside of the lock.
            let (news, granted, _retired) = self.write().commit(change)?;
            news.tell();
            if let Some(RunGrant::Asked(_)) = granted.run {
                self.tell(WorkNews::Asked(id));
            }
            return Ok(granted);
        } else {
            self.record(&change.head.id)
                .ok_or(CommitError::Gone)?
                .apply(change)?
        };
        news.tell();
        Ok(Granted::default())
    }

    async fn log(&self, id: &TaskId, after: Cursor, most: usize) -> Result<LogRead, StoreError> {
        let read = self.record(id).map(|record| record.log(after, most));
        Ok(read.unwrap_or(LogRead::Gone))
    }

    async fn follow(&self, id: &TaskId) -> Result<Option<watch::Receiver<Pulse>>, StoreError> {
        Ok(self.record(id).map(|record| record.follow()))
    }

    async fn list(&self, query: ListQuery) -> Result<Listing, StoreError> {
        let page = self.read_shelves().list(&query);
        Ok(page.into_listing(&query))
    }

    async fn all(&self, after: Option<TaskId>, most: usize) -> Result<Vec<StoredTask>, StoreError> {
        let views = self.read_shelves().all(after.as_ref(), most);
        Ok(views.into_iter().map(record::View::into_stored).collect())
    }

    async fn purge(&self, what: &Purge, after: Option<TaskId>, most: usize) -> Result<PurgeStep, StoreError> {
        // What it took is dropped outside of the lock.
        let (step, _taken) = self.write().purge(what, after.as_ref(), most);
        Ok(step)
    }

    async fn put_config(&self, put: ConfigPut) -> Result<Option<Epoch>, PutConfigError> {
        self.write().put_config(put)
    }

    async fn config(
        &self,
        task: &TaskId,
        id: &PushNotificationConfigId,
    ) -> Result<Option<StoredConfig>, StoreError> {
        Ok(self.read_shelves().configs().one(task, id).cloned())
    }

    async fn configs(
        &self,
        task: &TaskId,
        after: Option<PushNotificationConfigId>,
        most: usize,
    ) -> Result<Vec<StoredConfig>, StoreError> {
        Ok(self.read_shelves().configs().of_task(task, after.as_ref(), most))
    }

    async fn delete_config(&self, task: &TaskId, id: &PushNotificationConfigId) -> Result<bool, StoreError> {
        Ok(self.write().delete_config(task, id))
    }

    async fn all_configs(
        &self,
        after: Option<PushNotificationConfigRow>,
        most: usize,
    ) -> Result<Vec<StoredConfig>, StoreError> {
        Ok(self.read_shelves().configs().all(after.as_ref(), most))
    }
}
