//! One `redis-server` at a port of this machine, alone or as a part of something larger.

use std::{
    io::{BufRead, BufReader, Write},
    net::{TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use tempfile::TempDir;

/// Far beyond what anything takes that is waited for.
pub(super) const PATIENCE: Duration = Duration::from_secs(40);

/// Runs a program and ends it when its standard input closes: so no server outlives a test, however that ends.
const GUARD: &str =
    r#"trap '' INT TERM; "$@" > /dev/null 2>&1 & echo $!; read _; kill -9 $! 2> /dev/null; wait"#;

/// A running server at 127.0.0.1, without any persistence unless it is told otherwise.
pub struct Server {
    process: Option<Process>,
    port: u16,
    folder: TempDir,
    arguments: Vec<String>,
}

struct Process {
    shell: Child,
    /// Closing it ends the server.
    stdin: Option<ChildStdin>,
    id: u32,
}

impl Server {
    /// Starts one with arguments of its own, among them `{folder}` for a folder that lasts as long as the server and
    /// `{port}` for its port; when this returns, it answers.
    ///
    /// # Panics
    /// Where `redis-server` is not installed or does not come up.
    pub fn start(arguments: &[&str]) -> Self {
        let mut server = Self {
            process: None,
            port: 0,
            folder: tempfile::tempdir().unwrap(),
            arguments: arguments.iter().map(|argument| (*argument).to_owned()).collect(),
        };
        // Somebody else may take the port first.
        for _ in 0..20 {
            server.port = free_port();
            server.launch();
            if server.comes_up() {
                return server;
            }
            server.process = None;
        }
        panic!("redis-server does not start with {:?}", server.arguments);
    }

    /// Its port.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// A folder that lasts as long as the server.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Ends it as if the machine had lost power.
    pub fn kill(&mut self) {
        self.process = None;
    }

    /// Whether it was not ended.
    pub fn is_running(&self) -> bool {
        self.process.is_some()
    }

    /// Starts it again at the same place, with what it kept on its disk.
    ///
    /// # Panics
    /// Where it does not come up.
    pub fn restart(&mut self) {
        self.process = None;
        self.launch();
        assert!(self.comes_up(), "redis-server does not come up again");
    }

    /// Starts it again, as a replica of the server at a port.
    ///
    /// # Panics
    /// Where it does not come up.
    pub fn restart_as_replica_of(&mut self, port: &str) {
        let at = self
            .arguments
            .iter()
            .position(|argument| argument == "--replicaof");
        if let Some(at) = at {
            self.arguments.drain(at..at + 3);
        }
        self.arguments
            .extend(["--replicaof", "127.0.0.1", port].map(str::to_owned));
        self.restart();
    }

    /// Lets it hang: connections stay, nothing is answered.
    pub fn hang(&self) {
        self.signal("-STOP");
    }

    /// Lets it go on.
    pub fn go_on(&self) {
        self.signal("-CONT");
    }

    /// Says something in the protocol's inline form and returns the whole answer.
    ///
    /// # Panics
    /// Where it does not answer.
    pub fn say(&self, command: &str) -> String {
        self.try_say(command).unwrap()
    }

    /// The same, of a server that may be away.
    ///
    /// # Errors
    /// It is.
    pub fn try_say(&self, command: &str) -> std::io::Result<String> {
        let mut socket = TcpStream::connect(("127.0.0.1", self.port))?;
        socket.set_read_timeout(Some(Duration::from_secs(5)))?;
        socket.write_all(format!("{command}\r\n").as_bytes())?;
        let mut answer = String::new();
        read_answer(&mut BufReader::new(socket), &mut answer)?;
        Ok(answer)
    }

    fn signal(&self, signal: &str) {
        let id = self.process.as_ref().unwrap().id.to_string();
        assert!(
            Command::new("kill")
                .args([signal, &id])
                .status()
                .unwrap()
                .success()
        );
    }

    fn launch(&mut self) {
        let folder = self.folder.path().display().to_string();
        let port = self.port.to_string();
        let filled = self.arguments.iter();
        let filled = filled.map(|text| text.replace("{folder}", &folder).replace("{port}", &port));
        let mut shell = Command::new("sh")
            .args(["-c", GUARD, "guard"])
            .arg(program())
            .args(filled)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut first = String::new();
        BufReader::new(shell.stdout.take().unwrap())
            .read_line(&mut first)
            .unwrap();
        self.process = Some(Process {
            stdin: shell.stdin.take(),
            shell,
            id: first.trim().parse().unwrap(),
        });
    }

    /// Waits for it to answer or to end.
    fn comes_up(&self) -> bool {
        let id = self.process.as_ref().unwrap().id;
        let proc = PathBuf::from(format!("/proc/{id}/stat"));
        let begun = Instant::now();
        // One that has ended stays as a zombie of its shell.
        let runs = || std::fs::read_to_string(&proc).is_ok_and(|stat| !stat.contains(") Z "));
        while runs() && begun.elapsed() < PATIENCE {
            // With a password it refuses, which is an answer as well. One at our port may be somebody else's.
            if self.try_say("PING").is_ok_and(|answer| !answer.is_empty()) && runs() {
                return true;
            }
            pause();
        }
        false
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.stdin = None;
        drop(self.shell.wait());
    }
}

/// Reads one answer whole, with what stands in it.
fn read_answer(from: &mut impl BufRead, answer: &mut String) -> std::io::Result<()> {
    let mut line = String::new();
    if from.read_line(&mut line)? == 0 {
        return Err(std::io::ErrorKind::UnexpectedEof.into());
    }
    answer.push_str(&line);
    let size = line[1..].trim().parse().unwrap_or(-1_i64);
    match line.as_bytes()[0] {
        b'$' if size >= 0 => {
            let mut text = vec![0; usize::try_from(size).unwrap() + 2];
            from.read_exact(&mut text)?;
            answer.push_str(&String::from_utf8_lossy(&text));
        }
        b'*' => {
            for _ in 0..size {
                read_answer(from, answer)?;
            }
        }
        _ => {}
    }
    Ok(())
}

/// Waits until something is so.
pub(super) fn until(what: &str, is_so: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < PATIENCE, "{what}: not after {PATIENCE:?}");
        pause();
    }
}

fn pause() {
    #[allow(
        clippy::disallowed_methods,
        reason = "nothing else can go on without the servers"
    )]
    thread::sleep(Duration::from_millis(10));
}

pub(super) fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

/// The server's program: another release, or Valkey, may be named by the environment.
pub(super) fn program() -> String {
    std::env::var("REDIS_SERVER").unwrap_or_else(|_| "redis-server".to_owned())
}

/// What every server is started with, besides what is said of it.
pub(super) const PLAIN: [&str; 12] = [
    "--port",
    "{port}",
    "--bind",
    "127.0.0.1",
    "--save",
    "",
    "--appendonly",
    "no",
    "--dir",
    "{folder}",
    // Otherwise a replica that comes while nobody writes waits for others to come as well.
    "--repl-diskless-sync-delay",
    "0",
];
