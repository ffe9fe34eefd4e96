//! Whether a long stream gets dearer as it grows: the server's CPU time for early and for late chunks of one artifact.
//!
//! Each stretch is the difference of two whole streams, one that ends before it and one that ends with it: within a
//! stream the server runs ahead of its reader, so that no moment of the reader's is one of the server's.

use anyhow::{Result, ensure};
use serde::Serialize;

use crate::{
    client::{Client, Target},
    procstat::{Cost, Meter, Watched, cpu_s_of},
};

/// The last chunk before each stretch, and the last one in it.
const EARLY: [u64; 2] = [100, 1_000];
const LATE: [u64; 2] = [9_000, 10_000];

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

/// Reads so many streams of each of the four lengths, one after the other.
pub async fn run(target: &Target, streams: usize, size: usize, watched: &[Watched]) -> Result<Report> {
    ensure!((1..=100).contains(&streams), "streams out of range");
    let mut client = Client::many(target, 1, 1).await?.remove(0);
    let meter = Meter::start(watched);
    let mut cpu_s = [[0.0; 2]; 2];
    for _ in 0..streams {
        for (stretch, ends) in [EARLY, LATE].into_iter().enumerate() {
            for (end, chunks) in ends.into_iter().enumerate() {
                cpu_s[stretch][end] += one(&mut client, chunks, size, watched).await?;
            }
        }
    }
    let per_chunk = |[from, to]: [f64; 2], [first, last]: [u64; 2]| {
        (to - from) * 1e6 / ((last - first) as f64 * streams as f64)
    };
    let (early_cpu_us, late_cpu_us) = (per_chunk(cpu_s[0], EARLY), per_chunk(cpu_s[1], LATE));
    ensure!(early_cpu_us > 0.0, "the server used no time for {EARLY:?} chunks");
    Ok(Report {
        streams,
        early_cpu_us,
        late_cpu_us,
        late_by_early: late_cpu_us / early_cpu_us,
        cost: meter.stop(),
    })
}

/// The server's CPU time for a stream of so many chunks.
async fn one(client: &mut Client, chunks: u64, size: usize, watched: &[Watched]) -> Result<f64> {
    let before = cpu_s_of(watched);
    let mut stream = client
        .stream(None, &format!("bench chunks={chunks} size={size}"))
        .await?;
    let mut seen = 0;
    while let Some(event) = stream.next().await? {
        seen += u64::from(event.artifact);
    }
    ensure!(seen == chunks, "{seen} of {chunks} chunks arrived");
    Ok(cpu_s_of(watched) - before)
}
