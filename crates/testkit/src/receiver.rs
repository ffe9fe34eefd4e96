//! A receiver of webhooks that answers as it is told and remembers its calls. It listens on loopback, to the end of the
//! test.
#![allow(clippy::unwrap_used, reason = "a receiver that cannot go on fails its test")]

use std::{convert::Infallible, future::Future, io, net::SocketAddr, sync::Arc, time::Duration};

use bytes::Bytes;
use http::{HeaderMap, Method, Request, Response, Version};
use http_body_util::{BodyExt, Either, Full};
use hyper::{body::Incoming, service::service_fn};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, TcpStream},
    sync::watch,
    time::timeout,
};

/// Far beyond what any wait takes; a test that reaches it has failed.
const PATIENCE: Duration = Duration::from_secs(30);

/// One call, as it came in.
#[derive(Debug, Clone)]
pub struct Call {
    /// The verb.
    pub method: Method,
    /// Of HTTP.
    pub version: Version,
    /// Path and query.
    pub target: String,
    /// The headers.
    pub headers: HeaderMap,
    /// The body, which must be JSON.
    pub body: Value,
    /// The number of the connection that it came over.
    pub connection: usize,
}

impl Call {
    /// A header's value, or nothing.
    ///
    /// # Panics
    /// Where it is no text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    /// The text of the artifact or the state that it tells of.
    ///
    /// # Panics
    /// Where it tells of neither.
    pub fn news(&self) -> String {
        let text = &self.body["artifactUpdate"]["artifact"]["parts"][0]["text"];
        let state = &self.body["statusUpdate"]["status"]["state"];
        let task = &self.body["task"]["status"]["state"];
        let task_of_0_3 = &self.body["status"]["state"];
        let found = [text, state, task, task_of_0_3]
            .into_iter()
            .find_map(Value::as_str);
        found.unwrap_or_else(|| panic!("{}", self.body)).to_owned()
    }
}

/// What a receiver does about a call.
#[derive(Debug, Clone)]
pub enum Answer {
    /// It answers with a status.
    Status(u16),
    /// The same after a while.
    After(Duration, u16),
    /// It sends the caller elsewhere.
    Redirect(String),
    /// It never answers.
    Hang,
    /// It closes the connection behind a good answer.
    Close,
    /// It hangs up in place of an answer.
    Drop,
    /// A good answer whose body has no end.
    Endless,
}

/// A receiver. Its clones are the same one.
#[derive(Clone)]
pub struct Receiver {
    /// Where it listens.
    pub address: SocketAddr,
    calls: watch::Sender<Vec<Call>>,
}

impl Receiver {
    /// A receiver that is asked for the answer to each call, by its number from 0.
    ///
    /// # Panics
    /// Where no port is to be had.
    pub async fn new(answer: impl Fn(usize) -> Answer + Send + Sync + 'static) -> Self {
        let plain = |stream| async move { Ok(stream) };
        Self::behind(plain, answer).await
    }

    /// The same with something between the connection and HTTP.
    ///
    /// # Panics
    /// Where no port is to be had.
    pub async fn behind<L, F, S>(layer: L, answer: impl Fn(usize) -> Answer + Send + Sync + 'static) -> Self
    where
        L: Fn(TcpStream) -> F + Send + 'static,
        F: Future<Output = io::Result<S>> + Send,
        S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let receiver = Self {
            address: listener.local_addr().unwrap(),
            calls: watch::Sender::new(Vec::new()),
        };
        let (accepting, answer) = (receiver.clone(), Arc::new(answer));
        tokio::spawn(async move {
            for connection in 0.. {
                let (stream, _) = listener.accept().await.unwrap();
                if let Ok(stream) = layer(stream).await {
                    accepting.clone().serve(stream, connection, answer.clone());
                }
            }
        });
        receiver
    }

    fn serve<S, A>(self, stream: S, connection: usize, answer: Arc<A>)
    where
        S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
        A: Fn(usize) -> Answer + Send + Sync + 'static,
    {
        let service = service_fn(move |request| {
            let (receiver, answer) = (self.clone(), answer.clone());
            async move { receiver.answer(request, connection, &*answer).await }
        });
        let served =
            hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service);
        tokio::spawn(async move { drop(served.await) });
    }

    async fn answer(
        &self,
        request: Request<Incoming>,
        connection: usize,
        answer: &impl Fn(usize) -> Answer,
    ) -> io::Result<Response<Either<Full<Bytes>, Endless>>> {
        let (head, body) = request.into_parts();
        let body = body.collect().await.map_err(io::Error::other)?.to_bytes();
        let call = Call {
            method: head.method,
            version: head.version,
            target: head.uri.to_string(),
            headers: head.headers,
            body: serde_json::from_slice(&body).unwrap(),
            connection,
        };
        let mut number = 0;
        self.calls.send_modify(|calls| {
            number = calls.len();
            calls.push(call);
        });
        let mut response = Response::new(Either::Left(Full::default()));
        match answer(number) {
            Answer::Status(status) => *response.status_mut() = status.try_into().unwrap(),
            Answer::After(pause, status) => {
                tokio::time::sleep(pause).await;
                *response.status_mut() = status.try_into().unwrap();
            }
            Answer::Redirect(to) => {
                *response.status_mut() = http::StatusCode::TEMPORARY_REDIRECT;
                response.headers_mut().insert("location", to.parse().unwrap());
            }
            Answer::Hang => std::future::pending().await,
            Answer::Close => {
                response
                    .headers_mut()
                    .insert("connection", "close".parse().unwrap());
            }
            Answer::Drop => return Err(io::Error::other("hung up")),
            Answer::Endless => *response.body_mut() = Either::Right(Endless),
        }
        Ok(response)
    }

    /// A receiver that takes everything.
    pub async fn willing() -> Self {
        Self::new(|_| Answer::Status(200)).await
    }

    /// The calls once there are so many, or more.
    ///
    /// # Panics
    /// Where they do not come.
    pub async fn calls(&self, least: usize) -> Vec<Call> {
        let mut seen = self.calls.subscribe();
        let calls = timeout(PATIENCE, seen.wait_for(|calls| calls.len() >= least)).await;
        calls
            .unwrap_or_else(|_| panic!("only {} calls", self.so_far().len()))
            .unwrap()
            .clone()
    }

    /// The calls so far.
    pub fn so_far(&self) -> Vec<Call> {
        self.calls.borrow().clone()
    }

    /// What its calls told.
    pub fn news(&self) -> Vec<String> {
        self.so_far().iter().map(Call::news).collect()
    }

    /// An address that leads to it.
    pub fn url(&self) -> String {
        format!("http://{}/hook", self.address)
    }
}

/// A body that goes on and on.
struct Endless;

impl hyper::body::Body for Endless {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: std::pin::Pin<&mut Self>,
        _: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Result<hyper::body::Frame<Bytes>, Infallible>>> {
        std::task::Poll::Ready(Some(Ok(hyper::body::Frame::data(Bytes::from_static(
            &[b'x'; 1024],
        )))))
    }
}
