//! The official SDKs call the built gateway: every operation over every binding that a client exists for.
//!
//! The clients live in `tests/sdk`, and so do the deviations that are known and not ours. `cargo xtask sdk` installs
//! what they need; `cargo xtask test` does that by itself.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test: what must not be absent fails it, and its table is for people"
)]

mod client;
mod judge;

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    process::Command,
};

use gateway_domain::{Binding, Operation};
use gateway_tests::{
    balancer::Kind,
    cluster::{Cluster, Plan},
    process::Process,
};

use judge::{Cell, Deviation, Observation, Pinned};

/// An SDK, how its client is called from the root of the repository, and what is not asked of it: what it has no call for.
struct Sdk {
    name: &'static str,
    command: &'static [&'static str],
    /// The version that it is held to, where it speaks more than one.
    version: Option<&'static str>,
    lacks: &'static [Operation],
}

const PYTHON: &[&str] = &[".tools/sdk-venv/bin/python", "-B", "tests/sdk/python/client.py"];
const JAVASCRIPT: &[&str] = &[
    ".tools/sdk-venv/bin/node",
    "--preserve-symlinks-main",
    ".tools/sdk-js/client.js",
];

static SDKS: [Sdk; 7] = [
    Sdk {
        name: "python",
        command: PYTHON,
        version: None,
        lacks: &[],
    },
    Sdk {
        name: "javascript",
        command: JAVASCRIPT,
        version: None,
        lacks: &[],
    },
    Sdk {
        name: "rust",
        command: &[".tools/sdk-rust/debug/sdk-client"],
        version: None,
        lacks: &[],
    },
    Sdk {
        name: "python as 0.3",
        command: PYTHON,
        version: Some("0.3"),
        lacks: &[Operation::ListTasks],
    },
    Sdk {
        name: "js as 0.3",
        command: JAVASCRIPT,
        version: Some("0.3"),
        lacks: &[Operation::ListTasks],
    },
    Sdk {
        name: "python-0.3",
        command: &[
            ".tools/sdk-venv-0.3/bin/python",
            "-B",
            "tests/sdk/python-0.3/client.py",
        ],
        version: None,
        lacks: &[
            Operation::ListTasks,
            Operation::ListTaskPushNotificationConfigs,
            Operation::DeleteTaskPushNotificationConfig,
        ],
    },
    Sdk {
        name: "js-0.3",
        command: &[
            ".tools/sdk-venv/bin/node",
            "--preserve-symlinks-main",
            ".tools/sdk-js-0.3/client.js",
        ],
        version: None,
        lacks: &[Operation::ListTasks],
    },
];

#[test]
#[ignore = "needs the official SDKs, which `cargo xtask sdk` installs"]
fn every_operation_works_from_every_official_sdk_over_every_binding() {
    let settings = settings();
    let gateway = Process::start_with(&["run", "--config", &settings], &[]);
    judge_all(&format!("http://{}", gateway.client), || gateway.said());
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the official SDKs, which `cargo xtask sdk` installs, and balancers"]
async fn every_operation_works_from_every_official_sdk_through_a_balancer_at_three_replicas() {
    for kind in Kind::ALL {
        println!("\nbehind {}", kind.name());
        let cluster = Cluster::start(Plan::behind(kind).configured(&settings()));
        judge_all(&format!("http://{}", cluster.front().http), || cluster.said());
        let answered = cluster.answered().await;
        println!("calls answered by each replica: {answered:?}");
        assert!(answered.iter().all(|calls| *calls > 0), "{answered:?}");
    }
}

fn settings() -> String {
    root().join("tests/sdk/gateway.toml").to_str().unwrap().to_owned()
}

/// Has every client call a gateway, and judges what they report.
fn judge_all(base: &str, said: impl FnOnce() -> String) {
    let root = root();
    let observed: Vec<_> = SDKS.iter().flat_map(|sdk| observe(sdk, &root, base)).collect();
    let report = judge::judge(&cells(), &observed, &pinned(&root));
    println!("\n{}", report.table);
    if !report.faults.is_empty() {
        println!("{}", said());
    }
    assert!(report.faults.is_empty(), "{}", report.faults.join("\n"));
}

#[test]
fn pinned_deviations_are_about_cells_that_exist() {
    let pinned = pinned(&root());
    let cells = cells();
    let unknown: Vec<_> = pinned.iter().filter(|pin| !cells.contains(&pin.cell)).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
}

fn cells() -> BTreeSet<Cell> {
    let operations = |sdk: &'static Sdk| {
        let has = Operation::CLIENT
            .iter()
            .filter(|operation| !sdk.lacks.contains(operation));
        has.map(|operation| operation.name())
    };
    let bindings = || Binding::ALL.iter().map(|binding| binding.name());
    let of_sdk = |sdk: &'static Sdk| {
        operations(sdk)
            .flat_map(move |operation| bindings().map(move |binding| Cell::of(sdk.name, operation, binding)))
    };
    SDKS.iter().flat_map(of_sdk).collect()
}

fn observe(sdk: &Sdk, root: &Path, base: &str) -> Vec<Observation> {
    let program = root.join(sdk.command[0]);
    assert!(
        program.exists(),
        "{} is not there: `cargo xtask sdk` installs it",
        program.display()
    );
    let mut command = Command::new(program);
    command
        .args(&sdk.command[1..])
        .arg(base)
        .args(sdk.version)
        .current_dir(root);
    let said = client::output(sdk.name, &mut command);
    let lines = said.lines().map(|line| judge::observation(sdk.name, line));
    lines.collect()
}

fn pinned(root: &Path) -> Vec<Deviation> {
    let text = std::fs::read_to_string(root.join("tests/sdk/deviations.toml")).unwrap();
    let pinned: Pinned = toml::from_str(&text).unwrap_or_else(|error| panic!("deviations.toml: {error}"));
    pinned.deviations
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}
