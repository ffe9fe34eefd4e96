//! A gateway on sockets of its own, and its clients over every binding. It may be several replicas behind a balancer.

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
    client::{Ask, Choice, Driver, Drivers},
    deployment::Place,
    ledger::Ledger,
    profile::Profile,
    raw::{Http, PATIENCE},
};

/// A running gateway. It stops at once when it is dropped.
pub struct Gateway {
    /// One, or several that are one.
    replicas: Vec<Replica>,
    ledger: Arc<Ledger>,
    clients: Drivers,
    agents: Drivers,
    requests: AtomicU64,
}

/// A process in all but name: it shares nothing with the others.
struct Replica {
    running: Running,
    agent: Arc<Scripted>,
}

impl Replica {
    async fn start(profile: Profile, ledger: &Arc<Ledger>, number: usize) -> Self {
        let agent = Arc::new(Scripted::new(Arc::new(SequentialIds::default())));
        let assembly = profile.assemble(agent.clone(), ledger.observer(number));
        let running = assembly.start().await.expect("the gateway starts");
        Self { running, agent }
    }

    fn client(&self) -> SocketAddr {
        self.running.addresses().client.expect("a listener for clients")
    }

    fn agent(&self) -> SocketAddr {
        self.running.addresses().agent.expect("a listener for agents")
    }
}

impl Gateway {
    /// Starts a gateway and waits until it listens.
    pub async fn start(profile: Profile) -> Self {
        let ledger = Ledger::new();
        let replica = Replica::start(profile, &ledger, 0).await;
        Self {
            clients: Drivers::of(replica.client()),
            agents: Drivers::of(replica.agent()),
            replicas: vec![replica],
            ledger,
            requests: AtomicU64::new(0),
        }
    }

    /// Starts a replica at each place. Clients go through `front`, which has to send each request to the next one;
    /// agents turn to one that was not just called. The profile has to name a store that replicas can share.
    pub async fn behind(front: Drivers, places: &[Place], profile: &Profile) -> Self {
        let ledger = Ledger::new();
        let mut replicas = Vec::new();
        for (number, place) in places.iter().enumerate() {
            replicas.push(Replica::start(profile.clone().at(place), &ledger, number).await);
        }
        let told = ledger.clone();
        let aside: Choice = Arc::new(move |count| told.aside(count));
        Self {
            clients: front,
            agents: Drivers::choosing(replicas.iter().map(Replica::agent), &aside),
            replicas,
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
        self.clients.all()
    }

    /// Where clients call the first replica, over every binding.
    pub fn address(&self) -> SocketAddr {
        self.replicas[0].client()
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
        for replica in self.replicas {
            replica.running.drain().await;
        }
    }

    /// HTTP as it is, to where clients call.
    pub fn http(&self) -> Http {
        Http::new(self.address())
    }

    /// The agent behind the first replica.
    pub fn scripted(&self) -> &Scripted {
        &self.replicas[0].agent
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
