//! Where connections come from, and what their sockets are told.
//!
//! The bounds on dead peers: after `keep_alive` of silence a stream writes its comment and an HTTP/2 connection its
//! ping. The system gives the peer a little less than another `keep_alive` to acknowledge it, so that whatever a
//! dead peer holds is free within two. A living peer that merely doesn't read has `write_stall`, as long as that is
//! seen here, that is once the socket's buffer is full.

use std::{future::Future, io, time::Duration};

use socket2::{SockRef, TcpKeepalive};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, TcpStream},
};

use crate::Settings;

/// Hands out connections.
pub(super) trait Accept: Send + Sync {
    /// A connection.
    type Io: Wire;

    /// The next connection. Nothing is lost when this is dropped half-way.
    fn accept(&self) -> impl Future<Output = io::Result<Self::Io>> + Send;
}

/// A connection's bytes.
pub(super) trait Wire: AsyncRead + AsyncWrite + Unpin + Send + Sync + 'static {
    /// Tells the system how long what is written may remain unacknowledged; it ends the connection after that.
    fn give_up_after(&self, _unacknowledged: Duration) {}

    /// Waits for the peer's first bytes and looks at them without taking them; tells how many it saw, 0 where it
    /// cannot look.
    fn look(&self, _first: &mut [u8]) -> impl Future<Output = io::Result<usize>> + Send {
        std::future::ready(Ok(0))
    }
}

/// Accepts TCP connections.
pub(super) struct Tcp {
    listener: TcpListener,
    keep_alive: Duration,
}

impl Tcp {
    pub(super) fn new(listener: TcpListener, settings: &Settings) -> Self {
        Self {
            listener,
            keep_alive: settings.keep_alive,
        }
    }
}

impl Accept for Tcp {
    type Io = TcpStream;

    async fn accept(&self) -> io::Result<TcpStream> {
        let (socket, _) = self.listener.accept().await?;
        // A socket that takes an option badly still serves.
        if let Err(error) = tell(&socket, self.keep_alive) {
            tracing::debug!(%error, "a socket did not take its options");
        }
        Ok(socket)
    }
}

fn tell(socket: &TcpStream, keep_alive: Duration) -> io::Result<()> {
    socket.set_nodelay(true)?;
    let probes = TcpKeepalive::new()
        .with_time(keep_alive / 2)
        .with_interval(keep_alive / 3);
    SockRef::from(socket).set_tcp_keepalive(&probes)
}

impl Wire for TcpStream {
    async fn look(&self, first: &mut [u8]) -> io::Result<usize> {
        self.peek(first).await
    }

    #[cfg(target_os = "linux")]
    fn give_up_after(&self, unacknowledged: Duration) {
        if let Err(error) = SockRef::from(self).set_tcp_user_timeout(Some(unacknowledged)) {
            tracing::debug!(%error, "a socket did not take its time-out");
        }
    }
}
