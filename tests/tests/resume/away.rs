//! Streams while Redis gives no answer: they are held for a while, and whoever is let go comes back without a loss.

use std::time::Duration;

use gateway_domain::{Binding, Cursor, ErrorKind, lifecycle::Move};
use gateway_testkit::agent::{Script, Step};
use gateway_tests::client::LiveStream;
use serde_json::Value;

use crate::support::{Deployment, begin, cursor, cut_at, resume, revision};

const CHUNKS: u64 = 200;

/// All of them are far more than the sockets between a gateway and a client hold, so that a stream has to read on from
/// the log.
const CHUNK_BYTES: usize = 100 << 10;

/// A deployment with a finished task, and a stream over each binding at one of its replicas that has shown one event.
async fn begun(hold: &str) -> (Deployment, String, Vec<(LiveStream, Value)>) {
    let deployment = Deployment::with(|profile| {
        profile
            .set("store.log_bytes", "\"64 MiB\"")
            .set("limits.events_per_read", "4")
            .set("limits.stream_hold", &format!("{hold:?}"))
    })
    .await;
    let gateway = &deployment.replicas[0];
    let body = "x".repeat(CHUNK_BYTES);
    let chunks = (0..CHUNKS).map(|number| Step::chunk("a", &body, number > 0, false));
    let run = chunks.chain([Step::moves(Move::Complete)]);
    gateway.scripted().expect(Script::accept(run));
    let task = begin(gateway, "as scripted").await;
    gateway.task_in("TASK_STATE_COMPLETED", &task).await;
    let mut streams = Vec::new();
    for client in gateway.clients() {
        let from_the_start = Cursor::START.to_string();
        let mut stream = resume(&*client, &task, Some(&from_the_start)).await.stream();
        let first = stream.event().await;
        streams.push((stream, first));
    }
    (deployment, task, streams)
}

/// The revisions that a stream shows up to its end, and where it was cut if it was.
async fn rest(mut stream: LiveStream, first: &Value) -> (Vec<u64>, Option<String>) {
    let mut seen = vec![revision(&cursor(first))];
    while let Some(event) = stream.next().await {
        match event {
            Ok(event) => seen.push(revision(&cursor(&event.json))),
            Err(refusal) => {
                refusal.assert(ErrorKind::Unavailable);
                return (seen, Some(cut_at(&refusal)));
            }
        }
    }
    (seen, None)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn streams_are_held_while_the_store_is_away_for_a_moment_and_go_on_when_it_is_back() {
    let (deployment, _, streams) = begun("1 min").await;
    deployment.redis.hang();
    let reading: Vec<_> = streams
        .into_iter()
        .map(|(stream, first)| tokio::spawn(async move { rest(stream, &first).await }))
        .collect();
    // Longer than a call waits for Redis.
    tokio::time::sleep(Duration::from_secs(3)).await;
    assert!(
        reading.iter().all(|reading| !reading.is_finished()),
        "all wait for the store"
    );
    deployment.redis.go_on();
    for reading in reading {
        let (seen, cut) = reading.await.unwrap();
        assert_eq!(cut, None);
        assert!(seen.into_iter().eq(1..=CHUNKS + 2));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stream_whose_store_stays_away_ends_with_its_cursor_and_is_resumed_at_another_replica() {
    let (deployment, task, streams) = begun("1 s").await;
    deployment.redis.hang();
    let mut cut = Vec::new();
    for (stream, first) in streams {
        let (seen, at) = rest(stream, &first).await;
        let at = at.expect("the stream was cut");
        assert_eq!(seen.last(), Some(&revision(&at)));
        cut.push((seen, at));
    }
    deployment.redis.go_on();
    for (binding, (mut seen, at)) in Binding::ALL.into_iter().zip(cut) {
        let client = deployment.replicas[1].client(binding);
        let mut stream = resume(&*client, &task, Some(&at)).await.stream();
        while let Some(event) = stream.next().await {
            seen.push(revision(&cursor(&event.unwrap().json)));
        }
        assert!(seen.into_iter().eq(1..=CHUNKS + 2));
    }
}
