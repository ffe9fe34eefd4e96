//! The program: reads its settings, starts, waits for a signal, drains. How a gateway is put together stands in the
//! library beside it.

mod cli;

use std::{io::Write, path::Path, process::ExitCode, time::SystemTime};

use clap::Parser;
use gateway_config::{Settings, typed::LogFormat};
use gateway_server::{Assembly, Running, announcement, settings};
use gateway_telemetry::logs::{self, Format};
use tokio::signal::unix::{Signal, SignalKind, signal};

use cli::{Cli, Command};

// Reading JSON and protobuf is mostly allocating: this allocator makes it half as long again as fast, and more.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The command line or the settings are wrong: the operator has to change them.
const USAGE: u8 = 2;
/// The gateway could not start, or was told to stop twice.
const FAILURE: u8 = 1;

fn main() -> ExitCode {
    refuse_huge_pages();
    let ended = match Cli::try_parse() {
        Ok(cli) => carry_out(cli.command),
        Err(usage) => {
            // Help and version are answers, not mistakes.
            let code = if usage.use_stderr() { USAGE } else { 0 };
            let _ = usage.print();
            return ExitCode::from(code);
        }
    };
    match ended {
        Ok(code) => code,
        Err(Stop(code, text)) => {
            say(&text);
            ExitCode::from(code)
        }
    }
}

/// The allocator asks for huge pages, and the kernel may clear or even gather one of them for many milliseconds, in the
/// middle of some call: small ones cost each call a little, and none of them much.
fn refuse_huge_pages() {
    // Where it isn't known to the kernel there are none either.
    #[cfg(target_os = "linux")]
    let _ = nix::sys::prctl::set_thp_disable(true);
}

/// Why the program ends early: its exit code, and what the operator reads.
struct Stop(u8, String);

fn carry_out(command: Command) -> Result<ExitCode, Stop> {
    match command {
        Command::Run { config } => run(config.as_deref()),
        Command::Check { config } => {
            load(config.as_deref())?;
            say("the settings are fine");
            Ok(ExitCode::SUCCESS)
        }
        Command::SampleConfig => print(gateway_config::sample()),
        Command::OpenApi => print(format!("{:#}\n", gateway_rest::openapi::document())),
    }
}

fn print(text: impl AsRef<[u8]>) -> Result<ExitCode, Stop> {
    let written = std::io::stdout().write_all(text.as_ref());
    written.map_err(|error| Stop(FAILURE, error.to_string()))?;
    Ok(ExitCode::SUCCESS)
}

fn load(config: Option<&Path>) -> Result<Settings, Stop> {
    settings::load(config).map_err(|faults| Stop(USAGE, faults.to_string()))
}

fn run(config: Option<&Path>) -> Result<ExitCode, Stop> {
    let settings = load(config)?;
    let format = match settings.logging.format {
        LogFormat::Text => Format::Text,
        LogFormat::Json => Format::Json,
    };
    let failed = |error: &dyn std::fmt::Display| Stop(FAILURE, error.to_string());
    logs::install(format, &settings.logging.level).map_err(|error| failed(&error))?;
    let runtime = tokio::runtime::Runtime::new().map_err(|error| failed(&error))?;
    let ended = runtime.block_on(async {
        let mut signals = Signals::new().map_err(|error| failed(&error))?;
        let mut assembly = Assembly::new(settings.clone());
        assembly.card_modified = assembly.card_modified.max(modified(config));
        let running = assembly.start().await.map_err(|error| failed(&error))?;
        announce(&settings, &running);
        signals.next().await;
        tracing::info!("draining; a second signal ends it at once");
        let drained = tokio::select! {
            () = running.drain() => true,
            () = signals.next() => false,
        };
        tracing::info!(drained, "ended");
        Ok(if drained {
            ExitCode::SUCCESS
        } else {
            ExitCode::from(FAILURE)
        })
    });
    // Whatever still runs was told to end and did not.
    runtime.shutdown_background();
    ended
}

/// When the settings were last changed.
fn modified(config: Option<&Path>) -> SystemTime {
    let of = |path: &Path| path.metadata().and_then(|file| file.modified()).ok();
    config.and_then(of).unwrap_or(SystemTime::UNIX_EPOCH)
}

/// Tells people in a block, and machines, who read line by line, in a line.
fn announce(settings: &Settings, running: &Running) {
    let text = announcement(settings, running.addresses());
    match settings.logging.format {
        LogFormat::Text => say(text.trim_end()),
        LogFormat::Json => tracing::info!(announcement = text, "listening"),
    }
}

/// To the operator.
fn say(text: &str) {
    // Whoever has closed standard error does not want to know.
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// The two ways in which the system asks to end.
struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    fn new() -> std::io::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
        })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}
