//! `cargo xtask`: whatever the project does to itself that is longer than a line of the Makefile.
//!
//! A verb only reads the tree, except those that fetch what they need into `.tools`, and `generated --write`.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "this is a program for a terminal"
)]

mod arrows;
mod bench;
mod cluster;
mod conformance;
mod deny;
mod finding;
mod fuzz;
mod gateway;
mod generated;
mod parts;
mod process;
mod redis;
mod sdk;
mod tidy;
mod tools;

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use finding::Finding;

/// What a verb ends with: nothing, or everything that it has to say against the tree.
type Verdict = Result<(), Vec<Finding>>;

/// One verb of the command line.
struct Verb {
    name: &'static str,
    help: &'static str,
    run: fn(&Path, &[String]) -> Verdict,
}

const VERBS: &[Verb] = &[
    Verb {
        name: "check",
        help: "everything below that judges the tree, each part timed",
        run: parts::check,
    },
    Verb {
        name: "test",
        help: "the tests, each part timed; `--all` adds the long ones",
        run: parts::test,
    },
    Verb {
        name: "tidy",
        help: "what no compiler looks at: module heads, links, log texts …",
        run: tidy::run,
    },
    Verb {
        name: "arrows",
        help: "dependencies of crates against crates/README.md",
        run: arrows::run,
    },
    Verb {
        name: "generated",
        help: "generated files are up to date; `--write` brings them up to date",
        run: generated::run,
    },
    Verb {
        name: "deny",
        help: "licences, banned crates and sources of dependencies",
        run: deny::run,
    },
    Verb {
        name: "cluster",
        help: "three replicas, a Redis and a balancer on this machine, until Ctrl-C",
        run: cluster::run,
    },
    Verb {
        name: "chaos",
        help: "kills replicas and masters of Redis under tasks and subscribers, and counts what came of it; `--long` \
               for more of it",
        run: cluster::chaos,
    },
    Verb {
        name: "conformance",
        help: "the official compatibility suite in FOLDER against this gateway, for each profile; `--behind nginx` or \
               `envoy`",
        run: conformance::run,
    },
    Verb {
        name: "conformance-0.3",
        help: "the official compatibility suite of protocol 0.3 in FOLDER against this gateway",
        run: conformance::v0_3::run,
    },
    Verb {
        name: "bench",
        help: "the gateway's cost against its limits; `--wide` for more figures and no limits",
        run: bench::run,
    },
    Verb {
        name: "fuzz",
        help: "a million hostile inputs, or as many as are named, for each decoder",
        run: fuzz::run,
    },
    Verb {
        name: "api-fuzz",
        help: "HTTP+JSON called by its OpenAPI document, with EXAMPLES of each kind",
        run: fuzz::run_api,
    },
    Verb {
        name: "tools",
        help: "fetch the tools that the checks use into .tools",
        run: tools::run,
    },
    Verb {
        name: "redis",
        help: "redis-server for the tests; installed with apt-get where it is missing",
        run: redis::run,
    },
    Verb {
        name: "redis-with",
        help: "the tests of the store in Redis against the server PROGRAM: another release, or Valkey",
        run: redis::run_with,
    },
    Verb {
        name: "bench-redis",
        help: "what the store costs over Redis itself, against its limits",
        run: redis::run_bench,
    },
    Verb {
        name: "balancers",
        help: "fetch nginx and Envoy, which the tests put in front of replicas, into .tools",
        run: tools::balancers,
    },
    Verb {
        name: "sdk",
        help: "install the official SDKs that the tests call the gateway with, into .tools",
        run: sdk::run,
    },
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some(verb) = VERBS
        .iter()
        .find(|verb| arguments.first().is_some_and(|name| name == verb.name))
    else {
        return usage();
    };
    match (verb.run)(&root(), &arguments[1..]) {
        Ok(()) => ExitCode::SUCCESS,
        Err(findings) => {
            findings.iter().for_each(|finding| eprintln!("{finding}"));
            eprintln!("{}: {} to mend", verb.name, findings.len());
            ExitCode::FAILURE
        }
    }
}

/// Lists the verbs; the exit code is that of a usage error.
fn usage() -> ExitCode {
    eprintln!("usage: cargo xtask VERB");
    for verb in VERBS {
        eprintln!("  {:<11} {}", verb.name, verb.help);
    }
    ExitCode::from(2)
}

/// The root of the repository, wherever the command was called from.
fn root() -> PathBuf {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    own.ancestors()
        .nth(2)
        .expect("this crate lies two folders below the root")
        .to_path_buf()
}

/// Turns a list of findings into a verdict.
fn verdict(findings: Vec<Finding>) -> Verdict {
    if findings.is_empty() {
        Ok(())
    } else {
        Err(findings)
    }
}
