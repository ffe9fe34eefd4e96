//! The program itself as a process: built, started on free ports, told to stop.

use std::{
    env, fs,
    io::{BufRead, BufReader, Read},
    net::SocketAddr,
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Output, Stdio},
    sync::{Arc, Mutex, OnceLock, mpsc},
    thread,
    time::Instant,
};

use crate::raw::PATIENCE;

/// A running program. It is killed when it is dropped.
pub struct Process {
    child: Child,
    /// Where clients call.
    pub client: SocketAddr,
    /// Where operators look.
    pub admin: SocketAddr,
    said: Arc<Mutex<String>>,
}

/// The program as its sources stand. This crate cannot depend on a program, so it is built here where nobody has.
pub fn program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        // …/target/PROFILE/deps/TEST, or …/target/PROFILE/PROGRAM of this crate's own
        let own = env::current_exe().expect("a program has a path");
        let folder = own.parent().expect("a program stands in a folder");
        let folder = if folder.ends_with("deps") {
            folder.parent().expect("a build folder")
        } else {
            folder
        };
        let program = folder.join("a2a-gateway");
        if !is_fresh(&program) {
            build(folder.ends_with("release"));
        }
        program
    })
}

/// Whether a program is newer than each of its sources, which cargo lists beside it.
fn is_fresh(program: &Path) -> bool {
    let modified = |path: &Path| path.metadata().and_then(|file| file.modified()).ok();
    let (Some(built), Ok(listed)) = (modified(program), fs::read_to_string(program.with_extension("d")))
    else {
        return false;
    };
    // "PROGRAM: SOURCE SOURCE …"; a path with spaces counts as changed.
    let sources = listed.split_once(": ").map_or("", |(_, sources)| sources);
    sources
        .split_whitespace()
        .all(|source| modified(Path::new(source)).is_some_and(|changed| changed <= built))
}

fn build(release: bool) {
    let mut build = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    build.args([
        "build",
        "--quiet",
        "--package",
        "gateway-server",
        "--bin",
        "a2a-gateway",
    ]);
    if release {
        build.arg("--release");
    }
    assert!(
        build.status().expect("cargo runs").success(),
        "the program does not build"
    );
}

/// Runs the program to its end.
pub fn output(arguments: &[&str], variables: &[(&str, &str)]) -> Output {
    command(arguments, variables).output().expect("the program runs")
}

fn command(arguments: &[&str], variables: &[(&str, &str)]) -> Command {
    let mut command = Command::new(program());
    command.args(arguments).stdin(Stdio::null());
    for (name, value) in variables {
        command.env(format!("A2A_GATEWAY__{name}"), value);
    }
    command
}

impl Process {
    /// Starts the program on ports that the system chooses, and waits until it says where it listens.
    pub fn start(variables: &[(&str, &str)]) -> Self {
        Self::start_with(&["run"], variables)
    }

    /// The same with arguments of one's own.
    pub fn start_with(arguments: &[&str], variables: &[(&str, &str)]) -> Self {
        let usual = [
            ("LISTENERS__CLIENT__ADDRESS", "127.0.0.1:0"),
            ("LISTENERS__AGENT__ADDRESS", "127.0.0.1:0"),
            ("LISTENERS__ADMIN__ADDRESS", "127.0.0.1:0"),
            ("CONNECTIONS__DRAIN", "5 s"),
        ];
        let variables: Vec<_> = usual.into_iter().chain(variables.iter().copied()).collect();
        let mut command = command(arguments, &variables);
        let mut child = command
            // Ctrl-C is for whoever started it.
            .process_group(0)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let said = Arc::new(Mutex::new(String::new()));
        // More lines than are said at the start; later ones are nobody's.
        let (tell, told) = mpsc::sync_channel(64);
        let streams: [Box<dyn Read + Send>; 2] = [
            Box::new(child.stdout.take().expect("piped")),
            Box::new(child.stderr.take().expect("piped")),
        ];
        for stream in streams {
            let (said, tell) = (said.clone(), tell.clone());
            // Ends with the program.
            thread::spawn(move || listen(stream, &said, &tell));
        }
        let at = |name: &str| loop {
            let line: String = told
                .recv_timeout(PATIENCE)
                .expect("the program says where it listens");
            if let Some(address) = address(&line, name) {
                return address;
            }
        };
        let client = at("HTTP+JSON");
        let admin = at("operators");
        Self {
            child,
            client,
            admin,
            said,
        }
    }

    /// Everything that it said so far.
    pub fn said(&self) -> String {
        self.said.lock().unwrap().clone()
    }

    /// Its number in the system.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Sends a signal by its name, such as `TERM`.
    pub fn signal(&self, name: &str) {
        let id = self.child.id().to_string();
        let sent = Command::new("kill")
            .args([&format!("-{name}"), &id])
            .status()
            .expect("kill runs");
        assert!(sent.success());
    }

    /// Waits for its end.
    pub async fn ended(&mut self) -> ExitStatus {
        let began = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().expect("a child can be waited for") {
                return status;
            }
            assert!(
                began.elapsed() < PATIENCE,
                "the program does not end: {}",
                self.said()
            );
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn listen(stream: impl Read, said: &Mutex<String>, tell: &mpsc::SyncSender<String>) {
    for line in BufReader::new(stream).lines().map_while(Result::ok) {
        said.lock().unwrap().push_str(&format!("{line}\n"));
        // Nobody listens any more once the addresses are known.
        let _ = tell.try_send(line);
    }
}

/// The address on a line of that name.
fn address(line: &str, name: &str) -> Option<SocketAddr> {
    let rest = line.trim_start().strip_prefix(name)?.trim_start();
    let host = rest.trim_start_matches("http://").split(['/', ',']).next()?;
    host.parse().ok()
}
