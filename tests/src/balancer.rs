//! nginx and Envoy as processes, with the configurations of `deploy`, in which only the addresses are changed.
//!
//! `cargo xtask balancers` installs both; a test that needs them fails without.

use std::{
    fs,
    net::{Ipv4Addr, SocketAddr, TcpStream},
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use tempfile::TempDir;

use crate::{client::Drivers, deployment::Place, raw::PATIENCE};

/// Which balancer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// One port for HTTP, one for gRPC.
    Nginx,
    /// One port for both.
    Envoy,
}

/// A running balancer. It is killed when it is dropped.
pub struct Balancer {
    child: Child,
    /// What it was configured with, and its log.
    folder: TempDir,
    front: Front,
}

/// Where a balancer listens.
#[derive(Debug, Clone, Copy)]
pub struct Front {
    /// JSON-RPC and HTTP+JSON.
    pub http: SocketAddr,
    /// gRPC.
    pub grpc: SocketAddr,
}

impl Kind {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Nginx, Self::Envoy];

    /// As people call it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Nginx => "nginx",
            Self::Envoy => "envoy",
        }
    }

    /// Where it listens, given two ports.
    pub fn front(self, ports: [u16; 2]) -> Front {
        let at = |port| SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        match self {
            Self::Nginx => Front {
                http: at(ports[0]),
                grpc: at(ports[1]),
            },
            Self::Envoy => Front {
                http: at(ports[0]),
                grpc: at(ports[0]),
            },
        }
    }

    /// The example in `deploy`, for three replicas.
    fn example(self) -> &'static str {
        match self {
            Self::Nginx => include_str!("../../deploy/nginx.conf"),
            Self::Envoy => include_str!("../../deploy/envoy.yaml"),
        }
    }

    /// The example with these addresses in place of its own.
    fn configuration(self, front: Front, places: &[Place; 3]) -> String {
        let mut text = self.example().to_owned();
        match self {
            Self::Nginx => {
                exchange(
                    &mut text,
                    "listen 0.0.0.0:8080;",
                    &format!("listen {};", front.http),
                );
                exchange(
                    &mut text,
                    "listen 0.0.0.0:8082;",
                    &format!("listen {};", front.grpc),
                );
            }
            Self::Envoy => exchange(&mut text, "0.0.0.0, port_value: 8080", &pair(front.http)),
        }
        for (place, number) in places.iter().zip(1..) {
            match self {
                Self::Nginx => {
                    exchange(
                        &mut text,
                        &format!("server gateway-{number}:8080"),
                        &format!("server {}", place.client),
                    );
                }
                Self::Envoy => exchange(
                    &mut text,
                    &format!(
                        "gateway-{number}, port_value: 8080 }} }}, health_check_config: {{ port_value: 9090 }}"
                    ),
                    &format!(
                        "{} }} }}, health_check_config: {{ port_value: {} }}",
                        pair(place.client),
                        place.admin.port()
                    ),
                ),
            }
        }
        text
    }

    /// Its configuration's name; Envoy goes by the ending.
    fn file(self) -> &'static str {
        match self {
            Self::Nginx => "nginx.conf",
            Self::Envoy => "envoy.yaml",
        }
    }

    fn command(self, folder: &Path) -> Command {
        let file = folder.join(self.file());
        let mut command = Command::new(tool(self.name()));
        match self {
            // One process, which ends as one.
            Self::Nginx => command
                .arg("-c")
                .arg(file)
                .arg("-p")
                .arg(folder)
                .args(["-g", "daemon off; master_process off; pid nginx.pid;"]),
            Self::Envoy => command.arg("--config-path").arg(file).args([
                "--concurrency",
                "1",
                "--log-level",
                "warn",
                "--disable-hot-restart",
            ]),
        };
        command
    }
}

/// `127.0.0.1, port_value: 80`
fn pair(address: SocketAddr) -> String {
    format!("{}, port_value: {}", address.ip(), address.port())
}

