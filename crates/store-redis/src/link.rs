//! The way to Redis: which server a call goes to, whatever their topology, and that a call waits a bounded time and
//! says so when it is over.
//!
//! Connections are never made anew in silence. Where they end, the master is looked for again, so that nobody goes on
//! writing to a server that has been replaced.

mod address;
mod dial;
mod fault;
mod gate;
mod inspect;
mod node;
mod seat;
mod sentinel;
mod slots;
mod tls;

use std::{
    sync::{Arc, PoisonError, RwLock},
    time::Duration,
};

use futures::future;
use gateway_domain::ports::StoreError;
use redis::{Cmd, FromRedisValue, ScriptInvocation, Value};
use tokio::{
    sync::Notify,
    time::{Instant, timeout},
};

use self::{
    address::{Address, Places},
    dial::Dialer,
    fault::{Fault, Meaning},
    node::{Making, Request},
    seat::Seat,
    sentinel::Sentinels,
    slots::{Map, Ranges},
};
use crate::{Durability, Mode, Settings, keys::Bucket, news::Ears};

pub(crate) use self::{gate::NewsGate, node::Node, slots::Slot};

/// How long a call waits in all.
pub(crate) const PATIENCE: Duration = Duration::from_millis(1_800);

/// Servers of a cluster are not asked more often than this who has what.
const ASKED_LATELY: Duration = Duration::from_millis(50);

