//! Starting and ending the servers of a suite.

use std::{
    collections::BTreeMap,
    path::Path,
    process::Stdio,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};
use tokio::{
    net::TcpStream,
    process::{Child, Command},
    time::sleep,
};

use super::config::TargetConfig;
use crate::{
    client::{Binding, Client, Target},
    load::Stored,
    procstat::{Watched, cpu_s, memory_kib},
};

/// The processes of one running target; they end when this is dropped.
pub struct Running {
    children: Vec<Child>,
    pub watched: Vec<Watched>,
    /// How the start went.
    pub startup: Value,
    /// What the steps so far have stored.
    pub stored: Stored,
}

impl Running {
    /// Starts a target and waits for its first answer on every binding.
    pub async fn start(config: &TargetConfig, logs: &Path) -> Result<Self> {
        let (mut children, mut watched) = (Vec::new(), Vec::new());
        let log = logs.join(format!("{}.log", config.name));
        for helper in &config.helpers {
            let cpus = if helper.cpus.is_empty() {
                &config.cpus
            } else {
                &helper.cpus
            };
            let child = spawn(&helper.command, &BTreeMap::new(), cpus, &log)?;
            watched.push(watch(&helper.name, &child));
            children.push(child);
            wait_port(&expand(&helper.ready)?, config.ready_seconds).await?;
        }
        let targets = free_targets(config).await?;
        let began = Instant::now();
        let child = spawn(&config.command, &config.env, &config.cpus, &log)?;
        let pid = child.id().unwrap_or(0);
        watched.insert(0, watch("server", &child));
        children.insert(0, child);
        for target in &targets {
            let opened = wait_port(&target.addr.to_string(), config.ready_seconds).await;
            opened.with_context(|| format!("see {}", log.display()))?;
        }
        let listen_ms = began.elapsed().as_secs_f64() * 1e3;
        let rss_kib_listening = memory_kib(pid).0;
        let mut first_reply_ms = serde_json::Map::new();
        for target in &targets {
            first_reply(config, target).await?;
            let name = serde_json::to_value(target.binding)?
                .as_str()
                .unwrap_or_default()
                .to_owned();
            first_reply_ms.insert(name, json!(began.elapsed().as_secs_f64() * 1e3));
        }
        let startup = json!({
            "listen_ms": listen_ms,
            "first_reply_ms": first_reply_ms,
            "cpu_s": cpu_s(pid),
            "rss_kib_listening": rss_kib_listening,
            "rss_kib_after_first_replies": memory_kib(pid).0,
        });
        Ok(Running {
            children,
            watched,
            startup,
            stored: Stored::default(),
        })
    }

    /// Ends the processes: politely, then by force.
    pub async fn stop(mut self) {
        for child in &mut self.children {
            if let Some(pid) = child.id() {
                let pid = nix::unistd::Pid::from_raw(pid.cast_signed());
                let _ = nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGTERM);
            }
            if tokio::time::timeout(Duration::from_secs(2), child.wait())
                .await
                .is_err()
            {
                let _ = child.kill().await;
            }
        }
    }
}

/// Where and how to reach one binding of a target.
pub fn target(config: &TargetConfig, binding: Binding) -> Result<Target> {
    let url = match binding {
        Binding::Jsonrpc => &config.jsonrpc,
        Binding::Rest => &config.rest,
        Binding::Grpc => &config.grpc,
    };
    target_at(
        config,
        binding,
        url.as_deref().context("the target lacks this binding")?,
    )
}

/// The same at another URL.
pub fn target_at(config: &TargetConfig, binding: Binding, url: &str) -> Result<Target> {
    let mut target = Target::new(binding, &expand(url)?)?;
    target.version = config.protocol;
    target.tenant.clone_from(&config.tenant);
    for (name, value) in &config.headers {
        target.headers.push((name.clone(), expand(value)?));
    }
    if let Some(kind) = &config.rest_content_type {
        target.rest_content_type.clone_from(kind);
    }
    target.subscribe_get = config.subscribe_get;
    Ok(target)
}

