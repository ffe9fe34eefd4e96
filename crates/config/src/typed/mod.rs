//! The settings as they are typed: one struct a section, whose comments are the manual, whose defaults are the
//! defaults, and whose bounds are checked. What they mean together is worked out in [`crate::resolved`].
//!
//! A comment here is read by operators in the sample; keep it free of Rust.

mod card;
mod connections;
mod limits;
mod listeners;
mod push;
mod repeats;
mod store;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use card::{Card, CardForm, Extended, Extension, Provider, Skill};
pub use connections::Connections;
pub use limits::Limits;
pub use listeners::{ClientListener, Listener, Listeners, PublicUrls, Version};
pub use push::Push;
pub use repeats::{Repeats, RepeatsOf};
pub use store::{Durability, Redis, RedisMode, RedisSpread, RedisTls, Store, StoreKind};

use crate::text::Secret;

/// Every setting.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Typed {
    /// Where the gateway listens. A binding with a listener of its own is served there, the others by
    /// `listeners.client`.
    pub listeners: Listeners,
    /// The addresses that the agent card shows to clients. They are never taken from a request.
    pub public_urls: PublicUrls,
    /// What does the work.
    pub agent: Agent,
    /// The agent card, which clients read at /.well-known/agent-card.json. What is left out is said by the agent
    /// itself.
    pub card: Card,
    /// What the protocol looks like on the wire.
    pub wire: Wire,
    /// Who is served.
    pub tenants: Tenants,
    /// Bounds on what is kept and how long is waited.
    pub limits: Limits,
    /// Sends that are recognised when their client sends them again, as it does where it heard no answer.
    pub repeats: Repeats,
    /// Bounds on what a listener takes in, and its time-outs.
    pub connections: Connections,
    /// Where tasks are kept.
    pub store: Store,
    /// Delivery to webhooks.
    pub push: Push,
    /// The log, on standard error.
    pub logging: Logging,
    /// Metrics, at /metrics of `listeners.admin`.
    pub telemetry: Telemetry,
    /// Values that are never shown. Each can also be given as a file.
    pub secrets: Secrets,
}

/// The agent.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Agent {
    /// Which agent: `demo` is built in and obeys the text of a message; `conformance` is built in and does what the
    /// official compatibility suite expects.
    pub kind: AgentKind,
    /// Media types of parts that are taken: `any`, `card` for the input modes of the card and its skills, or a
    /// list such as ["text/*", "image/png"].
    pub media_types: MediaTypes,
}

/// Which agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum AgentKind {
    /// Built in; obeys the text of a message.
    #[default]
    Demo,
    /// Built in; does what the official compatibility suite expects.
    Conformance,
}

/// The wire.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Wire {
    /// The release of the specification by whose table errors become status codes. `1.0.0` is for `agent.kind`
    /// `conformance` only: the official compatibility suite still goes by it, and clients do not.
    pub error_table: ErrorTable,
}

/// A release of the specification with an error table of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub enum ErrorTable {
    /// The one that is served.
    #[default]
    #[serde(rename = "1.0.1")]
    V1_0_1,
    /// The one before it.
    #[serde(rename = "1.0.0")]
    V1_0_0,
}

/// Which media types are taken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum MediaTypes {
    /// By a name.
    Named(NamedMediaTypes),
    /// These.
    These(Vec<String>),
}

/// Sets of media types that have a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[allow(
    missing_docs,
    reason = "described at the setting, and a comment would change the schema's shape"
)]
pub enum NamedMediaTypes {
    Any,
    Card,
}

impl Default for MediaTypes {
    fn default() -> Self {
        Self::Named(NamedMediaTypes::Card)
    }
}

/// Tenants.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Tenants {
    /// The tenants that are served, each 1 to 256 bytes. Without it every tenant is, up to
    /// `limits.unconfigured_tenants`. Calls without a tenant are served either way.
    #[schemars(example = ["acme", "globex"])]
    pub names: Option<Vec<String>>,
}

/// The log.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Logging {
    /// The form of a line.
    pub format: LogFormat,
    /// What is logged: `error`, `warn`, `info`, `debug` or `trace`, also by module as in
    /// "info,gateway_edge=debug". At `debug` there is a line for every request.
    pub level: String,
    /// Refused and failed requests that are logged in a second at most; the others are counted and the next line
    /// says how many were left out.
    #[schemars(range(min = 1, max = 10_000))]
    pub refusals_per_second: u32,
}

impl Default for Logging {
    fn default() -> Self {
        Self {
            format: LogFormat::Text,
            level: "info".into(),
            refusals_per_second: 10,
        }
    }
}

/// The form of a log line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// For people.
    Text,
    /// One JSON object a line.
    Json,
}

/// Metrics.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Telemetry {
    /// Tenants of `tenants.names` that metrics tell apart, the first ones of the list; all others are counted
    /// together as `other`.
    #[schemars(range(min = 0, max = 1_000))]
    pub tenant_labels: usize,
}

impl Default for Telemetry {
    fn default() -> Self {
        Self { tenant_labels: 50 }
    }
}

/// Secrets.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Secrets {
    /// Seals page tokens; the same on all replicas, 16 bytes or more. Without it a random one is made: for
    /// `store.kind` `redis` once for the deployment, else at each start, and page tokens end with the process. Better given by the environment or by `page_key_file`.
    #[schemars(example = &"at least sixteen bytes")]
    pub page_key: Option<Secret>,
    /// A file that holds the page key; a line break at its end does not count.
    #[schemars(example = &"/run/secrets/page-key")]
    pub page_key_file: Option<String>,
    /// The password for `store.redis`.
    #[schemars(example = &"a long password")]
    pub redis_password: Option<Secret>,
    /// A file that holds the password; a line break at its end does not count.
    #[schemars(example = &"/run/secrets/redis-password")]
    pub redis_password_file: Option<String>,
    /// Lets the gateway in at Redis's Sentinels, where they ask for a password. Better given by the environment or by
    /// `redis_sentinel_password_file`.
    #[schemars(example = &"a password")]
    pub redis_sentinel_password: Option<Secret>,
    /// A file that holds that password; a line break at its end does not count.
    #[schemars(length(min = 1), example = &"/run/secrets/redis_sentinel_password")]
    pub redis_sentinel_password_file: Option<String>,
}
