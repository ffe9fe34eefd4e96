//! What a peer cannot make a listener do.

use std::{io, time::Duration};

use http::StatusCode;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    time::{Instant, timeout},
};

use super::{Server, exchange, get, get_http2, one_answer, rest_of};
use crate::Settings;

#[tokio::test(start_paused = true)]
async fn a_peer_that_does_not_finish_its_head_is_ended() {
    let settings = Settings {
        head_timeout: Duration::from_secs(75),
        ..Settings::default()
    };
    let server = Server::start(settings);
    for sent in ["", "P", "PRI * HTTP/2.0", "GET / HTTP/1.1\r\nhost:"] {
        let began = Instant::now();
        let answer = exchange(server.connect().await, sent).await;
        assert_eq!(answer, "", "{sent}");
        assert_eq!(began.elapsed().as_secs(), 75, "{sent}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_request_may_be_answered_long_after_its_head_had_to_be_there() {
    let settings = Settings {
        head_timeout: Duration::from_secs(5),
        ..Settings::default()
    };
    let server = Server::start(settings);
    let mut stream = server.connect().await;
    // Shorter than the preface of HTTP/2.
    stream.write_all(b"GET /later HTTP/1.0\r\n\r\n").await.unwrap();
    assert!(rest_of(&mut stream).await.ends_with("at last"));
}

#[tokio::test(start_paused = true)]
async fn a_body_that_trickles_in_is_cut_by_time() {
    let settings = Settings {
        body_timeout: Duration::from_secs(30),
        ..Settings::default()
    };
    let server = Server::start(settings);
    let mut stream = server.connect().await;
    let began = Instant::now();
    stream
        .write_all(b"POST /length HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n")
        .await
        .unwrap();
    let (mut read, mut write) = tokio::io::split(stream);
    let trickling = tokio::spawn(async move {
        while write.write_all(b"x").await.is_ok() {
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
    });
    let mut answer = vec![0; 1 << 10];
    let length = read.read(&mut answer).await.unwrap();
    assert!(answer[..length].ends_with(b"DeadlineExceeded"));
    assert_eq!(began.elapsed().as_secs(), 30);
    trickling.await.unwrap();
    assert!(
        began.elapsed() < Duration::from_secs(35),
        "the connection was left open"
    );
}

#[tokio::test]
async fn a_body_that_declares_itself_too_large_is_not_asked_for() {
    let server = Server::start(Settings::default());
    let head = "POST /length HTTP/1.1\r\nhost: x\r\nexpect: 100-continue\r\ncontent-length: 8388609\r\n\r\n";
    let answer = exchange(server.connect().await, head).await;
    assert!(answer.starts_with("HTTP/1.1 400"), "{answer}");
    assert!(answer.ends_with("PayloadTooLarge"), "{answer}");
}

#[tokio::test]
async fn a_head_of_nearly_64_kib_reaches_the_binding_over_both_versions() {
    let server = Server::start(Settings::default());
    let filler = "f".repeat(60_000);
    let mut http1 = server.connect().await;
    let head = format!("GET / HTTP/1.1\r\nhost: x\r\nfiller: {filler}\r\n\r\n");
    http1.write_all(head.as_bytes()).await.unwrap();
    assert!(one_answer(&mut http1).await.ends_with("hello"));
    let (mut http2, _connection) = server.connect_http2(1 << 16).await;
    let mut request = get_http2("/");
    request.headers_mut().insert("filler", filler.parse().unwrap());
    assert_eq!(
        http2.send_request(request).await.unwrap().status(),
        StatusCode::OK
    );
}

#[tokio::test(start_paused = true)]
async fn a_connection_beyond_the_bound_waits_for_another_to_end() {
    let settings = Settings {
        connections: 1,
        ..Settings::default()
    };
    let server = Server::start(settings);
    let mut first = server.connect().await;
    first.write_all(get("/").as_bytes()).await.unwrap();
    assert!(one_answer(&mut first).await.ends_with("hello"));
    let mut second = server.connect().await;
    second.write_all(get("/").as_bytes()).await.unwrap();
    let wait = Duration::from_secs(10);
    assert!(timeout(wait, one_answer(&mut second)).await.is_err());
    drop(first);
    assert!(
        timeout(wait, one_answer(&mut second))
            .await
            .unwrap()
            .ends_with("hello")
    );
}

#[tokio::test(start_paused = true)]
async fn a_failure_to_accept_is_followed_by_longer_and_longer_rests() {
    let server = Server::start(Settings::default());
    let began = Instant::now();
    for _ in 0..9 {
        let too_many_files = io::Error::from_raw_os_error(24);
        server.connect.send(Err(too_many_files)).await.unwrap();
    }
    let mut stream = server.connect().await;
    stream.write_all(get("/").as_bytes()).await.unwrap();
    assert!(one_answer(&mut stream).await.ends_with("hello"));
    // 10 ms doubled seven times is more than a second.
    assert_eq!(
        began.elapsed().as_millis(),
        10 + 20 + 40 + 80 + 160 + 320 + 640 + 1_000 + 1_000
    );
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_left_before_it_was_accepted_costs_no_rest() {
    let server = Server::start(Settings::default());
    let began = Instant::now();
    let aborted = io::ErrorKind::ConnectionAborted.into();
    server.connect.send(Err(aborted)).await.unwrap();
    let mut stream = server.connect().await;
    stream.write_all(get("/").as_bytes()).await.unwrap();
    assert!(one_answer(&mut stream).await.ends_with("hello"));
    assert!(began.elapsed().is_zero());
}

#[tokio::test(start_paused = true)]
async fn an_old_connection_is_asked_to_close_within_a_tenth_of_its_age() {
    let settings = Settings {
        connection_age: Duration::from_secs(1_000),
        head_timeout: Duration::from_secs(5_000),
        ..Settings::default()
    };
    let server = Server::start(settings);
    let allowed = 900..=1_100;
    let began = Instant::now();
    let mut http1 = server.connect().await;
    http1.write_all(get("/").as_bytes()).await.unwrap();
    rest_of(&mut http1).await;
    assert!(
        allowed.contains(&began.elapsed().as_secs()),
        "{:?}",
        began.elapsed()
    );
    let began = Instant::now();
    let (_client, connection) = server.connect_http2(1 << 16).await;
    connection.await.unwrap().unwrap();
    assert!(
        allowed.contains(&began.elapsed().as_secs()),
        "{:?}",
        began.elapsed()
    );
}
