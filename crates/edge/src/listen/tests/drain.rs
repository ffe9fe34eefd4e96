//! How a listener comes to its end.

use std::time::Duration;

use http_body_util::BodyExt;
use tokio::{
    io::AsyncWriteExt,
    time::{Instant, timeout},
};

use super::{Server, get, get_http2, one_answer, rest_of};
use crate::Settings;

fn settings() -> Settings {
    Settings {
        drain: Duration::from_secs(30),
        ..Settings::default()
    }
}

/// Long enough for everything that is due now, and far too short for anything else.
async fn settle() {
    tokio::time::sleep(Duration::from_millis(1)).await;
}

#[tokio::test(start_paused = true)]
async fn without_requests_a_listener_ends_at_once() {
    let server = Server::start(settings());
    let mut idle = server.connect().await;
    idle.write_all(get("/").as_bytes()).await.unwrap();
    one_answer(&mut idle).await;
    let silent = server.connect().await;
    let (_client, connection) = server.connect_http2(1 << 16).await;
    settle().await;
    let began = Instant::now();
    server.shutdown.cancel();
    server.serving.await.unwrap();
    assert!(began.elapsed() < Duration::from_secs(1), "{:?}", began.elapsed());
    connection.await.unwrap().unwrap();
    drop((idle, silent));
}

#[tokio::test(start_paused = true)]
async fn requests_that_run_are_answered_first() {
    let server = Server::start(settings());
    let mut http1 = server.connect().await;
    http1.write_all(get("/later").as_bytes()).await.unwrap();
    let (mut client, _connection) = server.connect_http2(1 << 16).await;
    let http2 = tokio::spawn(client.send_request(get_http2("/later")));
    settle().await;
    server.shutdown.cancel();
    assert!(rest_of(&mut http1).await.ends_with("at last"));
    let http2 = http2.await.unwrap().unwrap();
    assert_eq!(http2.into_body().collect().await.unwrap().to_bytes(), "at last");
    timeout(Duration::from_secs(1), server.serving)
        .await
        .unwrap()
        .unwrap();
}

#[tokio::test(start_paused = true)]
async fn nobody_is_accepted_any_more() {
    let server = Server::start(settings());
    let mut running = server.connect().await;
    running.write_all(get("/later").as_bytes()).await.unwrap();
    settle().await;
    server.shutdown.cancel();
    settle().await;
    assert!(server.connect.is_closed());
}

#[tokio::test(start_paused = true)]
async fn what_does_not_end_in_time_is_ended() {
    let mut server = Server::start(settings());
    let mut http1 = server.connect().await;
    http1.write_all(get("/never").as_bytes()).await.unwrap();
    let (mut client, _connection) = server.connect_http2(1 << 16).await;
    let _http2 = tokio::spawn(client.send_request(get_http2("/never")));
    settle().await;
    let began = Instant::now();
    server.shutdown.cancel();
    server.serving.await.unwrap();
    assert_eq!(began.elapsed().as_secs(), 30);
    for _ in 0..2 {
        server.dropped.try_recv().unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn dropping_the_listener_ends_everything() {
    let mut server = Server::start(settings());
    let mut http1 = server.connect().await;
    http1.write_all(get("/never").as_bytes()).await.unwrap();
    let (mut client, _connection) = server.connect_http2(1 << 16).await;
    let _http2 = tokio::spawn(client.send_request(get_http2("/never")));
    settle().await;
    server.serving.abort();
    for _ in 0..2 {
        timeout(Duration::from_secs(1), server.dropped.recv())
            .await
            .unwrap()
            .unwrap();
    }
}
