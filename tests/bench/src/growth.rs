//! Whether a long stream gets dearer as it grows: the server's CPU time for early and for late chunks of one artifact.
//!
//! The server may run ahead of the reader by what the sockets hold, early and late alike.

use anyhow::{Context, Result, ensure};
use serde::Serialize;

use crate::{
    client::{Client, Target},
    procstat::{Cost, Meter, Watched, cpu_s_of},
};

/// The last chunk before each stretch, and the last one in it.
const EARLY: (u64, u64) = (100, 1_000);
const LATE: (u64, u64) = (9_000, 10_000);

/// The outcome.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    pub streams: usize,
    /// CPU time of all watched processes for a chunk, in microseconds.
    pub early_cpu_us: f64,
    pub late_cpu_us: f64,
    pub late_by_early: f64,
    #[serde(flatten)]
    pub cost: Cost,
}

/// Reads so many long streams, one after the other.
pub async fn run(target: &Target, streams: usize, size: usize, watched: &[Watched]) -> Result<Report> {
    ensure!((1..=100).contains(&streams), "streams out of range");
    let mut client = Client::many(target, 1, 1).await?.remove(0);
    let meter = Meter::start(watched);
    let (mut early, mut late) = (0.0, 0.0);
    for _ in 0..streams {
        let [from, to, late_from, late_to] = one(&mut client, size, watched).await?;
        early += to - from;
        late += late_to - late_from;
    }
    let per_chunk = |cpu_s: f64, (from, to): (u64, u64)| cpu_s * 1e6 / ((to - from) as f64 * streams as f64);
    let (early_cpu_us, late_cpu_us) = (per_chunk(early, EARLY), per_chunk(late, LATE));
    Ok(Report {
        streams,
        early_cpu_us,
        late_cpu_us,
        late_by_early: late_cpu_us / early_cpu_us,
        cost: meter.stop(),
    })
}

/// The server's CPU time when each of the four chunks has been read.
async fn one(client: &mut Client, size: usize, watched: &[Watched]) -> Result<[f64; 4]> {
    let wanted = [EARLY.0, EARLY.1, LATE.0, LATE.1];
    let text = format!("bench chunks={} size={size}", LATE.1);
    let mut stream = client.stream(None, &text).await?;
    let (mut seen, mut times) = (0, Vec::new());
    while let Some(event) = stream.next().await? {
        seen += u64::from(event.artifact);
        if event.artifact && wanted.contains(&seen) {
            times.push(cpu_s_of(watched));
        }
    }
    ensure!(seen == LATE.1, "{seen} of {} chunks arrived", LATE.1);
    times.try_into().ok().context("a chunk was counted twice")
}
