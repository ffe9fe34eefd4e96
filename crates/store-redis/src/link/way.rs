//! From a slot to connections: where the master is, connecting to it, and whether it answers.

use std::sync::Arc;

use futures::future;
use gateway_domain::ports::StoreError;
use tokio::time::timeout;

use super::{
    Link, PATIENCE, Topology,
    fault::Meaning,
    node::{Node, Request},
    seat::Seat,
    sentinel::Sentinels,
    slots::Slot,
};

impl Link {
    /// The connections to the master that has a slot.
    pub(super) async fn way(&self, slot: Slot) -> Result<(Arc<Seat>, Arc<Node>), StoreError> {
        let map = self.map();
        let seat = map.seat(slot);
        let seat =
            seat.ok_or_else(|| StoreError::new("no server of the Redis Cluster has this bucket now"))?;
        Ok((seat.clone(), self.node(seat).await?))
    }

    pub(super) async fn node(&self, seat: &Seat) -> Result<Arc<Node>, StoreError> {
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
                self.making.ears.followers.doubt_all();
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
            tracing::info!(from = %node.address, to = %master, "the master of Redis is another one now");
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
}
