//! `make chaos`: kills replicas under tasks and subscribers, and says what came of it. The counts
//! come last; the exit code is not 0 where something was lost, repeated or out of order.

#![allow(clippy::print_stdout, reason = "this is a program for a terminal")]

use std::{process::ExitCode, time::Duration};

use gateway_tests::chaos::{self, Topology, Trial};

fn main() -> ExitCode {
    let long = std::env::args().any(|argument| argument == "--long");
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.expect("a runtime");
    let mut lines = Vec::new();
    let mut good = true;
    for trial in if long { LONG } else { SHORT } {
        println!(
            "== {}: {} tasks with {} chunks each",
            trial.name, trial.tasks, trial.chunks
        );
        let verdict = runtime.block_on(chaos::run(trial.clone()));
        good &= verdict.faults.is_empty();
        lines.push(format!("== {}\n{verdict}", trial.name));
    }
    println!("{}", lines.join("\n"));
    if good {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

const SHORT: &[Trial] = &[Trial {
    name: "replicas killed",
    tasks: 20,
    chunks: 12,
    kills: 4,
    failovers: 0,
    topology: Topology::Standalone,
    confirmed: true,
    pace: Duration::from_secs(3),
}];

const LONG: &[Trial] = &[Trial {
    name: "replicas killed",
    tasks: 200,
    chunks: 16,
    kills: 20,
    failovers: 0,
    topology: Topology::Standalone,
    confirmed: true,
    pace: Duration::from_secs(4),
}];
