//! The place of a master: its connections, who is under way to it, and since when it has not answered. A place stays
//! when its server changes.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use gateway_domain::ports::StoreError;
use tokio::{sync::Semaphore, time::Instant};

use super::node::Node;

/// Calls that are under way to a server at once; the others wait, but no longer than that.
const MOST_CALLS: usize = 1_024;

/// After connections could not be made, nobody tries again for so long: of a thousand callers one is enough.
const PAUSE: Duration = Duration::from_millis(50);

/// The place of a master.
pub(super) struct Seat {
    /// For operators.
    pub(super) name: String,
    pub(super) permits: Semaphore,
    node: Mutex<Option<Arc<Node>>>,
    /// Held while connections are made.
    pub(super) making: tokio::sync::Mutex<LastTry>,
    away: Mutex<Option<Instant>>,
}

/// How the last attempt to connect failed, if it did.
#[derive(Default)]
pub(super) struct LastTry(Option<(Instant, StoreError)>);

impl LastTry {
    pub(super) fn just_failed(&self) -> Option<StoreError> {
        let recent = self.0.as_ref().filter(|(at, _)| at.elapsed() < PAUSE);
        recent.map(|(_, error)| error.clone())
    }

    pub(super) fn note(&mut self, failed: Option<StoreError>) {
        self.0 = failed.map(|error| (Instant::now(), error));
    }
}

impl Seat {
    pub(super) fn new(name: String) -> Arc<Self> {
        Arc::new(Self {
            name,
            permits: Semaphore::new(MOST_CALLS),
            node: Mutex::default(),
            making: tokio::sync::Mutex::default(),
            away: Mutex::default(),
        })
    }

    /// The connections, where there are any that work.
    pub(super) fn ready(&self) -> Option<Arc<Node>> {
        lock(&self.node)
            .as_ref()
            .filter(|node| !node.is_broken())
            .cloned()
    }

    pub(super) fn put(&self, node: Arc<Node>) {
        *lock(&self.node) = Some(node);
    }

    /// Since when there was no answer to any call, if there was none.
    pub(super) fn away_for(&self) -> Option<Duration> {
        lock(&self.away).map(|since| since.elapsed())
    }

    /// Takes in whether there was an answer.
    pub(super) fn note(&self, answered: bool) {
        let mut away = lock(&self.away);
        match (answered, *away) {
            (true, Some(since)) => {
                tracing::info!(
                    seconds = since.elapsed().as_secs(),
                    server = self.name,
                    "the store in Redis answers again"
                );
                *away = None;
            }
            (false, None) => {
                tracing::warn!(
                    server = self.name,
                    "no answer from Redis; calls are told to come back"
                );
                *away = Some(Instant::now());
            }
            _ => {}
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
