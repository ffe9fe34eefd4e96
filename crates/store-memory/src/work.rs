//! The port of due work over the shelves. Other replicas are other services of the same process, which tests have.

use async_trait::async_trait;
use gateway_domain::{
    Cursor, TaskId, Timestamp,
    ports::{
        Asked, Lease, NumberedAsk, Renewed, RunAnswer, RunAsk, Settled, StoreError, Taken, Terms, Work,
        WorkNews,
    },
};
use tokio::sync::broadcast;

use crate::MemoryStore;

/// Hints that are held for a listener who is slow; beyond it he is told that he missed some.
pub(crate) const MOST_NEWS: usize = 256;

impl MemoryStore {
    /// Nobody listens where there is one replica.
    pub(crate) fn tell(&self, news: WorkNews) {
        drop(self.news.send(news));
    }
}

#[async_trait]
impl Work for MemoryStore {
    fn work_news(&self) -> broadcast::Receiver<WorkNews> {
        self.news.subscribe()
    }

    async fn take_due(&self, terms: &Terms, most: usize) -> Result<Vec<Taken>, StoreError> {
        Ok(self.write().due_mut().take(terms, most))
    }

    async fn renew(&self, leases: &[Lease], terms: &Terms) -> Result<Vec<Renewed>, StoreError> {
        let mut shelves = self.write();
        let renewed = leases
            .iter()
            .map(|lease| shelves.due_mut().renew(lease, terms.due()));
        Ok(renewed.collect())
    }

    async fn give_back(&self, lease: &Lease, due: Timestamp) -> Result<bool, StoreError> {
        let held = self.write().due_mut().give_back(lease, due);
        self.tell(WorkNews::Due);
        Ok(held)
    }

    async fn settle(&self, lease: &Lease, seen: u64) -> Result<Settled, StoreError> {
        Ok(self.write().due_mut().settle(lease, seen))
    }

    async fn ask(&self, task: &TaskId, ask: RunAsk) -> Result<Option<Asked>, StoreError> {
        let asked = self.write().due_mut().ask(task, ask);
        if asked.is_some() {
            self.tell(WorkNews::Asked(task.clone()));
        }
        Ok(asked)
    }

    async fn asks(&self, lease: &Lease, after: u64) -> Result<Option<Vec<NumberedAsk>>, StoreError> {
        Ok(self.write().due_mut().asks(lease, after))
    }

    async fn answer(
        &self,
        lease: &Lease,
        number: u64,
        answer: RunAnswer,
        kept: bool,
    ) -> Result<bool, StoreError> {
        let held = self.write().due_mut().answer(lease, number, answer, kept);
        self.tell(WorkNews::Answered(lease.key.task.clone()));
        Ok(held)
    }

    async fn answer_to(&self, task: &TaskId, number: u64) -> Result<Option<RunAnswer>, StoreError> {
        Ok(self.read_shelves().due().answer_to(task, number))
    }

    async fn note_delivered(
        &self,
        lease: &Lease,
        delivered: Cursor,
        terms: &Terms,
    ) -> Result<bool, StoreError> {
        let due = terms.due();
        Ok(self.write().due_mut().note_delivered(lease, delivered, due))
    }
}
