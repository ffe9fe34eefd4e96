//! Runs the same steps on several servers, one after the other, from a TOML file.

mod config;
mod gates;
mod report;
mod servers;

use std::{io::Write, path::Path};

use anyhow::{Context, Result};
use serde_json::{Value, json};

use self::{
    config::{Config, Step, StepOp, TargetConfig},
    servers::Running,
};
use crate::{
    client::Binding,
    fanout::{self, Fanout},
    growth,
    load::{self, Load, Op},
};

pub use self::{gates::Verdicts, report::markdown};

/// Which part of a file is run.
#[derive(Debug, Default)]
pub struct Choice {
    /// Only these targets; all when empty.
    pub targets: Vec<String>,
    /// Only these steps; all when empty.
    pub steps: Vec<String>,
    /// Another number of rounds.
    pub rounds: Option<u32>,
}

/// Runs the file's steps; writes each result as a line of JSON, and gives all of them back with what the gates say.
pub async fn run(
    path: &Path,
    choice: &Choice,
    logs: &Path,
    sink: &mut dyn Write,
) -> Result<(Vec<Value>, Verdicts)> {
    let config = Config::read(path)?;
    std::fs::create_dir_all(logs)?;
    let chosen = |names: &[String], name: &String| names.is_empty() || names.contains(name);
    let mut results = Vec::new();
    for round in 1..=choice.rounds.unwrap_or(config.rounds) {
        for step in config
            .steps
            .iter()
            .filter(|step| chosen(&choice.steps, &step.name))
        {
            for target in config
                .targets
                .iter()
                .filter(|target| chosen(&choice.targets, &target.name))
            {
                if step
                    .targets
                    .as_ref()
                    .is_none_or(|names| names.contains(&target.name))
                {
                    for mut line in run_step(step, target, logs).await {
                        line["round"] = json!(round);
                        writeln!(sink, "{line}")?;
                        results.push(line);
                    }
                }
            }
        }
    }
    let verdicts = gates::judge(&config.gates, &results);
    Ok((results, verdicts))
}

/// One result for each binding; a server that cannot be started is one that failed.
async fn run_step(step: &Step, target: &TargetConfig, logs: &Path) -> Vec<Value> {
    let mut results = Vec::new();
    let mut running: Option<Running> = None;
    for binding in bindings(step, target) {
        if step.fresh
            && let Some(old) = running.take()
        {
            old.stop().await;
        }
        let outcome = async {
            if running.is_none() {
                running = Some(Running::start(target, logs).await?);
            }
            let current = running.as_mut().context("just started")?;
            measure(step, target, binding, current).await
        }
        .await;
        let mut line = json!({ "target": target.name, "step": step.name, "op": step.op });
        if step.op != StepOp::Startup {
            line["binding"] = json!(binding);
        }
        match outcome {
            Ok(value) => line["result"] = value,
            Err(error) => line["failed"] = json!(format!("{error:#}")),
        }
        eprintln!("{}", report::brief(&line));
        results.push(line);
    }
    if let Some(old) = running {
        old.stop().await;
    }
    results
}

fn bindings(step: &Step, target: &TargetConfig) -> Vec<Binding> {
    let served = target.bindings();
    match step.op {
        StepOp::Hello if target.hello.is_none() => Vec::new(),
        StepOp::Startup | StepOp::Hello => vec![Binding::Rest],
        _ => {
            let wanted = step.bindings.clone().unwrap_or_else(|| served.clone());
            wanted
                .into_iter()
                .filter(|binding| served.contains(binding))
                .collect()
        }
    }
}

async fn measure(
    step: &Step,
    config: &TargetConfig,
    binding: Binding,
    running: &mut Running,
) -> Result<Value> {
    let target = match &config.hello {
        Some(url) if step.op == StepOp::Hello => servers::target_at(config, Binding::Rest, url)?,
        _ => servers::target(config, binding)?,
    };
    // A canned target still has to name a few tasks.
    let wanted = if config.canned {
        step.stored.min(1)
    } else {
        step.stored
    };
    if running.stored.count < wanted {
        let quickest = if config.rest.is_some() {
            Binding::Rest
        } else {
            binding
        };
        let target = servers::target(config, quickest)?;
        load::store(&target, &mut running.stored, wanted, step.contexts).await?;
    }
    let op = match step.op {
        StepOp::Startup => return Ok(running.startup.clone()),
        StepOp::Subscribe => {
            let report = fanout::run(&target, &fanout_of(step), &running.watched).await?;
            return Ok(serde_json::to_value(report)?);
        }
        StepOp::Growth => {
            let report = growth::run(&target, step.streams, step.size, &running.watched).await?;
            return Ok(serde_json::to_value(report)?);
        }
        StepOp::Send => Op::Send,
        StepOp::Stream => Op::Stream,
        StepOp::Get => Op::Get,
        StepOp::List => Op::List,
        StepOp::Hello => Op::Hello,
    };
    let report = load::run(&target, load_of(step, op), &running.stored, &running.watched).await?;
    Ok(serde_json::to_value(report)?)
}

fn fanout_of(step: &Step) -> Fanout {
    Fanout {
        streams: step.streams,
        hold_ms: step.hold_ms,
        chunks: step.chunks,
        size: step.size,
        streams_per_connection: step.streams_per_connection,
    }
}

fn load_of(step: &Step, op: Op) -> Load {
    Load {
        op,
        concurrency: step.concurrency,
        grpc_connections: step.grpc_connections,
        seconds: step.seconds,
        requests: step.requests,
        warmup_seconds: step.warmup_seconds,
        rate: step.rate,
        contexts: step.contexts,
        text: step.text.clone(),
        page_size: step.page_size,
        by_context: step.by_context,
        walk: step.walk,
    }
}
