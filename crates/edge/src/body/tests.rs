//! Bodies at their bounds, in memory.

use std::{
    convert::Infallible,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use axum::body::Body;
use bytes::Bytes;
use futures::{StreamExt, stream};
use gateway_domain::ErrorKind;
use http::{HeaderMap, HeaderValue, header};
use tokio::time::Instant;

use super::{Budget, HeldBytes, read_body};
use crate::Settings;

fn settings(body_bytes: usize, held_bytes: usize) -> Settings {
    Settings {
        body_bytes,
        held: Budget::new(held_bytes),
        ..Settings::default()
    }
}

/// A body without a declared length, in pieces of so many bytes.
fn chunked(pieces: usize, bytes: usize) -> Body {
    let piece = Bytes::from(vec![b'x'; bytes]);
    Body::from_stream(stream::iter(
        (0..pieces).map(move |_| Ok::<_, Infallible>(piece.clone())),
    ))
}

async fn read(settings: &Settings, body: Body) -> Result<HeldBytes, ErrorKind> {
    let read = read_body(settings, &HeaderMap::new(), body).await;
    read.map_err(|error| error.kind())
}

#[tokio::test]
async fn a_body_arrives_whole_however_it_was_cut() {
    let settings = settings(100, 1 << 20);
    for (pieces, bytes) in [(0, 0), (1, 0), (1, 7), (2, 7), (5, 7), (3, 0), (100, 1)] {
        let read = read(&settings, chunked(pieces, bytes)).await.unwrap();
        assert_eq!(&*read, vec![b'x'; pieces * bytes]);
    }
    assert_eq!(&*read(&settings, Body::from("{}")).await.unwrap(), b"{}");
    assert_eq!(&*read(&settings, Body::empty()).await.unwrap(), b"");
}

#[tokio::test]
async fn a_body_of_the_bound_is_read_and_one_of_a_byte_more_is_not() {
    let settings = settings(1_000, 1 << 20);
    for body in [Body::from(vec![b'x'; 1_000]), chunked(10, 100), chunked(1, 1_000)] {
        assert_eq!(read(&settings, body).await.unwrap().len(), 1_000);
    }
    for body in [Body::from(vec![b'x'; 1_001]), chunked(11, 91), chunked(1, 1_001)] {
        assert_eq!(
            read(&settings, body).await.unwrap_err(),
            ErrorKind::PayloadTooLarge
        );
    }
}

#[tokio::test]
async fn reading_stops_where_the_bound_is_passed() {
    let settings = settings(1_000, 1 << 20);
    let polled = Arc::new(AtomicUsize::new(0));
    let count = polled.clone();
    let pieces = chunked(1_000, 100).into_data_stream().inspect(move |_| {
        count.fetch_add(1, Ordering::Relaxed);
    });
    let refused = read(&settings, Body::from_stream(pieces)).await.unwrap_err();
    assert_eq!(refused, ErrorKind::PayloadTooLarge);
    assert_eq!(polled.load(Ordering::Relaxed), 11);
}

#[tokio::test]
async fn a_packed_body_is_refused_unless_it_is_not_really_packed() {
    let settings = settings(1_000, 1 << 20);
    for (encoding, taken) in [
        ("gzip", false),
        ("identity, br", false),
        ("identity", true),
        ("Identity", true),
        ("", true),
    ] {
        let mut headers = HeaderMap::new();
        headers.insert(header::CONTENT_ENCODING, HeaderValue::from_str(encoding).unwrap());
        let read = read_body(&settings, &headers, Body::from("{}")).await;
        match read {
            Ok(_) => assert!(taken, "{encoding}"),
            Err(error) => {
                assert!(!taken, "{encoding}");
                assert_eq!(error.kind(), ErrorKind::UnsupportedMediaType);
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_body_has_a_fixed_time_to_arrive_however_it_trickles() {
    let settings = Settings {
        body_timeout: Duration::from_secs(30),
        ..Settings::default()
    };
    let began = Instant::now();
    let trickle = stream::repeat(Bytes::from_static(b"x")).then(|byte| async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        Ok::<_, Infallible>(byte)
    });
    let refused = read(&settings, Body::from_stream(trickle)).await.unwrap_err();
    assert_eq!(refused, ErrorKind::DeadlineExceeded);
    assert_eq!(began.elapsed().as_secs(), 30);
}

#[tokio::test]
async fn a_body_that_breaks_off_is_the_callers_fault() {
    let pieces = [Ok(Bytes::from_static(b"{")), Err(std::io::Error::other("reset"))];
    let refused = read(&settings(1_000, 1 << 20), Body::from_stream(stream::iter(pieces))).await;
    assert_eq!(refused.unwrap_err(), ErrorKind::InvalidRequest);
}

#[tokio::test]
async fn what_is_held_counts_until_it_is_dropped() {
    let settings = settings(8 << 10, 10 << 10);
    let clone = settings.clone();
    let small = read(&settings, Body::from("{}")).await.unwrap();
    assert_eq!(settings.held.free(), 9 << 10);
    let large = read(&clone, chunked(8, 1 << 10)).await.unwrap();
    assert_eq!(settings.held.free(), 1 << 10);
    let error = read_body(&clone, &HeaderMap::new(), chunked(2, 1 << 10))
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    assert!(error.retry_delay().is_some());
    assert_eq!(
        settings.held.free(),
        1 << 10,
        "the share of a refused body was kept"
    );
    drop(large);
    assert_eq!(read(&settings, chunked(2, 1 << 10)).await.unwrap().len(), 2 << 10);
    drop(small);
    assert_eq!(settings.held.free(), 10 << 10);
}
