//! `conformance`: the official compatibility suite of A2A against this gateway, once for each profile of settings.
//!
//! The suite lies in a folder of its own, which is not changed; what it finds is compared with what is expected here, a
//! skipped test as well, since a skip can hide a failure.

mod report;
mod suite;
pub(crate) mod v0_3;

use std::{
    net::{IpAddr, Ipv4Addr, SocketAddr},
    path::Path,
};

use crate::{
    Finding, Verdict, cluster,
    gateway::{self, Gateway, Plan},
    verdict,
};
use report::Report;

/// Where the profiles listen: away from the usual ports, so that a gateway that runs there is not tried by mistake.
const ADDRESS: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 18080);

/// A run of the suite: the settings it is made with, and what has to come out.
pub(crate) struct Profile {
    name: &'static str,
    /// In `deploy/conformance`.
    settings: &'static str,
    /// The release of the specification whose error table is told.
    error_table: &'static str,
    /// Tests left out since no server can pass them.
    deselected: &'static [&'static str],
    passed: usize,
    skipped: usize,
    /// Tests that fail as they must, by the end of their names.
    failed: &'static [&'static str],
}

/// The suite bundles 1.0.0, whose error table differs from that of 1.0.1. With a card that declares everything it
/// cannot ask for refusals of what is not declared, so that there are two cards.
const PROFILES: &[Profile] = &[
    Profile {
        name: "full",
        settings: "full.toml",
        error_table: "1.0.0",
        deselected: &[],
        passed: 252,
        skipped: 13,
        failed: &[],
    },
    Profile {
        name: "bare",
        settings: "bare.toml",
        error_table: "1.0.0",
        // Where streaming is refused the suite breaks on reading its own closed response.
        deselected: &["tests/compatibility/core_operations/test_transport_behavior.py::TestRestStreaming"],
        passed: 182,
        skipped: 82,
        failed: &[],
    },
    Profile {
        name: "default-table",
        settings: "full.toml",
        error_table: "1.0.1",
        deselected: &[],
        passed: 251,
        skipped: 13,
        // 1.0.0 had UNIMPLEMENTED where 1.0.1 has FAILED_PRECONDITION.
        failed: &["test_version_not_supported_returns_unimplemented"],
    },
];

/// `cargo xtask conformance FOLDER [--behind nginx|envoy] [PROFILE…]`
pub(crate) fn run(root: &Path, arguments: &[String]) -> Verdict {
    let [folder, names @ ..] = arguments else {
        return verdict(vec![usage("the folder of the suite is missing")]);
    };
    let (behind, names) = match names {
        [flag, balancer, names @ ..] if flag == "--behind" => (Some(balancer.as_str()), names),
        names => (None, names),
    };
    if let Some(unknown) = names.iter().find(|name| !known(name)) {
        return verdict(vec![usage(&format!("there is no profile {unknown:?}"))]);
    }
    let chosen = PROFILES
        .iter()
        .filter(|profile| names.is_empty() || names.iter().any(|name| name == profile.name));
    match prepare(root, folder, behind) {
        Ok(suite) => verdict(
            chosen
                .flat_map(|profile| judge(root, &suite, profile, behind))
                .collect(),
        ),
        Err(finding) => verdict(vec![finding]),
    }
}

fn known(name: &str) -> bool {
    PROFILES.iter().any(|profile| profile.name == name)
}

fn usage(fault: &str) -> Finding {
    let names: Vec<_> = PROFILES.iter().map(|profile| profile.name).collect();
    let text = format!(
        "{fault}; call it as `make conformance TCK_DIR=…`, or \
         `cargo xtask conformance FOLDER [--behind nginx|envoy] [PROFILE…]` with {}",
        names.join(", ")
    );
    Finding::of("conformance", text)
}

/// Everything that is the same for all profiles.
fn prepare(root: &Path, folder: &str, behind: Option<&str>) -> Result<suite::Suite, Finding> {
    let suite = suite::Suite::at(root, folder)?;
    match behind {
        None => gateway::build(root)?,
        Some(_) => drop(cluster::prepare(root, cluster::CLUSTER)?),
    }
    Ok(suite)
}

/// One profile. What went wrong before there was a report is the only finding then.
fn judge(root: &Path, suite: &suite::Suite, profile: &Profile, behind: Option<&str>) -> Vec<Finding> {
    let out = root
        .join("target/conformance")
        .join(behind.unwrap_or_default())
        .join(profile.name);
    println!(
        "== {}: the log and the reports are in {}",
        profile.name,
        out.display()
    );
    let plan = Plan {
        name: profile.name,
        settings: &format!("deploy/conformance/{}", profile.settings),
        environment: &[("A2A_GATEWAY__WIRE__ERROR_TABLE", profile.error_table)],
        address: ADDRESS,
        behind,
    };
    let report = Gateway::start(root, &plan, &out).and_then(|gateway| suite.run(profile, &out, &gateway));
    match report {
        Ok(report) => {
            println!("{:<14} {report}", profile.name);
            differences(profile, &report)
        }
        Err(finding) => vec![finding],
    }
}

/// What came out otherwise than expected.
fn differences(profile: &Profile, report: &Report) -> Vec<Finding> {
    let expected = |test: &str| profile.failed.iter().any(|name| test.ends_with(name));
    let failed = report.failed.iter().filter(|test| !expected(test));
    let mut findings: Vec<_> = failed
        .map(|test| Finding::of(profile.name, format!("{test} failed")))
        .collect();
    let count = |what: &str, found: usize, expected: usize| {
        let text = format!("{found} tests {what}, not {expected}");
        (found != expected).then(|| Finding::of(profile.name, text))
    };
    findings.extend(count("passed", report.passed, profile.passed));
    findings.extend(count("were skipped", report.skipped, profile.skipped));
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRIED: Profile = Profile {
        name: "tried",
        settings: "full.toml",
        error_table: "1.0.1",
        deselected: &[],
        passed: 2,
        skipped: 1,
        failed: &["test_known"],
    };

    fn report(passed: usize, skipped: usize, failed: &[&str]) -> Report {
        Report {
            passed,
            skipped,
            failed: failed.iter().map(|test| (*test).to_owned()).collect(),
        }
    }

    fn texts(report: &Report) -> Vec<String> {
        differences(&TRIED, report)
            .iter()
            .map(Finding::to_string)
            .collect()
    }

    #[test]
    fn what_is_expected_is_no_finding() {
        assert_eq!(texts(&report(2, 1, &["a.b.test_known"])), [""; 0]);
    }

    #[test]
    fn a_failure_that_nobody_expects_is_named_and_a_skip_in_its_place_is_counted() {
        let found = texts(&report(1, 2, &["a.test_known", "a.test_new"]));
        assert_eq!(found.len(), 3, "{found:?}");
        assert!(found[0].contains("a.test_new failed"), "{found:?}");
        assert!(found[1].contains("1 tests passed, not 2"), "{found:?}");
        assert!(found[2].contains("2 tests were skipped, not 1"), "{found:?}");
    }

    #[test]
    fn without_a_folder_or_with_an_unknown_profile_nothing_is_run() {
        for arguments in [&[][..], &["/nowhere".to_owned(), "fuller".to_owned()]] {
            let findings = run(Path::new("."), arguments).unwrap_err();
            assert!(
                findings[0].to_string().contains("make conformance"),
                "{findings:?}"
            );
        }
    }
}
