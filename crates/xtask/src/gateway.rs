//! A gateway under test: the built binary, started with a file of settings and ended with this value.

use std::{
    fs::{self, File},
    net::{SocketAddr, TcpStream},
    path::Path,
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use crate::{Finding, process};

/// How the binary is made.
const BUILD: &[&str] = &[
    "cargo",
    "build",
    "--package",
    "gateway-server",
    "--bin",
    "a2a-gateway",
];

/// How long it may take to listen.
const PATIENCE: Duration = Duration::from_secs(20);

/// How a gateway is started.
pub(crate) struct Plan<'a> {
    /// What findings are about.
    pub(crate) name: &'a str,
    /// The settings, from the root.
    pub(crate) settings: &'a str,
    /// Settings of the environment, above those of the file.
    pub(crate) environment: &'a [(&'a str, &'a str)],
    /// Where it listens by its settings.
    pub(crate) address: SocketAddr,
}

/// A running gateway.
#[derive(Debug)]
pub(crate) struct Gateway {
    child: Child,
    address: SocketAddr,
}

/// Makes the binary.
pub(crate) fn build(root: &Path) -> Result<(), Finding> {
    process::run(root, BUILD)
}

impl Gateway {
    /// Starts it with its log in `out`, and waits until it listens.
    pub(crate) fn start(root: &Path, plan: &Plan<'_>, out: &Path) -> Result<Self, Finding> {
        let fault = |text: String| Finding::of(plan.name, text);
        let address = plan.address;
        if TcpStream::connect(address).is_ok() {
            return Err(fault(format!(
                "somebody listens at {address} already; end that first"
            )));
        }
        fs::create_dir_all(out).map_err(|error| fault(error.to_string()))?;
        let log = File::create(out.join("gateway.log")).map_err(|error| fault(error.to_string()))?;
        let child = Command::new(root.join("target/debug/a2a-gateway"))
            .args(["run", "--config"])
            .arg(root.join(plan.settings))
            .envs(plan.environment.iter().copied())
            .stdin(Stdio::null())
            .stderr(log)
            .spawn()
            .map_err(|error| fault(format!("the gateway cannot be started: {error}")))?;
        let mut gateway = Self { child, address };
        gateway.listen().map_err(fault)?;
        Ok(gateway)
    }

    /// Where it is called.
    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    #[allow(clippy::disallowed_methods, reason = "nothing else runs in this program")]
    fn listen(&mut self) -> Result<(), String> {
        let begun = Instant::now();
        while begun.elapsed() < PATIENCE {
            if let Ok(Some(status)) = self.child.try_wait() {
                return Err(format!("the gateway ended with {status}; gateway.log says why"));
            }
            if TcpStream::connect(self.address).is_ok() {
                return Ok(());
            }
            thread::sleep(Duration::from_millis(50));
        }
        let address = self.address;
        Err(format!(
            "the gateway does not listen at {address} after {PATIENCE:?}"
        ))
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        // It holds nothing that has to be kept; one that has ended by itself is not to be killed.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
