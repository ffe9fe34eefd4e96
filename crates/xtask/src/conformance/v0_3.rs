//! `conformance-0.3`: the official compatibility suite of protocol 0.3, one category over one binding after the other.
//!
//! It is another program than the suite of 1.0, and has to be asked for each binding by itself; only its category that
//! compares the bindings takes all of them at once.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use super::{ADDRESS, Profile, differences, report::Report};
use crate::{
    Finding, Verdict,
    gateway::{self, Gateway, Plan},
    process, verdict,
};

/// Which state of the suite the expectations are about.
const CHECKOUT: &str =
    "branch 0.3.x of a2aproject/a2a-tck at commit eb1f804c27ea25db8805264d9ed2d7ca077a7776";
/// What its list of requirements leaves out.
const FURTHER: [&str; 2] = ["python-dotenv", "pyOpenSSL"];
/// How long it reads streams, in seconds: as the suites of the official SDKs have it.
const STREAMING: (&str, &str) = ("TCK_STREAMING_TIMEOUT", "5.0");

/// One call of the suite, and what has to come out.
struct Run {
    expected: Profile,
    /// A folder of tests in the checkout.
    tests: &'static str,
    marks: &'static str,
    bindings: &'static str,
}

/// It asks for a configuration by an id that nobody gave.
const NO_SUCH_ID: &str = "test_get_push_notification_config";
/// Over HTTP+JSON it loses the task's context, and sends one of its own making beside the task.
const OTHER_CONTEXT: &str = "test_message_send_continue_with_contextid";

const fn expect(
    name: &'static str,
    passed: usize,
    skipped: usize,
    failed: &'static [&'static str],
) -> Profile {
    Profile {
        name,
        settings: "v0.3.toml",
        error_table: "1.0.1",
        deselected: &[],
        passed,
        skipped,
        failed,
    }
}

const fn mandatory(expected: Profile, marks: &'static str, bindings: &'static str) -> Run {
    Run {
        expected,
        tests: "tests/mandatory",
        marks,
        bindings,
    }
}

const fn optional(expected: Profile, tests: &'static str, bindings: &'static str) -> Run {
    Run {
        expected,
        tests,
        marks: "",
        bindings,
    }
}

const OF_JSONRPC: &str = "mandatory_jsonrpc or mandatory_protocol";
const OF_ALL: &str = "mandatory_protocol";
const CAPABILITIES: &str = "tests/optional/capabilities";
const QUALITY: &str = "tests/optional/quality";
const FEATURES: &str = "tests/optional/features";

static RUNS: [Run; 13] = [
    mandatory(expect("mandatory-jsonrpc", 30, 3, &[]), OF_JSONRPC, "jsonrpc"),
    mandatory(expect("mandatory-rest", 18, 3, &[]), OF_ALL, "rest"),
    mandatory(expect("mandatory-grpc", 18, 3, &[]), OF_ALL, "grpc"),
    optional(
        expect("capabilities-jsonrpc", 38, 35, &[NO_SUCH_ID]),
        CAPABILITIES,
        "jsonrpc",
    ),
    optional(
        expect("capabilities-rest", 33, 40, &[OTHER_CONTEXT]),
        CAPABILITIES,
        "rest",
    ),
    optional(expect("capabilities-grpc", 34, 40, &[]), CAPABILITIES, "grpc"),
    Run {
        expected: expect("transport-equivalence", 12, 4, &[]),
        tests: "tests/optional/multi_transport",
        marks: "transport_equivalence",
        bindings: "jsonrpc,rest,grpc",
    },
    optional(expect("quality-jsonrpc", 14, 0, &[]), QUALITY, "jsonrpc"),
    optional(expect("quality-rest", 14, 0, &[]), QUALITY, "rest"),
    optional(expect("quality-grpc", 14, 0, &[]), QUALITY, "grpc"),
    optional(expect("features-jsonrpc", 16, 1, &[]), FEATURES, "jsonrpc"),
    optional(expect("features-rest", 16, 1, &[]), FEATURES, "rest"),
    optional(expect("features-grpc", 16, 1, &[]), FEATURES, "grpc"),
];

/// `cargo xtask conformance-0.3 FOLDER`
pub(crate) fn run(root: &Path, arguments: &[String]) -> Verdict {
    let [folder] = arguments else {
        let text = "call it as `make conformance-0.3 TCK_DIR=…`, or `cargo xtask conformance-0.3 FOLDER`";
        return verdict(vec![Finding::of("conformance-0.3", text)]);
    };
    verdict(all(root, folder).unwrap_or_else(|finding| vec![finding]))
}

