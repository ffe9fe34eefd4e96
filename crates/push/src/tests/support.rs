//! A receiver that answers as it is told and remembers its calls; and a courier with a task to tell of.

use std::{convert::Infallible, future::Future, io, net::SocketAddr, sync::Arc, time::Duration};

use async_trait::async_trait;
use bytes::Bytes;
use gateway_domain::{
    Limits, PushNotificationConfigRow, TaskId,
    decide::{self, Stamp},
    lifecycle::Move,
    ports::{Store, Webhooks},
    push::StoredConfig,
    request::AgentAction,
};
use gateway_testkit::{
    build::{artifact, config, moment, new_task},
    store::MemoryStore,
};
use http::{HeaderMap, Method, Request, Response, Version};
use http_body_util::{BodyExt, Full};
use hyper::{body::Incoming, service::service_fn};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, TcpStream},
    sync::watch,
    time::timeout,
};

use crate::{Courier, Resolver, Retries, Settings, client::Trusted};

/// Far beyond what any wait takes; a test that reaches it has failed.
const PATIENCE: Duration = Duration::from_secs(30);

// === the receiver ===

/// One call, as it came in.
#[derive(Debug, Clone)]
pub(super) struct Call {
    pub(super) method: Method,
    pub(super) version: Version,
    pub(super) target: String,
    pub(super) headers: HeaderMap,
    pub(super) body: Value,
    /// The number of the connection that it came over.
    pub(super) connection: usize,
}

impl Call {
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    /// The text of the artifact or the state that it tells of.
    pub(super) fn news(&self) -> String {
        let text = &self.body["artifactUpdate"]["artifact"]["parts"][0]["text"];
        let state = &self.body["statusUpdate"]["status"]["state"];
        let task = &self.body["task"]["status"]["state"];
        let found = [text, state, task].into_iter().find_map(Value::as_str);
        found.unwrap_or_else(|| panic!("{}", self.body)).to_owned()
    }
}

/// What a receiver does about a call.
#[derive(Debug, Clone)]
pub(super) enum Answer {
    Status(u16),
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

#[derive(Clone)]
pub(super) struct Hook {
    pub(super) address: SocketAddr,
    calls: watch::Sender<Vec<Call>>,
}

impl Hook {
    /// A receiver that is asked for the answer to each call, by its number from 0.
    pub(super) async fn new(answer: impl Fn(usize) -> Answer + Send + Sync + 'static) -> Self {
        let plain = |stream| async move { Ok(stream) };
        Self::behind(plain, answer).await
    }

    /// The same with something between the connection and HTTP.
    pub(super) async fn behind<L, F, S>(
        layer: L,
        answer: impl Fn(usize) -> Answer + Send + Sync + 'static,
    ) -> Self
    where
        L: Fn(TcpStream) -> F + Send + 'static,
        F: Future<Output = io::Result<S>> + Send,
        S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let hook = Self {
            address: listener.local_addr().unwrap(),
            calls: watch::Sender::new(Vec::new()),
        };
        let (accepting, answer) = (hook.clone(), Arc::new(answer));
        tokio::spawn(async move {
            for connection in 0.. {
                let (stream, _) = listener.accept().await.unwrap();
                if let Ok(stream) = layer(stream).await {
                    accepting.clone().serve(stream, connection, answer.clone());
                }
            }
        });
        hook
    }

