//! Where replicas stand, and what they share: a Redis, and the balancer in front of them.

use std::{
    net::{Ipv4Addr, SocketAddr, TcpListener},
    sync::atomic::{AtomicU32, AtomicU64, Ordering},
};

use gateway_testkit::redis::RedisServer;

use crate::{
    balancer::{Balancer, Kind},
    gateway::Gateway,
    profile::Profile,
};

/// Where a replica listens. It is there again after a restart.
#[derive(Debug, Clone, Copy)]
pub struct Place {
    /// Clients.
    pub client: SocketAddr,
    /// Agents.
    pub agent: SocketAddr,
    /// Operators.
    pub admin: SocketAddr,
}

/// Room for three replicas behind a balancer, for one gateway after the other: each play has replicas of its own, and
/// nothing of an earlier one is left in the store.
pub struct Lane {
    redis: RedisServer,
    places: [Place; 3],
    balancer: Balancer,
    plays: AtomicU64,
}

impl Lane {
    /// Starts all but the replicas.
    pub fn start(kind: Kind) -> Self {
        let places = places();
        Self {
            redis: RedisServer::start(),
            balancer: Balancer::start(kind, kind.front(free_ports()), &places),
            places,
            plays: AtomicU64::new(0),
        }
    }

    /// Starts three replicas, each with this profile.
    pub async fn gateway(&self, profile: Profile) -> Gateway {
        let play = self.plays.fetch_add(1, Ordering::Relaxed);
        let profile = profile.in_redis(&self.redis.url(), &format!("play-{play}"));
        Gateway::behind(self.balancer.clients(), &self.places, &profile).await
    }

    /// What the balancer said so far.
    pub fn said(&self) -> String {
        self.balancer.said()
    }
}

/// Places for three replicas.
pub fn places() -> [Place; 3] {
    [(); 3].map(|()| {
        let [client, agent, admin] = free_ports();
        let at = |port| SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        Place {
            client: at(client),
            agent: at(agent),
            admin: at(admin),
        }
    })
}

/// Ports that nobody listens at. They lie below those that the system gives to outgoing connections, so that they stay
/// free between two replicas; each process begins elsewhere.
pub fn free_ports<const N: usize>() -> [u16; N] {
    const FIRST: u32 = 10_000;
    const COUNT: u32 = 20_000;
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let begin = std::process::id().wrapping_mul(97);
    [(); N].map(|()| {
        loop {
            let port = FIRST + begin.wrapping_add(NEXT.fetch_add(1, Ordering::Relaxed)) % COUNT;
            let port = u16::try_from(port).expect("the last port is 29,999");
            if TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok() {
                return port;
            }
        }
    })
}
