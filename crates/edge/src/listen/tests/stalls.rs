//! Peers that are there but take nothing.

use std::time::Duration;

use http_body_util::BodyExt;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    time::{Instant, timeout},
};

use super::{Server, get, get_http2};
use crate::Settings;

const STALL: Duration = Duration::from_secs(30);

fn settings() -> Settings {
    Settings {
        write_stall: STALL,
        ..Settings::default()
    }
}

#[tokio::test(start_paused = true)]
async fn an_http1_peer_that_takes_nothing_is_ended() {
    let mut server = Server::start(settings());
    let mut stream = server.connect_through(1 << 10).await;
    stream.write_all(get("/endless").as_bytes()).await.unwrap();
    let began = Instant::now();
    timeout(2 * STALL, server.dropped.recv()).await.unwrap().unwrap();
    assert_eq!(began.elapsed().as_secs(), 30);
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_takes_a_little_now_and_then_is_not() {
    let mut server = Server::start(settings());
    let mut stream = server.connect_through(1 << 10).await;
    stream.write_all(get("/endless").as_bytes()).await.unwrap();
    for _ in 0..10 {
        tokio::time::sleep(Duration::from_secs(20)).await;
        stream.read_u8().await.unwrap();
    }
    assert!(server.dropped.try_recv().is_err());
}

#[tokio::test(start_paused = true)]
async fn an_http2_stream_whose_peer_takes_nothing_is_ended_alone() {
    let mut server = Server::start(settings());
    let (mut client, connection) = server.connect_http2(1 << 10).await;
    let began = Instant::now();
    let stalled = client.send_request(get_http2("/endless")).await.unwrap();
    timeout(2 * STALL, server.dropped.recv()).await.unwrap().unwrap();
    assert_eq!(began.elapsed().as_secs(), 30);
    let other = client.send_request(get_http2("/")).await.unwrap();
    assert_eq!(other.into_body().collect().await.unwrap().to_bytes(), "hello");
    assert!(stalled.into_body().collect().await.is_err());
    assert!(!connection.is_finished());
}

#[tokio::test(start_paused = true)]
async fn an_http2_stream_whose_peer_goes_on_taking_is_not_ended() {
    let mut server = Server::start(settings());
    let (mut client, _connection) = server.connect_http2(1 << 10).await;
    let mut taken = client
        .send_request(get_http2("/endless"))
        .await
        .unwrap()
        .into_body();
    for _ in 0..10 {
        tokio::time::sleep(Duration::from_secs(20)).await;
        // A window is opened again once half of it is used.
        for _ in 0..2 {
            taken.frame().await.unwrap().unwrap();
        }
    }
    assert!(server.dropped.try_recv().is_err());
}

#[tokio::test(start_paused = true)]
async fn an_http2_request_may_wait_for_its_answer_for_as_long_as_it_takes() {
    let server = Server::start(Settings {
        write_stall: Duration::from_secs(5),
        ..Settings::default()
    });
    let (mut client, _connection) = server.connect_http2(1 << 10).await;
    let answer = timeout(STALL, client.send_request(get_http2("/later")))
        .await
        .unwrap()
        .unwrap();
    assert_eq!(answer.into_body().collect().await.unwrap().to_bytes(), "at last");
}

#[tokio::test(start_paused = true)]
async fn an_http2_peer_that_answers_no_ping_is_ended_within_two_keep_alive_periods() {
    let server = Server::start(Settings {
        keep_alive: Duration::from_secs(15),
        ..Settings::default()
    });
    let mut stream = server.connect().await;
    stream
        .write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0")
        .await
        .unwrap();
    let began = Instant::now();
    let mut sink = Vec::new();
    let _ = stream.read_to_end(&mut sink).await;
    assert!(
        began.elapsed() <= Duration::from_secs(30),
        "{:?}",
        began.elapsed()
    );
}
