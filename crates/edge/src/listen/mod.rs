//! Accepting, serving and draining connections: HTTP/1 and HTTP/2 with prior knowledge on one port.
//!
//! Every task that is started here is owned here and has ended when [`serve`] returns. Encryption has its place
//! between accepting and serving: a connection is anything that can be read and written.

mod accept;
mod answer;
mod arrival;
mod connection;
mod guard;
mod streams;

use std::{convert::Infallible, io, sync::Arc, time::Duration};

use axum::body::Body;
use http::Request;
use tokio::{
    net::TcpListener,
    sync::{OwnedSemaphorePermit, Semaphore},
    time::timeout,
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tower::Service;

use crate::{Response, Settings};
use accept::{Accept, Tcp};
use connection::Connections;

/// Serves a listener until the token is cancelled. Then it closes the listener, lets what runs come to its end for as
/// long as `settings.drain`, ends the rest, and returns.
pub async fn serve<S>(listener: TcpListener, service: S, settings: Arc<Settings>, shutdown: CancellationToken)
where
    S: Service<Request<Body>, Response = Response, Error = Infallible> + Clone + Send + 'static,
    S::Future: Send + 'static,
{
    serve_on(Tcp::new(listener, &settings), service, settings, shutdown).await;
}

async fn serve_on<A, S>(acceptor: A, service: S, settings: Arc<Settings>, shutdown: CancellationToken)
where
    A: Accept,
    S: Service<Request<Body>, Response = Response, Error = Infallible> + Clone + Send + 'static,
    S::Future: Send + 'static,
{
    let tasks = TaskTracker::new();
    let end = CancellationToken::new();
    // Whoever drops this future drops everything that runs for it.
    let _end_with_me = end.clone().drop_guard();
    let connections = Arc::new(Connections::new(&settings, &tasks, &shutdown, &end));
    let mut slots = Slots::new(settings.connections);
    while let Some((io, slot)) = shutdown.run_until_cancelled(next(&acceptor, &mut slots)).await {
        // Boxed, since each future around it would otherwise hold its place twice: for good in memory, and in copies.
        let connection = Box::pin(connections.clone().run(io, service.clone()));
        let connection = end.clone().run_until_cancelled_owned(connection);
        tasks.spawn(async move {
            connection.await;
            drop(slot);
        });
    }
    // From here on the system refuses whoever connects, so that clients turn elsewhere.
    drop(acceptor);
    tasks.close();
    if timeout(settings.drain, tasks.wait()).await.is_err() {
        tracing::warn!(left = tasks.len(), "ending what did not end while draining");
        end.cancel();
        tasks.wait().await;
    }
}

/// After a failure to accept that is not the peer's, accepting rests so long, twice as long after each further one.
const REST: Duration = Duration::from_millis(10);

/// The longest rest.
const LONGEST_REST: Duration = Duration::from_secs(1);

/// The next connection, with its slot.
async fn next<A: Accept>(acceptor: &A, slots: &mut Slots) -> (A::Io, Slot) {
    let slot = slots.take().await;
    let mut rest = REST;
    loop {
        match acceptor.accept().await {
            Ok(io) => return (io, slot),
            Err(error) if is_the_peers(&error) => {
                tracing::debug!(%error, "a peer left before it was accepted");
            }
            Err(error) => {
                tracing::warn!(%error, ?rest, "cannot accept connections; trying again after a rest");
                tokio::time::sleep(rest).await;
                rest = LONGEST_REST.min(rest * 2);
            }
        }
    }
}

/// A connection's place; free again when this is dropped.
type Slot = Option<OwnedSemaphorePermit>;

/// The places for connections.
struct Slots {
    free: Arc<Semaphore>,
    were_taken: bool,
}

impl Slots {
    fn new(most: usize) -> Self {
        Self {
            free: Arc::new(Semaphore::new(most)),
            were_taken: false,
        }
    }

    /// A place. While there is none, clients wait in the system's queue; the log tells when that begins.
    async fn take(&mut self) -> Slot {
        if let Ok(slot) = self.free.clone().try_acquire_owned() {
            self.were_taken = false;
            return Some(slot);
        }
        if !std::mem::replace(&mut self.were_taken, true) {
            tracing::warn!("as many connections are open as may be; further ones wait");
        }
        // Nobody closes the semaphore.
        self.free.clone().acquire_owned().await.ok()
    }
}

fn is_the_peers(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset, Interrupted};
    matches!(
        error.kind(),
        ConnectionAborted | ConnectionRefused | ConnectionReset | Interrupted
    )
}

#[cfg(test)]
mod tests;
