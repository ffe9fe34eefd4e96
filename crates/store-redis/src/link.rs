//! The way to Redis: which server a call goes to, whatever their topology, and that a call waits a bounded time and
//! says so when it is over.
//!
//! Connections are never made anew in silence. Where they end, the master is looked for again, so that nobody goes on
//! writing to a server that has been replaced.

mod address;
mod cluster;
mod dial;
mod fault;
mod gate;
mod gathering;
mod inspect;
mod node;
mod seat;
mod sentinel;
mod slots;
mod tls;
mod way;

use std::{
    sync::{Arc, PoisonError, RwLock},
    time::Duration,
};

use gateway_domain::ports::StoreError;
use redis::{Cmd, FromRedisValue, ScriptInvocation, Value};
use tokio::{
    sync::Notify,
    time::{Instant, timeout},
};

use self::{
    address::{Address, Places},
    dial::Dialer,
    fault::Meaning,
    node::{Making, Request},
    sentinel::Sentinels,
    slots::Map,
};
use crate::{Durability, Mode, Settings, keys::Bucket, news::Ears};

pub(crate) use self::{gate::NewsGate, node::Node, slots::Slot};

/// How long a call waits in all.
pub(crate) const PATIENCE: Duration = Duration::from_millis(1_800);

/// The way to Redis.
pub(crate) struct Link {
    topology: Topology,
    making: Making,
    map: RwLock<Arc<Map>>,
    /// When the map was drawn, or should have been. Held while it is.
    drawn: tokio::sync::Mutex<Option<Instant>>,
    changed: Arc<Notify>,
}

enum Topology {
    Standalone(Address),
    Sentinel(Sentinels),
    Cluster(Vec<Address>),
}

/// What a call may do, and what it waits for.
#[derive(Clone, Copy, Default)]
struct Manner {
    /// It comes to the same when it runs twice, so it is sent again where the connection broke.
    repeatable: bool,
    /// What the server then holds is to be confirmed; the bucket is one of the server's.
    settled: Option<Bucket>,
}

impl Link {
    /// Connects to every master. `ears` hear what Redis says without being asked.
    pub(crate) async fn open(settings: &Settings, ears: Arc<Ears>) -> Result<Self, StoreError> {
        let places = Places::of(settings)?;
        let tls = places.tls.then(|| tls::connector(&settings.tls)).transpose()?;
        let dialer = |user: &Option<String>, password: &Option<String>, database| {
            Dialer::new(tls.clone(), user.as_deref(), password.as_deref(), database)
        };
        let changed = Arc::<Notify>::default();
        let topology = match &settings.mode {
            Mode::Standalone => Topology::Standalone(places.addresses[0].clone()),
            Mode::Cluster => Topology::Cluster(places.addresses.clone()),
            Mode::Sentinel {
                master,
                user,
                password,
            } => Topology::Sentinel(Sentinels::new(
                master,
                dialer(user, password, 0),
                &places.addresses,
            )),
        };
        let name = match (&topology, &settings.mode) {
            (Topology::Standalone(address), _) => address.to_string(),
            (_, Mode::Sentinel { master, .. }) => format!("the master {master:?}"),
            _ => String::new(),
        };
        let link = Self {
            topology,
            making: Making {
                dialer: dialer(&settings.user, &settings.password, places.database),
                durability: settings.durability,
                layout: settings.layout(),
                ears,
                changed: changed.clone(),
            },
            map: RwLock::new(Arc::new(Map::of_one(&name))),
            drawn: tokio::sync::Mutex::default(),
            changed,
        };
        if matches!(link.topology, Topology::Cluster(_)) {
            link.draw().await?;
        }
        link.inspect().await?;
        Ok(link)
    }

    /// Runs a script that only reads.
    pub(crate) async fn read<T: FromRedisValue>(
        &self,
        bucket: Bucket,
        script: &ScriptInvocation<'_>,
    ) -> Result<T, StoreError> {
        let manner = Manner {
            repeatable: true,
            settled: None,
        };
        self.call(bucket.slot(), Request::Script(script), manner).await
    }

    /// The same, and answers once everything that it may have read is confirmed.
    pub(crate) async fn read_settled<T: FromRedisValue>(
        &self,
        bucket: Bucket,
        script: &ScriptInvocation<'_>,
    ) -> Result<T, StoreError> {
        // Nothing differs but what is asked for.
        self.write(bucket, script).await
    }

    /// Runs a script that comes to the same when it runs twice, and has what it did confirmed.
    pub(crate) async fn write<T: FromRedisValue>(
        &self,
        bucket: Bucket,
        script: &ScriptInvocation<'_>,
    ) -> Result<T, StoreError> {
        let manner = Manner {
            repeatable: true,
            settled: Some(bucket),
        };
        self.call(bucket.slot(), Request::Script(script), manner).await
    }

