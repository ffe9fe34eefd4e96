//! One call to a receiver: look up, ask the guard, connect to exactly what it let pass, post, judge the answer.
//!
//! Redirects are not followed and no proxy is used: both would go where nobody has looked. What the receiver writes back
//! is not read beyond its status, save for as much as keeps a connection usable.

use std::{fmt, net::SocketAddr, sync::Arc, time::Duration};

use bytes::Bytes;
use http::{HeaderMap, Response, StatusCode, header::RETRY_AFTER};
use http_body_util::{BodyExt, Full, Limited};
use hyper::{
    body::Incoming,
    client::conn::http1::{self, SendRequest},
    rt::{Read, Write},
};
use hyper_util::rt::TokioIo;
use tokio::{
    net::TcpStream,
    sync::OnceCell,
    task::spawn_blocking,
    time::{Instant, timeout, timeout_at},
};
use tokio_rustls::{
    TlsConnector,
    rustls::{ClientConfig, RootCertStore, crypto::ring, pki_types::ServerName},
};
use tokio_util::task::AbortOnDropHandle;

use crate::{
    counts::{Attempt, DeadLetter},
    guard::Guard,
    receiver::Receiver,
    resolver::Resolver,
    target::{Host, Target},
};

/// Bytes of an answer's head, at most.
const MOST_HEAD_BYTES: usize = 16 << 10;
/// Bytes of an answer's body that are worth reading to keep its connection.
const MOST_BODY_BYTES: usize = 16 << 10;
/// How long that may take.
const BODY_PATIENCE: Duration = Duration::from_secs(1);
/// Addresses of one name that are tried. They share the time that there is.
const MOST_ADDRESSES: u32 = 4;

/// Calls receivers.
pub(crate) struct Client {
    guard: Guard,
    resolver: Arc<dyn Resolver>,
    timeout: Duration,
    trusted: Trusted,
    tls: OnceCell<TlsConnector>,
}

/// Whose certificates are believed.
pub(crate) enum Trusted {
    /// Those of the machine's authorities.
    ByTheMachine,
    /// Those of these.
    #[cfg_attr(not(test), expect(dead_code, reason = "tests have an authority of their own"))]
    By(RootCertStore),
}

/// An open connection to a receiver, between two calls.
pub(crate) struct Connection {
    sender: SendRequest<Full<Bytes>>,
    _driver: AbortOnDropHandle<()>,
}

/// Why an event did not arrive. Says nothing that the configuration holds.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The guard let no address pass.
    Forbidden(String),
    /// The receiver does not want it.
    Refused(StatusCode),
    /// The receiver cannot take it now.
    Status(StatusCode, Option<Duration>),
    TimedOut,
    Unreachable(String),
}

impl Client {
    pub(crate) fn new(
        guard: Guard,
        resolver: Arc<dyn Resolver>,
        timeout: Duration,
        trusted: Trusted,
    ) -> Self {
        Self {
            guard,
            resolver,
            timeout,
            trusted,
            tls: OnceCell::new(),
        }
    }

    pub(crate) fn guard(&self) -> &Guard {
        &self.guard
    }

    /// Posts a body. Uses the connection that is there, and leaves one there if it can be used again.
    pub(crate) async fn post(
        &self,
        receiver: &Receiver,
        body: &Bytes,
        kept: &mut Option<Connection>,
    ) -> Result<(), Failure> {
        let deadline = Instant::now() + self.timeout;
        let answer = timeout_at(deadline, self.exchange(receiver, body, kept.take())).await;
        let (response, connection) = answer.map_err(|_| Failure::TimedOut)??;
        let judged = judge(response.status(), response.headers());
        if read_away(response.into_body()).await {
            *kept = Some(connection);
        }
        judged
    }

    async fn exchange(
        &self,
        receiver: &Receiver,
        body: &Bytes,
        kept: Option<Connection>,
    ) -> Result<(Response<Incoming>, Connection), Failure> {
        if let Some(mut connection) = kept
            && let Ok(response) = connection.send(receiver, body).await
        {
            return Ok((response, connection));
        }
        // Receivers close what is idle, and often just then: that is not yet a failure.
        let mut connection = self.connect(&receiver.target).await?;
        let response = connection.send(receiver, body).await;
        response
            .map(|response| (response, connection))
            .map_err(unreachable)
    }

    async fn connect(&self, target: &Target) -> Result<Connection, Failure> {
        let addresses = self.addresses(target).await?;
        let count = u32::try_from(addresses.len()).unwrap_or(MOST_ADDRESSES);
        let mut failed = Failure::Unreachable("the name has no address".to_owned());
        for address in addresses {
            let connected = timeout(self.timeout / count, self.connect_to(target, address)).await;
            match connected {
                Ok(Ok(connection)) => return Ok(connection),
                Ok(Err(failure)) => failed = failure,
                Err(_) => failed = Failure::TimedOut,
            }
        }
        Err(failed)
    }

    /// The addresses of a target that the guard lets pass.
    async fn addresses(&self, target: &Target) -> Result<Vec<SocketAddr>, Failure> {
        let found = match &target.host {
            Host::Address(address) => vec![SocketAddr::new(*address, target.port)],
            Host::Name(name) => self
                .resolver
                .resolve(name, target.port)
                .await
                .map_err(unreachable)?,
        };
        let mut forbidden = None;
        let mut allowed = Vec::new();
        for address in found {
            match self.guard.check_address(address.ip(), target.tls) {
                Ok(()) => allowed.push(address),
                Err(text) => forbidden = Some(text),
            }
        }
        match forbidden {
            Some(text) if allowed.is_empty() => Err(Failure::Forbidden(text)),
            _ => {
                allowed.truncate(MOST_ADDRESSES as usize);
                Ok(allowed)
            }
        }
    }

