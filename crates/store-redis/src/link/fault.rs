//! What an error of Redis means for whoever called, and for where the next call goes.

use gateway_domain::ports::StoreError;
use redis::{ErrorKind, RedisError, ServerErrorKind};

use super::gate::Unconfirmed;

/// Why a server did not do what it was asked.
#[derive(Debug)]
pub(super) enum Fault {
    /// It said so, or did not answer.
    Redis(RedisError),
    /// It did it, and could not have it confirmed.
    Unconfirmed(Unconfirmed),
}

/// What follows from a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Meaning {
    /// The connection was lost on the way: nobody knows whether it was done.
    Broken,
    /// Nothing was done: another server has it, or will soon.
    Elsewhere,
    /// There was no answer in time.
    Silent,
    /// That is the answer.
    Refused,
}

impl Fault {
    pub(super) fn meaning(&self) -> Meaning {
        match self {
            Self::Redis(error) => of_redis(error),
            Self::Unconfirmed(Unconfirmed::Server(error)) => match of_redis(error) {
                // The write before it was done.
                Meaning::Elsewhere => Meaning::Broken,
                other => other,
            },
            Self::Unconfirmed(Unconfirmed::Ended) => Meaning::Broken,
            Self::Unconfirmed(Unconfirmed::TooFew(..)) => Meaning::Refused,
        }
    }

    /// The same for operators, with the server that it was.
    pub(super) fn at(&self, server: &str) -> StoreError {
        let hint = match self {
            Self::Redis(error) => hint(error),
            Self::Unconfirmed(_) => "",
        };
        match self {
            Self::Redis(error) => StoreError::new(format_args!("Redis at {server}: {error}{hint}")),
            Self::Unconfirmed(error) => StoreError::new(format_args!("Redis at {server}: {error}")),
        }
    }
}

fn of_redis(error: &RedisError) -> Meaning {
    match error.kind() {
        ErrorKind::Server(
            ServerErrorKind::Moved
            | ServerErrorKind::ReadOnly
            | ServerErrorKind::MasterDown
            | ServerErrorKind::ClusterDown,
        ) => Meaning::Elsewhere,
        _ if error.code() == Some("UNBLOCKED") => Meaning::Elsewhere,
        ErrorKind::Server(_) | ErrorKind::Extension => Meaning::Refused,
        _ if error.is_timeout() => Meaning::Silent,
        _ if error.is_io_error() || error.is_connection_dropped() || error.is_unrecoverable_error() => {
            Meaning::Broken
        }
        _ => Meaning::Refused,
    }
}

/// What an operator can do about it, where the error itself does not say.
fn hint(error: &RedisError) -> &'static str {
    match error.kind() {
        ErrorKind::Server(ServerErrorKind::Moved) => {
            " (where that lasts, the server is part of a cluster: set store.redis.mode to cluster)"
        }
        ErrorKind::Server(ServerErrorKind::ReadOnly) => {
            " (the server is a replica: name its master, or set store.redis.mode to sentinel)"
        }
        ErrorKind::Server(ServerErrorKind::Ask | ServerErrorKind::TryAgain) => {
            " (the bucket is being moved to another server; its tasks can be called again once it has been)"
        }
        _ if error.code() == Some("OOM") => {
            " (Redis is full: raise its maxmemory, or keep finished tasks for a shorter time)"
        }
        _ => "",
    }
}
