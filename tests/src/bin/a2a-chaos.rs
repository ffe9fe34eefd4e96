//! `make chaos`: kills replicas and masters of Redis under tasks and subscribers, and says what came of it. The counts
//! come last; the exit code is not 0 where something was lost that may not be, was repeated, or out of order.

#![allow(clippy::print_stdout, reason = "this is a program for a terminal")]

use std::{process::ExitCode, time::Duration};

use gateway_tests::chaos::{self, Topology, Trial, Verdict};
use tokio::signal::unix::{SignalKind, signal};

fn main() -> ExitCode {
    let long = std::env::args().any(|argument| argument == "--long");
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.expect("a runtime");
    let ended = runtime.block_on(async {
        // Before anything is started, so that nothing is left behind.
        let signals = [SignalKind::interrupt(), SignalKind::terminate()];
        let [mut interrupt, mut terminate] = signals.map(|kind| signal(kind).expect("a handler"));
        tokio::select! {
            good = run(if long { LONG } else { SHORT }) => Some(good),
            _ = interrupt.recv() => None,
            _ = terminate.recv() => None,
        }
    });
    // Whatever still runs in it ends here, and the processes with it.
    drop(runtime);
    match ended {
        Some(true) => ExitCode::SUCCESS,
        Some(false) => ExitCode::FAILURE,
        None => ExitCode::from(130),
    }
}

/// Runs one trial after the other; whether all went well.
async fn run(trials: &[Trial]) -> bool {
    let mut verdicts: Vec<(&str, Verdict)> = Vec::new();
    for trial in trials {
        println!(
            "== {}: {} tasks with {} chunks each",
            trial.name, trial.tasks, trial.chunks
        );
        verdicts.push((trial.name, chaos::run(trial.clone()).await));
    }
    for (name, verdict) in &verdicts {
        println!("== {name}\n{verdict}");
    }
    verdicts.iter().all(|(_, verdict)| verdict.faults.is_empty())
}

const SHORT: &[Trial] = &[
    Trial {
        name: "replicas killed",
        tasks: 20,
        chunks: 12,
        kills: 4,
        failovers: 0,
        topology: Topology::Standalone,
        confirmed: true,
        pace: Duration::from_secs(3),
    },
    Trial {
        name: "replicas and a master killed, what replicas of Redis confirmed",
        tasks: 20,
        chunks: 12,
        kills: 2,
        failovers: 1,
        topology: Topology::Sentinel,
        confirmed: true,
        pace: Duration::from_secs(3),
    },
];

const LONG: &[Trial] = &[
    long(
        "Sentinels: replicas and masters killed, what replicas of Redis confirmed",
        Topology::Sentinel,
        true,
    ),
    long(
        "Cluster: replicas and masters killed, what replicas of Redis confirmed",
        Topology::Cluster,
        true,
    ),
    long(
        "Sentinels: replicas and masters killed, what the master alone has",
        Topology::Sentinel,
        false,
    ),
];

const fn long(name: &'static str, topology: Topology, confirmed: bool) -> Trial {
    Trial {
        name,
        tasks: 200,
        chunks: 20,
        kills: 20,
        failovers: 3,
        topology,
        confirmed,
        pace: Duration::from_secs(4),
    }
}