    async fn connect_to(&self, target: &Target, address: SocketAddr) -> Result<Connection, Failure> {
        let stream = TcpStream::connect(address).await.map_err(unreachable)?;
        stream.set_nodelay(true).map_err(unreachable)?;
        if !target.tls {
            return Connection::over(stream).await;
        }
        let name = match &target.host {
            Host::Address(address) => ServerName::from(*address),
            Host::Name(name) => ServerName::try_from(name.clone()).map_err(unreachable)?,
        };
        let stream = self
            .tls()
            .await
            .connect(name, stream)
            .await
            .map_err(unreachable)?;
        Connection::over(stream).await
    }

    /// Made when it is first needed: reading the machine's authorities takes longer than all else of a start.
    async fn tls(&self) -> &TlsConnector {
        let make = || async {
            let roots = match &self.trusted {
                Trusted::By(roots) => roots.clone(),
                Trusted::ByTheMachine => spawn_blocking(machine_roots)
                    .await
                    .unwrap_or_else(|_| RootCertStore::empty()),
            };
            connector(roots)
        };
        self.tls.get_or_init(make).await
    }
}

fn machine_roots() -> RootCertStore {
    let found = rustls_native_certs::load_native_certs();
    let mut roots = RootCertStore::empty();
    let (added, ignored) = roots.add_parsable_certificates(found.certs);
    if added == 0 {
        let causes = found
            .errors
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join("; ");
        tracing::error!(
            causes,
            "this machine trusts no authority, so that no https receiver can be reached; \
             install ca-certificates or set SSL_CERT_FILE"
        );
    }
    tracing::debug!(added, ignored, "authorities read");
    roots
}

fn connector(roots: RootCertStore) -> TlsConnector {
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("ring has what TLS 1.2 and 1.3 need")
        .with_root_certificates(roots)
        .with_no_client_auth();
    TlsConnector::from(Arc::new(config))
}

impl Connection {
    async fn over<T>(stream: T) -> Result<Self, Failure>
    where
        T: tokio::io::AsyncRead + tokio::io::AsyncWrite + Send + Unpin + 'static,
    {
        Self::handshake(TokioIo::new(stream)).await.map_err(unreachable)
    }

    async fn handshake<T: Read + Write + Send + Unpin + 'static>(io: T) -> hyper::Result<Self> {
        let (sender, connection) = http1::Builder::new()
            .max_buf_size(MOST_HEAD_BYTES)
            .handshake(io)
            .await?;
        let driver = tokio::spawn(async move {
            // Whoever sends hears of it as well.
            drop(connection.await);
        });
        Ok(Self {
            sender,
            _driver: AbortOnDropHandle::new(driver),
        })
    }

    async fn send(&mut self, receiver: &Receiver, body: &Bytes) -> hyper::Result<Response<Incoming>> {
        self.sender.ready().await?;
        self.sender.send_request(receiver.request(body.clone())).await
    }
}

fn judge(status: StatusCode, headers: &HeaderMap) -> Result<(), Failure> {
    let later = [
        StatusCode::REQUEST_TIMEOUT,
        StatusCode::TOO_EARLY,
        StatusCode::TOO_MANY_REQUESTS,
    ];
    if status.is_success() {
        Ok(())
    } else if status.is_server_error() || later.contains(&status) {
        let asked = headers
            .get(RETRY_AFTER)
            .and_then(|value| value.to_str().ok()?.parse().ok());
        Err(Failure::Status(status, asked.map(Duration::from_secs)))
    } else {
        Err(Failure::Refused(status))
    }
}

/// Reads what is left of an answer; says whether its connection can be used again.
async fn read_away(body: Incoming) -> bool {
    let read = Limited::new(body, MOST_BODY_BYTES).collect();
    matches!(timeout(BODY_PATIENCE, read).await, Ok(Ok(_)))
}

fn unreachable(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Failure {
    let error = error.into();
    let cause = error
        .source()
        .map(|cause| format!(": {cause}"))
        .unwrap_or_default();
    Failure::Unreachable(format!("{error}{cause}"))
}

impl Failure {
    pub(crate) fn attempt(&self) -> Attempt {
        match self {
            Self::Forbidden(_) => Attempt::Forbidden,
            Self::Refused(_) => Attempt::Refused,
            Self::Status(..) => Attempt::Failed,
            Self::TimedOut => Attempt::TimedOut,
            Self::Unreachable(_) => Attempt::Unreachable,
        }
    }

    /// Why no repetition would help, where none would.
    pub(crate) fn is_final(&self) -> Option<DeadLetter> {
        match self {
            Self::Forbidden(_) => Some(DeadLetter::Forbidden),
            Self::Refused(_) => Some(DeadLetter::Refused),
            Self::Status(..) | Self::TimedOut | Self::Unreachable(_) => None,
        }
    }

    /// The pause that the receiver asks for.
    pub(crate) fn asked_pause(&self) -> Option<Duration> {
        match self {
            Self::Status(_, asked) => *asked,
            _ => None,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Forbidden(text) => write!(f, "its address {text}"),
            Self::Refused(status) | Self::Status(status, _) => write!(f, "it answered {status}"),
            Self::TimedOut => f.write_str("it did not answer in time"),
            Self::Unreachable(cause) => write!(f, "it cannot be reached: {cause}"),
        }
    }
}
