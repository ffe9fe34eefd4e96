//! `make cluster`: three replicas of the gateway, a Redis and a balancer on this machine, until Ctrl-C.
//!
//! The replicas are the built program, the balancer runs with its example of `deploy`. Nothing outlives it.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "this is a program for a terminal"
)]

use std::{process::ExitCode, time::Duration};

use gateway_tests::{
    balancer::Kind,
    cluster::{Cluster, Plan},
};
use tokio::signal::unix::{SignalKind, signal};

const USAGE: &str = "usage: a2a-cluster [--balancer nginx|envoy] [--config FILE] [--http PORT] [--grpc PORT]
  nginx is the usual balancer; HTTP is at port 8080 and gRPC at 8082, with envoy both are at the first.
  Settings of the environment (A2A_GATEWAY__…) reach every replica.";

/// What is left of the replicas' drain after this is killed.
const DRAIN: Duration = Duration::from_secs(10);

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let plan = match plan(&arguments) {
        Ok(plan) => plan,
        Err(fault) => {
            eprintln!("{fault}\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime").block_on(run(plan));
    ExitCode::SUCCESS
}

fn plan(arguments: &[String]) -> Result<Plan, String> {
    let (mut kind, mut ports, mut config) = (Kind::Nginx, [8080, 8082], None);
    for pair in arguments.chunks(2) {
        let [name, value] = pair else {
            return Err(format!("{} needs a value", pair[0]));
        };
        let port = || {
            value
                .parse()
                .map_err(|_| format!("{name} needs a port, not {value:?}"))
        };
        match &**name {
            "--balancer" => {
                let known = Kind::ALL.into_iter().find(|kind| kind.name() == value);
                kind = known.ok_or_else(|| format!("there is no balancer {value:?}"))?;
            }
            "--config" => config = Some(value),
            "--http" => ports[0] = port()?,
            "--grpc" => ports[1] = port()?,
            _ => return Err(format!("there is no {name}")),
        }
    }
    let plan = Plan::behind(kind).at(ports);
    Ok(match config {
        Some(file) => plan.configured(file),
        None => plan,
    })
}

async fn run(plan: Plan) {
    // Before anything is started, so that nothing is left behind.
    let mut interrupt = signal(SignalKind::interrupt()).expect("a handler");
    let mut terminate = signal(SignalKind::terminate()).expect("a handler");
    let cluster = Cluster::start(plan);
    println!("{}", cluster.announcement());
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
    }
    println!("ending the replicas in order; the balancer and Redis follow");
    cluster.drain(DRAIN).await;
}
