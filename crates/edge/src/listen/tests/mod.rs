//! Connections in memory, so that time can stand still; real sockets where the system's behaviour is what is tested.

mod drain;
mod limits;
mod sockets;
mod stalls;

use std::{convert::Infallible, io, sync::Arc};

use axum::body::Body;
use bytes::Bytes;
use futures::{StreamExt, stream};
use http::{Request, StatusCode};
use http_body_util::{BodyExt, Empty};
use hyper::client::conn::http2::SendRequest;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, DuplexStream},
    sync::{Mutex, mpsc},
    task::JoinHandle,
};
use tokio_util::sync::CancellationToken;

use super::{
    accept::{Accept, Wire},
    serve_on,
};
use crate::{Response, Settings, read_body};

impl Wire for DuplexStream {}

/// Hands out what the test puts in.
struct Memory(Mutex<mpsc::Receiver<io::Result<DuplexStream>>>);

impl Accept for Memory {
    type Io = DuplexStream;

    async fn accept(&self) -> io::Result<DuplexStream> {
        match self.0.lock().await.recv().await {
            Some(accepted) => accepted,
            None => std::future::pending().await,
        }
    }
}

/// A server in memory.
struct Server {
    connect: mpsc::Sender<io::Result<DuplexStream>>,
    shutdown: CancellationToken,
    serving: JoinHandle<()>,
    /// Tells of each answer without end that was given up.
    dropped: mpsc::Receiver<()>,
}

impl Server {
    fn start(settings: Settings) -> Self {
        let (connect, accept) = mpsc::channel(8);
        let (drops, dropped) = mpsc::channel(8);
        let (shutdown, settings) = (CancellationToken::new(), Arc::new(settings));
        let service = {
            let settings = settings.clone();
            tower::service_fn(move |request| site(request, settings.clone(), drops.clone()))
        };
        let acceptor = Memory(Mutex::new(accept));
        let serving = tokio::spawn(serve_on(acceptor, service, settings, shutdown.clone()));
        Self {
            connect,
            shutdown,
            serving,
            dropped,
        }
    }

    /// A connection through which so many bytes fit at once.
    async fn connect_through(&self, bytes: usize) -> DuplexStream {
        let (near, far) = tokio::io::duplex(bytes);
        self.connect.send(Ok(far)).await.unwrap();
        near
    }

    async fn connect(&self) -> DuplexStream {
        self.connect_through(1 << 20).await
    }

    /// An HTTP/2 connection whose streams take so many bytes before they are read.
    async fn connect_http2(&self, window: u32) -> (SendRequest<Empty<Bytes>>, JoinHandle<hyper::Result<()>>) {
        let io = TokioIo::new(self.connect().await);
        let (client, connection) = hyper::client::conn::http2::Builder::new(TokioExecutor::new())
            .timer(TokioTimer::new())
            .initial_stream_window_size(window)
            .handshake(io)
            .await
            .unwrap();
        (client, tokio::spawn(connection))
    }
}

/// What is served: `/hello`; `/length` of a body; `/endless`; `/never`; `/later`, which waits for half a minute.
async fn site(
    request: Request<Body>,
    settings: Arc<Settings>,
    drops: mpsc::Sender<()>,
) -> Result<Response, Infallible> {
    let (parts, body) = request.into_parts();
    let dropped = Dropped(drops);
    Ok(match parts.uri.path() {
        "/length" => match read_body(&settings, &parts.headers, body).await {
            Ok(bytes) => Response::new(Body::from(bytes.len().to_string())),
            Err(error) => refusal(&error),
        },
        "/endless" => {
            let pieces = stream::repeat(Bytes::from_static(&[b'x'; 1 << 10]));
            let pieces = pieces.map(move |piece| {
                let _held = &dropped;
                Ok::<_, Infallible>(piece)
            });
            Response::new(Body::from_stream(pieces))
        }
        "/never" => {
            let _held = dropped;
            std::future::pending().await
        }
        "/later" => {
            tokio::time::sleep(std::time::Duration::from_secs(25)).await;
            Response::new(Body::from("at last"))
        }
        _ => Response::new(Body::from("hello")),
    })
}

fn refusal(error: &gateway_domain::Error) -> Response {
    let mut response = Response::new(Body::from(error.kind().name()));
    *response.status_mut() = StatusCode::BAD_REQUEST;
    response
}

/// Tells when it is dropped.
struct Dropped(mpsc::Sender<()>);

impl Drop for Dropped {
    fn drop(&mut self) {
        let _ = self.0.try_send(());
    }
}

fn get(path: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nhost: x\r\n\r\n")
}

fn get_http2(path: &str) -> Request<Empty<Bytes>> {
    Request::get(format!("http://x{path}"))
        .body(Empty::new())
        .unwrap()
}

/// Sends this and reads until the peer closes.
async fn exchange(mut stream: DuplexStream, sent: &str) -> String {
    stream.write_all(sent.as_bytes()).await.unwrap();
    rest_of(&mut stream).await
}

async fn rest_of(stream: &mut DuplexStream) -> String {
    let mut text = String::new();
    // A peer that gave up may break the pipe.
    let _ = stream.read_to_string(&mut text).await;
    text
}

/// Reads one small answer and leaves the connection open.
async fn one_answer(stream: &mut DuplexStream) -> String {
    let mut bytes = vec![0; 1 << 10];
    let length = stream.read(&mut bytes).await.unwrap();
    String::from_utf8(bytes[..length].to_vec()).unwrap()
}

#[tokio::test]
async fn both_versions_of_http_are_served_on_one_port() {
    let server = Server::start(Settings::default());
    let mut http1 = server.connect().await;
    http1.write_all(get("/").as_bytes()).await.unwrap();
    let answer = one_answer(&mut http1).await;
    assert!(answer.starts_with("HTTP/1.1 200 OK"), "{answer}");
    assert!(answer.ends_with("hello"), "{answer}");
    let (mut http2, _connection) = server.connect_http2(1 << 16).await;
    let answer = http2.send_request(get_http2("/")).await.unwrap();
    assert_eq!(answer.status(), StatusCode::OK);
    assert_eq!(answer.into_body().collect().await.unwrap().to_bytes(), "hello");
}

#[tokio::test]
async fn a_large_body_arrives_whole_over_both_versions() {
    let settings = Settings {
        body_bytes: 16 << 20,
        ..Settings::default()
    };
    let server = Server::start(settings);
    let body = "x".repeat(9 << 20);
    let request = format!(
        "POST /length HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    let answer = exchange(server.connect().await, &request).await;
    assert!(answer.ends_with(&body.len().to_string()), "{answer}");
    let io = TokioIo::new(server.connect().await);
    let (mut client, connection) = hyper::client::conn::http2::handshake(TokioExecutor::new(), io)
        .await
        .unwrap();
    let _connection = tokio::spawn(connection);
    let request = Request::post("http://x/length").body(body.clone()).unwrap();
    let answer = client.send_request(request).await.unwrap().into_body();
    assert_eq!(answer.collect().await.unwrap().to_bytes(), body.len().to_string());
}
