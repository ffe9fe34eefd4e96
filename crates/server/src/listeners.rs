//! Sockets: all are bound before anything is served, so that a port that is taken stops the start.

use std::{fmt, io, net::SocketAddr};

use gateway_config::Listeners;
use gateway_domain::Binding;
use tokio::net::TcpListener;

/// Where the gateway really listens.
#[derive(Debug, Clone, Copy, Default)]
pub struct Addresses {
    /// Clients, on every binding that has no listener of its own.
    pub client: Option<SocketAddr>,
    /// Clients, gRPC only.
    pub grpc: Option<SocketAddr>,
    /// Clients, JSON-RPC only.
    pub jsonrpc: Option<SocketAddr>,
    /// Clients, HTTP+JSON only.
    pub rest: Option<SocketAddr>,
    /// Agents.
    pub agent: Option<SocketAddr>,
    /// Operators.
    pub admin: Option<SocketAddr>,
}

impl Addresses {
    /// Where clients reach a binding, if it is served.
    pub fn serving(&self, binding: Binding) -> Option<SocketAddr> {
        let own = match binding {
            Binding::Grpc => self.grpc,
            Binding::JsonRpc => self.jsonrpc,
            Binding::HttpJson => self.rest,
        };
        own.or(self.client)
    }
}

/// The gateway could not start.
#[derive(Debug)]
pub enum StartError {
    /// A listener got no socket.
    Listen {
        /// The path of its setting.
        setting: &'static str,
        /// Where it was to listen.
        address: SocketAddr,
        /// What the system says.
        source: io::Error,
    },
    /// A part could not be made; the text says which and why.
    Part(String),
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Listen {
                setting,
                address,
                source,
            } => {
                write!(f, "cannot listen on {address} ({setting}): {source}")?;
                if source.kind() == io::ErrorKind::AddrInUse {
                    f.write_str("; stop what listens there, or set another address")?;
                }
                Ok(())
            }
            Self::Part(text) => f.write_str(text),
        }
    }
}

impl std::error::Error for StartError {}

/// Sockets that are bound.
pub(crate) struct Sockets {
    pub(crate) client: Option<TcpListener>,
    pub(crate) grpc: Option<TcpListener>,
    pub(crate) jsonrpc: Option<TcpListener>,
    pub(crate) rest: Option<TcpListener>,
    pub(crate) agent: Option<TcpListener>,
    pub(crate) admin: Option<TcpListener>,
}

impl Sockets {
    pub(crate) async fn bind(listeners: &Listeners) -> Result<Self, StartError> {
        let of = |listener: &Option<gateway_config::ClientListener>| {
            listener.as_ref().map(|listener| listener.address)
        };
        Ok(Self {
            client: bind("listeners.client.address", of(&listeners.client)).await?,
            grpc: bind("listeners.grpc.address", of(&listeners.grpc)).await?,
            jsonrpc: bind("listeners.jsonrpc.address", of(&listeners.jsonrpc)).await?,
            rest: bind("listeners.rest.address", of(&listeners.rest)).await?,
            agent: bind("listeners.agent.address", listeners.agent).await?,
            admin: bind("listeners.admin.address", listeners.admin).await?,
        })
    }

    /// Where they are, ports that the system chose included.
    pub(crate) fn addresses(&self) -> Addresses {
        let at = |socket: &Option<TcpListener>| socket.as_ref().and_then(|socket| socket.local_addr().ok());
        Addresses {
            client: at(&self.client),
            grpc: at(&self.grpc),
            jsonrpc: at(&self.jsonrpc),
            rest: at(&self.rest),
            agent: at(&self.agent),
            admin: at(&self.admin),
        }
    }
}

async fn bind(setting: &'static str, address: Option<SocketAddr>) -> Result<Option<TcpListener>, StartError> {
    let Some(address) = address else {
        return Ok(None);
    };
    let bound = TcpListener::bind(address).await;
    bound.map(Some).map_err(|source| StartError::Listen {
        setting,
        address,
        source,
    })
}
