//! One running task with many subscribers: how long opening takes, what an idle stream costs in memory, what an
//! event costs for each subscriber, and how soon it reaches the last one.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail, ensure};
use serde::Serialize;
use tokio::{
    sync::{Semaphore, watch},
    task::JoinSet,
    time::{sleep, sleep_until, timeout},
};

use crate::{
    client::{Client, EventStream, Target},
    load::{Latency, histogram},
    now_us,
    procstat::{Cost, Meter, Watched, memory_kib},
};

const MAX_STREAMS: usize = 10_000;
/// Streams that open at the same time.
const OPENING: usize = 50;
/// The least time between the last opening and the first event, for memory to be read in.
const SPARE: Duration = Duration::from_millis(200);

/// A fan-out measurement.
#[derive(Debug, Clone)]
pub struct Fanout {
    pub streams: usize,
    /// How long the bench agent waits before it emits the measured events.
    pub hold_ms: u64,
    /// How many it emits, and the bytes of text in each.
    pub chunks: usize,
    pub size: usize,
    /// gRPC streams that share one HTTP/2 connection.
    pub streams_per_connection: usize,
}

/// The outcome.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    pub streams: usize,
    pub open_errors: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_error: Option<String>,
    /// Until every stream had its first event.
    pub open_all_ms: f64,
    /// Memory that all watched processes took on for 1,000 streams with nothing to send, in MiB.
    pub idle_mib_per_1k_streams: f64,
    pub received: usize,
    /// False when receipt is counted from the first subscriber, for want of an emission time.
    pub from_emission: bool,
    /// First event to subscriber; `max` is the last subscriber.
    pub delivery_ms: Latency,
    /// First event to the last subscriber's terminal event.
    pub terminal_all_ms: f64,
    /// CPU time of all watched processes for one event to one subscriber, in microseconds: from just before the
    /// first event until all streams had ended.
    pub cpu_us_per_event: f64,
    #[serde(flatten)]
    pub cost: Cost,
}

struct Received {
    at_us: u64,
    stamp_us: Option<u64>,
    terminal_us: u64,
}

/// Runs one fan-out.
pub async fn run(target: &Target, fanout: &Fanout, watched: &[Watched]) -> Result<Report> {
    ensure!(
        (1..=MAX_STREAMS).contains(&fanout.streams),
        "streams out of range"
    );
    ensure!(fanout.hold_ms <= 60_000, "hold at most 60 s");
    ensure!((1..=10_000).contains(&fanout.chunks), "chunks out of range");

    // The stream that starts the task; it also tells the task's id.
    let mut starter = Client::many(target, 1, 1).await?.remove(0);
    let begun = Instant::now();
    let Fanout {
        hold_ms,
        chunks,
        size,
        ..
    } = fanout;
    let text = format!("bench hold={hold_ms} chunks={chunks} size={size}");
    let mut origin = starter.stream(None, &text).await?;
    let first = origin
        .next()
        .await?
        .context("the starting stream ended at once")?;
    let id = first.task_id.context("the first event names no task")?;
    let drain = tokio::spawn(async move { while let Ok(Some(_)) = origin.next().await {} });
    // Let the task reach its waiting state before subscribing.
    sleep(SPARE).await;

    let memory = || watched.iter().map(|w| memory_kib(w.pid).0).sum::<u64>() as f64;
    let memory_before = memory();
    let opening = Instant::now();
    let (mut tasks, mut opened) = open(target, fanout, &id).await?;
    let all = async { while opened.changed().await.is_ok() {} };
    let _ = timeout(Duration::from_millis(fanout.hold_ms), all).await;
    let open_all_ms = opening.elapsed().as_secs_f64() * 1e3;

    // Memory is read, and the CPU meter started, midway between the opening and the first event.
    let event_at = begun + Duration::from_millis(fanout.hold_ms);
    let spare = event_at.saturating_duration_since(Instant::now());
    if spare < SPARE {
        tasks.abort_all();
        bail!(
            "opening {} streams took {open_all_ms:.0} ms: raise hold_ms (now {hold_ms})",
            fanout.streams
        );
    }
    sleep_until((Instant::now() + spare / 2).into()).await;
    let idle_kib = memory() - memory_before;
    let meter = Meter::start(watched);
    let collect = collect(&mut tasks);
    let collected = timeout(Duration::from_secs(60) + spare, collect).await;
    let (received, failed) = collected.context("subscribers did not finish")??;
    let cost = meter.stop();
    drain.abort();

    let stamp = received.iter().find_map(|r| r.stamp_us);
    let zero = stamp
        .or_else(|| received.iter().map(|r| r.at_us).min())
        .unwrap_or(0);
    let mut delivery = histogram();
    for r in &received {
        delivery.saturating_record(r.at_us.saturating_sub(zero) * 1000);
    }
    let terminal = received.iter().map(|r| r.terminal_us).max().unwrap_or(zero);
    Ok(Report {
        streams: fanout.streams,
        open_errors: failed.len(),
        first_error: failed.into_iter().next(),
        open_all_ms,
        idle_mib_per_1k_streams: idle_kib * 1000.0 / 1024.0 / fanout.streams as f64,
        received: received.len(),
        from_emission: stamp.is_some(),
        delivery_ms: (&delivery).into(),
        terminal_all_ms: terminal.saturating_sub(zero) as f64 / 1e3,
        cpu_us_per_event: cost.cpu_s * 1e6 / (fanout.streams * fanout.chunks) as f64,
        cost,
    })
}

type Subscribers = JoinSet<Result<Received>>;

/// Begins to open all streams. The channel closes once every one is open or has failed.
async fn open(target: &Target, fanout: &Fanout, id: &str) -> Result<(Subscribers, watch::Receiver<()>)> {
    let connections = fanout.streams.div_ceil(fanout.streams_per_connection.max(1));
    let clients = Client::many(target, fanout.streams, connections).await?;
    let (sender, receiver) = watch::channel(());
    let gate = Arc::new(Semaphore::new(OPENING));
    let chunks = fanout.chunks;
    let mut tasks = JoinSet::new();
    for mut client in clients {
        let (id, gate, opened) = (id.to_owned(), gate.clone(), sender.clone());
        tasks.spawn(async move {
            let permit = gate.acquire_owned().await?;
            let mut stream = client.subscribe(&id).await?;
            stream
                .next()
                .await?
                .context("a subscription ended before its first event")?;
            drop(permit);
            drop(opened);
            let received = receive(&mut stream, chunks).await;
            drop(client);
            received
        });
    }
    Ok((tasks, receiver))
}

async fn collect(tasks: &mut Subscribers) -> Result<(Vec<Received>, Vec<String>)> {
    let (mut received, mut failed) = (Vec::new(), Vec::new());
    while let Some(joined) = tasks.join_next().await {
        match joined? {
            Ok(item) => received.push(item),
            Err(error) => failed.push(format!("{error:#}")),
        }
    }
    Ok((received, failed))
}

/// Waits for all artifact events and the terminal one: a subscriber that missed any has failed.
async fn receive(stream: &mut EventStream, chunks: usize) -> Result<Received> {
    let mut first: Option<(u64, Option<u64>)> = None;
    let mut seen = 0;
    while let Some(event) = stream.next().await? {
        if event.artifact {
            seen += 1;
            first.get_or_insert_with(|| (now_us(), event.stamp_us));
        }
        if event.terminal {
            break;
        }
    }
    let (at_us, stamp_us) = first.context("no artifact event arrived")?;
    ensure!(seen == chunks, "{seen} of {chunks} events arrived");
    Ok(Received {
        at_us,
        stamp_us,
        terminal_us: now_us(),
    })
}
