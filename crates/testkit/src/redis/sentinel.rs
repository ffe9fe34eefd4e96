//! A master with replicas, and Sentinels that put one of them in its place when it fails.

use super::server::{PLAIN, Server, until};

/// What the Sentinels call the master.
const NAME: &str = "gateway";
/// Sentinels; two must agree.
const SENTINELS: usize = 3;

/// A master, its replicas and three Sentinels. A master that does not answer for a second is replaced in about two
/// more.
pub struct SentinelDeployment {
    servers: Vec<Server>,
    sentinels: Vec<Server>,
}

impl SentinelDeployment {
    /// Starts them; when this returns, replicas have all and Sentinels know of them.
    ///
    /// # Panics
    /// Where `redis-server` is not installed or they do not find each other.
    pub fn start(replicas: usize) -> Self {
        let master = Server::start(&PLAIN);
        let port = master.port().to_string();
        let of_master = ["--replicaof", "127.0.0.1", &port];
        let mut servers = vec![master];
        servers.extend((0..replicas).map(|_| Server::start(&[&PLAIN[..], &of_master].concat())));
        let sentinels = (0..SENTINELS).map(|_| sentinel(&port)).collect();
        let deployment = Self { servers, sentinels };
        deployment.wait_until_whole();
        deployment
    }

    /// Where the Sentinels are, for clients.
    pub fn url(&self) -> String {
        let sentinels = self.sentinels.iter();
        let places: Vec<_> = sentinels
            .map(|sentinel| format!("127.0.0.1:{}", sentinel.port()))
            .collect();
        format!("redis://{}", places.join(","))
    }

    /// What the Sentinels call the master.
    pub fn name(&self) -> &'static str {
        NAME
    }

    /// Which server is the master now, as the Sentinels see it.
    ///
    /// # Panics
    /// Where they do not say.
    pub fn master(&self) -> usize {
        let port = self.master_port();
        self.servers
            .iter()
            .position(|server| server.port() == port)
            .unwrap()
    }

    /// A server by its number.
    ///
    /// # Panics
    /// Where there is none of that number.
    pub fn server(&mut self, number: usize) -> &mut Server {
        &mut self.servers[number]
    }

    /// Kills the master, waits until the Sentinels have put a replica in its place, and says who it was.
    ///
    /// # Panics
    /// Where they do not.
    pub fn kill_master(&mut self) -> usize {
        let was = self.master();
        self.servers[was].kill();
        self.wait_for_another(was);
        was
    }

    /// Parts the master from its only replica: what it does from now on, [`Self::kill_parted`] loses. Says who it is.
    ///
    /// # Panics
    /// Where there is more than one replica.
    pub fn part_master(&mut self) -> usize {
        let master = self.master();
        assert_eq!(self.servers.len(), 2, "a master and a replica");
        self.servers[1 - master].hang();
        // Otherwise what the replica has not read would still lie ready for it.
        self.servers[master].say("CLIENT KILL TYPE replica");
        master
    }

    /// Kills a master that was parted, and waits until its replica is in its place.
    ///
    /// # Panics
    /// Where the Sentinels do not see to it.
    pub fn kill_parted(&mut self, master: usize) {
        self.servers[master].kill();
        self.servers[1 - master].go_on();
        self.wait_for_another(master);
    }

    /// Waits until the master is another one than that.
    ///
    /// # Panics
    /// Where it does not come to that.
    pub fn wait_for_another(&self, was: usize) {
        let port = self.servers[was].port();
        until("another master", || {
            let now = self.master_port();
            let now = self
                .servers
                .iter()
                .find(|server| server.port() == now && now != port);
            now.is_some_and(|now| now.try_say("ROLE").is_ok_and(|role| role.contains("master")))
        });
    }

    /// Starts a server again, as a replica, and waits until it has all.
    ///
    /// # Panics
    /// Where it does not come up.
    pub fn bring_back(&mut self, number: usize) {
        let master = self.master_port().to_string();
        // Not left to the Sentinels, so that nobody sees an empty master meanwhile.
        self.servers[number].restart_as_replica_of(&master);
        self.wait_until_whole();
    }

    /// Waits until every server but the master is its replica and has all, and every Sentinel knows of them.
    ///
    /// # Panics
    /// Where it does not come to that.
    pub fn wait_until_whole(&self) {
        let replicas = self.servers.len() - 1;
        until("replicas have what the master has", || {
            let port = self.master_port();
            let others = self
                .servers
                .iter()
                .filter(|server| server.port() != port && server.is_running());
            others
                .map(|server| server.try_say("INFO replication").unwrap_or_default())
                .all(|told| told.contains("master_link_status:up"))
        });
        until("Sentinels know each other and the replicas", || {
            self.sentinels.iter().all(|sentinel| {
                let told = |what: &str| {
                    sentinel
                        .try_say(&format!("SENTINEL {what} {NAME}"))
                        .unwrap_or_default()
                };
                let known = told("REPLICAS");
                told("CKQUORUM").starts_with(&format!("+OK {SENTINELS} usable"))
                    && known.matches("master-link-status").count() == replicas
                    && known.matches("\r\nok\r\n").count() == replicas
                    && !known.contains("s_down")
            })
        });
    }

    fn master_port(&self) -> u16 {
        let mut ports = self.sentinels.iter().filter_map(|sentinel| {
            let told = sentinel
                .try_say(&format!("SENTINEL GET-MASTER-ADDR-BY-NAME {NAME}"))
                .ok()?;
            told.lines().last()?.trim().parse().ok()
        });
        ports.next().expect("a Sentinel says where the master is")
    }
}

fn sentinel(master: &str) -> Server {
    let file = tempfile::NamedTempFile::new().unwrap();
    let says = format!(
        "sentinel monitor {NAME} 127.0.0.1 {master} 2\nsentinel down-after-milliseconds {NAME} 1000\n\
         sentinel failover-timeout {NAME} 5000\n"
    );
    std::fs::write(file.path(), says).unwrap();
    let (_, path) = file.keep().unwrap();
    let path = path.display().to_string();
    let arguments = [
        &path,
        "--sentinel",
        "--port",
        "{port}",
        "--bind",
        "127.0.0.1",
        "--dir",
        "{folder}",
    ];
    Server::start(&arguments)
}
