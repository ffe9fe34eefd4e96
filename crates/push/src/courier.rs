//! Owns every follower: begins one for each configuration, within their number, and ends those whose configuration was
//! replaced or deleted here before anybody is told that it was.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use gateway_domain::{
    Cursor, PushNotificationConfigId, PushNotificationConfigRow, TaskId, TaskPushNotificationConfig,
    error::Violation,
    ports::{Delivery, Epoch, Lease, Store, Terms, Webhooks},
    push::StoredConfig,
    work::Keeper,
};
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::timeout,
};
use tokio_util::{
    sync::{CancellationToken, DropGuard},
    task::TaskTracker,
};

use crate::{
    Resolver, Retries, Settings,
    client::{Client, Trusted},
    counts::Counts,
    follower::Follower,
    guard::Guard,
    lease::{Holding, Taker, work_key},
    receiver::Receiver,
};

/// Delivers to webhooks. Cheap to clone.
#[derive(Clone)]
pub struct Courier(Arc<Shared>);

/// What followers share.
pub(crate) struct Shared {
    pub(crate) store: Arc<dyn Store>,
    /// Where replicas share the store.
    pub(crate) keeper: Option<Keeper>,
    pub(crate) client: Client,
    pub(crate) retries: Retries,
    pub(crate) counts: Counts,
    pub(crate) retrying: Gauge,
    /// Set when followers are to end as soon as they would have to wait.
    pub(crate) closing: CancellationToken,
    /// Set when they are to end at once.
    pub(crate) stopped: CancellationToken,
    most: usize,
    pub(crate) places: Arc<Semaphore>,
    running: Mutex<HashMap<Key, Vec<Running>>>,
    begun: AtomicU64,
    pub(crate) tasks: TaskTracker,
}

type Key = (TaskId, PushNotificationConfigId);

/// A follower as others see it. While one configuration replaces another there may be two of one key, and two of one row
/// while this process takes up what it had lost.
#[derive(Clone)]
struct Running {
    number: u64,
    row: PushNotificationConfigRow,
    stop: CancellationToken,
    ended: CancellationToken,
}

impl Courier {
    /// Delivers what happens to the tasks of a store, as one of several replicas where there is a keeper, which is to be
    /// started by its owner. Says in the log what the settings open.
    pub fn new(
        store: Arc<dyn Store>,
        keeper: Option<Keeper>,
        resolver: Arc<dyn Resolver>,
        settings: Settings,
    ) -> Self {
        Self::trusting(store, keeper, resolver, settings, Trusted::ByTheMachine)
    }

    pub(crate) fn trusting(
        store: Arc<dyn Store>,
        keeper: Option<Keeper>,
        resolver: Arc<dyn Resolver>,
        settings: Settings,
        trusted: Trusted,
    ) -> Self {
        say_what_is_open(&settings);
        let guard = Guard::new(settings.guard, settings.allowed_ranges);
        let shared = Arc::new(Shared {
            store,
            keeper,
            client: Client::new(guard, resolver, settings.timeout, trusted),
            retries: settings.retries,
            counts: Counts::default(),
            retrying: Gauge::default(),
            closing: CancellationToken::new(),
            stopped: CancellationToken::new(),
            most: settings.followers,
            places: Arc::new(Semaphore::new(settings.followers)),
            running: Mutex::default(),
            begun: AtomicU64::new(0),
            tasks: TaskTracker::new(),
        });
        if let Some(keeper) = &shared.keeper {
            keeper.webhooks_by(Arc::new(Taker(Arc::downgrade(&shared))));
        }
        Self(shared)
    }

    /// What has been delivered and what has not.
    pub fn counts(&self) -> &Counts {
        &self.0.counts
    }

    /// Configurations that are delivered to, or that a place is kept for.
    pub fn followers(&self) -> usize {
        self.0.most - self.0.places.available_permits()
    }

    /// Those of them that wait to repeat a call.
    pub fn retrying(&self) -> usize {
        self.0.retrying.0.load(Ordering::Relaxed)
    }

    /// Ends delivery at once when it is dropped.
    pub fn stop_guard(&self) -> DropGuard {
        self.0.stopped.clone().drop_guard()
    }

    /// Ends delivery: what is there already is still sent, at most so long, and nothing is waited for. Takes no further
    /// configuration. What was not delivered by then is lost, unless the keeper gave it back before.
    pub async fn drain(&self, patience: Duration) {
        self.0.places.close();
        self.0.closing.cancel();
        self.0.tasks.close();
        if timeout(patience, self.0.tasks.wait()).await.is_err() {
            self.0.stopped.cancel();
            self.0.tasks.wait().await;
        }
    }
}

fn say_what_is_open(settings: &Settings) {
    if !settings.guard {
        tracing::warn!(
            "webhooks may point anywhere, this machine and its network included: push.guard is off"
        );
    } else if !settings.allowed_ranges.is_empty() {
        let ranges = settings
            .allowed_ranges
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join(", ");
        tracing::info!(ranges, "webhooks may point into these ranges, also without TLS");
    }
}

#[async_trait]
impl Webhooks for Courier {
    fn check(&self, config: &TaskPushNotificationConfig) -> Result<(), Vec<Violation>> {
        Receiver::new(config, self.0.client.guard()).map(drop)
    }

    fn reserve(&self) -> Option<Box<dyn Delivery>> {
        let permit = self.0.places.clone().try_acquire_owned().ok()?;
        Some(Box::new(Place {
            shared: self.0.clone(),
            permit,
        }))
    }

