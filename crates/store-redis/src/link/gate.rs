//! Waits until what a server was told is also held elsewhere: by replicas, or on its disk.
//!
//! The server counts what it has passed on; so one write behind many commits, and one wait for it, confirms them all.
//! That goes over a connection of its own, since it stands still while it waits. What a wait did not confirm may have
//! been kept all the same.

use std::{sync::Arc, time::Duration};

use gateway_domain::{TaskId, ports::Pulse};
use redis::{Cmd, FromRedisValue, RedisError, RedisResult, Value, aio::MultiplexedConnection};
use tokio::{
    sync::{mpsc, oneshot},
    task::JoinHandle,
};

use super::dial::Wire;
use crate::{
    Durability,
    keys::{self, Bucket, Layout},
    news::Ears,
};

/// How long a server waits for the others. Whoever comes while it waits has to wait twice, and both have to fit into a
/// call's patience.
const WAIT: Duration = Duration::from_millis(700);

/// What may wait for one confirmation. Calls beyond wait for their turn, news beyond are looked up later.
const MOST_WAITING: usize = 4_096;

/// The way in.
pub(crate) struct Gate {
    waiting: mpsc::Sender<Waiting>,
    runner: JoinHandle<()>,
}

/// Hands news to the gate, from where nobody may wait.
#[derive(Clone)]
pub(crate) struct NewsGate(mpsc::Sender<Waiting>);

/// Whoever waits, and the bucket whose server it is about.
struct Waiting {
    bucket: Bucket,
    whom: Whom,
}

enum Whom {
    Caller(oneshot::Sender<Result<(), Unconfirmed>>),
    Followers(TaskId, Pulse),
}

/// Why something is not confirmed.
#[derive(Debug, Clone)]
pub(super) enum Unconfirmed {
    /// The server said so, or did not answer.
    Server(Arc<RedisError>),
    /// Fewer have it than must.
    TooFew(&'static str, u64, u64),
    /// The connection ended.
    Ended,
}

impl Drop for Gate {
    fn drop(&mut self) {
        self.runner.abort();
    }
}

/// The two ends of a gate that is yet to be opened: news can be handed in before.
pub(super) struct Closed {
    waiting: mpsc::Sender<Waiting>,
    waits: mpsc::Receiver<Waiting>,
}

impl Closed {
    pub(super) fn new() -> Self {
        let (waiting, waits) = mpsc::channel(MOST_WAITING);
        Self { waiting, waits }
    }

    pub(super) fn news(&self) -> NewsGate {
        NewsGate(self.waiting.clone())
    }

    /// Opens it over a connection that nobody else uses.
    pub(super) fn open(self, wire: Wire, durability: Durability, layout: Layout, ears: Arc<Ears>) -> Gate {
        let runner = Runner {
            wire,
            durability,
            layout,
            ears,
        };
        Gate {
            waiting: self.waiting,
            runner: tokio::spawn(runner.run(self.waits)),
        }
    }
}

impl Gate {
    /// Waits until all that the server had applied when this is called is confirmed.
    pub(super) async fn pass(&self, bucket: Bucket) -> Result<(), Unconfirmed> {
        let (sender, confirmed) = oneshot::channel();
        let whom = Whom::Caller(sender);
        let sent = self.waiting.send(Waiting { bucket, whom }).await;
        sent.map_err(|_| Unconfirmed::Ended)?;
        confirmed.await.unwrap_or(Err(Unconfirmed::Ended))
    }
}

impl NewsGate {
    /// Tells a task's followers once it is confirmed; says whether there was room.
    pub(crate) fn tell(&self, bucket: Bucket, id: &TaskId, pulse: Pulse) -> bool {
        let whom = Whom::Followers(id.clone(), pulse);
        self.0.try_send(Waiting { bucket, whom }).is_ok()
    }
}

struct Runner {
    wire: Wire,
    durability: Durability,
    layout: Layout,
    ears: Arc<Ears>,
}

impl Runner {
    async fn run(mut self, mut waits: mpsc::Receiver<Waiting>) {
        let mut batch = Vec::new();
        while waits.recv_many(&mut batch, MOST_WAITING).await > 0 {
            let bucket = batch[0].bucket;
            let confirmed = self.confirm(bucket).await;
            for waiting in batch.drain(..) {
                self.answer(waiting.whom, &confirmed);
            }
        }
    }

    fn answer(&self, whom: Whom, confirmed: &Result<(), Unconfirmed>) {
        match (whom, confirmed) {
            // It may have gone meanwhile.
            (Whom::Caller(caller), confirmed) => drop(caller.send(confirmed.clone())),
            (Whom::Followers(id, pulse), Ok(())) => self.ears.followers.tell(&id, pulse),
            // The keeper looks at it again.
            (Whom::Followers(id, _), Err(_)) => self.ears.followers.doubt(&id),
        }
    }

    async fn confirm(&mut self, bucket: Bucket) -> Result<(), Unconfirmed> {
        let server = |error| Unconfirmed::Server(Arc::new(error));
        match self.durability {
            Durability::Async => Ok(()),
            Durability::Replica { replicas } => {
                let mut wait = redis::cmd("WAIT");
                wait.arg(replicas).arg(millis());
                let held: u64 = self.behind_a_write(bucket, &wait).await.map_err(server)?;
                at_least("replicas have", held, replicas.into())
            }
            Durability::Disk => {
                let mut wait = redis::cmd("WAITAOF");
                wait.arg(1).arg(0).arg(millis());
                let (written, _): (u64, u64) = self.behind_a_write(bucket, &wait).await.map_err(server)?;
                at_least("disks have", written, 1)
            }
        }
    }

    /// What a connection waits for is what it wrote itself; whatever the server applied before comes with it.
    async fn behind_a_write<T: FromRedisValue>(&mut self, bucket: Bucket, wait: &Cmd) -> RedisResult<T> {
        let connection: &mut MultiplexedConnection = &mut self.wire.connection;
        let mut write = redis::cmd("INCR");
        write.arg(self.layout.key(bucket, keys::FENCE, ""));
        let mut both = redis::pipe();
        both.add_command(write).add_command(wait.clone());
        let (_, waited): (Value, Value) = both.query_async(connection).await?;
        Ok(T::from_redis_value(waited)?)
    }
}

fn millis() -> u64 {
    u64::try_from(WAIT.as_millis()).unwrap_or(u64::MAX)
}

fn at_least(what: &'static str, held: u64, wanted: u64) -> Result<(), Unconfirmed> {
    if held >= wanted {
        Ok(())
    } else {
        Err(Unconfirmed::TooFew(what, held, wanted))
    }
}

impl std::fmt::Display for Unconfirmed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Server(error) => write!(f, "the change is not confirmed: {error}"),
            Self::TooFew(what, held, wanted) => {
                write!(
                    f,
                    "the change is not confirmed: {held} of {wanted} {what} it after {WAIT:?}"
                )
            }
            Self::Ended => write!(f, "the change is not confirmed: the connection ended"),
        }
    }
}
