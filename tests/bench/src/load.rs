//! Request loops: closed (each worker sends its next request when the last is answered) or open
//! (requests start on a fixed schedule, and latency counts from the scheduled start).

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};
use clap::ValueEnum;
use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};
use tokio::sync::Mutex;
use tokio::task::JoinSet;

use crate::{
    client::{Client, Target},
    procstat::{Cost, Meter, Watched},
};

/// Hard limits, whatever the options say.
const MAX_REQUESTS: u64 = 5_000_000;
const MAX_SECONDS: f64 = 120.0;
const MAX_CONCURRENCY: usize = 4096;
/// A phase stops early after this many failures.
const MAX_ERRORS: u64 = 1000;

/// A request loop's operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Op {
    /// Blocking `SendMessage`; the answer must hold a completed task.
    Send,
    /// `SendStreamingMessage`, read to the terminal event.
    Stream,
    /// `GetTask` over the stored tasks.
    Get,
    /// `ListTasks`: the first page, or all pages in turn with `walk`.
    List,
    /// GET {base}/hello, no protocol at all.
    Hello,
}

/// One request loop.
#[derive(Debug, Clone)]
pub struct Load {
    pub op: Op,
    pub concurrency: usize,
    /// HTTP/2 connections that gRPC workers share. HTTP/1.1 workers have one connection each.
    pub grpc_connections: usize,
    pub seconds: f64,
    pub requests: u64,
    pub warmup_seconds: f64,
    /// Requests per second over all workers; closed loop when absent.
    pub rate: Option<f64>,
    /// Number of contexts that the stored tasks are spread over.
    pub contexts: usize,
    pub text: String,
    pub page_size: i32,
    /// List: restrict to one context of the stored tasks.
    pub by_context: bool,
    /// List: follow page tokens instead of asking for the first page again.
    pub walk: bool,
}

/// Latency percentiles in milliseconds.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Latency {
    pub mean: f64,
    pub p50: f64,
    pub p90: f64,
    pub p99: f64,
    pub p999: f64,
    pub max: f64,
}

/// Nanosecond histogram, up to ten minutes, three significant digits.
pub fn histogram() -> Histogram<u64> {
    Histogram::new_with_bounds(1, 600_000_000_000, 3).expect("fixed bounds are valid")
}

impl From<&Histogram<u64>> for Latency {
    fn from(h: &Histogram<u64>) -> Self {
        let ms = |ns: u64| (ns as f64 / 1e3).round() / 1e3;
        Latency {
            mean: (h.mean() / 1e3).round() / 1e3,
            p50: ms(h.value_at_quantile(0.5)),
            p90: ms(h.value_at_quantile(0.9)),
            p99: ms(h.value_at_quantile(0.99)),
            p999: ms(h.value_at_quantile(0.999)),
            max: ms(h.max()),
        }
    }
}

/// The outcome of a request loop.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    pub concurrency: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offered_rps: Option<f64>,
    pub requests: u64,
    pub errors: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_error: Option<String>,
    pub rps: f64,
    /// CPU time of all watched processes per request, in microseconds.
    pub cpu_us_per_request: f64,
    pub latency_ms: Latency,
    /// Stream: time to the first event.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_event_ms: Option<Latency>,
    /// Stream: events; list: tasks returned.
    pub items: u64,
    /// `totalSize` of the last list answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stored_total: Option<i64>,
    #[serde(flatten)]
    pub cost: Cost,
}

/// Tasks that a server holds, and the ids of some of them.
#[derive(Debug, Default)]
pub struct Stored {
    pub count: usize,
    pub ids: Vec<String>,
}

struct Shared {
    load: Load,
    ids: Vec<String>,
    ticket: AtomicU64,
    errors: AtomicU64,
    first_error: Mutex<Option<String>>,
}

struct Tally {
    done: u64,
    items: u64,
    total: Option<i64>,
    latency: Histogram<u64>,
    first: Histogram<u64>,
}

impl Tally {
    fn new() -> Self {
        Tally {
            done: 0,
            items: 0,
            total: None,
            latency: histogram(),
            first: histogram(),
        }
    }
}

fn context_name(index: usize) -> String {
    format!("bench-context-{index}")
}

/// Runs warm-up and the measured phase against a server that holds some tasks.
pub async fn run(target: &Target, load: Load, stored: &Stored, watched: &[Watched]) -> Result<Report> {
    ensure!(
        (1..=MAX_CONCURRENCY).contains(&load.concurrency),
        "concurrency out of range"
    );
    ensure!(
        load.seconds <= MAX_SECONDS && load.warmup_seconds <= MAX_SECONDS,
        "at most {MAX_SECONDS} s a phase"
    );
    ensure!(
        load.op != Op::Get || !stored.ids.is_empty(),
        "no stored task to get: set `stored`"
    );
    let mut clients = Client::many(target, load.concurrency, load.grpc_connections).await?;
    let shared = Arc::new(Shared {
        ids: stored.ids.clone(),
        ticket: AtomicU64::new(0),
        errors: AtomicU64::new(0),
        first_error: Mutex::new(None),
        load,
    });
    if shared.load.warmup_seconds > 0.0 {
        let seconds = shared.load.warmup_seconds;
        clients = phase(&shared, clients, seconds, MAX_REQUESTS).await?.0;
        shared.ticket.store(0, Ordering::Relaxed);
        shared.errors.store(0, Ordering::Relaxed);
    }
    let limit = match shared.load.requests {
        0 => MAX_REQUESTS,
        requests => requests.min(MAX_REQUESTS),
    };
    let meter = Meter::start(watched);
    let (_, tally) = phase(&shared, clients, shared.load.seconds, limit).await?;
    let cost = meter.stop();
    Ok(Report {
        concurrency: shared.load.concurrency,
        offered_rps: shared.load.rate,
        requests: tally.done,
        errors: shared.errors.load(Ordering::Relaxed),
        first_error: shared.first_error.lock().await.take(),
        rps: tally.done as f64 / cost.seconds,
        cpu_us_per_request: cost.cpu_s * 1e6 / tally.done.max(1) as f64,
        latency_ms: (&tally.latency).into(),
        first_event_ms: (!tally.first.is_empty()).then(|| (&tally.first).into()),
        items: tally.items,
        stored_total: tally.total,
        cost,
    })
}

