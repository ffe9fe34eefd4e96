//! The store that the settings name, with what only the assembly asks of one.

use std::sync::Arc;

use gateway_config::{Settings, typed::StoreKind};
use gateway_domain::{
    Timestamp,
    page::PageKey,
    ports::{Clock, Ids, Store},
    work::Keeper,
};
use gateway_store_memory::MemoryStore;
use gateway_store_redis::RedisStore;
use gateway_telemetry::{Metrics, list};

use crate::{StartError, bounds, ids};

/// A store that is open.
#[derive(Clone)]
pub(crate) enum Kept {
    /// In this process.
    Memory(Arc<MemoryStore>),
    /// In Redis.
    Redis(Arc<RedisStore>),
}

impl Kept {
    /// Opens it.
    pub(crate) async fn open(settings: &Settings) -> Result<Self, StartError> {
        match settings.store.kind {
            StoreKind::Memory => Ok(Self::Memory(Arc::new(MemoryStore::new(bounds::memory(
                &settings.store,
            ))))),
            StoreKind::Redis => {
                let opened = RedisStore::open(bounds::redis(settings)).await;
                let store = opened.map_err(|error| {
                    let url = &settings.store.redis.url;
                    StartError::Part(format!("the store at {url} (store.redis): {}", error.cause))
                })?;
                Ok(Self::Redis(Arc::new(store)))
            }
        }
    }

    /// What the domain needs of it.
    pub(crate) fn port(&self) -> Arc<dyn Store> {
        match self {
            Self::Memory(store) => store.clone(),
            Self::Redis(store) => store.clone(),
        }
    }

    /// The key that seals page tokens: what the settings say, else one that lasts as long as the store.
    pub(crate) async fn page_key(&self, settings: &Settings) -> Result<PageKey, StartError> {
        if let Some(key) = &settings.page_key {
            return Ok(PageKey::new(key.expose()));
        }
        let fresh = ids::random_key();
        let key = match self {
            Self::Memory(_) => fresh,
            Self::Redis(store) => {
                let agreed = store.agree("page-key", &fresh).await;
                agreed.map_err(|error| StartError::Part(error.cause))?
            }
        };
        Ok(PageKey::new(&key))
    }

    /// The keeper of this replica's leases, where there may be others.
    pub(crate) fn keeper(
        &self,
        settings: &Settings,
        clock: &Arc<dyn Clock>,
        ids: &Arc<dyn Ids>,
    ) -> Option<Keeper> {
        match self {
            Self::Memory(_) => None,
            Self::Redis(_) => {
                let settings = bounds::keeper(&settings.store, ids::replica());
                Some(Keeper::new(self.port(), clock.clone(), ids.clone(), settings))
            }
        }
    }

    /// Whether calls can be answered out of it.
    pub(crate) fn is_ready(&self) -> bool {
        match self {
            Self::Memory(_) => true,
            Self::Redis(store) => store.is_ready(),
        }
    }

    /// Removes the finished tasks whose time is over.
    pub(crate) async fn sweep(&self, now: Timestamp) {
        let removed = match self {
            Self::Memory(store) => Ok(store.sweep(now)),
            Self::Redis(store) => store.sweep(now).await,
        };
        match removed {
            Ok(0) => {}
            Ok(removed) => tracing::debug!(removed, "retired tasks for their age"),
            Err(error) => tracing::warn!(error = error.cause, "the store could not be swept"),
        }
    }

    /// Has the metrics read what it counts.
    pub(crate) fn watch(&self, metrics: &Metrics) {
        let number = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
        let store = self.clone();
        metrics.watch(&list::LIVE_TASKS, move || vec![("", number(store.held().0))]);
        let store = self.clone();
        metrics.watch(&list::FINISHED_TASKS, move || vec![("", number(store.held().1))]);
        let store = self.clone();
        metrics.watch(&list::RETIRED_TASKS, move || store.retired());
        let store = self.clone();
        metrics.watch(&list::SET_BACK_TASKS, move || vec![("", store.set_back())]);
    }

    /// Tasks that lost changes which had been told of; this process loses none while it lives.
    fn set_back(&self) -> u64 {
        match self {
            Self::Memory(_) => 0,
            Self::Redis(store) => store.set_back(),
        }
    }

    /// Live and finished tasks.
    fn held(&self) -> (usize, usize) {
        match self {
            Self::Memory(store) => {
                let held = store.held();
                (held.live, held.finished)
            }
            Self::Redis(store) => {
                let held = store.held();
                (held.live, held.finished)
            }
        }
    }

    /// Tasks that were retired, by the bound that they were over.
    fn retired(&self) -> Vec<(&'static str, u64)> {
        match self {
            Self::Memory(store) => {
                let retired = store.retired();
                vec![
                    ("count", retired.over_count),
                    ("bytes", retired.over_bytes),
                    ("age", retired.over_age),
                ]
            }
            Self::Redis(store) => {
                let retired = store.retired();
                vec![("count", retired.over_count), ("age", retired.over_age)]
            }
        }
    }
}
