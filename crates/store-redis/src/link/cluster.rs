//! Draws the map of a cluster from what its servers say.

use std::{
    sync::{Arc, PoisonError},
    time::Duration,
};

use futures::future;
use gateway_domain::ports::StoreError;
use redis::{Cmd, Value};
use tokio::time::{Instant, timeout};

use super::{
    Link, Topology,
    address::Address,
    fault::Fault,
    node::{Node, Request},
    slots::{self, Map, Ranges},
};

/// Servers of a cluster are not asked more often than this who has what.
const ASKED_LATELY: Duration = Duration::from_millis(50);

/// How long one of them may take to say.
const PATIENCE: Duration = Duration::from_millis(700);

impl Link {
    /// Draws the map anew where that was not done since a moment; says whether another attempt may find another way.
    pub(super) async fn draw_again(&self, since: Instant) -> bool {
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
    pub(super) async fn draw(&self) -> Result<(), StoreError> {
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
            self.making.ears.followers.doubt_all();
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
        let answer = timeout(PATIENCE, asked).await;
        answer.unwrap_or_else(|_| {
            Err(StoreError::new(format_args!(
                "Redis at {address} does not answer"
            )))
        })
    }
}

async fn slots_of(node: &Node) -> Option<Ranges> {
    let command = slots_command();
    let answer = timeout(PATIENCE, node.ask(Request::Command(&command), None)).await;
    slots::read_slots(&answer.ok()?.ok()?, &node.address).ok()
}

fn slots_command() -> Cmd {
    let mut command = redis::cmd("CLUSTER");
    command.arg("SLOTS");
    command
}