/// Stores completed tasks, spread over contexts, until the server holds `count`; keeps up to 10,000 of their ids.
pub async fn store(target: &Target, stored: &mut Stored, count: usize, contexts: usize) -> Result<()> {
    const WORKERS: usize = 16;
    const KEEP: usize = 10_000;
    let next = Arc::new(AtomicU64::new(stored.count as u64));
    let mut tasks = JoinSet::new();
    for mut client in Client::many(target, WORKERS, 4).await? {
        let next = next.clone();
        tasks.spawn(async move {
            let mut ids = Vec::new();
            loop {
                let k = next.fetch_add(1, Ordering::Relaxed) as usize;
                if k >= count {
                    return Ok::<_, anyhow::Error>(ids);
                }
                let context = (contexts > 0).then(|| context_name(k % contexts));
                let task = client
                    .send(context.as_deref(), "stored")
                    .await
                    .context("storing tasks")?;
                if k < KEEP {
                    ids.push(task.id);
                }
            }
        });
    }
    while let Some(joined) = tasks.join_next().await {
        stored.ids.extend(joined??);
    }
    stored.count = stored.count.max(count);
    Ok(())
}

async fn phase(
    shared: &Arc<Shared>,
    clients: Vec<Client>,
    seconds: f64,
    limit: u64,
) -> Result<(Vec<Client>, Tally)> {
    let start = Instant::now();
    let deadline = start + Duration::from_secs_f64(seconds.min(MAX_SECONDS));
    let mut tasks = JoinSet::new();
    for client in clients {
        tasks.spawn(worker(shared.clone(), client, start, deadline, limit));
    }
    let mut clients = Vec::new();
    let mut sum = Tally::new();
    while let Some(joined) = tasks.join_next().await {
        let (client, tally) = joined?;
        clients.push(client);
        sum.done += tally.done;
        sum.items += tally.items;
        sum.total = tally.total.or(sum.total);
        sum.latency.add(&tally.latency)?;
        sum.first.add(&tally.first)?;
    }
    Ok((clients, sum))
}

async fn worker(
    shared: Arc<Shared>,
    mut client: Client,
    start: Instant,
    deadline: Instant,
    limit: u64,
) -> (Client, Tally) {
    let mut tally = Tally::new();
    let mut page = String::new();
    loop {
        let ticket = shared.ticket.fetch_add(1, Ordering::Relaxed);
        let mut began = Instant::now();
        if let Some(rate) = shared.load.rate {
            began = start + Duration::from_secs_f64(ticket as f64 / rate);
            if began < deadline {
                tokio::time::sleep_until(began.into()).await;
            }
        }
        if ticket >= limit || began >= deadline || shared.errors.load(Ordering::Relaxed) >= MAX_ERRORS {
            return (client, tally);
        }
        match one(&shared, &mut client, ticket, began, &mut page, &mut tally).await {
            Ok(()) => {
                tally.done += 1;
                tally.latency.saturating_record(began.elapsed().as_nanos() as u64);
            }
            Err(error) => {
                shared.errors.fetch_add(1, Ordering::Relaxed);
                shared
                    .first_error
                    .lock()
                    .await
                    .get_or_insert_with(|| format!("{error:#}"));
            }
        }
    }
}

async fn one(
    shared: &Shared,
    client: &mut Client,
    ticket: u64,
    began: Instant,
    page: &mut String,
    tally: &mut Tally,
) -> Result<()> {
    let load = &shared.load;
    match load.op {
        Op::Send => {
            let task = client.send(None, &load.text).await?;
            ensure!(task.completed, "the task was not completed");
        }
        Op::Stream => {
            let mut stream = client.stream(None, &load.text).await?;
            let mut terminal = false;
            let mut events = 0;
            while let Some(event) = stream.next().await? {
                if events == 0 {
                    tally.first.saturating_record(began.elapsed().as_nanos() as u64);
                }
                events += 1;
                terminal |= event.terminal;
            }
            ensure!(terminal, "the stream ended without a terminal event");
            tally.items += events;
        }
        Op::Get => {
            let ids = &shared.ids;
            // A fixed odd stride visits the ids in a scattered order.
            let id = &ids[(ticket as usize).wrapping_mul(7919) % ids.len()];
            let task = client.get(id).await?;
            ensure!(task.id == *id, "GetTask returned another task");
        }
        Op::List => {
            let context = load
                .by_context
                .then(|| context_name(ticket as usize % load.contexts.max(1)));
            let list = client.list(context.as_deref(), load.page_size, page).await?;
            tally.items += list.count as u64;
            tally.total = Some(list.total);
            if load.walk {
                *page = list.next;
            }
        }
        Op::Hello => client.hello().await?,
    }
    Ok(())
}