/// All bindings of a target, none of whose ports is taken: a server left over from somewhere else would be measured in
/// this one's place.
async fn free_targets(config: &TargetConfig) -> Result<Vec<Target>> {
    let mut targets = Vec::new();
    for binding in config.bindings() {
        let target = target(config, binding)?;
        if TcpStream::connect(target.addr).await.is_ok() {
            bail!("{} is in use already", target.addr);
        }
        targets.push(target);
    }
    Ok(targets)
}

/// Waits for an answer: some servers accept connections before they can give any.
async fn first_reply(config: &TargetConfig, target: &Target) -> Result<()> {
    let end = Instant::now() + Duration::from_secs_f64(config.ready_seconds);
    loop {
        let reply = async {
            Client::many(target, 1, 1)
                .await?
                .remove(0)
                .send(None, "hello")
                .await
        }
        .await;
        match reply {
            Ok(_) => return Ok(()),
            Err(error) if Instant::now() >= end => {
                return Err(error.context(format!("{} ({:?}) never answered", config.name, target.binding)));
            }
            Err(_) => sleep(Duration::from_millis(5)).await,
        }
    }
}

fn watch(name: &str, child: &Child) -> Watched {
    Watched {
        name: name.to_owned(),
        pid: child.id().unwrap_or(0),
    }
}

/// Replaces `${NAME}` by the environment's value; `${BENCH}` is this program.
fn expand(text: &str) -> Result<String> {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        let (name, after) = after
            .split_once('}')
            .with_context(|| format!("unclosed ${{ in {text}"))?;
        out.push_str(before);
        out.push_str(&match name {
            "BENCH" => std::env::current_exe()?.display().to_string(),
            name => std::env::var(name).with_context(|| format!("{name} is not set"))?,
        });
        rest = after;
    }
    out.push_str(rest);
    Ok(out)
}

fn spawn(command: &[String], env: &BTreeMap<String, String>, cpus: &[usize], log: &Path) -> Result<Child> {
    ensure!(!command.is_empty(), "empty command");
    let list = if cpus.is_empty() {
        (0..crate::all_cpus()).collect()
    } else {
        cpus.to_vec()
    };
    let list = list.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
    let out = std::fs::OpenOptions::new().create(true).append(true).open(log)?;
    // taskset replaces itself by the command, so the child's id is the server's.
    let mut run = Command::new("taskset");
    run.arg("-c").arg(list);
    for word in command {
        run.arg(expand(word)?);
    }
    for (name, value) in env {
        run.env(name, expand(value)?);
    }
    run.stdin(Stdio::null())
        .stdout(out.try_clone()?)
        .stderr(out)
        .kill_on_drop(true)
        .spawn()
        .with_context(|| format!("starting {}", command[0]))
}

async fn wait_port(addr: &str, seconds: f64) -> Result<()> {
    let end = Instant::now() + Duration::from_secs_f64(seconds);
    loop {
        if TcpStream::connect(addr).await.is_ok() {
            return Ok(());
        }
        ensure!(Instant::now() < end, "{addr} did not open within {seconds} s");
        sleep(Duration::from_millis(1)).await;
    }
}

#[cfg(test)]
mod tests {
    use super::expand;

    #[test]
    fn variables_of_the_environment_are_filled_in_and_unknown_ones_refused() {
        assert_eq!(expand("plain").unwrap(), "plain");
        let path = std::env::var("PATH").unwrap();
        assert_eq!(expand("a${PATH}b").unwrap(), format!("a{path}b"));
        assert!(expand("${BENCH}").unwrap().contains("bench"));
        assert!(expand("${A2A_BENCH_SURELY_UNSET}").is_err());
        assert!(expand("${PATH").is_err());
    }
}
