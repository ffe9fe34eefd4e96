//! One connection to one server: the socket, encryption, who we are. It is never made anew behind anybody's back:
//! where a server was may be another one, or the same one with less in it.

use std::{sync::Arc, time::Duration};

use gateway_domain::ports::StoreError;
use redis::{
    AsyncConnectionConfig, FromRedisValue, ProtocolVersion, RedisConnectionInfo, RedisResult, Value,
    aio::{AsyncPushSender, MultiplexedConnection},
};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpStream, UnixStream},
    task::JoinHandle,
    time::timeout,
};
use tokio_rustls::{TlsConnector, rustls::pki_types::ServerName};

use super::{PATIENCE, address::Address, gathering::Gathering};

/// How long a connection may take to come about.
pub(super) const CONNECTING: Duration = Duration::from_secs(1);

/// How connections are made.
pub(super) struct Dialer {
    pub(super) tls: Option<TlsConnector>,
    pub(super) login: RedisConnectionInfo,
}

/// A connection, and what drives it. It ends when this is dropped.
pub(super) struct Wire {
    pub(super) connection: MultiplexedConnection,
    driver: JoinHandle<()>,
}

impl Drop for Wire {
    fn drop(&mut self) {
        self.driver.abort();
    }
}

/// What a server says of itself to everybody, whatever its access lists allow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Hello {
    /// `standalone`, `sentinel` or `cluster`.
    pub(super) mode: String,
    /// Whether it takes writes.
    pub(super) is_master: bool,
}

impl Dialer {
    pub(super) fn new(
        tls: Option<TlsConnector>,
        user: Option<&str>,
        password: Option<&str>,
        database: i64,
    ) -> Self {
        // News come without being asked for in this protocol only.
        let mut login = RedisConnectionInfo::default()
            .set_protocol(ProtocolVersion::RESP3)
            .set_db(database);
        if let Some(user) = user {
            login = login.set_username(user);
        }
        if let Some(password) = password {
            login = login.set_password(password);
        }
        Self { tls, login }
    }

    /// Connects. `ended` runs when the connection does. What the server says unasked goes to `pushed`.
    pub(super) async fn dial(
        &self,
        address: &Address,
        pushed: Option<Arc<dyn AsyncPushSender>>,
        ended: impl FnOnce() + Send + 'static,
    ) -> Result<Wire, StoreError> {
        let dialed = timeout(CONNECTING, self.try_dial(address, pushed, ended)).await;
        let dialed = dialed.unwrap_or_else(|_| Err(format!("no connection within {CONNECTING:?}")));
        dialed.map_err(|error| StoreError::new(format_args!("Redis at {address}: {error}")))
    }

    async fn try_dial(
        &self,
        address: &Address,
        pushed: Option<Arc<dyn AsyncPushSender>>,
        ended: impl FnOnce() + Send + 'static,
    ) -> Result<Wire, String> {
        match address {
            Address::Unix(path) => {
                let socket = UnixStream::connect(path)
                    .await
                    .map_err(|error| error.to_string())?;
                self.greet(socket, pushed, ended).await
            }
            Address::Tcp(host, port) => {
                let socket = TcpStream::connect((host.as_str(), *port)).await;
                let socket = socket.map_err(|error| error.to_string())?;
                socket.set_nodelay(true).map_err(|error| error.to_string())?;
                let Some(tls) = &self.tls else {
                    return self.greet(socket, pushed, ended).await;
                };
                let name = ServerName::try_from(host.clone()).map_err(|error| error.to_string())?;
                let socket = tls.connect(name, socket).await;
                let socket = socket.map_err(|error| format!("TLS: {error}"))?;
                self.greet(socket, pushed, ended).await
            }
        }
    }

    async fn greet<S>(
        &self,
        socket: S,
        pushed: Option<Arc<dyn AsyncPushSender>>,
        ended: impl FnOnce() + Send + 'static,
    ) -> Result<Wire, String>
    where
        S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        let mut config = AsyncConnectionConfig::new().set_response_timeout(Some(PATIENCE));
        if let Some(pushed) = pushed {
            config = config.set_push_sender(pushed);
        }
        let socket = Gathering::new(socket);
        let made = MultiplexedConnection::new_with_config(&self.login, socket, config).await;
        let (connection, driver) = made.map_err(|error| error.to_string())?;
        let driver = tokio::spawn(async move {
            driver.await;
            ended();
        });
        Ok(Wire { connection, driver })
    }
}

/// Asks a server what it is.
pub(super) async fn hello(connection: &mut MultiplexedConnection) -> RedisResult<Hello> {
    let answer: Value = redis::cmd("HELLO").query_async(connection).await?;
    let fields: Vec<(Value, Value)> = match answer {
        Value::Map(fields) => fields,
        other => Vec::from_redis_value(other)?,
    };
    let field = |name: &str| {
        let named = |key: &Value| String::from_redis_value(key.clone()).is_ok_and(|key| key == name);
        let found = fields.iter().find(|(key, _)| named(key));
        found.and_then(|(_, value)| String::from_redis_value(value.clone()).ok())
    };
    Ok(Hello {
        mode: field("mode").unwrap_or_default(),
        is_master: field("role").is_none_or(|role| role == "master"),
    })
}