    /// Runs a script once, and has what it did confirmed.
    pub(crate) async fn write_once<T: FromRedisValue>(
        &self,
        bucket: Bucket,
        script: &ScriptInvocation<'_>,
    ) -> Result<T, StoreError> {
        let manner = Manner {
            repeatable: false,
            settled: Some(bucket),
        };
        self.call(bucket.slot(), Request::Script(script), manner).await
    }

    /// Sends a command that comes to the same when it runs twice. Nothing is confirmed.
    pub(crate) async fn ask<T: FromRedisValue>(&self, slot: Slot, command: &Cmd) -> Result<T, StoreError> {
        let manner = Manner {
            repeatable: true,
            settled: None,
        };
        self.call(slot, Request::Command(command), manner).await
    }

    /// Sends a command about subscriptions to the server of a bucket. Says which connections then have them.
    pub(crate) async fn subscribe(&self, bucket: Bucket, command: &Cmd) -> Result<u64, StoreError> {
        let manner = Manner {
            repeatable: true,
            settled: None,
        };
        let request = Request::News(command);
        self.within_patience(bucket.slot(), request, manner)
            .await
            .map(|(_, node)| node.serial)
    }

    /// Which connections a bucket's news come over now.
    pub(crate) fn serial(&self, bucket: Bucket) -> Option<u64> {
        let map = self.map();
        map.seat(bucket.slot())?.ready().map(|node| node.serial)
    }

    /// Whether changes are confirmed before they are shown.
    pub(crate) fn is_gated(&self) -> bool {
        self.making.durability != Durability::Async
    }

    /// For how long no server has answered any call, if none has.
    pub(crate) fn away_for(&self) -> Option<Duration> {
        let map = self.map();
        let away = map.seats.iter().map(|seat| seat.away_for());
        // Nothing is less than any time: one that answers is enough.
        away.min().flatten()
    }

    /// Ends when connections have ended or others were made.
    pub(crate) async fn changed(&self) {
        self.changed.notified().await;
    }

    async fn call<T: FromRedisValue>(
        &self,
        slot: Slot,
        request: Request<'_>,
        manner: Manner,
    ) -> Result<T, StoreError> {
        let (answer, _) = self.within_patience(slot, request, manner).await?;
        T::from_redis_value(answer)
            .map_err(|error| StoreError::new(format_args!("an answer of Redis cannot be read: {error}")))
    }

    async fn within_patience(
        &self,
        slot: Slot,
        request: Request<'_>,
        manner: Manner,
    ) -> Result<(Value, Arc<Node>), StoreError> {
        let answer = timeout(PATIENCE, self.attempts(slot, request, manner)).await;
        answer.unwrap_or_else(|_| {
            let name = self.map().seat(slot).map(|seat| {
                seat.note(false);
                seat.name.clone()
            });
            Err(StoreError::new(format_args!(
                "Redis at {} did not answer within {PATIENCE:?}",
                name.unwrap_or_default()
            )))
        })
    }

    /// A second attempt goes to where the first one's fault leads.
    async fn attempts(
        &self,
        slot: Slot,
        request: Request<'_>,
        manner: Manner,
    ) -> Result<(Value, Arc<Node>), StoreError> {
        let mut first = true;
        loop {
            let begun = Instant::now();
            let (seat, node) = match self.way(slot).await {
                Ok(way) => way,
                Err(error) => {
                    if !(first && self.draw_again(begun).await) {
                        return Err(error);
                    }
                    first = false;
                    continue;
                }
            };
            let asked = {
                // The semaphore is never closed.
                let _permit = seat.permits.acquire().await;
                node.ask(request, manner.settled).await
            };
            let fault = match asked {
                Ok(answer) => {
                    seat.note(true);
                    return Ok((answer, node));
                }
                Err(fault) => fault,
            };
            let meaning = fault.meaning();
            seat.note(!matches!(meaning, Meaning::Broken | Meaning::Silent));
            let again = match meaning {
                Meaning::Broken => {
                    node.lose();
                    manner.repeatable
                }
                Meaning::Elsewhere => {
                    if !matches!(self.topology, Topology::Cluster(_)) {
                        node.lose();
                    }
                    self.draw_again(begun).await;
                    true
                }
                Meaning::Silent | Meaning::Refused => false,
            };
            if !(first && again) {
                return Err(fault.at(&seat.name));
            }
            first = false;
        }
    }

    fn map(&self) -> Arc<Map> {
        self.map.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
