//! The store that keeps tasks in Redis, so that any replica can answer any call and follow any task.
//!
//! Each commit is one script in one slot: it compares the revision, applies, and writes the log entry. Live tasks
//! never leave; finished ones are bounded in number and age. What Redis itself loses, with its machine or in a
//! failover, is lost here too: what is waited for before a change counts is a setting, [`Durability`].

mod agreement;
mod configs;
mod followers;
mod keeper;
mod keys;
mod link;
mod lists;
mod news;
mod purge;
mod reading;
mod records;
mod scripts;
mod sends;
mod settings;
mod snapshots;
mod tasks;
#[cfg(test)]
mod tests;
mod work;

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicI64, AtomicU64, AtomicUsize, Ordering::Relaxed},
    },
};

use async_trait::async_trait;
use gateway_domain::{
    Cursor, Message, PushNotificationConfigId, PushNotificationConfigRow, TaskId, Timestamp,
    ports::{
        Change, CommitError, ConfigPut, CreateError, Creation, Epoch, Granted, ListQuery, Listing, LogRead,
        Origin, Pulse, Purge, PurgeStep, PutConfigError, Store, StoreError, StoredTask, TaskHead, WorkNews,
    },
    push::StoredConfig,
    repeats::{FirstSend, SendKey},
};
use tokio::sync::{broadcast, watch};

use crate::{
    followers::Followers,
    keeper::Keeper,
    keys::{Bucket, Layout},
    link::Link,
    news::Ears,
    snapshots::Snapshots,
};

pub use crate::{
    keeper::{Held, Retired},
    settings::{Durability, Mode, Settings, Tls},
};

/// Tasks in Redis. Dropping it ends its connections.
pub struct RedisStore {
    inner: Arc<Inner>,
    /// Looks after connections and followers as long as the store is there.
    _keeper: Keeper,
}

struct Inner {
    link: Link,
    layout: Layout,
    settings: Settings,
    followers: Arc<Followers>,
    snapshots: Snapshots,
    /// Of due work.
    work_news: broadcast::Sender<WorkNews>,
    /// Over which connections that of each bucket comes.
    work_heard: Mutex<HashMap<Bucket, u64>>,
    /// What the grants of this replica end with.
    salt: u32,
    /// How far Redis's clock is ahead of this machine's, in milliseconds.
    clock_ahead: AtomicI64,
    /// Whether others have spread a tenant over buckets that this replica does not look into.
    spread_otherwise: AtomicBool,
    counts: Counts,
}

#[derive(Default)]
struct Counts {
    over_count: AtomicU64,
    over_age: AtomicU64,
    live: AtomicUsize,
    finished: AtomicUsize,
    set_back: AtomicU64,
}

impl RedisStore {
    /// Connects, and agrees with the deployment's other replicas on its layout.
    ///
    /// # Errors
    /// Redis cannot be reached or does not let this user in, or the deployment was made with another layout.
    pub async fn open(settings: Settings) -> Result<Self, StoreError> {
        settings.check()?;
        let followers = Arc::<Followers>::default();
        let work_news = broadcast::Sender::new(work::MOST_NEWS);
        let ears = Ears {
            followers: followers.clone(),
            work: work_news.clone(),
        };
        let link = Link::open(&settings, Arc::new(ears)).await?;
        let inner = Arc::new(Inner {
            link,
            layout: settings.layout(),
            settings,
            followers,
            snapshots: Snapshots::default(),
            work_news,
            work_heard: Mutex::default(),
            salt: work::draw_salt(),
            clock_ahead: AtomicI64::default(),
            spread_otherwise: AtomicBool::default(),
            counts: Counts::default(),
        });
        inner.agree_on_layout().await?;
        inner.compare_clocks().await?;
        inner.hear_of_work().await?;
        Ok(Self {
            _keeper: Keeper::of(&inner),
            inner,
        })
    }

    /// A value that all replicas of the deployment share: this one, unless another came first.
    ///
    /// # Errors
    /// Redis did not answer.
    pub async fn agree(&self, name: &str, value: &[u8]) -> Result<Vec<u8>, StoreError> {
        self.inner.agree(name, value).await
    }

