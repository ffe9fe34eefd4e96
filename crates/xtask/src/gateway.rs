//! A gateway under test: the built binary, started with a file of settings and ended with this value.

use std::{
    fs::{self, File},
    net::{SocketAddr, TcpStream},
    path::Path,
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use crate::{Finding, cluster::CLUSTER, process};

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
    /// The balancer in front of three replicas, in place of one gateway. gRPC may have the next port but one.
    pub(crate) behind: Option<&'a str>,
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

impl Plan<'_> {
    fn command(&self, root: &Path) -> Command {
        let settings = root.join(self.settings);
        let Some(balancer) = self.behind else {
            let mut command = Command::new(root.join("target/debug/a2a-gateway"));
            command.args(["run", "--config"]).arg(settings);
            return command;
        };
        let port = self.address.port();
        let mut command = Command::new(root.join("target/debug").join(CLUSTER));
        command
            .args(["--balancer", balancer, "--config"])
            .arg(settings)
            .args(["--http", &port.to_string(), "--grpc", &(port + 2).to_string()]);
        command
    }
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
        let mut command = plan.command(root);
        let child = command
            .envs(plan.environment.iter().copied())
            .stdin(Stdio::null())
            .stderr(log)
            .spawn()
            .map_err(|error| fault(format!("{command:?} cannot be started: {error}")))?;
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
        // In order, since a cluster has more to end than itself; one that has ended by itself is not to be told.
        if matches!(self.child.try_wait(), Ok(None)) {
            let id = self.child.id().to_string();
            drop(Command::new("kill").args(["-TERM", &id]).status());
        }
        drop(self.child.wait());
    }
}
