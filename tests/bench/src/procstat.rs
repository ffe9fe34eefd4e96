//! CPU time and memory of other processes, from the kernel (Linux only).
//!
//! CPU time comes from a process's CPU clock: to the nanosecond, its ended threads included.

use std::fs;

use nix::{sys::time::TimeValLike, time::ClockId, unistd::Pid};
use serde::Serialize;

/// Kernel clock ticks per second in `/proc/stat`; fixed at 100 on Linux for user space.
const TICKS_PER_SECOND: f64 = 100.0;

/// A process to watch, with the name to report it under.
#[derive(Debug, Clone)]
pub struct Watched {
    pub name: String,
    pub pid: u32,
}

impl std::str::FromStr for Watched {
    type Err = anyhow::Error;

    /// Parses `NAME=PID` or `PID`.
    fn from_str(text: &str) -> anyhow::Result<Self> {
        let (name, pid) = text.split_once('=').unwrap_or(("server", text));
        Ok(Watched {
            name: name.into(),
            pid: pid.parse()?,
        })
    }
}

/// User and system time of a process so far, in seconds; a process that has gone has none.
pub fn cpu_s(pid: u32) -> f64 {
    ClockId::pid_cpu_clock_id(Pid::from_raw(pid.cast_signed()))
        .and_then(ClockId::now)
        .map_or(0.0, |time| time.num_nanoseconds() as f64 / 1e9)
}

/// The same over several processes.
pub fn cpu_s_of(watched: &[Watched]) -> f64 {
    watched.iter().map(|process| cpu_s(process.pid)).sum()
}

/// Resident memory of a process in KiB: now, and at most so far.
pub fn memory_kib(pid: u32) -> (u64, u64) {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let field = |key: &str| {
        let mut lines = status.lines();
        lines.find_map(|line| line.strip_prefix(key)?.split_whitespace().next()?.parse().ok())
    };
    (field("VmRSS:").unwrap_or(0), field("VmHWM:").unwrap_or(0))
}

/// The one-minute load average, as a hint of how quiet the machine was.
pub fn loadavg() -> f64 {
    fs::read_to_string("/proc/loadavg")
        .ok()
        .and_then(|text| text.split_whitespace().next()?.parse().ok())
        .unwrap_or(-1.0)
}

/// CPU time of the whole machine so far, in seconds: all that is neither idle nor waiting for a disk.
fn machine_s() -> f64 {
    let text = fs::read_to_string("/proc/stat").unwrap_or_default();
    let ticks = text.lines().next().unwrap_or_default().split_whitespace().skip(1);
    // user, nice, system, idle, iowait, irq, softirq, steal; what follows is counted in user already.
    let busy = ticks
        .take(8)
        .enumerate()
        .filter(|(index, _)| !matches!(index, 3 | 4));
    busy.filter_map(|(_, ticks)| ticks.parse::<f64>().ok())
        .sum::<f64>()
        / TICKS_PER_SECOND
}

/// What one watched process used in a phase.
#[derive(Debug, Clone, Serialize)]
pub struct Usage {
    pub name: String,
    pub pid: u32,
    pub cpu_s: f64,
    /// Share of one core.
    pub cpu_util: f64,
    pub rss_kib: u64,
    pub peak_rss_kib: u64,
}

/// What a phase cost.
#[derive(Debug, Clone, Serialize)]
pub struct Cost {
    pub seconds: f64,
    /// CPU time of all watched processes.
    pub cpu_s: f64,
    pub server: Vec<Usage>,
    /// Share of one core that this program used itself.
    pub client_cpu_util: f64,
    /// Share of one core that everything else on the machine used; above a few hundredths, latency and throughput
    /// say little.
    pub others_cpu_util: f64,
    pub loadavg_1m: f64,
}

/// Reads a set of processes at the start of a phase and reports at its end.
pub struct Meter {
    began: std::time::Instant,
    start: Vec<(Watched, f64)>,
    own_cpu_s: f64,
    machine_s: f64,
    loadavg_1m: f64,
}

impl Meter {
    pub fn start(watched: &[Watched]) -> Self {
        Meter {
            began: std::time::Instant::now(),
            start: watched.iter().map(|w| (w.clone(), cpu_s(w.pid))).collect(),
            own_cpu_s: cpu_s(std::process::id()),
            machine_s: machine_s(),
            loadavg_1m: loadavg(),
        }
    }

    pub fn stop(self) -> Cost {
        let seconds = self.began.elapsed().as_secs_f64().max(1e-9);
        let server: Vec<_> = self
            .start
            .into_iter()
            .map(|(w, before)| usage(w, before, seconds))
            .collect();
        let cpu = server.iter().map(|usage| usage.cpu_s).sum();
        let own = cpu_s(std::process::id()) - self.own_cpu_s;
        Cost {
            seconds,
            cpu_s: cpu,
            server,
            client_cpu_util: own / seconds,
            others_cpu_util: ((machine_s() - self.machine_s - cpu - own) / seconds).max(0.0),
            loadavg_1m: self.loadavg_1m,
        }
    }
}

fn usage(watched: Watched, before: f64, seconds: f64) -> Usage {
    let used = (cpu_s(watched.pid) - before).max(0.0);
    let (rss_kib, peak_rss_kib) = memory_kib(watched.pid);
    Usage {
        name: watched.name,
        pid: watched.pid,
        cpu_s: used,
        cpu_util: used / seconds,
        rss_kib,
        peak_rss_kib,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_of_a_process_counts_what_it_computes() {
        let before = cpu_s(std::process::id());
        let sum = (0..5_000_000_u64).fold(0_u64, |sum, n| sum ^ std::hint::black_box(n));
        std::hint::black_box(sum);
        assert!(cpu_s(std::process::id()) > before);
    }

    #[test]
    fn a_process_that_is_not_there_used_nothing() {
        let nobody = [Watched {
            name: "nobody".into(),
            // Beyond the highest that a kernel gives.
            pid: (1 << 22) + 1,
        }];
        let cost = Meter::start(&nobody).stop();
        assert_eq!((cost.cpu_s, cost.server[0].rss_kib), (0.0, 0));
    }
}