    fn serve<S, A>(self, stream: S, connection: usize, answer: Arc<A>)
    where
        S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
        A: Fn(usize) -> Answer + Send + Sync + 'static,
    {
        let service = service_fn(move |request| {
            let (hook, answer) = (self.clone(), answer.clone());
            async move { hook.answer(request, connection, &*answer).await }
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
    ) -> io::Result<Response<http_body_util::Either<Full<Bytes>, Endless>>> {
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
        let mut response = Response::new(http_body_util::Either::Left(Full::default()));
        match answer(number) {
            Answer::Status(status) => *response.status_mut() = status.try_into().unwrap(),
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
            Answer::Endless => *response.body_mut() = http_body_util::Either::Right(Endless),
        }
        Ok(response)
    }

    /// The calls once there are so many, or more.
    pub(super) async fn calls(&self, least: usize) -> Vec<Call> {
        let mut seen = self.calls.subscribe();
        let calls = timeout(PATIENCE, seen.wait_for(|calls| calls.len() >= least)).await;
        calls
            .unwrap_or_else(|_| panic!("only {} calls", self.so_far().len()))
            .unwrap()
            .clone()
    }

    pub(super) fn so_far(&self) -> Vec<Call> {
        self.calls.borrow().clone()
    }

    /// What its calls told.
    pub(super) fn news(&self) -> Vec<String> {
        self.so_far().iter().map(Call::news).collect()
    }

    pub(super) fn url(&self) -> String {
        format!("http://{}/hook", self.address)
    }
}

/// A body that goes on and on.
pub(super) struct Endless;

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

// === the names ===

/// Knows one meaning for every name.
pub(super) struct Fixed(pub(super) Vec<SocketAddr>);

#[async_trait]
impl Resolver for Fixed {
    async fn resolve(&self, _: &str, _: u16) -> io::Result<Vec<SocketAddr>> {
        Ok(self.0.clone())
    }
}

// === the courier ===

/// Loopback is allowed, and pauses are short.
pub(super) fn quick() -> Settings {
    Settings {
        allowed_ranges: vec!["127.0.0.0/8".parse().unwrap()],
        retries: Retries {
            first_pause: Duration::from_millis(1),
            longest_pause: Duration::from_millis(5),
            attempts: 4,
            ..Retries::default()
        },
        ..Settings::default()
    }
}

/// Whoever waits to repeat a call waits for longer than any test.
pub(super) fn with_long_pauses() -> Settings {
    let pause = Duration::from_secs(3_000);
    Settings {
        retries: Retries {
            first_pause: pause,
            longest_pause: pause,
            patience: 100 * pause,
            ..Retries::default()
        },
        ..quick()
    }
}

/// A courier and a store with one live task.
pub(super) struct Bench {
    pub(super) store: Arc<MemoryStore>,
    pub(super) courier: Courier,
    pub(super) task: TaskId,
}

impl Bench {
    pub(super) async fn new(settings: Settings) -> Self {
        let resolver = Fixed(Vec::new());
        Self::with(
            settings,
            gateway_testkit::store::Settings::default(),
            resolver,
            Trusted::ByTheMachine,
        )
        .await
    }

    pub(super) async fn with(
        settings: Settings,
        of_store: gateway_testkit::store::Settings,
        resolver: Fixed,
        trusted: Trusted,
    ) -> Self {
        let store = Arc::new(MemoryStore::new(of_store));
        let courier = Courier::trusting(store.clone(), Arc::new(resolver), settings, trusted);
        let task = TaskId::new("task");
        let creation = decide::create(new_task(task.clone()), &Limits::default(), stamp());
        store.create(creation.unwrap()).await.unwrap();
        Self { store, courier, task }
    }

    /// A configuration with nothing but an address, in a row of its own.
    pub(super) fn plain(&self, id: &str, url: &str) -> StoredConfig {
        let mut config = config(&self.task, id);
        config.row = PushNotificationConfigRow::new(format!("{} at {url}", config.row));
        config.config.url = url.to_owned();
        config.config.token = None;
        config.config.authentication = None;
        config
    }

    /// Stores a configuration and begins to deliver what comes after the task's newest entry.
    pub(super) async fn configure(&self, config: StoredConfig) {
        let head = self.store.head(&self.task).await.unwrap().unwrap();
        self.courier.check(&config.config).unwrap();
        let place = self.courier.reserve().unwrap();
        self.store.put_config(config.clone(), 100).await.unwrap();
        place.begin(config, head.cursor.revision).await;
    }

    /// The same for a receiver.
    pub(super) async fn call(&self, id: &str, hook: &Hook) {
        self.configure(self.plain(id, &hook.url())).await;
    }

    pub(super) async fn act(&self, action: AgentAction) {
        let head = self.store.head(&self.task).await.unwrap().unwrap();
        let change = decide::act(&head, action, &Limits::default(), stamp());
        self.store.commit(change.unwrap()).await.unwrap();
    }

    pub(super) async fn chunk(&self, text: &str) {
        self.act(AgentAction::UpdateArtifact {
            artifact: artifact("a", text),
            append: true,
            last_chunk: false,
        })
        .await;
    }

    pub(super) async fn step(&self, to: Move) {
        self.act(AgentAction::Move(to, None)).await;
    }

    /// Waits until a number is what it should be.
    pub(super) async fn until(&self, reached: impl Fn(&Courier) -> bool) {
        let reached = async {
            while !reached(&self.courier) {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        };
        timeout(PATIENCE, reached).await.expect("it comes to that");
    }

    pub(super) async fn nobody_is_followed(&self) {
        self.until(|courier| courier.followers() == 0).await;
    }
}

fn stamp() -> Stamp {
    Stamp {
        now: moment(0),
        mark: 7,
    }
}
