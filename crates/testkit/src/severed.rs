//! A replica's way to a store that others share, which a test can cut: as if the replica had been killed, or had lost
//! its network.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use async_trait::async_trait;
use gateway_domain::{
    Cursor, Message, PushNotificationConfigId, PushNotificationConfigRow, TaskId, Timestamp,
    ports::{
        Asked, Change, CommitError, ConfigPut, CreateError, Creation, Epoch, Granted, Lease, ListQuery,
        Listing, LogRead, NumberedAsk, Origin, Pulse, Purge, PurgeStep, PutConfigError, Renewed, RunAnswer,
        RunAsk, Settled, Store, StoreError, StoredTask, Taken, TaskHead, Terms, Work, WorkNews,
    },
    push::StoredConfig,
    repeats::{FirstSend, SendKey},
};
use tokio::sync::{broadcast, watch};

/// The way of one replica. What was under way when it is cut may have arrived.
pub struct Severed {
    store: Arc<dyn Store>,
    cut: AtomicBool,
}

impl Severed {
    /// A way that is open.
    pub fn new(store: Arc<dyn Store>) -> Self {
        Self {
            store,
            cut: AtomicBool::new(false),
        }
    }

    /// From now on nothing arrives.
    pub fn cut(&self) {
        self.cut.store(true, Ordering::SeqCst);
    }

    /// Everything arrives again.
    pub fn mend(&self) {
        self.cut.store(false, Ordering::SeqCst);
    }

    fn store(&self) -> Result<&dyn Store, StoreError> {
        if self.cut.load(Ordering::SeqCst) {
            return Err(StoreError::new("the way to the store was cut"));
        }
        Ok(&*self.store)
    }
}

#[async_trait]
impl Work for Severed {
    fn work_news(&self) -> broadcast::Receiver<WorkNews> {
        self.store.work_news()
    }

    async fn take_due(&self, terms: &Terms, most: usize) -> Result<Vec<Taken>, StoreError> {
        self.store()?.take_due(terms, most).await
    }

    async fn renew(&self, leases: &[Lease], terms: &Terms) -> Result<Vec<Renewed>, StoreError> {
        self.store()?.renew(leases, terms).await
    }

    async fn give_back(&self, lease: &Lease, due: Timestamp) -> Result<bool, StoreError> {
        self.store()?.give_back(lease, due).await
    }

    async fn settle(&self, lease: &Lease, seen: u64) -> Result<Settled, StoreError> {
        self.store()?.settle(lease, seen).await
    }

    async fn ask(&self, task: &TaskId, ask: RunAsk) -> Result<Option<Asked>, StoreError> {
        self.store()?.ask(task, ask).await
    }

    async fn asks(&self, lease: &Lease, after: u64) -> Result<Option<Vec<NumberedAsk>>, StoreError> {
        self.store()?.asks(lease, after).await
    }

    async fn answer(
        &self,
        lease: &Lease,
        number: u64,
        answer: RunAnswer,
        kept: bool,
    ) -> Result<bool, StoreError> {
        self.store()?.answer(lease, number, answer, kept).await
    }

    async fn answer_to(&self, task: &TaskId, number: u64) -> Result<Option<RunAnswer>, StoreError> {
        self.store()?.answer_to(task, number).await
    }

    async fn note_delivered(
        &self,
        lease: &Lease,
        delivered: Cursor,
        terms: &Terms,
    ) -> Result<bool, StoreError> {
        self.store()?.note_delivered(lease, delivered, terms).await
    }
}

#[async_trait]
impl Store for Severed {
    fn name_task(&self, fresh: TaskId, origin: Origin<'_>) -> TaskId {
        self.store.name_task(fresh, origin)
    }

    async fn create(&self, creation: Creation) -> Result<Granted, CreateError> {
        self.store().map_err(CreateError::Store)?.create(creation).await
    }

    async fn discard(&self, id: &TaskId) -> Result<bool, StoreError> {
        self.store()?.discard(id).await
    }

    async fn discard_answered(&self, id: &TaskId, answer: &Arc<Message>) -> Result<bool, StoreError> {
        self.store()?.discard_answered(id, answer).await
    }

    async fn first_send(&self, key: &SendKey, now: Timestamp) -> Result<Option<FirstSend>, StoreError> {
        self.store()?.first_send(key, now).await
    }

    async fn forget_send(&self, key: &SendKey) -> Result<(), StoreError> {
        self.store()?.forget_send(key).await
    }

    async fn head(&self, id: &TaskId) -> Result<Option<Arc<TaskHead>>, StoreError> {
        self.store()?.head(id).await
    }

    async fn read(&self, id: &TaskId) -> Result<Option<StoredTask>, StoreError> {
        self.store()?.read(id).await
    }

    async fn commit(&self, change: Change) -> Result<Granted, CommitError> {
        self.store().map_err(CommitError::Store)?.commit(change).await
    }

    async fn log(&self, id: &TaskId, after: Cursor, most: usize) -> Result<LogRead, StoreError> {
        self.store()?.log(id, after, most).await
    }

    async fn follow(&self, id: &TaskId) -> Result<Option<watch::Receiver<Pulse>>, StoreError> {
        self.store()?.follow(id).await
    }

    async fn list(&self, query: ListQuery) -> Result<Listing, StoreError> {
        self.store()?.list(query).await
    }

    async fn all(&self, after: Option<TaskId>, most: usize) -> Result<Vec<StoredTask>, StoreError> {
        self.store()?.all(after, most).await
    }

    async fn purge(&self, what: &Purge, after: Option<TaskId>, most: usize) -> Result<PurgeStep, StoreError> {
        self.store()?.purge(what, after, most).await
    }

    async fn put_config(&self, put: ConfigPut) -> Result<Option<Epoch>, PutConfigError> {
        self.store().map_err(PutConfigError::Store)?.put_config(put).await
    }

    async fn config(
        &self,
        task: &TaskId,
        id: &PushNotificationConfigId,
    ) -> Result<Option<StoredConfig>, StoreError> {
        self.store()?.config(task, id).await
    }

    async fn configs(
        &self,
        task: &TaskId,
        after: Option<PushNotificationConfigId>,
        most: usize,
    ) -> Result<Vec<StoredConfig>, StoreError> {
        self.store()?.configs(task, after, most).await
    }

    async fn delete_config(&self, task: &TaskId, id: &PushNotificationConfigId) -> Result<bool, StoreError> {
        self.store()?.delete_config(task, id).await
    }

    async fn all_configs(
        &self,
        after: Option<PushNotificationConfigRow>,
        most: usize,
    ) -> Result<Vec<StoredConfig>, StoreError> {
        self.store()?.all_configs(after, most).await
    }
}
