//! Load generator for A2A servers, over JSON-RPC, HTTP+JSON and gRPC.
//!
//! It sends load to this machine only, and every loop of it is bounded.

mod client;
mod fanout;
mod floor;
mod growth;
mod load;
mod procstat;
mod sse;
mod suite;
mod wire;

/// Generated gRPC types and stubs.
mod pb {
    #![allow(clippy::all, clippy::pedantic, missing_docs)]
    tonic::include_proto!("lf.a2a.v1");
}

/// The same of protocol 0.3.
mod pb_v0_3 {
    #![allow(clippy::all, clippy::pedantic, missing_docs)]
    include!(concat!(env!("OUT_DIR"), "/v0_3/a2a.v1.rs"));
}

use std::{
    fs::File,
    io::Write,
    net::SocketAddr,
    path::PathBuf,
    process::ExitCode,
    time::{SystemTime, UNIX_EPOCH},
};

use anyhow::Result;
use clap::{Args, Parser, Subcommand};
use nix::sys::resource::{Resource, getrlimit, setrlimit};

use client::{Binding, Target, Version};
use fanout::Fanout;
use load::{Load, Op, Stored};
use procstat::Watched;

#[derive(Parser)]
#[command(version, about)]
struct Cli {
    /// Run the generator on this CPU alone.
    #[arg(long, global = true)]
    client_cpu: Option<usize>,
    /// Worker threads of the generator; 1 uses a single-threaded runtime.
    #[arg(long, global = true, default_value_t = 1)]
    threads: usize,
    #[command(subcommand)]
    command: Cmd,
}

#[derive(Subcommand)]
enum Cmd {
    /// Run one request loop against a running server; prints JSON.
    Load(Box<LoadArgs>),
    /// Subscribe many streams to one task of a running server; prints JSON.
    Subscribe(Box<SubscribeArgs>),
    /// Start servers from a file and run its steps on each; prints a JSON object a line. Fails where a gate does.
    Suite {
        config: PathBuf,
        /// Only these targets.
        #[arg(long)]
        target: Vec<String>,
        /// Only these steps.
        #[arg(long)]
        step: Vec<String>,
        /// Another number of rounds than the file's.
        #[arg(long)]
        rounds: Option<u32>,
        /// Write the JSON lines here.
        #[arg(long)]
        lines: Option<PathBuf>,
        /// Write a Markdown table here at the end.
        #[arg(long)]
        markdown: Option<PathBuf>,
        /// Folder for the servers' output.
        #[arg(long, default_value = "target/bench-logs")]
        logs: PathBuf,
    },
    /// Serve canned answers: the floor that axum and tonic set.
    Floor {
        #[arg(long, default_value = "127.0.0.1:3900")]
        http: SocketAddr,
        #[arg(long, default_value = "127.0.0.1:3901")]
        grpc: SocketAddr,
        /// Read the task of HTTP+JSON from this Redis each time: the floor that a store in Redis has.
        #[arg(long)]
        redis: Option<String>,
    },
}

#[derive(Args)]
struct TargetArgs {
    #[arg(long)]
    binding: Binding,
    /// Base URL, path prefix included. JSON-RPC posts to it as it is; HTTP+JSON and gRPC append their paths.
    #[arg(long)]
    url: String,
    /// The version of the protocol; of 0.3 there are send, stream and get.
    #[arg(long, default_value = "1.0")]
    protocol: Version,
    #[arg(long)]
    tenant: Option<String>,
    /// Extra header or metadata entry, NAME=VALUE; may repeat.
    #[arg(long = "header", value_parser = header)]
    headers: Vec<(String, String)>,
    #[arg(long, default_value = "application/a2a+json")]
    rest_content_type: String,
    /// Subscribe with GET instead of POST on HTTP+JSON.
    #[arg(long)]
    subscribe_get: bool,
    /// Process to account for, PID or NAME=PID; may repeat.
    #[arg(long = "pid")]
    watched: Vec<Watched>,
}

fn header(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("expected NAME=VALUE")?;
    Ok((name.into(), value.into()))
}

impl TargetArgs {
    fn target(&self) -> Result<Target> {
        let mut target = Target::new(self.binding, &self.url)?;
        target.version = self.protocol;
        target.tenant.clone_from(&self.tenant);
        target.headers.clone_from(&self.headers);
        target.rest_content_type.clone_from(&self.rest_content_type);
        target.subscribe_get = self.subscribe_get;
        Ok(target)
    }
}