    async fn deleted(&self, task: &TaskId, id: &PushNotificationConfigId) {
        self.0.end_outdated(&(task.clone(), id.clone())).await;
    }
}

struct Place {
    shared: Arc<Shared>,
    permit: OwnedSemaphorePermit,
}

#[async_trait]
impl Delivery for Place {
    fn terms(&self) -> Option<Terms> {
        self.shared.keeper.as_ref().map(Keeper::terms)
    }

    async fn begin(self: Box<Self>, config: StoredConfig, after: Cursor, grant: Option<Epoch>) {
        let Self { shared, permit } = *self;
        let key = key(&config);
        let held = match (&shared.keeper, grant) {
            (Some(keeper), Some(epoch)) => {
                let key = work_key(key.0.clone(), key.1.clone());
                Some(keeper.hold(Lease { key, epoch }, 0))
            }
            // Another call has replaced or deleted it by now.
            (Some(_), None) => return shared.end_outdated(&key).await,
            (None, _) => None,
        };
        let holding = Holding::new(shared.clone(), held);
        shared.go_on(config, after, permit, holding);
        shared.end_outdated(&key).await;
    }
}

fn key(config: &StoredConfig) -> Key {
    let TaskPushNotificationConfig { task_id, id, .. } = &config.config;
    (
        task_id.clone().unwrap_or_default(),
        id.clone().unwrap_or_default(),
    )
}

impl Shared {
    /// Delivers to a configuration what comes after a place.
    pub(crate) fn go_on(
        self: &Arc<Self>,
        config: StoredConfig,
        after: Cursor,
        permit: OwnedSemaphorePermit,
        holding: Holding,
    ) {
        match Receiver::new(&config.config, self.client.guard()) {
            Ok(receiver) => self.start(config, receiver, after, permit, holding),
            Err(_) => {
                // It was checked before it was stored, by the same rules unless another replica has other ones.
                tracing::error!(row = %config.row, "a webhook that should have been refused was stored; nothing is sent");
                holding.is_done();
            }
        }
    }

    fn start(
        self: &Arc<Self>,
        config: StoredConfig,
        receiver: Receiver,
        after: Cursor,
        permit: OwnedSemaphorePermit,
        holding: Holding,
    ) {
        let running = Running {
            number: self.begun.fetch_add(1, Ordering::Relaxed),
            row: config.row.clone(),
            stop: self.stopped.child_token(),
            ended: CancellationToken::new(),
        };
        let stop = running.stop.clone();
        let registered = self.register(key(&config), running);
        let shared = self.clone();
        self.tasks.spawn(async move {
            let _until_it_ends = (permit, registered);
            let follow = async {
                let task = config.config.task_id.clone().unwrap_or_default();
                match shared.store.follow(&task).await {
                    Ok(Some(pulse)) => {
                        let follower = Follower::new(shared, config, receiver, pulse, after, holding.clone());
                        follower.run().await;
                    }
                    Ok(None) => holding.is_done(),
                    Err(error) => tracing::error!(%task, cause = error.cause, "webhook not begun"),
                }
            };
            tokio::select! {
                biased;
                () = stop.cancelled() => {}
                () = holding.lost() => {}
                () = follow => {}
            }
        });
    }

    fn register(self: &Arc<Self>, key: Key, running: Running) -> Registered {
        self.running()
            .entry(key.clone())
            .or_default()
            .push(running.clone());
        Registered {
            shared: self.clone(),
            key,
            running,
        }
    }

    /// Ends the followers of a key whose configuration is no longer the stored one, and waits for it.
    async fn end_outdated(&self, key: &Key) {
        // Taken before the store is asked. A configuration is stored before its follower begins and a row never comes
        // back, so that whoever is here and is not what the store holds has been replaced or deleted.
        let followers = self.running().get(key).cloned().unwrap_or_default();
        let (task, id) = key;
        let stored = match self.store.config(task, id).await {
            Ok(stored) => stored.map(|stored| stored.row),
            Err(error) => {
                // Each follower asks the store again before it sends anything.
                tracing::warn!(%task, cause = error.cause, "webhooks not compared with the store");
                return;
            }
        };
        let outdated = followers
            .iter()
            .filter(|running| Some(&running.row) != stored.as_ref());
        for running in outdated {
            running.stop.cancel();
            running.ended.cancelled().await;
        }
    }

    fn running(&self) -> MutexGuard<'_, HashMap<Key, Vec<Running>>> {
        // Nothing can panic while it is held.
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A follower's entry; it leaves with the follower, however that ends.
struct Registered {
    shared: Arc<Shared>,
    key: Key,
    running: Running,
}

impl Drop for Registered {
    fn drop(&mut self) {
        let mut all = self.shared.running();
        if let Some(of_key) = all.get_mut(&self.key) {
            of_key.retain(|running| running.number != self.running.number);
            if of_key.is_empty() {
                all.remove(&self.key);
            }
        }
        drop(all);
        self.running.ended.cancel();
    }
}

/// How many are in some place now.
#[derive(Debug, Default)]
pub(crate) struct Gauge(AtomicUsize);

impl Gauge {
    pub(crate) fn enter(&self) -> impl Drop + '_ {
        self.0.fetch_add(1, Ordering::Relaxed);
        Entered(self)
    }
}

struct Entered<'a>(&'a Gauge);

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Ordering::Relaxed);
    }
}
