//! What only a real socket shows.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use socket2::SockRef;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::mpsc,
    task::JoinHandle,
};
use tokio_util::sync::CancellationToken;

use super::{get, site};
use crate::{
    Settings,
    listen::{
        accept::{Accept, Tcp},
        guard::{Guard, Midway},
        serve,
    },
};

struct Listening {
    address: SocketAddr,
    shutdown: CancellationToken,
    serving: JoinHandle<()>,
}

async fn listen() -> Listening {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (shutdown, settings) = (CancellationToken::new(), Arc::new(Settings::default()));
    let (drops, _) = mpsc::channel(8);
    let service = {
        let settings = settings.clone();
        tower::service_fn(move |request| site(request, settings.clone(), drops.clone()))
    };
    let serving = tokio::spawn(serve(listener, service, settings, shutdown.clone()));
    Listening {
        address,
        shutdown,
        serving,
    }
}

/// Sends everything, whatever comes back meanwhile, and only then reads, as simple clients do.
async fn send_all_then_read(address: SocketAddr, sent: &[&[u8]]) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    for piece in sent {
        stream.write_all(piece).await.unwrap();
    }
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}

#[tokio::test]
async fn a_head_beyond_what_is_read_is_answered_with_431() {
    let server = listen().await;
    let filler = "x".repeat(200_000);
    let head = format!("GET / HTTP/1.1\r\nhost: x\r\nx-filler: {filler}\r\n\r\n");
    let answer = send_all_then_read(server.address, &[head.as_bytes()]).await;
    assert!(answer.starts_with("HTTP/1.1 431"), "{answer}");
}

#[tokio::test]
async fn a_refusal_reaches_a_client_that_is_still_sending() {
    let server = listen().await;
    let piece = vec![b'x'; 1 << 20];
    let length = 24 * piece.len();
    let head = format!("POST /length HTTP/1.1\r\nhost: x\r\ncontent-length: {length}\r\n\r\n");
    let mut sent = vec![head.as_bytes()];
    sent.extend(std::iter::repeat_n(piece.as_slice(), 24));
    let answer = send_all_then_read(server.address, &sent).await;
    assert!(answer.ends_with("PayloadTooLarge"), "{answer}");
    let chunk_size = format!("{:x}\r\n", piece.len());
    let mut sent: Vec<&[u8]> =
        vec![b"POST /length HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n"];
    for _ in 0..24 {
        sent.extend([chunk_size.as_bytes(), &piece, b"\r\n"]);
    }
    let answer = send_all_then_read(server.address, &sent).await;
    assert!(answer.ends_with("PayloadTooLarge"), "{answer}");
}

#[tokio::test]
async fn a_drained_listener_has_closed_its_port() {
    let server = listen().await;
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    stream.write_all(get("/").as_bytes()).await.unwrap();
    stream.read_u8().await.unwrap();
    server.shutdown.cancel();
    server.serving.await.unwrap();
    assert!(TcpStream::connect(server.address).await.is_err());
}

#[tokio::test]
async fn the_system_is_told_when_to_give_up_a_peer() {
    let settings = Settings {
        keep_alive: Duration::from_secs(20),
        ..Settings::default()
    };
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let _client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
    let stream = Tcp::new(listener, &settings).accept().await.unwrap();
    let socket = SockRef::from(&stream).try_clone().unwrap();
    assert!(socket.tcp_nodelay().unwrap());
    assert!(socket.keepalive().unwrap());
    assert_eq!(socket.tcp_keepalive_time().unwrap(), Duration::from_secs(10));
    let _guard = Guard::new(stream, Midway::default(), &settings);
    assert_eq!(socket.tcp_user_timeout().unwrap(), Some(Duration::from_secs(18)));
}