/// Every run against one gateway.
fn all(root: &Path, folder: &str) -> Result<Vec<Finding>, Finding> {
    let suite = Suite::at(root, folder)?;
    gateway::build(root)?;
    let out = root.join("target/conformance/v0.3");
    println!("== v0.3: the log and the reports are in {}", out.display());
    let plan = Plan {
        name: "v0.3",
        settings: "deploy/conformance/v0.3.toml",
        environment: &[],
        address: ADDRESS,
        behind: None,
    };
    let gateway = Gateway::start(root, &plan, &out)?;
    let findings = RUNS.iter().flat_map(|run| match suite.run(run, &out, &gateway) {
        Ok(report) => {
            println!("{:<22} {report}", run.expected.name);
            differences(&run.expected, &report)
        }
        Err(finding) => vec![finding],
    });
    Ok(findings.collect())
}

/// A checkout of the suite with what it needs to run.
struct Suite {
    checkout: PathBuf,
    python: PathBuf,
}

impl Suite {
    /// Finds the checkout in `v03` of a folder, and makes `venv03` beside it where that is missing.
    fn at(root: &Path, folder: &str) -> Result<Self, Finding> {
        let folder = fs::canonicalize(folder).map_err(|error| Finding::of(folder, error.to_string()))?;
        let (checkout, venv) = (folder.join("v03"), folder.join("venv03"));
        let requirements = checkout.join("requirements.txt");
        if !requirements.is_file() {
            let text = format!("does not hold the suite; put {CHECKOUT} there");
            return Err(Finding::of(checkout.display().to_string(), text));
        }
        let python = venv.join("bin/python");
        if !python.exists() {
            let (venv, pip) = (process::argument(&venv), process::argument(&venv.join("bin/pip")));
            println!("installing the suite into {venv}");
            process::run(root, &["python3", "-m", "venv", &venv])?;
            let requirements = process::argument(&requirements);
            let install = [&*pip, "install", "--quiet", "--requirement", &requirements];
            process::run(root, &[&install[..], &FURTHER[..]].concat())?;
        }
        Ok(Self { checkout, python })
    }

    /// One run. The suite's own words go to a log beside its report.
    fn run(&self, run: &Run, out: &Path, gateway: &Gateway) -> Result<Report, Finding> {
        let name = run.expected.name;
        let fault = |text: String| Finding::of(name, text);
        let log =
            fs::File::create(out.join(format!("{name}.log"))).map_err(|error| fault(error.to_string()))?;
        let complaints = log.try_clone().map_err(|error| fault(error.to_string()))?;
        let junit = out.join(format!("{name}.xml"));
        // One of an earlier run must not be taken for this one's.
        drop(fs::remove_file(&junit));
        Command::new(&self.python)
            .args([
                "-m",
                "pytest",
                run.tests,
                "-q",
                "--tb=short",
                "-p",
                "no:cacheprovider",
                "--test-scope=all",
            ])
            .args(["-m", run.marks])
            .args([
                "--transport-strategy",
                "agent_preferred",
                "--transports",
                run.bindings,
            ])
            .arg("--enable-equivalence-testing")
            .arg(format!("--sut-url={}/rpc", gateway.url()))
            .arg(format!("--junitxml={}", junit.display()))
            .env(STREAMING.0, STREAMING.1)
            .current_dir(&self.checkout)
            .stdin(Stdio::null())
            .stdout(log)
            .stderr(complaints)
            .status()
            .map_err(|error| fault(format!("the suite cannot be started: {error}")))?;
        let xml = fs::read_to_string(&junit)
            .map_err(|error| fault(format!("the suite left no report ({error}); {name}.log says why")))?;
        Report::read(&xml).ok_or_else(|| fault(format!("{} is no report of pytest", junit.display())))
    }
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, path::Path};

    use super::{RUNS, run};

    #[test]
    fn each_run_has_a_name_of_its_own_and_what_is_mandatory_has_no_failure() {
        let names: BTreeSet<_> = RUNS.iter().map(|run| run.expected.name).collect();
        assert_eq!(names.len(), RUNS.len());
        for run in RUNS.iter().filter(|run| run.tests == "tests/mandatory") {
            assert!(run.expected.failed.is_empty(), "{}", run.expected.name);
        }
    }

    #[test]
    fn without_a_folder_nothing_is_run() {
        let findings = run(Path::new("."), &[]).unwrap_err();
        assert!(
            findings[0].to_string().contains("make conformance-0.3"),
            "{findings:?}"
        );
    }
}
