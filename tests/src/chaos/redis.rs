//! The Redis of a trial.

use gateway_testkit::redis::RedisServer;

/// What it consists of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Topology {
    /// One server, which stays.
    Standalone,
}

/// A running one.
pub(crate) enum Redis {
    Standalone(RedisServer),
}

impl Redis {
    pub(crate) fn start(topology: Topology) -> Self {
        match topology {
            Topology::Standalone => Self::Standalone(RedisServer::start()),
        }
    }

    pub(crate) fn url(&self) -> String {
        match self {
            Self::Standalone(server) => server.url(),
        }
    }

    /// The settings by which a replica finds it, besides its address.
    pub(crate) fn variables(&self, _confirmed: bool) -> Vec<(&'static str, String)> {
        match self {
            Self::Standalone(_) => Vec::new(),
        }
    }

    /// Kills the master, and returns when another one has its place and the former is there again.
    pub(crate) fn fail_over(&mut self) {
        match self {
            Self::Standalone(_) => panic!("one server has nobody to take its place"),
        }
    }
}
