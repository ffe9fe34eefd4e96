//! Several replicas behind a balancer on this machine: `cluster` for trying them out, `chaos` for killing them. The
//! programs lie with the tests, which put the same parts together; here is what they need around them.

use std::path::Path;

use crate::{Finding, Verdict, gateway, process, redis, tools, verdict};

/// The program that starts a cluster.
pub(crate) const CLUSTER: &str = "a2a-cluster";
/// The program that breaks one.
const CHAOS: &str = "a2a-chaos";

/// `cargo xtask cluster [OPTIONS…]`
pub(crate) fn run(root: &Path, arguments: &[String]) -> Verdict {
    start(root, CLUSTER, arguments)
}

/// `cargo xtask chaos [--long]`
pub(crate) fn chaos(root: &Path, arguments: &[String]) -> Verdict {
    start(root, CHAOS, arguments)
}

fn start(root: &Path, program: &str, arguments: &[String]) -> Verdict {
    let ended = prepare(root, program).and_then(|program| {
        let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
        process::run(root, &[&[&*program], &arguments[..]].concat())
    });
    verdict(ended.err().into_iter().collect())
}

/// Builds the gateway and a program of the tests', and fetches what they start; says where the program is.
pub(crate) fn prepare(root: &Path, program: &str) -> Result<String, Finding> {
    redis::provide(root)?;
    tools::provide_balancers(root)?;
    gateway::build(root)?;
    process::run(
        root,
        &["cargo", "build", "--package", "gateway-tests", "--bin", program],
    )?;
    Ok(format!("target/debug/{program}"))
}
