//! The processes of this test: the gateway as it is built, and the clients. None outlives the test.

use std::{
    io::{BufRead, BufReader, Read},
    path::Path,
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex, mpsc},
    thread,
    time::Duration,
};

/// How long a gateway may take to listen, and a client to be through. Both are long, for machines that are busy.
const START_LIMIT: Duration = Duration::from_secs(30);
const CLIENT_LIMIT: Duration = Duration::from_secs(240);

/// The settings of the gateway.
const SETTINGS: &str = "tests/sdk/gateway.toml";

/// What the gateway says when it listens: the address of the agent card.
const CARD_LINE: &str = "agent card";
const CARD_PATH: &str = "/.well-known/agent-card.json";

/// A running gateway. It is ended when this is dropped.
pub(crate) struct Gateway {
    child: Child,
    base: String,
    log: Arc<Mutex<String>>,
}

impl Gateway {
    /// Starts the binary that was built with this test, and waits until it listens.
    pub(crate) fn start(root: &Path) -> Self {
        let binary = std::env::current_exe().unwrap();
        let binary = binary.ancestors().nth(2).unwrap().join("a2a-gateway");
        assert!(
            binary.exists(),
            "{} is not there: build it with `cargo build --package gateway-server`",
            binary.display()
        );
        let mut command = Command::new(binary);
        let child = command
            .args(["run", "--config", SETTINGS])
            .current_dir(root)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn();
        let mut child = child.unwrap();
        let log = Arc::default();
        let base = follow(child.stderr.take().unwrap(), Arc::clone(&log)).recv_timeout(START_LIMIT);
        let base = base.unwrap_or_else(|_| {
            let _ = child.kill();
            panic!(
                "the gateway did not say where it listens:\n{}",
                log.lock().unwrap()
            )
        });
        Self { child, base, log }
    }

    /// The base URL, as a client is told it.
    pub(crate) fn base(&self) -> &str {
        &self.base
    }

    /// What the gateway logged.
    pub(crate) fn log(&self) -> String {
        self.log.lock().unwrap().clone()
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Keeps what is logged, and says the base URL once it is known. The thread ends with the process.
fn follow(errors: impl Read + Send + 'static, log: Arc<Mutex<String>>) -> mpsc::Receiver<String> {
    let (say, heard) = mpsc::sync_channel(1);
    thread::spawn(move || {
        for line in BufReader::new(errors).lines().map_while(Result::ok) {
            if let Some(address) = line.trim().strip_prefix(CARD_LINE) {
                let _ = say.try_send(address.trim().trim_end_matches(CARD_PATH).to_owned());
            }
            let mut log = log.lock().unwrap();
            log.push_str(&line);
            log.push('\n');
        }
    });
    heard
}

/// Runs a client to its end and hands back what it printed.
pub(crate) fn output(name: &str, command: &mut Command) -> String {
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut printed = child.stdout.take().unwrap();
    let (say, heard) = mpsc::sync_channel(1);
    // Ends with the client, which closes what is read here.
    thread::spawn(move || {
        let mut text = String::new();
        let read = printed.read_to_string(&mut text);
        let _ = say.send(read.map(|_| text));
    });
    let text = heard.recv_timeout(CLIENT_LIMIT).unwrap_or_else(|_| {
        let _ = child.kill();
        panic!("the {name} client did not end within {CLIENT_LIMIT:?}")
    });
    let (text, status) = (text.unwrap(), child.wait().unwrap());
    assert!(
        status.success(),
        "the {name} client ended with {status}, having printed:\n{text}"
    );
    text
}
