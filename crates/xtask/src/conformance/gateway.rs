//! The gateway under test: started with the settings of a profile, and ended with this value.

use std::{
    fs::{self, File},
    net::{SocketAddr, TcpStream},
    path::Path,
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use super::Profile;
use crate::Finding;

/// How the binary is made.
pub(super) const BUILD: &[&str] = &[
    "cargo",
    "build",
    "--package",
    "gateway-server",
    "--bin",
    "a2a-gateway",
];

/// Where the profiles listen: away from the usual ports, so that a gateway that runs there is not tried by mistake.
const ADDRESS: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 18080);

/// How long it may take to listen.
const PATIENCE: Duration = Duration::from_secs(20);

/// A running gateway.
#[derive(Debug)]
pub(super) struct Gateway(Child);

impl Gateway {
    /// Starts it with its log in `out`, and waits until it listens.
    pub(super) fn start(root: &Path, profile: &Profile, out: &Path) -> Result<Self, Finding> {
        let fault = |text: String| Finding::of(profile.name, text);
        if TcpStream::connect(ADDRESS).is_ok() {
            return Err(fault(format!(
                "somebody listens at {ADDRESS} already; end that first"
            )));
        }
        fs::create_dir_all(out).map_err(|error| fault(error.to_string()))?;
        let log = File::create(out.join("gateway.log")).map_err(|error| fault(error.to_string()))?;
        let settings = root.join("deploy/conformance").join(profile.settings);
        let child = Command::new(root.join("target/debug/a2a-gateway"))
            .args(["run", "--config"])
            .arg(settings)
            .env("A2A_GATEWAY__WIRE__ERROR_TABLE", profile.error_table)
            .stdin(Stdio::null())
            .stderr(log)
            .spawn()
            .map_err(|error| fault(format!("the gateway cannot be started: {error}")))?;
        let mut gateway = Self(child);
        gateway.listen().map_err(fault)?;
        Ok(gateway)
    }

    /// Where it is called.
    pub(super) fn url(&self) -> String {
        format!("http://{ADDRESS}")
    }

    #[allow(clippy::disallowed_methods, reason = "nothing else runs in this program")]
    fn listen(&mut self) -> Result<(), String> {
        let begun = Instant::now();
        while begun.elapsed() < PATIENCE {
            if let Ok(Some(status)) = self.0.try_wait() {
                return Err(format!("the gateway ended with {status}; gateway.log says why"));
            }
            if TcpStream::connect(ADDRESS).is_ok() {
                return Ok(());
            }
            thread::sleep(Duration::from_millis(50));
        }
        Err(format!(
            "the gateway does not listen at {ADDRESS} after {PATIENCE:?}"
        ))
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        // It holds nothing that has to be kept; one that has ended by itself is not to be killed.
        drop(self.0.kill());
        drop(self.0.wait());
    }
}
