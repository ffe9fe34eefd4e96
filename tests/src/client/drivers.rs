//! Clients by binding, and clients that choose among several replicas by themselves.

use std::{net::SocketAddr, sync::Arc};

use async_trait::async_trait;
use gateway_domain::Binding;

use super::{Answer, Ask, Driver, Grpc, JsonRpc, Rest};
use crate::raw::Http;

/// One client of each binding.
#[derive(Clone)]
pub struct Drivers(Vec<Arc<dyn Driver>>);

impl Drivers {
    /// Clients of a listener that serves every binding.
    pub fn of(address: SocketAddr) -> Self {
        Self::apart(address, address)
    }

    /// Clients where gRPC has a listener of its own.
    pub fn apart(http: SocketAddr, grpc: SocketAddr) -> Self {
        Self(vec![
            Arc::new(Grpc::new(grpc)),
            Arc::new(JsonRpc::new(Http::new(http))),
            Arc::new(Rest::new(Http::new(http))),
        ])
    }

    /// Each of them.
    pub fn all(&self) -> impl Iterator<Item = Arc<dyn Driver>> {
        self.0.iter().cloned()
    }

    /// The one of a binding.
    pub fn of_binding(&self, binding: Binding) -> Arc<dyn Driver> {
        let found = self.0.iter().find(|driver| driver.binding() == binding);
        found.expect("a client of every binding").clone()
    }
}

/// Which of so many replicas the next call goes to.
pub type Choice = Arc<dyn Fn(usize) -> usize + Send + Sync>;

/// Calls one of several listeners of a binding.
struct Choosing {
    drivers: Vec<Arc<dyn Driver>>,
    choice: Choice,
}

impl Drivers {
    /// Clients of every binding that choose among these listeners at each call.
    pub fn choosing(addresses: impl Iterator<Item = SocketAddr>, choice: &Choice) -> Self {
        let each: Vec<_> = addresses.map(Self::of).collect();
        let of_binding = |binding| -> Arc<dyn Driver> {
            Arc::new(Choosing {
                drivers: each.iter().map(|drivers| drivers.of_binding(binding)).collect(),
                choice: choice.clone(),
            })
        };
        Self(Binding::ALL.map(of_binding).into())
    }
}

#[async_trait]
impl Driver for Choosing {
    fn binding(&self) -> Binding {
        self.drivers[0].binding()
    }

    async fn call(&self, ask: &Ask) -> Answer {
        let chosen = (self.choice)(self.drivers.len());
        self.drivers[chosen].call(ask).await
    }
}
