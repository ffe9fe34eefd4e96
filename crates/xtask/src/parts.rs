//! `check` and `test`: lists of commands, run one after the other, with the seconds that each took.
//!
//! A part can be run by hand as its own command; nothing happens between them.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use crate::{Finding, Verdict, process, verdict};

/// One command of a list.
struct Part {
    name: &'static str,
    command: &'static [&'static str],
    /// Whether the rest makes no sense when this one fails.
    essential: bool,
}

const fn part(name: &'static str, command: &'static [&'static str]) -> Part {
    Part {
        name,
        command,
        essential: false,
    }
}

const fn essential(name: &'static str, command: &'static [&'static str]) -> Part {
    Part {
        name,
        command,
        essential: true,
    }
}

/// `--locked` in one place is enough: a lock file that doesn't fit the manifests is refused here.
const CHECK: &[Part] = &[
    part("fmt", &["cargo", "fmt", "--all", "--check"]),
    part("tidy", &["cargo", "xtask", "tidy"]),
    part("arrows", &["cargo", "xtask", "arrows"]),
    part("deny", &["cargo", "xtask", "deny"]),
    part(
        "clippy",
        &[
            "cargo",
            "clippy",
            "--locked",
            "--workspace",
            "--all-targets",
            "--",
            "-D",
            "warnings",
        ],
    ),
    part("generated", &["cargo", "xtask", "generated"]),
];

/// Always the whole workspace with a choice of targets: a choice of packages would change the features of
/// shared dependencies and build them twice. The first part also builds the binary that black-box tests start.
const TEST: &[Part] = &[
    essential("build", &["cargo", "build", "--workspace", "--bins", "--tests"]),
    part("redis", &["cargo", "xtask", "redis"]),
    part("balancers", &["cargo", "xtask", "balancers"]),
    part("unit", UNIT),
    part("integration", INTEGRATION),
    part("examples", &["cargo", "test", "--workspace", "--doc"]),
    part("sdk", &["cargo", "xtask", "sdk"]),
    part("interop", INTEROP),
];

/// One binary that fails must not hide what the others find.
const UNIT: &[&str] = &[
    "cargo",
    "test",
    "--workspace",
    "--no-fail-fast",
    "--lib",
    "--bins",
];
const INTEGRATION: &[&str] = &["cargo", "test", "--workspace", "--no-fail-fast", "--test", "*"];

/// The official SDKs against the binary; they are ignored elsewhere, since they have to be installed.
const INTEROP: &[&str] = &[
    "cargo",
    "test",
    "--workspace",
    "--test",
    "sdk",
    "--",
    "--ignored",
    "--nocapture",
];

/// Tests marked `#[ignore]` take minutes or need a program that isn't on every machine.
const LONG: &[Part] = &[
    part(
        "long",
        &["cargo", "test", "--workspace", "--tests", "--", "--ignored"],
    ),
    part("chaos", &["cargo", "xtask", "chaos"]),
];

/// `cargo xtask check`
pub(crate) fn check(root: &Path, _: &[String]) -> Verdict {
    run(root, CHECK.iter())
}

/// `cargo xtask test [--all]`
pub(crate) fn test(root: &Path, arguments: &[String]) -> Verdict {
    let long = if arguments.iter().any(|argument| argument == "--all") {
        LONG
    } else {
        &[]
    };
    run(root, TEST.iter().chain(long))
}

fn run<'a>(root: &Path, parts: impl Iterator<Item = &'a Part>) -> Verdict {
    let (mut findings, mut times) = (Vec::new(), Vec::new());
    for part in parts {
        println!("== {}: {}", part.name, part.command.join(" "));
        let begun = Instant::now();
        let ended = process::run(root, part.command);
        times.push(line(part.name, begun.elapsed(), ended.is_ok()));
        if let Err(fault) = ended {
            findings.push(Finding::of(part.name, format!("failed ({fault})")));
            if part.essential {
                break;
            }
        }
    }
    times.iter().for_each(|line| println!("{line}"));
    verdict(findings)
}

fn line(name: &str, took: Duration, good: bool) -> String {
    format!(
        "{name:<12} {:>7.1} s  {}",
        took.as_secs_f64(),
        if good { "ok" } else { "FAILED" }
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_that_fails_is_reported_and_the_rest_still_runs() {
        let parts = [
            part("first", &["false"]),
            part("second", &["false"]),
            part("third", &["true"]),
        ];
        let findings = run(Path::new("."), parts.iter()).unwrap_err();
        assert_eq!(
            findings.iter().map(Finding::place).collect::<Vec<_>>(),
            ["first", "second"]
        );
    }

    #[test]
    fn nothing_runs_after_an_essential_part_has_failed() {
        let parts = [essential("build", &["false"]), part("never", &["false"])];
        assert_eq!(run(Path::new("."), parts.iter()).unwrap_err().len(), 1);
    }

    #[test]
    fn a_line_says_name_seconds_and_how_it_ended() {
        assert_eq!(
            line("clippy", Duration::from_millis(61_240), true),
            "clippy          61.2 s  ok"
        );
        assert_eq!(
            line("fmt", Duration::from_millis(90), false),
            "fmt              0.1 s  FAILED"
        );
    }
}
