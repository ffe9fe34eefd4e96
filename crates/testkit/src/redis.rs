//! A Redis of a test's own, at a socket in a folder of its own, that ends with the test; and whole deployments of it, at
//! ports of this machine.
//!
//! `redis-server` must be installed (7.0 or newer); a test that needs it fails without it.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that has no server fails by panicking"
)]

mod cluster;
mod sentinel;
mod server;

use std::{
    io::{Read, Write},
    os::unix::net::UnixStream,
    path::PathBuf,
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use tempfile::TempDir;

pub use self::{cluster::Cluster, sentinel::SentinelDeployment, server::Server};

/// Far beyond what a start takes.
const PATIENCE: Duration = Duration::from_secs(20);

/// A running `redis-server` without any persistence.
pub struct RedisServer {
    server: Child,
    folder: TempDir,
}

impl RedisServer {
    /// Starts one; when this returns, it answers.
    ///
    /// # Panics
    /// Where `redis-server` is not installed or does not come up.
    pub fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let server = launch(&folder);
        let mut this = Self { server, folder };
        this.wait_until_up();
        this
    }

    /// Where it is, for clients.
    pub fn url(&self) -> String {
        format!("redis+unix://{}", self.socket().display())
    }

    /// Ends it as if the machine had lost power; what it held is gone.
    ///
    /// # Panics
    /// Where it cannot be ended.
    pub fn kill(&mut self) {
        self.server.kill().unwrap();
        self.server.wait().unwrap();
    }

    /// Starts it again, empty, at the same place.
    ///
    /// # Panics
    /// As [`start`](Self::start).
    pub fn restart(&mut self) {
        self.kill();
        self.server = launch(&self.folder);
        self.wait_until_up();
    }

    /// Lets it hang: connections stay, nothing is answered.
    ///
    /// # Panics
    /// Where the signal cannot be sent.
    pub fn hang(&self) {
        self.signal("-STOP");
    }

    /// Lets it go on.
    ///
    /// # Panics
    /// Where the signal cannot be sent.
    pub fn go_on(&self) {
        self.signal("-CONT");
    }

    fn signal(&self, signal: &str) {
        let id = self.server.id().to_string();
        let sent = Command::new("kill").args([signal, &id]).status().unwrap();
        assert!(sent.success());
    }

    /// Says something in the protocol's inline form and returns the whole answer, which has to be a short one.
    ///
    /// # Panics
    /// Where it does not answer.
    pub fn say(&self, command: &str) -> String {
        self.try_say(command).unwrap()
    }

    fn try_say(&self, command: &str) -> std::io::Result<String> {
        let mut socket = UnixStream::connect(self.socket())?;
        socket.set_read_timeout(Some(PATIENCE))?;
        // What follows the answer ends the connection, so that it can be read to its end.
        socket.write_all(format!("{command}\r\nQUIT\r\n").as_bytes())?;
        let mut answer = String::new();
        socket.read_to_string(&mut answer)?;
        Ok(answer.strip_suffix("+OK\r\n").unwrap_or(&answer).to_owned())
    }

    fn wait_until_up(&mut self) {
        let begun = Instant::now();
        while !self
            .try_say("PING")
            .is_ok_and(|answer| answer.starts_with("+PONG"))
        {
            let ended = self.server.try_wait().unwrap();
            assert!(ended.is_none(), "redis-server ended by itself: {ended:?}");
            assert!(begun.elapsed() < PATIENCE, "redis-server does not come up");
            #[allow(
                clippy::disallowed_methods,
                reason = "nothing else can go on without the server"
            )]
            thread::sleep(Duration::from_millis(2));
        }
    }

    fn socket(&self) -> PathBuf {
        self.folder.path().join("socket")
    }
}

impl Drop for RedisServer {
    fn drop(&mut self) {
        // It may have been killed already.
        drop(self.server.kill());
        drop(self.server.wait());
    }
}

fn launch(folder: &TempDir) -> Child {
    let folder = folder.path();
    // No port: tests that run side by side cannot get in each other's way.
    Command::new(server::program())
        .args(["--port", "0", "--save", "", "--appendonly", "no", "--unixsocket"])
        .arg(folder.join("socket"))
        .arg("--dir")
        .arg(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("redis-server 7.0 or newer must be installed: apt-get install redis-server")
}