#[derive(Args)]
struct LoadArgs {
    op: Op,
    #[command(flatten)]
    target: TargetArgs,
    #[arg(long, default_value_t = 16)]
    concurrency: usize,
    #[arg(long, default_value_t = 4)]
    grpc_connections: usize,
    #[arg(long, default_value_t = 5.0)]
    seconds: f64,
    /// Stop after this many requests; 0 leaves the time limit alone to decide.
    #[arg(long, default_value_t = 0)]
    requests: u64,
    #[arg(long, default_value_t = 1.0)]
    warmup_seconds: f64,
    /// Open loop at this many requests per second.
    #[arg(long)]
    rate: Option<f64>,
    /// Store this many tasks first.
    #[arg(long, default_value_t = 0)]
    stored: usize,
    #[arg(long, default_value_t = 10)]
    contexts: usize,
    /// Message text; see the README for the bench agent's commands.
    #[arg(long, default_value = "hello")]
    text: String,
    #[arg(long, default_value_t = 50)]
    page_size: i32,
    #[arg(long)]
    by_context: bool,
    #[arg(long)]
    walk: bool,
}

#[derive(Args)]
struct SubscribeArgs {
    #[command(flatten)]
    target: TargetArgs,
    #[arg(long, default_value_t = 100)]
    streams: usize,
    #[arg(long, default_value_t = 4000)]
    hold_ms: u64,
    /// Events to each subscriber.
    #[arg(long, default_value_t = 1)]
    chunks: usize,
    /// Bytes of text in each event.
    #[arg(long, default_value_t = 0)]
    size: usize,
    #[arg(long, default_value_t = 100)]
    streams_per_connection: usize,
}

/// Microseconds since the Unix epoch.
fn now_us() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |elapsed| elapsed.as_micros() as u64)
}

/// CPUs of this machine, also when the process itself is pinned to fewer.
fn all_cpus() -> usize {
    std::fs::read_to_string("/proc/cpuinfo")
        .map_or(1, |text| {
            text.lines().filter(|line| line.starts_with("processor")).count()
        })
        .max(1)
}

fn pin(cpu: usize) -> Result<()> {
    let mut set = nix::sched::CpuSet::new();
    set.set(cpu)?;
    Ok(nix::sched::sched_setaffinity(
        nix::unistd::Pid::from_raw(0),
        &set,
    )?)
}

fn main() -> Result<ExitCode> {
    let cli = Cli::parse();
    // Thousands of streams need thousands of descriptors, here and in the servers started from here.
    let (_, hard) = getrlimit(Resource::RLIMIT_NOFILE)?;
    setrlimit(Resource::RLIMIT_NOFILE, hard, hard)?;
    if let Some(cpu) = cli.client_cpu {
        pin(cpu)?;
    }
    let serving = matches!(cli.command, Cmd::Floor { .. });
    let runtime = if cli.threads <= 1 && !serving {
        tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?
    } else {
        let mut builder = tokio::runtime::Builder::new_multi_thread();
        if cli.threads > 1 {
            builder.worker_threads(cli.threads);
        }
        builder.enable_all().build()?
    };
    runtime.block_on(run(cli.command))
}

async fn run(command: Cmd) -> Result<ExitCode> {
    match command {
        Cmd::Load(args) => load(&args).await?,
        Cmd::Subscribe(args) => {
            let fanout = Fanout {
                streams: args.streams,
                hold_ms: args.hold_ms,
                chunks: args.chunks,
                size: args.size,
                streams_per_connection: args.streams_per_connection,
            };
            let report = fanout::run(&args.target.target()?, &fanout, &args.target.watched).await?;
            println!("{}", serde_json::to_string_pretty(&report)?);
        }
        Cmd::Suite {
            config,
            target,
            step,
            rounds,
            markdown,
            logs,
            lines,
        } => {
            let choice = suite::Choice {
                targets: target,
                steps: step,
                rounds,
            };
            let mut sink: Box<dyn Write> = match lines {
                Some(path) => Box::new(File::create(path)?),
                None => Box::new(std::io::stdout()),
            };
            let (results, verdicts) = suite::run(&config, &choice, &logs, &mut sink).await?;
            if let Some(path) = markdown {
                std::fs::write(path, format!("{verdicts}\n{}", suite::markdown(&results)))?;
            }
            eprintln!("{verdicts}");
            return Ok(if verdicts.passed() {
                ExitCode::SUCCESS
            } else {
                ExitCode::FAILURE
            });
        }
        Cmd::Floor { http, grpc, redis } => floor::serve(http, grpc, redis.as_deref()).await?,
    }
    Ok(ExitCode::SUCCESS)
}

async fn load(args: &LoadArgs) -> Result<()> {
    let load = Load {
        op: args.op,
        concurrency: args.concurrency,
        grpc_connections: args.grpc_connections,
        seconds: args.seconds,
        requests: args.requests,
        warmup_seconds: args.warmup_seconds,
        rate: args.rate,
        contexts: args.contexts,
        text: args.text.clone(),
        page_size: args.page_size,
        by_context: args.by_context,
        walk: args.walk,
    };
    let target = args.target.target()?;
    let mut stored = Stored::default();
    load::store(&target, &mut stored, args.stored, args.contexts).await?;
    let report = load::run(&target, load, &stored, &args.target.watched).await?;
    println!("{}", serde_json::to_string_pretty(&report)?);
    Ok(())
}

#[cfg(test)]
mod tests;
