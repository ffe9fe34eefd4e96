//! `fuzz` and `api-fuzz`: hostile input in quantities that no test run has time for.
//!
//! The targets of `fuzz` are tests of `tests/fuzz`, which `make test` runs with fewer inputs. `api-fuzz` has schemathesis
//! call a gateway by the OpenAPI document that it serves.

use std::{
    fs,
    net::{IpAddr, Ipv4Addr, SocketAddr},
    path::Path,
    process::{Command, Stdio},
    time::{SystemTime, UNIX_EPOCH},
};

use crate::{
    Finding, Verdict,
    gateway::{self, Gateway, Plan},
    process, sdk, verdict,
};

/// Inputs for each decoder.
const INPUTS: &str = "1000000";

/// Requests of each operation and kind, at most.
const EXAMPLES: &str = "50";
/// The virtual environment of schemathesis.
const VENV: &str = ".tools/api-venv";
/// What is installed there, and how the gateway is called.
const FOLDER: &str = "tests/fuzz/api";

/// `cargo xtask fuzz [INPUTS]`
pub(crate) fn run(root: &Path, arguments: &[String]) -> Verdict {
    let inputs = arguments.first().map_or(INPUTS, String::as_str);
    let seed = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(1, |since| since.as_secs());
    println!("seed {seed}");
    // Not optimised: what overflows has to be seen.
    let command = [
        "cargo",
        "test",
        "--package",
        "gateway-fuzz",
        "--test",
        "decoders",
        "--",
        "--nocapture",
    ];
    let environment = [("FUZZ_INPUTS", inputs), ("FUZZ_SEED", &seed.to_string())];
    verdict(
        with(root, root, &command, &environment)
            .err()
            .into_iter()
            .collect(),
    )
}

/// `cargo xtask api-fuzz [EXAMPLES]`
pub(crate) fn run_api(root: &Path, arguments: &[String]) -> Verdict {
    let examples = arguments.first().map_or(EXAMPLES, String::as_str);
    verdict(api(root, examples).err().into_iter().collect())
}

fn api(root: &Path, examples: &str) -> Result<(), Finding> {
    sdk::install(root, VENV, &format!("{FOLDER}/requirements.txt"))?;
    gateway::build(root)?;
    // Reports and what is remembered between runs go here as well.
    let out = root.join("target/api-fuzz");
    let plan = Plan {
        name: "api-fuzz",
        settings: &format!("{FOLDER}/gateway.toml"),
        environment: &[],
        address: SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 18090),
        behind: None,
    };
    let gateway = Gateway::start(root, &plan, &out)?;
    let [program, hooks, settings] = [
        root.join(VENV).join("bin/schemathesis"),
        root.join(FOLDER).join("hooks.py"),
        root.join(FOLDER).join("schemathesis.toml"),
    ]
    .map(|path| process::argument(&path));
    let document = format!("{}/openapi.json", gateway.url());
    let command = [
        &program as &str,
        "--config-file",
        &settings,
        "run",
        &document,
        "--max-examples",
        examples,
    ];
    let environment = [
        ("SCHEMATHESIS_HOOKS", &hooks as &str),
        ("PYTHONDONTWRITEBYTECODE", "1"),
    ];
    with(root, &out, &command, &environment)
}

/// Runs a command somewhere, with more in its environment.
fn with(root: &Path, place: &Path, command: &[&str], environment: &[(&str, &str)]) -> Result<(), Finding> {
    let fault = |text: String| Finding::of(command.join(" "), text);
    fs::create_dir_all(place).map_err(|error| fault(error.to_string()))?;
    let status = Command::new(command[0])
        .args(&command[1..])
        .envs(environment.iter().copied())
        .current_dir(place)
        .stdin(Stdio::null())
        .status()
        .map_err(|error| fault(format!("cannot be started: {error}")))?;
    if status.success() {
        return Ok(());
    }
    let place = place.strip_prefix(root).unwrap_or(place);
    Err(fault(format!("{status}, in {:?}", process::argument(place))))
}
