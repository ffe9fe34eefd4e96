//! Three replicas of the program, a Redis and a balancer, each a process: what `make cluster` starts and what the tests
//! of replicas call.

use std::{sync::Arc, time::Duration};

use gateway_testkit::redis::RedisServer;

use crate::{
    balancer::{Balancer, Front, Kind},
    client::{Choice, Drivers},
    deployment::{Place, free_ports, places},
    process::Process,
    raw::Http,
};

/// How a cluster is set up.
#[derive(Debug, Clone)]
pub struct Plan {
    kind: Kind,
    front: Front,
    config: Option<String>,
    variables: Vec<(String, String)>,
    /// Of single replicas.
    own: [Vec<(String, String)>; 3],
    redis: Option<String>,
    /// Lines of the balancer's example, and what stands in their place.
    exchanged: Vec<(String, String)>,
}

/// A running cluster. It is killed when it is dropped, the replicas first.
pub struct Cluster {
    replicas: [Option<Process>; 3],
    plan: Plan,
    places: [Place; 3],
    balancer: Balancer,
    redis: Option<RedisServer>,
}

impl Plan {
    /// A cluster behind a balancer, at free ports and without further settings.
    pub fn behind(kind: Kind) -> Self {
        Self {
            kind,
            front: kind.front(free_ports()),
            config: None,
            variables: Vec::new(),
            own: [const { Vec::new() }; 3],
            redis: None,
            exchanged: Vec::new(),
        }
    }

    /// The same with the balancer at these ports; Envoy needs the first one only.
    #[must_use]
    pub fn at(mut self, ports: [u16; 2]) -> Self {
        self.front = self.kind.front(ports);
        self
    }

    /// The same with a file of settings.
    #[must_use]
    pub fn configured(mut self, file: &str) -> Self {
        self.config = Some(file.to_owned());
        self
    }

    /// The same with a setting of the environment, without its prefix.
    #[must_use]
    pub fn set(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    /// The same with a setting for one replica alone.
    #[must_use]
    pub fn set_of(mut self, replica: usize, name: &str, value: &str) -> Self {
        self.own[replica].push((name.to_owned(), value.to_owned()));
        self
    }

    /// The same with another text in the balancer's configuration in place of one of its example's.
    #[must_use]
    pub fn exchange(mut self, from: &str, to: &str) -> Self {
        self.exchanged.push((from.to_owned(), to.to_owned()));
        self
    }

    /// The same with its tasks in a Redis that is there already; how it is reached has to be set.
    #[must_use]
    pub fn on(mut self, url: &str) -> Self {
        self.redis = Some(url.to_owned());
        self
    }
}

impl Cluster {
    /// Starts everything, and waits until it listens.
    pub fn start(plan: Plan) -> Self {
        let places = places();
        let redis = plan.redis.is_none().then(RedisServer::start);
        let balancer = Balancer::start_with(plan.kind, plan.front, &places, &plan.exchanged);
        let mut this = Self {
            replicas: [const { None }; 3],
            plan,
            places,
            balancer,
            redis,
        };
        for number in 0..this.places.len() {
            this.restart(number);
        }
        this
    }

    /// Where the balancer listens.
    pub fn front(&self) -> Front {
        self.balancer.front()
    }

    /// Where each replica listens.
    pub fn places(&self) -> &[Place; 3] {
        &self.places
    }

    /// Clients, through the balancer.
    pub fn clients(&self) -> Drivers {
        self.balancer.clients()
    }

    /// Agents, each call at any replica.
    pub fn agents(&self) -> Drivers {
        let any: Choice = Arc::new(|count| fastrand::usize(..count));
        Drivers::choosing(self.places.iter().map(|place| place.agent), &any)
    }

    /// Starts a replica, in the place of the one that was there.
    pub fn restart(&mut self, number: usize) {
        self.kill(number);
        let config = self.plan.config.iter();
        let arguments = [
            vec!["run"],
            config.flat_map(|file| ["--config", &**file]).collect(),
        ]
        .concat();
        let variables = self.variables(number);
        let variables: Vec<_> = variables
            .iter()
            .map(|(name, value)| (&**name, &**value))
            .collect();
        self.replicas[number] = Some(Process::start_with(&arguments, &variables));
    }

    /// Ends a replica as if its machine had lost power.
    pub fn kill(&mut self, number: usize) {
        self.replicas[number] = None;
    }

    /// Where to send requests, and where to look.
    pub fn announcement(&self) -> String {
        let Front { http, grpc } = self.front();
        let mut text = format!(
            "three replicas behind {}\n  HTTP+JSON   http://{http}\n  JSON-RPC    http://{http}/rpc\n  gRPC        {grpc}\n",
            self.plan.kind.name()
        );
        for (number, place) in (1..).zip(&self.places) {
            let Place { client, agent, admin } = place;
            text += &format!(
                "  replica {number}   clients {client}, agents {agent}, operators http://{admin}/metrics\n"
            );
        }
        text += &format!("  Redis       {}\n", self.redis());
        text += "Ctrl-C ends all of it";
        text
    }

    /// What the replicas and the balancer said so far.
    pub fn said(&self) -> String {
        let replicas = self.replicas.iter().flatten().map(Process::said);
        replicas.chain([self.balancer.said()]).collect()
    }

    /// How many calls each replica has answered, as its metrics say.
    pub async fn answered(&self) -> [u64; 3] {
        let mut answered = [0; 3];
        for (place, count) in self.places.iter().zip(&mut answered) {
            let metrics = Http::new(place.admin).get("/metrics").await;
            let text = String::from_utf8_lossy(&metrics.body);
            let calls = text
                .lines()
                .filter(|line| line.starts_with("a2a_gateway_calls_total{"));
            *count = calls
                .filter_map(|line| line.rsplit(' ').next()?.parse::<u64>().ok())
                .sum();
        }
        answered
    }

    /// Ends the replicas in order, then the rest.
    pub async fn drain(mut self, patience: Duration) {
        self.replicas
            .iter()
            .flatten()
            .for_each(|replica| replica.signal("TERM"));
        let ended = async {
            for replica in self.replicas.iter_mut().flatten() {
                replica.ended().await;
            }
        };
        // Who does not end in time is killed.
        drop(tokio::time::timeout(patience, ended).await);
    }

    /// Where the tasks are.
    fn redis(&self) -> String {
        let own = self.redis.as_ref().map(RedisServer::url);
        own.or_else(|| self.plan.redis.clone()).unwrap_or_default()
    }

    fn variables(&self, number: usize) -> Vec<(String, String)> {
        let place = self.places[number];
        let mut variables = self.front().public_urls();
        for (name, value) in [
            ("LISTENERS__CLIENT__ADDRESS", place.client.to_string()),
            ("LISTENERS__AGENT__ADDRESS", place.agent.to_string()),
            ("LISTENERS__ADMIN__ADDRESS", place.admin.to_string()),
            ("STORE__KIND", "redis".to_owned()),
            ("STORE__REDIS__URL", self.redis()),
        ] {
            variables.push((name.to_owned(), value));
        }
        variables.extend(self.plan.variables.iter().cloned());
        variables.extend(self.plan.own[number].iter().cloned());
        variables
    }
}
