//! The file that a suite is described in.

use std::{collections::BTreeMap, path::Path};

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

use super::gates::Gate;
use crate::client::{Binding, Version};

/// The whole file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// How often to repeat all steps on all targets; targets take turns inside each step.
    #[serde(default = "one")]
    pub rounds: u32,
    #[serde(rename = "target")]
    pub targets: Vec<TargetConfig>,
    #[serde(rename = "step")]
    pub steps: Vec<Step>,
    /// What is held against the results.
    #[serde(default, rename = "gate")]
    pub gates: Vec<Gate>,
}

impl Config {
    /// Reads a file.
    pub fn read(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path).with_context(|| format!("reading {}", path.display()))?;
        let config: Config = toml::from_str(&text).with_context(|| format!("in {}", path.display()))?;
        for gate in &config.gates {
            gate.check(&config)?;
        }
        Ok(config)
    }
}

/// A server to start and measure. `${VAR}` in commands and URLs is taken from the environment.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TargetConfig {
    pub name: String,
    pub command: Vec<String>,
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// CPUs to pin the server (and its helpers) to; all CPUs when empty.
    #[serde(default)]
    pub cpus: Vec<usize>,
    /// Further processes that belong to the server, such as its Redis; started first, measured too.
    #[serde(default, rename = "helper")]
    pub helpers: Vec<Helper>,
    pub jsonrpc: Option<String>,
    pub rest: Option<String>,
    pub grpc: Option<String>,
    /// Base URL of a bare `/hello` handler.
    pub hello: Option<String>,
    /// The version of the protocol; of 0.3 there are `send`, `stream` and `get`.
    #[serde(default)]
    pub protocol: Version,
    pub tenant: Option<String>,
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    pub rest_content_type: Option<String>,
    #[serde(default)]
    pub subscribe_get: bool,
    /// Whether its answers come out of nowhere, so that nothing need be stored first.
    #[serde(default)]
    pub canned: bool,
    #[serde(default = "twenty")]
    pub ready_seconds: f64,
}

impl TargetConfig {
    /// The bindings that it serves.
    pub fn bindings(&self) -> Vec<Binding> {
        let urls = [
            (Binding::Jsonrpc, &self.jsonrpc),
            (Binding::Rest, &self.rest),
            (Binding::Grpc, &self.grpc),
        ];
        let served = urls.into_iter().filter(|(_, url)| url.is_some());
        served.map(|(binding, _)| binding).collect()
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Helper {
    pub name: String,
    pub command: Vec<String>,
    /// `HOST:PORT` that accepts connections once the helper is ready.
    pub ready: String,
    /// CPUs to pin this helper to, if other than the target's.
    #[serde(default)]
    pub cpus: Vec<usize>,
}

/// One measurement, repeated per binding.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    pub name: String,
    pub op: StepOp,
    /// Bindings to run on; all that the target has when absent.
    pub bindings: Option<Vec<Binding>>,
    /// Restrict to these targets.
    pub targets: Option<Vec<String>>,
    /// Start the server anew before each binding's run; what is stored is stored once otherwise.
    #[serde(default = "yes")]
    pub fresh: bool,
    #[serde(default = "sixteen")]
    pub concurrency: usize,
    #[serde(default = "four")]
    pub grpc_connections: usize,
    #[serde(default = "five")]
    pub seconds: f64,
    #[serde(default)]
    pub requests: u64,
    #[serde(default = "second")]
    pub warmup_seconds: f64,
    pub rate: Option<f64>,
    /// Tasks to store first, through the HTTP+JSON binding where there is one.
    #[serde(default)]
    pub stored: usize,
    #[serde(default = "ten")]
    pub contexts: usize,
    #[serde(default = "hello")]
    pub text: String,
    #[serde(default = "fifty")]
    pub page_size: i32,
    #[serde(default)]
    pub by_context: bool,
    #[serde(default)]
    pub walk: bool,
    #[serde(default = "hundred")]
    pub streams: usize,
    #[serde(default = "four_thousand")]
    pub hold_ms: u64,
    #[serde(default = "event")]
    pub chunks: usize,
    #[serde(default)]
    pub size: usize,
    #[serde(default = "hundred")]
    pub streams_per_connection: usize,
}

/// A step's operation: a request loop, a fan-out, long streams, or the start-up time alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum StepOp {
    Send,
    Stream,
    Get,
    List,
    Hello,
    Subscribe,
    Growth,
    Startup,
}

fn one() -> u32 {
    1
}
fn event() -> usize {
    1
}
fn second() -> f64 {
    1.0
}
fn yes() -> bool {
    true
}
fn four() -> usize {
    4
}
fn five() -> f64 {
    5.0
}
fn ten() -> usize {
    10
}
fn sixteen() -> usize {
    16
}
fn twenty() -> f64 {
    20.0
}
fn fifty() -> i32 {
    50
}
fn hundred() -> usize {
    100
}
fn four_thousand() -> u64 {
    4000
}
fn hello() -> String {
    "hello".into()
}
