//! A gateway on sockets of its own, and its clients over every binding.

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use gateway_domain::{Binding, Operation};
use gateway_server::Running;
use gateway_testkit::{agent::Scripted, ids::SequentialIds};
use serde_json::{Value, json};

use crate::{
    client::{Ask, Driver, Grpc, JsonRpc, Rest},
    ledger::Ledger,
    profile::Profile,
    raw::{Http, PATIENCE},
};

/// A running gateway. It stops at once when it is dropped.
pub struct Gateway {
    running: Running,
    agent: Arc<Scripted>,
    ledger: Arc<Ledger>,
    clients: Drivers,
    agents: Drivers,
    requests: AtomicU64,
}

/// One client of each binding.
struct Drivers(Vec<Arc<dyn Driver>>);

impl Gateway {
    /// Starts a gateway and waits until it listens.
    pub async fn start(profile: Profile) -> Self {
        let ledger = Ledger::new();
        let agent = Arc::new(Scripted::new(Arc::new(SequentialIds::default())));
        let assembly = profile.assemble(agent.clone(), ledger.clone());
        let running = assembly.start().await.expect("the gateway starts");
        let addresses = *running.addresses();
        Self {
            clients: Drivers::of(addresses.client.expect("a listener for clients")),
            agents: Drivers::of(addresses.agent.expect("a listener for agents")),
            running,
            agent,
            ledger,
            requests: AtomicU64::new(0),
        }
    }

    /// Starts the gateway that most tests want.
    pub async fn plain() -> Self {
        Self::start(Profile::plain()).await
    }

    /// A client's client of a binding.
    pub fn client(&self, binding: Binding) -> Arc<dyn Driver> {
        self.clients.of_binding(binding)
    }

    /// An agent's client of a binding.
    pub fn agent(&self, binding: Binding) -> Arc<dyn Driver> {
        self.agents.of_binding(binding)
    }

    /// Every binding's client, for what must be the same on each.
    pub fn clients(&self) -> impl Iterator<Item = Arc<dyn Driver>> {
        self.clients.0.iter().cloned()
    }

    /// Where clients call, over every binding.
    pub fn address(&self) -> SocketAddr {
        self.running.addresses().client.expect("a listener for clients")
    }

    /// Waits until caller A's task is in a state, and reads it.
    pub async fn task_in(&self, state: &str, task: &str) -> Value {
        let ask = Ask::new(Operation::GetTask, json!({ "id": task }));
        let client = self.client(Binding::JsonRpc);
        let waited = async {
            loop {
                let task = client.call(&ask).await.json();
                if task["status"]["state"] == state {
                    return task;
                }
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        let waited = tokio::time::timeout(PATIENCE, waited).await;
        waited.unwrap_or_else(|_| panic!("the task never got to {state}"))
    }

    /// Ends it in order.
    pub async fn drain(self) {
        self.running.drain().await;
    }

    /// HTTP as it is, to where clients call.
    pub fn http(&self) -> Http {
        Http::new(self.address())
    }

    /// The agent behind the gateway.
    pub fn scripted(&self) -> &Scripted {
        &self.agent
    }

    /// What happened inside.
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// An id that no other call of this gateway has.
    pub fn next_request_id(&self) -> String {
        format!("test-{}", self.requests.fetch_add(1, Ordering::Relaxed))
    }
}

impl Drivers {
    fn of(address: SocketAddr) -> Self {
        Self(vec![
            Arc::new(Grpc::new(address)),
            Arc::new(JsonRpc::new(Http::new(address))),
            Arc::new(Rest::new(Http::new(address))),
        ])
    }

    fn of_binding(&self, binding: Binding) -> Arc<dyn Driver> {
        let found = self.0.iter().find(|driver| driver.binding() == binding);
        found.expect("a client of every binding").clone()
    }
}
