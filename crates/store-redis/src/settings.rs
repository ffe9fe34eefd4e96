//! What a store in Redis can be told.

use std::{collections::HashMap, fmt, path::PathBuf, time::Duration};

use gateway_domain::{Tenant, ports::StoreError};

use crate::keys::{Layout, MOST_BUCKETS};

/// Where Redis is, how the deployment's keys are laid out, and the bounds of what is kept.
#[derive(Clone, PartialEq, Eq)]
pub struct Settings {
    /// `redis://HOST:PORT/DATABASE`, `rediss://` for TLS, or `redis+unix://` with a path. 7.0 or newer. Sentinels, or
    /// some servers of a cluster, stand with commas between them.
    pub url: String,
    /// What stands at the URL.
    pub mode: Mode,
    /// Whom an encrypted connection trusts.
    pub tls: Tls,
    /// What is waited for before a change is acknowledged and shown.
    pub durability: Durability,
    /// The user of its access lists; nothing for the default one.
    pub user: Option<String>,
    /// The password of the user; nothing where none is asked for.
    pub password: Option<String>,
    /// What the deployment's keys begin with: letters, digits, `-`, `_` and `.`.
    pub prefix: String,
    /// Hash tags that the keys are spread over, 1 to 256. Fixed when the deployment is made.
    pub buckets: u16,
    /// Tenants, or the callers without one, that lie in several buckets: in how many, 2 at least. Fixed for each of them
    /// when the deployment is first opened with it.
    pub spread: HashMap<Option<Tenant>, u16>,
    /// Entries in the log of a task, at least 1.
    pub log_entries: usize,
    /// Bytes in the log of a task. The newest entry is held however large it is.
    pub log_bytes: usize,
    /// Finished tasks of a tenant (or: of all without one).
    pub finished_per_tenant: usize,
    /// How long a finished task is kept where there is room.
    pub finished_kept: Duration,
}

/// What stands at a URL.
#[derive(Clone, PartialEq, Eq)]
pub enum Mode {
    /// One server.
    Standalone,
    /// Sentinels that know where the master is.
    Sentinel {
        /// What they call it.
        master: String,
        /// The user of the Sentinels' own access lists; nothing for the default one.
        user: Option<String>,
        /// The password of that user; nothing where none is asked for.
        password: Option<String>,
    },
    /// A cluster.
    Cluster,
}

/// Whom an encrypted connection trusts, and by which certificate we are known.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Tls {
    /// The certificate of the authority that vouches for the servers; without it those that the machine trusts.
    pub ca_file: Option<PathBuf>,
    /// Our certificate, with those that vouch for it; only together with the key.
    pub certificate_file: Option<PathBuf>,
    /// The key of our certificate.
    pub key_file: Option<PathBuf>,
    /// Trust whoever answers. Whoever can come between then reads everything, the password too.
    pub accept_any_certificate: bool,
}

/// What is waited for before a change is acknowledged, and shown to subscribers and webhooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// That the master has it in its memory. What it did not pass on in time is lost when it fails.
    Async,
    /// That so many replicas, at least 1, have it in theirs.
    Replica {
        /// How many.
        replicas: u16,
    },
    /// That the master has it on its disk; a failover to a replica may still lose it.
    Disk,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            url: "redis://127.0.0.1:6379".to_owned(),
            mode: Mode::Standalone,
            tls: Tls::default(),
            durability: Durability::Async,
            user: None,
            password: None,
            prefix: "a2a".to_owned(),
            buckets: 64,
            spread: HashMap::new(),
            log_entries: 2_000,
            log_bytes: 8 << 20,
            finished_per_tenant: 200_000,
            finished_kept: Duration::from_secs(24 * 60 * 60),
        }
    }
}

impl Settings {
    pub(crate) fn layout(&self) -> Layout {
        Layout {
            prefix: self.prefix.clone(),
            buckets: self.buckets,
            spread: self.spread.clone(),
        }
    }

    /// Says what no deployment can be made with.
    pub(crate) fn check(&self) -> Result<(), StoreError> {
        let of_key = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
        if self.prefix.is_empty() || !self.prefix.bytes().all(of_key) {
            return Err(StoreError::new(
                "the prefix of keys has letters, digits, -, _ and . only",
            ));
        }
        if !(1..=MOST_BUCKETS).contains(&self.buckets) {
            return Err(StoreError::new(format_args!(
                "there are 1 to {MOST_BUCKETS} buckets"
            )));
        }
        if self.user.is_some() && self.password.is_none() {
            // The client would log in as the default user, who may do more.
            return Err(StoreError::new(
                "store.redis.user is set and secrets.redis_password is not: set both or neither",
            ));
        }
        for (tenant, parts) in &self.spread {
            if !(2..=self.buckets).contains(parts) {
                let whose = tenant.as_ref().map_or("callers without a tenant", Tenant::as_str);
                return Err(StoreError::new(format_args!(
                    "store.redis.spread: {whose} may lie in 2 to {} buckets, not in {parts}",
                    self.buckets
                )));
            }
        }
        if self.durability == (Durability::Replica { replicas: 0 }) {
            return Err(StoreError::new("durability by replicas needs 1 of them at least"));
        }
        Ok(())
    }
}

// The password is a secret, and the URL may hold one.
impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings")
            .field("prefix", &self.prefix)
            .field("buckets", &self.buckets)
            .finish_non_exhaustive()
    }
}
