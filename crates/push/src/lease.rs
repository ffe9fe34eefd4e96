//! Whose a delivery is. In one process alone it is that process's; where replicas share a store it is held under a lease,
//! how far it came stands in the store, and another replica goes on where this one ends. Which events are sent twice at
//! such a seam is not decided here: those that were sent and not noted.

use std::{
    future::pending,
    sync::{Arc, Weak},
    time::Duration,
};

use gateway_domain::{
    Cursor, PushNotificationConfigId, TaskId,
    ports::{DueWork, StoreError, WorkKey, WorkKind},
    push::StoredConfig,
    work::{Held, Worker},
};

use crate::courier::Shared;

/// How long a delivery rests that cannot go on here: another replica, or this one, tries again after it.
const REST: Duration = Duration::from_secs(5);

/// What a follower holds of its delivery. Dropped without a word, it is given back after a rest.
#[derive(Clone)]
pub(crate) struct Holding {
    shared: Arc<Shared>,
    held: Option<Held>,
}

impl Holding {
    pub(crate) fn new(shared: Arc<Shared>, held: Option<Held>) -> Self {
        if let Some(held) = &held {
            held.give_back_in(REST);
        }
        Self { shared, held }
    }

    /// Returns when nothing is to be waited for any more, since this process is about to leave.
    pub(crate) async fn closing(&self) {
        tokio::select! {
            () = self.shared.closing.cancelled() => {}
            () = self.wanted_back() => {}
        }
    }

    /// Returns when another replica is to go on at once.
    pub(crate) async fn wanted_back(&self) {
        match &self.held {
            Some(held) => held.wanted_back().await,
            None => pending().await,
        }
    }

    /// Returns when another replica may have it.
    pub(crate) async fn lost(&self) {
        match &self.held {
            Some(held) => held.lost().await,
            None => pending().await,
        }
    }

    /// Whether it is this process's, as far as that can be known without asking the store.
    pub(crate) fn is_valid(&self) -> bool {
        self.held.as_ref().is_none_or(Held::is_valid)
    }

    /// Notes that an event was delivered or given up; says whether the delivery was still this process's.
    pub(crate) async fn note(&self, delivered: Cursor) -> Result<bool, StoreError> {
        let (Some(held), Some(keeper)) = (&self.held, &self.shared.keeper) else {
            return Ok(true);
        };
        let (lease, terms) = (held.lease(), keeper.terms());
        self.shared.store.note_delivered(lease, delivered, &terms).await
    }

    /// There is nothing more to deliver.
    pub(crate) fn is_done(&self) {
        if let Some(held) = &self.held {
            held.is_done();
        }
    }

    /// It goes on elsewhere, at once.
    pub(crate) fn give_back(&self) {
        if let Some(held) = &self.held {
            held.give_back();
        }
    }
}

pub(crate) fn work_key(task: TaskId, id: PushNotificationConfigId) -> WorkKey {
    WorkKey {
        task,
        kind: WorkKind::Webhook(id),
    }
}

/// Goes on with deliveries that other replicas left, as long as the courier is there.
pub(crate) struct Taker(pub(crate) Weak<Shared>);

impl Worker for Taker {
    fn take(&self, held: Held, work: DueWork) {
        let (Some(shared), DueWork::Webhook { delivered }) = (self.0.upgrade(), work) else {
            return held.give_back();
        };
        let Ok(permit) = shared.places.clone().try_acquire_owned() else {
            return held.give_back_in(REST);
        };
        let stopped = shared.stopped.clone();
        let taking = shared.clone();
        shared.tasks.spawn(async move {
            let holding = Holding::new(taking.clone(), Some(held.clone()));
            let begun = async {
                if let Some(config) = config_of(&taking, &held).await? {
                    tracing::info!(task = %held.lease().key.task, row = %config.row, "webhook taken over");
                    taking.go_on(config, delivered, permit, holding.clone());
                } else {
                    holding.is_done();
                }
                Ok::<_, StoreError>(())
            };
            if let Some(Err(error)) = stopped.run_until_cancelled(begun).await {
                let task = &held.lease().key.task;
                tracing::debug!(%task, cause = error.cause, "webhook not taken over yet");
            }
        });
    }

    /// Each follower watches its own lease.
    fn stop(&self, _: &WorkKey) {}
}

/// The configuration that a lease is about; nothing where it is deleted by now.
async fn config_of(shared: &Shared, held: &Held) -> Result<Option<StoredConfig>, StoreError> {
    let key = &held.lease().key;
    match &key.kind {
        WorkKind::Webhook(id) => shared.store.config(&key.task, id).await,
        WorkKind::Run => Ok(None),
    }
}