/// Puts something in the place of a text.
fn exchange(text: &mut String, from: &str, to: &str) {
    assert!(text.contains(from), "{from:?} in the example");
    *text = text.replace(from, to);
}

/// Where `cargo xtask balancers` puts it.
fn tool(name: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let program = root.join(".tools/bin").join(name);
    assert!(
        program.exists(),
        "{} is not there: `cargo xtask balancers` installs it",
        program.display()
    );
    program
}

impl Balancer {
    /// Starts one in front of these replicas, and waits until it listens. The replicas need not be there yet.
    ///
    /// # Panics
    /// Where it does not come up.
    pub fn start(kind: Kind, front: Front, places: &[Place; 3]) -> Self {
        Self::start_with(kind, front, places, &[])
    }

    /// The same with texts of the example exchanged for others.
    ///
    /// # Panics
    /// Where it does not come up, or a text is not in the example.
    pub fn start_with(kind: Kind, front: Front, places: &[Place; 3], exchanged: &[(String, String)]) -> Self {
        for address in [front.http, front.grpc] {
            let taken = TcpStream::connect(address).is_ok();
            assert!(
                !taken,
                "somebody listens at {address} already; end that first, or choose another port"
            );
        }
        let folder = tempfile::tempdir().unwrap();
        let mut text = kind.configuration(front, places);
        for (from, to) in exchanged {
            exchange(&mut text, from, to);
        }
        fs::write(folder.path().join(kind.file()), text).unwrap();
        let log = fs::File::create(folder.path().join("log")).unwrap();
        let child = kind
            .command(folder.path())
            // Ctrl-C is for whoever started it.
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .spawn()
            .unwrap();
        let mut this = Self { child, folder, front };
        this.listen();
        this
    }

    /// Where it listens.
    pub fn front(&self) -> Front {
        self.front
    }

    /// Clients that go through it.
    pub fn clients(&self) -> Drivers {
        Drivers::apart(self.front.http, self.front.grpc)
    }

    /// What it said so far.
    pub fn said(&self) -> String {
        fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
    }

    #[allow(clippy::disallowed_methods, reason = "nothing can go on without it")]
    fn listen(&mut self) {
        let begun = Instant::now();
        let front = self.front;
        while ![front.http, front.grpc]
            .iter()
            .all(|address| TcpStream::connect(address).is_ok())
        {
            let ended = self.child.try_wait().unwrap();
            assert!(
                ended.is_none(),
                "the balancer ended by itself: {ended:?}\n{}",
                self.said()
            );
            assert!(
                begun.elapsed() < PATIENCE,
                "the balancer does not listen:\n{}",
                self.said()
            );
            thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for Balancer {
    fn drop(&mut self) {
        // It may have ended already.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

impl Front {
    /// The settings by which a card shows these addresses, as environment variables without their prefix.
    pub fn public_urls(&self) -> Vec<(String, String)> {
        let Self { http, grpc } = self;
        [
            ("JSONRPC", format!("http://{http}/rpc")),
            ("REST", format!("http://{http}")),
            ("GRPC", grpc.to_string()),
        ]
        .map(|(name, url)| (format!("PUBLIC_URLS__{name}"), url))
        .into()
    }
}

#[cfg(test)]
mod tests {
    use super::Kind;
    use crate::deployment;

    #[test]
    fn an_example_with_its_addresses_exchanged_holds_none_of_its_own() {
        let places = deployment::places();
        for kind in Kind::ALL {
            let text = kind.configuration(kind.front([1, 2]), &places);
            for left in [
                "0.0.0.0",
                "gateway-1",
                "gateway-2",
                "gateway-3",
                ":8080",
                "value: 9090",
            ] {
                assert!(!text.contains(left), "{left} in {text}");
            }
            for place in &places {
                assert!(text.contains(&place.client.port().to_string()), "{text}");
            }
        }
    }
}
