//! A courier with a task to tell of.

use std::{io, net::SocketAddr, sync::Arc, time::Duration};

use async_trait::async_trait;
use gateway_domain::{
    Limits, PushNotificationConfigRow, TaskId,
    decide::{self, Stamp},
    lifecycle::Move,
    ports::{ConfigPut, Store, Webhooks},
    push::StoredConfig,
    request::AgentAction,
};
use gateway_testkit::{
    build::{artifact, config, moment, new_task},
    receiver::Receiver,
    store::MemoryStore,
};
use tokio::time::timeout;

use crate::{Courier, Resolver, Retries, Settings, client::Trusted};

/// Far beyond what any wait takes; a test that reaches it has failed.
pub(super) const PATIENCE: Duration = Duration::from_secs(30);

// === the names ===

/// Knows one meaning for every name.
pub(super) struct Fixed(pub(super) Vec<SocketAddr>);

#[async_trait]
impl Resolver for Fixed {
    async fn resolve(&self, _: &str, _: u16) -> io::Result<Vec<SocketAddr>> {
        Ok(self.0.clone())
    }
}

// === the courier ===

/// Loopback is allowed, and pauses are short.
pub(super) fn quick() -> Settings {
    Settings {
        allowed_ranges: vec!["127.0.0.0/8".parse().unwrap()],
        retries: Retries {
            first_pause: Duration::from_millis(1),
            longest_pause: Duration::from_millis(5),
            attempts: 4,
            ..Retries::default()
        },
        ..Settings::default()
    }
}

/// Whoever waits to repeat a call waits for longer than any test.
pub(super) fn with_long_pauses() -> Settings {
    let pause = Duration::from_secs(3_000);
    Settings {
        retries: Retries {
            first_pause: pause,
            longest_pause: pause,
            patience: 100 * pause,
            ..Retries::default()
        },
        ..quick()
    }
}

/// A courier and a store with one live task.
pub(super) struct Bench {
    pub(super) store: Arc<MemoryStore>,
    pub(super) courier: Courier,
    pub(super) task: TaskId,
}

impl Bench {
    pub(super) async fn new(settings: Settings) -> Self {
        let resolver = Fixed(Vec::new());
        Self::with(
            settings,
            gateway_testkit::store::Settings::default(),
            resolver,
            Trusted::ByTheMachine,
        )
        .await
    }

    pub(super) async fn with(
        settings: Settings,
        of_store: gateway_testkit::store::Settings,
        resolver: Fixed,
        trusted: Trusted,
    ) -> Self {
        let store = Arc::new(MemoryStore::new(of_store));
        let courier = Courier::trusting(store.clone(), None, Arc::new(resolver), settings, trusted);
        let task = TaskId::new("task");
        let creation = decide::create(new_task(task.clone()), &Limits::default(), stamp());
        store.create(creation.unwrap()).await.unwrap();
        Self { store, courier, task }
    }

    /// A configuration with nothing but an address, in a row of its own.
    pub(super) fn plain(&self, id: &str, url: &str) -> StoredConfig {
        let mut config = config(&self.task, id);
        config.row = PushNotificationConfigRow::new(format!("{} at {url}", config.row));
        config.config.url = url.to_owned();
        config.config.token = None;
        config.config.authentication = None;
        config
    }

    /// Stores a configuration and begins to deliver what comes after the task's newest entry.
    pub(super) async fn configure(&self, config: StoredConfig) {
        let head = self.store.head(&self.task).await.unwrap().unwrap();
        self.courier.check(&config.config).unwrap();
        let place = self.courier.reserve().unwrap();
        self.store
            .put_config(ConfigPut::new(config.clone(), 100))
            .await
            .unwrap();
        place.begin(config, head.cursor, None).await;
    }

    /// The same for a receiver.
    pub(super) async fn call(&self, id: &str, hook: &Receiver) {
        self.configure(self.plain(id, &hook.url())).await;
    }

    pub(super) async fn act(&self, action: AgentAction) {
        let head = self.store.head(&self.task).await.unwrap().unwrap();
        let change = decide::act(&head, action, &Limits::default(), stamp());
        self.store.commit(change.unwrap()).await.unwrap();
    }

    pub(super) async fn chunk(&self, text: &str) {
        self.add(text, false).await;
    }

    pub(super) async fn last_chunk(&self, text: &str) {
        self.add(text, true).await;
    }

    async fn add(&self, text: &str, last_chunk: bool) {
        self.act(AgentAction::UpdateArtifact {
            artifact: artifact("a", text),
            append: true,
            last_chunk,
        })
        .await;
    }

    pub(super) async fn step(&self, to: Move) {
        self.act(AgentAction::Move(to, None)).await;
    }

    /// Waits until a number is what it should be.
    pub(super) async fn until(&self, reached: impl Fn(&Courier) -> bool) {
        until(&self.courier, reached).await;
    }

    pub(super) async fn nobody_is_followed(&self) {
        self.until(|courier| courier.followers() == 0).await;
    }
}

/// Waits until something is as it should be.
pub(super) async fn until<T>(watched: &T, reached: impl Fn(&T) -> bool) {
    let reached = async {
        while !reached(watched) {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    timeout(PATIENCE, reached).await.expect("it comes to that");
}

fn stamp() -> Stamp {
    Stamp {
        now: moment(0),
        mark: 7,
    }
}
