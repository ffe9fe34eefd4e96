//! Couriers as replicas over one store, with a time that can be put forward.

use std::{
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use gateway_domain::{
    Cursor, PushNotificationConfigId, ReplicaId, Timestamp,
    ports::{Clock, ConfigPut, Delivery, Epoch, Store, Terms, Webhooks, Work},
    push::StoredConfig,
    work::{self, Keeper},
};
use gateway_testkit::{clock::RuntimeClock, ids::SequentialIds, receiver::Receiver, severed::Severed};
use tokio_util::sync::DropGuard;

use super::support::{Bench, Fixed, PATIENCE, quick, until};
use crate::{Courier, Settings, client::Trusted};

/// Far more than a lease lasts.
pub(super) const LATER: Duration = Duration::from_secs(60);

/// The runtime's time, which a test can put forward for all replicas.
#[derive(Default)]
pub(super) struct Jumping {
    runtime: RuntimeClock,
    ahead: AtomicI64,
}

impl Jumping {
    pub(super) fn jump(&self, by: Duration) {
        let millis = i64::try_from(by.as_millis()).unwrap();
        self.ahead.fetch_add(millis, Ordering::Relaxed);
    }
}

impl Clock for Jumping {
    fn now(&self) -> Timestamp {
        let millis = self.runtime.now().millis() + self.ahead.load(Ordering::Relaxed);
        Timestamp::from_millis(millis).unwrap()
    }
}

/// A task in a store that replicas share.
pub(super) struct Deployment {
    pub(super) bench: Bench,
    pub(super) clock: Arc<Jumping>,
}

/// One that delivers.
pub(super) struct Replica {
    pub(super) courier: Courier,
    pub(super) keeper: Keeper,
    pub(super) way: Arc<Severed>,
    pub(super) alive: Option<(DropGuard, DropGuard)>,
}

/// A configuration that is stored and not begun with.
pub(super) struct Stored {
    place: Box<dyn Delivery>,
    config: StoredConfig,
    after: Cursor,
    grant: Option<Epoch>,
}

impl Stored {
    pub(super) async fn begin(self) {
        self.place.begin(self.config, self.after, self.grant).await;
    }
}

impl Deployment {
    pub(super) async fn new() -> Self {
        Self::keeping(gateway_testkit::store::Settings::default()).await
    }

    /// With a store that keeps less than usual.
    pub(super) async fn keeping(of_store: gateway_testkit::store::Settings) -> Self {
        Self {
            bench: Bench::with(quick(), of_store, Fixed(Vec::new()), Trusted::ByTheMachine).await,
            clock: Arc::default(),
        }
    }

    pub(super) fn replica(&self, name: &str, settings: Settings) -> Replica {
        self.replica_with(name, settings, Duration::from_secs(15))
    }

    pub(super) fn replica_with(&self, name: &str, settings: Settings, lease: Duration) -> Replica {
        let way = Arc::new(Severed::new(self.bench.store.clone()));
        let of_keeper = work::Settings {
            lease,
            poll: Duration::from_millis(5),
            ..work::Settings::of(ReplicaId::new(name))
        };
        let ids = Arc::new(SequentialIds::default());
        let keeper = Keeper::new(way.clone(), self.clock.clone(), ids, of_keeper);
        let resolver = Arc::new(Fixed(Vec::new()));
        let courier = Courier::new(way.clone(), Some(keeper.clone()), resolver, settings);
        keeper.start();
        Replica {
            alive: Some((courier.stop_guard(), keeper.stop_guard())),
            courier,
            keeper,
            way,
        }
    }

    /// Stores a configuration through a replica, which begins with it.
    pub(super) async fn configure(&self, replica: &Replica, config: StoredConfig) {
        self.store(replica, config).await.begin().await;
    }

    /// Stores a configuration through a replica, which has not begun with it.
    pub(super) async fn store(&self, replica: &Replica, config: StoredConfig) -> Stored {
        let head = self.bench.store.head(&self.bench.task).await.unwrap().unwrap();
        let place = replica.courier.reserve().unwrap();
        let put = ConfigPut {
            delivery: place.terms(),
            ..ConfigPut::new(config.clone(), 100)
        };
        Stored {
            grant: replica.way.put_config(put).await.unwrap(),
            after: head.cursor,
            place,
            config,
        }
    }

    pub(super) async fn call(&self, replica: &Replica, hook: &Receiver) {
        self.configure(replica, self.bench.plain("hook", &hook.url()))
            .await;
    }

    pub(super) async fn chunks(&self, texts: &[&str]) {
        for text in texts {
            self.bench.chunk(text).await;
        }
    }

    /// What is due or held, of any replica.
    pub(super) async fn left(&self) -> usize {
        let now = Timestamp::from_millis(self.clock.now().millis() + 3_600_000).unwrap();
        let terms = Terms {
            replica: ReplicaId::new("an auditor"),
            now,
            lease: Duration::from_secs(1),
        };
        self.bench.store.take_due(&terms, 100).await.unwrap().len()
    }

    pub(super) async fn delete_at(&self, replica: &Replica) {
        let id = PushNotificationConfigId::new("hook");
        assert!(replica.way.delete_config(&self.bench.task, &id).await.unwrap());
        replica.courier.deleted(&self.bench.task, &id).await;
    }
}

impl Replica {
    /// Ends it as if its process had been killed.
    pub(super) fn kill(&mut self) {
        self.way.cut();
        self.alive = None;
    }

    /// Ends it in order; nothing that it does has to be cut.
    pub(super) async fn leave(&self) {
        let left = self.keeper.drain(Duration::from_secs(3_000));
        tokio::time::timeout(PATIENCE, left)
            .await
            .expect("it ends by itself");
        self.courier.drain(Duration::ZERO).await;
    }

    pub(super) async fn follows(&self, number: usize) {
        until(&self.courier, |courier| courier.followers() == number).await;
    }
}
