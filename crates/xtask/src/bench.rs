//! Measures the gateway: builds it and the load generator of `tests/bench` for release, and runs a suite of the latter.
//!
//! Figures of a machine that does other work at the same time say little; the generator tells when it was so.

use std::path::Path;

use crate::{Finding, Verdict, process, verdict};

/// What is held against limits, in less than twelve minutes.
const GATES: &str = "tests/bench/gates.toml";
/// More figures, and no limits.
const WIDE: &str = "tests/bench/wide.toml";
/// What a call in protocol 0.3 costs over one in 1.0.
const VERSIONS: &str = "tests/bench/versions.toml";

/// What a task in Redis costs to read.
const REDIS: &str = "tests/bench/redis.toml";

const GATEWAY: &str = "target/release/a2a-gateway";
/// A folder of its own: the generator's dependencies are built with features of their own.
const TARGET: &str = "target/bench";

/// `cargo xtask bench [--wide | --versions]`
pub(crate) fn run(root: &Path, arguments: &[String]) -> Verdict {
    let (suite, name) = match arguments.first().map(String::as_str) {
        Some("--wide") => (WIDE, "wide"),
        Some("--versions") => (VERSIONS, "versions"),
        _ => (GATES, "gates"),
    };
    let ended = build(root).and_then(|()| measure(root, suite, name));
    verdict(ended.err().into_iter().collect())
}

/// What the store in Redis costs over Redis itself, and a task in Redis over a bare handler.
pub(crate) fn measure_redis(root: &Path) -> Result<(), Finding> {
    process::run(root, BUILD_STORE)?;
    build(root)?;
    process::run(root, STORE)?;
    process::run(root, LATENCY)?;
    measure(root, REDIS, "redis")
}

/// Two tools get the second core: one of the store's own, which sends what the store sends without the store, and one
/// that has two gateways on one Redis.
const BUILD_STORE: &[&str] = &[
    "cargo",
    "build",
    "--locked",
    "--release",
    "--package",
    "gateway-store-redis",
    "--package",
    "gateway-server",
    "--examples",
];
const STORE: &[&str] = &["taskset", "-c", "1", "target/release/examples/bench"];
const LATENCY: &[&str] = &["taskset", "-c", "1", "target/release/examples/latency"];

fn build(root: &Path) -> Result<(), Finding> {
    let common = ["cargo", "build", "--locked", "--release", "--target-dir"];
    let gateway = ["target", "--package", "gateway-server", "--bin", "a2a-gateway"];
    let generator = [TARGET, "--manifest-path", "tests/bench/Cargo.toml"];
    process::run(root, &[&common[..], &gateway].concat())?;
    process::run(root, &[&common[..], &generator].concat())
}

/// The generator gets the second core to itself; the suites put the servers on the first.
fn measure(root: &Path, suite: &str, name: &str) -> Result<(), Finding> {
    let generator = format!("{TARGET}/release/a2a-bench");
    let report = format!("{TARGET}/{name}.md");
    let logs = format!("{TARGET}/logs");
    process::run(
        root,
        &[
            "env",
            &format!("GATEWAY={GATEWAY}"),
            &generator,
            "--client-cpu",
            "1",
            "suite",
            suite,
            "--lines",
            &format!("{TARGET}/{name}.jsonl"),
            "--markdown",
            &report,
            "--logs",
            &logs,
        ],
    )
}