/// How long one of them may take to say.
const CLUSTER_PATIENCE: Duration = Duration::from_millis(700);

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

    /// Finds out where masters are, and whether they answer. Says whether all do.
    pub(crate) async fn look_around(&self) -> bool {
        match &self.topology {
            Topology::Standalone(_) => {}
            Topology::Sentinel(sentinels) => self.leave_a_former_master(sentinels).await,
            Topology::Cluster(_) => {
                if let Err(error) = self.draw().await {
                    tracing::debug!(error = error.cause, "no server of the cluster says who has what");
                }
            }
        }
        let map = self.map();
        let asked = map.seats.iter().map(|seat| self.ping(seat));
        future::join_all(asked).await.into_iter().all(|answered| answered)
    }

    async fn leave_a_former_master(&self, sentinels: &Sentinels) {
        let seat = self.map().seats[0].clone();
        if let (Some(node), Ok(master)) = (seat.ready(), sentinels.find().await)
            && node.address != master
        {
            tracing::info!(from = %node.address, to = %master, "Redis has another master");
            node.lose();
        }
    }

    async fn ping(&self, seat: &Seat) -> bool {
        let asked = async {
            let node = self.node(seat).await.ok()?;
            let ping = redis::cmd("PING");
            Some((node.ask(Request::Command(&ping), None).await, node))
        };
        match timeout(PATIENCE, asked).await {
            Ok(Some((Err(fault), node))) if fault.meaning() != Meaning::Refused => {
                // A connection that says nothing for so long may be one that leads nowhere.
                node.lose();
                seat.note(false);
                false
            }
            Ok(Some(_)) => {
                seat.note(true);
                true
            }
            Ok(None) | Err(_) => {
                seat.note(false);
                false
            }
        }
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

    /// The connections to the master that has a slot.
    async fn way(&self, slot: Slot) -> Result<(Arc<Seat>, Arc<Node>), StoreError> {
        let map = self.map();
        let seat = map.seat(slot);
        let seat =
            seat.ok_or_else(|| StoreError::new("no server of the Redis Cluster has this bucket now"))?;
        Ok((seat.clone(), self.node(seat).await?))
    }

    async fn node(&self, seat: &Seat) -> Result<Arc<Node>, StoreError> {
        if let Some(node) = seat.ready() {
            return Ok(node);
        }
        let mut last = seat.making.lock().await;
        if let Some(node) = seat.ready() {
            return Ok(node);
        }
        if let Some(error) = last.just_failed() {
            return Err(error);
        }
        let made = self.make(seat).await;
        last.note(made.as_ref().err().cloned());
        match &made {
            Ok(node) => {
                seat.put(node.clone());
                // Whatever was told over the former connections, something may have been missed since.
                self.making.followers.doubt_all();
                self.changed.notify_one();
            }
            Err(_) => seat.note(false),
        }
        made
    }

    async fn make(&self, seat: &Seat) -> Result<Arc<Node>, StoreError> {
        let address = match &self.topology {
            Topology::Standalone(address) => address.clone(),
            Topology::Sentinel(sentinels) => sentinels.find().await?,
            Topology::Cluster(_) => {
                let map = self.map();
                let address = map.address(seat);
                address.ok_or_else(|| StoreError::new("the server has left the Redis Cluster"))?
            }
        };
        let (node, hello) = self.making.node(&address).await?;
        let refused = |text: &str| Err(StoreError::new(format_args!("Redis at {address} {text}")));
        match (&self.topology, hello.mode.as_str()) {
            (Topology::Cluster(_), "cluster") => {}
            (Topology::Cluster(_), _) => return refused("is no cluster: set store.redis.mode to standalone"),
            (_, "cluster") => return refused("is part of a cluster: set store.redis.mode to cluster"),
            (_, "sentinel") => {
                return refused("is a Sentinel: set store.redis.mode to sentinel, and store.redis.master");
            }
            _ => {}
        }
        if !hello.is_master && !matches!(self.topology, Topology::Cluster(_)) {
            return refused("is a replica, which takes no writes: name its master, or use its Sentinels");
        }
        Ok(Arc::new(node))
    }

    fn map(&self) -> Arc<Map> {
        self.map.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Draws the map anew where that was not done since a moment; says whether another attempt may find another way.
    async fn draw_again(&self, since: Instant) -> bool {
        if !matches!(self.topology, Topology::Cluster(_)) {
            return false;
        }
        let drawn = *self.drawn.lock().await;
        if drawn.is_some_and(|at| at >= since) {
            return true;
        }
        self.draw().await.is_ok()
    }

    /// Draws the map of a cluster from what its servers say.
    async fn draw(&self) -> Result<(), StoreError> {
        let mut drawn = self.drawn.lock().await;
        if drawn.is_some_and(|at| at.elapsed() < ASKED_LATELY) {
            return Ok(());
        }
        let ranges = self.ranges().await;
        *drawn = Some(Instant::now());
        let before = self.map();
        let map = Map::of_cluster(&ranges?, Some(&before));
        if !map.agrees_with(&before) {
            *self.map.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(map);
            self.making.followers.doubt_all();
            self.changed.notify_one();
        }
        Ok(())
    }

    /// What most servers of the cluster say, of those that answer: one that was cut off knows of no failover.
    async fn ranges(&self) -> Result<Ranges, StoreError> {
        let Topology::Cluster(seeds) = &self.topology else {
            return Err(StoreError::new("this is no cluster"));
        };
        let map = self.map();
        let connected = map.seats.iter().filter_map(|seat| seat.ready());
        let asked = connected.map(|node| async move { slots_of(&node).await });
        let mut answers: Vec<_> = future::join_all(asked).await.into_iter().flatten().collect();
        if answers.is_empty() {
            let known = map.seats.iter().filter_map(|seat| map.address(seat));
            let asked = known
                .chain(seeds.iter().cloned())
                .map(|address| self.slots_at(address));
            let told = future::join_all(asked).await;
            let mut last = None;
            for answer in told {
                match answer {
                    Ok(ranges) => answers.push(ranges),
                    Err(error) => last = Some(error),
                }
            }
            if answers.is_empty() {
                return Err(last.unwrap_or_else(|| StoreError::new("no server of the Redis Cluster answers")));
            }
        }
        Ok(slots::by_most(answers))
    }

    async fn slots_at(&self, address: Address) -> Result<Ranges, StoreError> {
        let asked = async {
            let wire = self.making.dialer.dial(&address, None, || ()).await?;
            let answer: Value = slots_command()
                .query_async(&mut wire.connection.clone())
                .await
                .map_err(|error| Fault::Redis(error).at(&address.to_string()))?;
            slots::read_slots(&answer, &address)
        };
        let answer = timeout(CLUSTER_PATIENCE, asked).await;
        answer.unwrap_or_else(|_| {
            Err(StoreError::new(format_args!(
                "Redis at {address} does not answer"
            )))
        })
    }
}

async fn slots_of(node: &Node) -> Option<Ranges> {
    let command = slots_command();
    let answer = timeout(CLUSTER_PATIENCE, node.ask(Request::Command(&command), None)).await;
    slots::read_slots(&answer.ok()?.ok()?, &node.address).ok()
}

fn slots_command() -> Cmd {
    let mut command = redis::cmd("CLUSTER");
    command.arg("SLOTS");
    command
}
