//! Where tasks are kept, and for how long.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::text::{Period, Size};

/// The store.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Store {
    /// Which store. `memory` keeps tasks in this process: they end with it. `redis` keeps them in Redis, where every
    /// replica that is set to the same deployment finds them; what has been answered outlives any replica, and
    /// Redis's own durability is the operator's to choose.
    pub kind: StoreKind,
    /// Finished tasks that are kept of a tenant, or of all callers without one; the oldest are retired first.
    #[schemars(range(min = 1, max = 100_000_000))]
    pub finished_per_tenant: usize,
    /// Bytes of finished tasks that are kept in all; the oldest are retired first. For `memory` only: the size of
    /// Redis is its own setting.
    #[schemars(extend("x-min" = "1 MiB", "x-max" = "1024 GiB"))]
    pub finished_bytes: Size,
    /// How long a finished task is kept.
    #[schemars(extend("x-min" = "1 s", "x-max" = "365 d"))]
    pub finished_age: Period,
    /// Events that are kept of a task, so that streams whose reader is slow can catch up.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub log_entries: usize,
    /// Bytes of events that are kept of a task.
    #[schemars(extend("x-min" = "64 KiB", "x-max" = "1 GiB"))]
    pub log_bytes: Size,
    /// How long a replica keeps the agent's run of a task, or a webhook, without a sign of life; after it another replica
    /// goes on with it. It is renewed three times as often. For `redis` only, and the same on all replicas.
    #[schemars(extend("x-min" = "1 s", "x-max" = "10 min"))]
    pub lease: Period,
    /// How many replicas may lose the agent's run of a task, killed or cut off, until the task fails: the run may be what
    /// ends them. Those that leave in order do not count. For `redis` only.
    #[schemars(range(min = 1, max = 1_000))]
    pub losses: u32,
    /// Where tasks are with `store.kind` `redis`.
    pub redis: Redis,
}

/// A deployment in Redis.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Redis {
    /// Redis 7.0 or newer, or Valkey: redis://HOST:PORT/DATABASE, rediss:// for TLS, or redis+unix:///PATH for the
    /// socket of one server. For `sentinel` the Sentinels, for `cluster` some of the servers, with commas between
    /// them: redis://HOST:PORT,HOST:PORT. The password is `secrets.redis_password`.
    #[schemars(length(min = 1))]
    pub url: String,
    /// What stands at the URL: `standalone` is one server, `sentinel` Sentinels that know where the master is,
    /// `cluster` a Redis Cluster.
    pub mode: RedisMode,
    /// What the Sentinels call the master; for `sentinel` only.
    #[schemars(length(min = 1))]
    pub master: String,
    /// The user of Redis's access lists; without it the default one.
    #[schemars(length(min = 1), example = &"gateway")]
    pub user: Option<String>,
    /// The user of the Sentinels' own access lists; without it the default one. The password is
    /// `secrets.redis_sentinel_password`.
    #[schemars(length(min = 1), example = &"gateway")]
    pub sentinel_user: Option<String>,
    /// What is waited for before a change is acknowledged and shown to subscribers and webhooks: `async` for the
    /// memory of the master, `replica` for that of `store.redis.replicas` replicas, `disk` for the append-only file
    /// of the master (Redis 7.2 or newer with appendonly yes). docs/redis.md says what each keeps when a server
    /// fails.
    pub durability: Durability,
    /// Replicas that must have a change; for `replica` only.
    #[schemars(range(min = 1, max = 16))]
    pub replicas: u16,
    /// Whom an encrypted connection trusts; for rediss:// only.
    pub tls: RedisTls,
    /// What all keys begin with: letters, digits, `-`, `_` and `.`. Deployments on one server have different ones.
    #[schemars(length(min = 1))]
    pub prefix: String,
    /// Parts that the keys are spread over; a tenant lies in one of them unless `store.redis.spread` names it. Fixed when
    /// the deployment is made, and the same on all replicas.
    #[schemars(range(min = 1, max = 256))]
    pub buckets: u16,
    /// Tenants that are too large for one part and one server, spread over several parts by context. Fixed for each of
    /// them from the first start with it on, and the same on all replicas; to add one, stop all replicas first.
    /// docs/redis.md says what is less exact for them.
    pub spread: Option<Vec<RedisSpread>>,
}

impl Default for Redis {
    fn default() -> Self {
        Self {
            url: "redis://127.0.0.1:6379".into(),
            mode: RedisMode::Standalone,
            master: "mymaster".into(),
            user: None,
            sentinel_user: None,
            durability: Durability::Async,
            replicas: 1,
            tls: RedisTls::default(),
            prefix: "a2a".into(),
            buckets: 64,
            spread: None,
        }
    }
}

/// A tenant that is spread over several parts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RedisSpread {
    /// Which; without it all callers without a tenant.
    #[serde(default)]
    #[schemars(length(min = 1), example = &"acme")]
    pub tenant: Option<String>,
    /// Over how many parts, at most `store.redis.buckets`. Each keeps that part of the tenant's limits.
    #[schemars(range(min = 2, max = 256), example = 8)]
    pub parts: u16,
}

/// What stands at a URL of Redis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RedisMode {
    /// One server.
    Standalone,
    /// Sentinels.
    Sentinel,
    /// A cluster.
    Cluster,
}

/// What is waited for before a change counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Durability {
    /// The memory of the master.
    Async,
    /// The memory of replicas.
    Replica,
    /// The disk of the master.
    Disk,
}

/// Encrypted connections to Redis.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RedisTls {
    /// The certificate (PEM) of the authority that vouches for the servers, which is then the only one; without it
    /// those that the machine trusts.
    #[schemars(length(min = 1), example = &"/etc/a2a-gateway/redis-ca.pem")]
    pub ca_file: Option<String>,
    /// The gateway's own certificate (PEM), where Redis asks for one; together with the key.
    #[schemars(length(min = 1), example = &"/etc/a2a-gateway/redis.pem")]
    pub certificate_file: Option<String>,
    /// The key (PEM) of that certificate.
    #[schemars(length(min = 1), example = &"/etc/a2a-gateway/redis.key")]
    pub key_file: Option<String>,
    /// Trust whoever answers. Whoever can come between then reads and changes everything: for trial only.
    pub accept_any_certificate: bool,
}

/// Which store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum StoreKind {
    /// In this process.
    Memory,
    /// In Redis.
    Redis,
}

impl Default for Store {
    fn default() -> Self {
        Self {
            kind: StoreKind::Memory,
            finished_per_tenant: 200_000,
            finished_bytes: Size(1 << 30),
            finished_age: Period(Duration::from_secs(24 * 60 * 60)),
            log_entries: 2_000,
            log_bytes: Size(8 << 20),
            lease: Period(Duration::from_secs(15)),
            losses: 5,
            redis: Redis::default(),
        }
    }
}