    /// Whether Redis answers, or has not for a few seconds only: all replicas see the same short break, and none
    /// of them would be the better one to ask. One that others have left behind by spreading a tenant is not ready.
    pub fn is_ready(&self) -> bool {
        self.inner.is_ready()
    }

    /// Removes the finished tasks whose time is over, and counts what is held; says how many it removed. Nothing
    /// else looks at their age, so somebody has to call this now and then, on any replica or on all of them.
    ///
    /// # Errors
    /// Redis did not answer.
    pub async fn sweep(&self, now: Timestamp) -> Result<usize, StoreError> {
        self.inner.sweep(now).await
    }

    /// How many finished tasks this replica has removed so far, and why.
    pub fn retired(&self) -> Retired {
        self.inner.retired()
    }

    /// How many tasks that are followed here Redis has set back: a failover lost commits that had been told of.
    pub fn set_back(&self) -> u64 {
        self.inner.counts.set_back.load(Relaxed)
    }

    /// How many tasks the deployment held at the last sweep.
    pub fn held(&self) -> Held {
        self.inner.held()
    }
}

#[async_trait]
impl Store for RedisStore {
    fn name_task(&self, fresh: TaskId, origin: Origin<'_>) -> TaskId {
        self.inner.layout.mark(&fresh, origin)
    }

    async fn create(&self, creation: Creation) -> Result<Granted, CreateError> {
        self.inner.create(creation).await
    }

    async fn discard(&self, id: &TaskId) -> Result<bool, StoreError> {
        self.inner.discard(id, None).await
    }

    async fn discard_answered(&self, id: &TaskId, answer: &Arc<Message>) -> Result<bool, StoreError> {
        self.inner.discard(id, Some(answer)).await
    }

    async fn first_send(&self, key: &SendKey, now: Timestamp) -> Result<Option<FirstSend>, StoreError> {
        self.inner.first_send(key, now).await
    }

    async fn forget_send(&self, key: &SendKey) -> Result<(), StoreError> {
        self.inner.forget_send(key).await
    }

    async fn head(&self, id: &TaskId) -> Result<Option<Arc<TaskHead>>, StoreError> {
        self.inner.head(id).await
    }

    async fn read(&self, id: &TaskId) -> Result<Option<StoredTask>, StoreError> {
        self.inner.read(id).await
    }

    async fn commit(&self, change: Change) -> Result<Granted, CommitError> {
        self.inner.commit(change).await
    }

    async fn log(&self, id: &TaskId, after: Cursor, most: usize) -> Result<LogRead, StoreError> {
        self.inner.log(id, after, most).await
    }

    async fn follow(&self, id: &TaskId) -> Result<Option<watch::Receiver<Pulse>>, StoreError> {
        self.inner.follow(id).await
    }

    async fn list(&self, query: ListQuery) -> Result<Listing, StoreError> {
        self.inner.list(query).await
    }

    async fn all(&self, after: Option<TaskId>, most: usize) -> Result<Vec<StoredTask>, StoreError> {
        self.inner.all(after, most).await
    }

    async fn purge(&self, what: &Purge, after: Option<TaskId>, most: usize) -> Result<PurgeStep, StoreError> {
        self.inner.purge(what, after, most).await
    }

    async fn put_config(&self, put: ConfigPut) -> Result<Option<Epoch>, PutConfigError> {
        self.inner.put_config(put).await
    }

    async fn config(
        &self,
        task: &TaskId,
        id: &PushNotificationConfigId,
    ) -> Result<Option<StoredConfig>, StoreError> {
        self.inner.config(task, id).await
    }

    async fn configs(
        &self,
        task: &TaskId,
        after: Option<PushNotificationConfigId>,
        most: usize,
    ) -> Result<Vec<StoredConfig>, StoreError> {
        self.inner.configs(task, after, most).await
    }

    async fn delete_config(&self, task: &TaskId, id: &PushNotificationConfigId) -> Result<bool, StoreError> {
        self.inner.delete_config(task, id).await
    }

    async fn all_configs(
        &self,
        after: Option<PushNotificationConfigRow>,
        most: usize,
    ) -> Result<Vec<StoredConfig>, StoreError> {
        self.inner.all_configs(after, most).await
    }
}
