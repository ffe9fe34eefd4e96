//! The Redis of a trial.

use std::{thread, time::Duration};

use gateway_testkit::redis::{Cluster, RedisServer, SentinelDeployment};

/// What it consists of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Topology {
    /// One server, which stays.
    Standalone,
    /// A master, a replica and three Sentinels.
    Sentinel,
    /// Three masters with a replica each.
    Cluster,
}

/// A running one.
pub(crate) enum Redis {
    Standalone(RedisServer),
    Sentinel(SentinelDeployment),
    Cluster(Cluster),
}

/// How long a master goes on alone before it dies with what it did meanwhile, where that may be lost.
const ALONE: Duration = Duration::from_millis(700);

impl Redis {
    pub(crate) fn start(topology: Topology) -> Self {
        match topology {
            Topology::Standalone => Self::Standalone(RedisServer::start()),
            Topology::Sentinel => Self::Sentinel(SentinelDeployment::start(1)),
            Topology::Cluster => Self::Cluster(Cluster::start()),
        }
    }

    pub(crate) fn url(&self) -> String {
        match self {
            Self::Standalone(server) => server.url(),
            Self::Sentinel(servers) => servers.url(),
            Self::Cluster(servers) => servers.url(),
        }
    }

    /// The settings by which a replica finds it, besides its address.
    pub(crate) fn variables(&self, confirmed: bool) -> Vec<(&'static str, &'static str)> {
        let durability = if confirmed { "replica" } else { "async" };
        match self {
            Self::Standalone(_) => Vec::new(),
            Self::Sentinel(servers) => vec![
                ("STORE__REDIS__MODE", "sentinel"),
                ("STORE__REDIS__MASTER", servers.name()),
                ("STORE__REDIS__DURABILITY", durability),
            ],
            Self::Cluster(_) => vec![
                ("STORE__REDIS__MODE", "cluster"),
                ("STORE__REDIS__DURABILITY", durability),
            ],
        }
    }

    /// Kills the master that has a task, and returns when its replica has its place and it is there again as a
    /// replica. With `losing` it goes on alone for a moment first, and what it does then is lost.
    pub(crate) fn fail_over(&mut self, task: &str, losing: bool) {
        match self {
            Self::Standalone(_) => panic!("one server has nobody to take its place"),
            Self::Sentinel(servers) => {
                let dead = if losing {
                    let master = servers.part_master();
                    alone();
                    servers.kill_parted(master);
                    master
                } else {
                    servers.kill_master()
                };
                servers.bring_back(dead);
            }
            Self::Cluster(servers) => {
                assert!(!losing, "no trial has a cluster that loses something");
                let (bucket, _) = task.split_once('-').expect("an id says its bucket");
                let dead = servers.kill_master_of(&format!("a2a:{{{bucket}}}:"));
                servers.bring_back(dead);
            }
        }
    }
}

#[allow(
    clippy::disallowed_methods,
    reason = "the faults have a thread of their own meanwhile"
)]
fn alone() {
    thread::sleep(ALONE);
}
