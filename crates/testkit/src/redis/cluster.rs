//! A Redis Cluster of three masters with a replica each.

use super::server::{PLAIN, Server, free_port, until};

/// Masters, and as many replicas.
const MASTERS: usize = 3;
/// Slots of a cluster.
const SLOTS: usize = 16_384;

/// A cluster. A master that does not answer for a second is replaced by its replica in about another.
pub struct Cluster {
    servers: Vec<Server>,
}

impl Cluster {
    /// Starts it; when this returns, all slots are served and every replica has what its master has.
    ///
    /// # Panics
    /// Where `redis-server` is not installed or the servers do not find each other.
    pub fn start() -> Self {
        let servers: Vec<_> = (0..2 * MASTERS).map(|_| member()).collect();
        for (number, server) in servers[..MASTERS].iter().enumerate() {
            let (first, last) = (SLOTS * number / MASTERS, SLOTS * (number + 1) / MASTERS - 1);
            expect_ok(server, &format!("CLUSTER ADDSLOTSRANGE {first} {last}"));
            // Of equal numbers two members would have to settle first who keeps it.
            expect_ok(server, &format!("CLUSTER SET-CONFIG-EPOCH {}", number + 1));
        }
        let bus = bus_port(&servers[0]);
        for server in &servers[1..] {
            expect_ok(
                server,
                &format!("CLUSTER MEET 127.0.0.1 {} {bus}", servers[0].port()),
            );
        }
        let cluster = Self { servers };
        until("members know each other", || {
            let mut members = cluster.servers.iter();
            members.all(|server| {
                let nodes = server.say("CLUSTER NODES");
                nodes.matches(" connected").count() == 2 * MASTERS && !nodes.contains("handshake")
            })
        });
        for number in 0..MASTERS {
            let id = cluster.servers[number].say("CLUSTER MYID");
            let id = id.lines().nth(1).unwrap().to_owned();
            expect_ok(
                &cluster.servers[MASTERS + number],
                &format!("CLUSTER REPLICATE {id}"),
            );
        }
        cluster.wait_until_whole();
        cluster
    }

    /// Where its servers are, for clients.
    pub fn url(&self) -> String {
        let places: Vec<_> = self
            .servers
            .iter()
            .map(|server| format!("127.0.0.1:{}", server.port()))
            .collect();
        format!("redis://{}", places.join(","))
    }

    /// A server by its number.
    ///
    /// # Panics
    /// Where there is none of that number.
    pub fn server(&mut self, number: usize) -> &mut Server {
        &mut self.servers[number]
    }

    /// Which server is the master for a key, as the others see it.
    ///
    /// # Panics
    /// Where nobody is.
    pub fn master_of(&self, key: &str) -> usize {
        let running = self.servers.iter().find(|server| server.is_running()).unwrap();
        let slot: usize = running
            .say(&format!("CLUSTER KEYSLOT {key}"))
            .trim_start_matches(':')
            .trim()
            .parse()
            .unwrap();
        self.masters(running, slot).expect("the slot has a master")
    }

    /// Which server stands in for a master of the first hour.
    pub fn replica_of(&self, master: usize) -> usize {
        master + MASTERS
    }

    /// Kills the master for a key, waits until its replica has taken over, and says who it was.
    ///
    /// # Panics
    /// Where that does not happen.
    pub fn kill_master_of(&mut self, key: &str) -> usize {
        let was = self.master_of(key);
        let slot = self.servers[was].say(&format!("CLUSTER KEYSLOT {key}"));
        let slot: usize = slot.trim_start_matches(':').trim().parse().unwrap();
        self.servers[was].kill();
        until("the replica takes over", || {
            let mut running = self.servers.iter().filter(|server| server.is_running());
            running.all(|server| {
                self.masters(server, slot).is_some_and(|now| now != was)
                    && server.say("CLUSTER INFO").contains("cluster_state:ok")
            })
        });
        was
    }

    /// Starts a server again, and waits until it has all as a replica.
    ///
    /// # Panics
    /// Where it does not come up.
    pub fn bring_back(&mut self, number: usize) {
        self.servers[number].restart();
        self.wait_until_whole();
    }

    /// Waits until all slots are served and every replica has what its master has.
    ///
    /// # Panics
    /// Where it does not come to that.
    pub fn wait_until_whole(&self) {
        until("the cluster is whole", || {
            let running = self.servers.iter().filter(|server| server.is_running());
            let told: Vec<_> = running
                .map(|server| {
                    let ask = |what: &str| server.try_say(what).unwrap_or_default();
                    (ask("CLUSTER INFO"), ask("INFO replication"))
                })
                .collect();
            let masters = told
                .iter()
                .filter(|(_, role)| role.contains("role:master"))
                .count();
            masters == MASTERS
                && told.iter().all(|(state, role)| {
                    let follows = role.contains("role:master") && role.contains("connected_slaves:1")
                        || role.contains("master_link_status:up");
                    state.contains("cluster_state:ok") && follows
                })
        });
    }

    /// Which server has a slot, as one of them sees it.
    fn masters(&self, seen_by: &Server, slot: usize) -> Option<usize> {
        let nodes = seen_by.try_say("CLUSTER NODES").ok()?;
        let line = nodes.lines().find(|line| {
            let has = |range: &str| {
                let (first, last) = range.split_once('-').unwrap_or((range, range));
                first.parse().is_ok_and(|first: usize| first <= slot)
                    && last.parse().is_ok_and(|last: usize| slot <= last)
            };
            !line.contains("fail") && line.split_ascii_whitespace().skip(8).any(has)
        })?;
        let port: u16 = line.split(':').nth(1)?.split('@').next()?.parse().ok()?;
        self.servers.iter().position(|server| server.port() == port)
    }
}

fn member() -> Server {
    let bus = free_port().to_string();
    let of_cluster = [
        "--cluster-enabled",
        "yes",
        "--cluster-config-file",
        "nodes.conf",
        "--cluster-node-timeout",
        "1000",
        "--cluster-port",
        &bus,
    ];
    Server::start(&[&PLAIN[..], &of_cluster].concat())
}

fn bus_port(server: &Server) -> u16 {
    let told = server.say("CLUSTER NODES");
    let bus = told
        .split('@')
        .nth(1)
        .and_then(|rest| rest.split([' ', ',']).next());
    bus.and_then(|bus| bus.parse().ok())
        .expect("a member says where its bus is")
}

fn expect_ok(server: &Server, command: &str) {
    let answer = server.say(command);
    assert!(answer.starts_with("+OK"), "{command}: {answer}");
}
