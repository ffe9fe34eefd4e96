//! Turns the name of a receiver into addresses.

use std::{
    io,
    net::{SocketAddr, ToSocketAddrs},
    sync::Arc,
};

use async_trait::async_trait;
use tokio::{sync::Semaphore, task::spawn_blocking};

/// Lookups at once. Each takes a thread for as long as the system's resolver waits, also when nobody waits for it any
/// more, and names whose servers hang must not use up the threads that others need.
const MOST_LOOKUPS: usize = 128;

/// Looks up names. Which of the addresses may be connected to is not its affair.
#[async_trait]
pub trait Resolver: Send + Sync {
    /// The addresses of a name.
    ///
    /// # Errors
    /// The name is not known, or nobody answered.
    async fn resolve(&self, name: &str, port: u16) -> io::Result<Vec<SocketAddr>>;
}

/// Asks the system.
#[derive(Debug, Clone)]
pub struct SystemResolver {
    lookups: Arc<Semaphore>,
}

impl Default for SystemResolver {
    fn default() -> Self {
        Self {
            lookups: Arc::new(Semaphore::new(MOST_LOOKUPS)),
        }
    }
}

#[async_trait]
impl Resolver for SystemResolver {
    async fn resolve(&self, name: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
        let permit = self
            .lookups
            .clone()
            .acquire_owned()
            .await
            .map_err(io::Error::other)?;
        let name = name.to_owned();
        let looked_up = spawn_blocking(move || {
            let _until_the_system_answers = permit;
            (name, port).to_socket_addrs().map(Iterator::collect)
        });
        looked_up.await.map_err(io::Error::other)?
    }
}
