//! `make chaos`: tasks under way, subscribers on every binding that come back with their cursor, and meanwhile replicas
//! are killed and Redis fails over. In the end each subscriber must have seen exactly the task's events, in order.
//!
//! What a failover may lose at durability `async` is counted and no fault; anything silent is.

mod faults;
mod redis;
mod subscriber;
mod task;
mod verdict;

use std::{
    fmt,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use gateway_domain::Binding;
use tokio::{sync::watch, task::JoinSet};

use crate::{
    balancer::Kind,
    client::Drivers,
    cluster::{Cluster, Plan},
};

pub use redis::Topology;
pub use verdict::Verdict;

/// One run.
#[derive(Debug, Clone)]
pub struct Trial {
    /// What people call it.
    pub name: &'static str,
    /// How many tasks, all at once.
    pub tasks: usize,
    /// How many numbered chunks each gets.
    pub chunks: usize,
    /// How many replicas are killed, one after the other, each to be there again.
    pub kills: usize,
    /// How often the master of Redis is killed.
    pub failovers: usize,
    /// The Redis.
    pub topology: Topology,
    /// Whether what was acknowledged must outlive a failover; else each failover loses something, but not silently.
    pub confirmed: bool,
    /// From one fault to the next.
    pub pace: Duration,
}

impl Trial {
    /// How long the agents take over their chunks: until about the last fault.
    fn length(&self) -> Duration {
        let times = |count| u32::try_from(count).unwrap_or(u32::MAX);
        self.pace * times(self.kills + self.failovers).max(1)
            + (self.pace / 4 + RESTART) * times(self.kills)
            + FAILOVER * times(self.failovers)
    }
}

/// About what a replica takes to start.
const RESTART: Duration = Duration::from_millis(500);

/// About what a failover takes, until the master that was killed is a replica.
const FAILOVER: Duration = Duration::from_secs(5);

/// What is counted while a trial runs.
#[derive(Debug, Default)]
pub struct Counts {
    begun: AtomicUsize,
    ended: AtomicUsize,
    acknowledged: AtomicUsize,
    /// Commands that had no answer and were looked into.
    unclear: AtomicUsize,
    /// Chunks that subscribers were shown, by binding in the order of [`Binding::ALL`].
    chunks: [AtomicUsize; 3],
    /// Streams that went on after a cursor.
    resumes: [AtomicUsize; 3],
    /// Streams that started over since their cursor was of another timeline.
    started_over: AtomicUsize,
    kills: AtomicUsize,
    failovers: AtomicUsize,
}

/// What everything in a trial has in common.
pub(crate) struct Stage {
    trial: Trial,
    clients: Drivers,
    agents: Drivers,
    counts: Counts,
    /// A task that was begun.
    any_task: OnceLock<String>,
    /// Whether nothing goes wrong any more.
    faults_over: watch::Sender<bool>,
    /// No task takes longer than this.
    deadline: Instant,
}

/// How long all may take to end after the last fault.
const PATIENCE: Duration = Duration::from_secs(120);

/// Runs a trial; progress goes to standard output.
pub async fn run(trial: Trial) -> Verdict {
    let redis = tokio::task::block_in_place(|| redis::Redis::start(trial.topology));
    let plan = Plan::behind(Kind::Nginx)
        .on(&redis.url())
        // No run may fail for being lost with a replica often.
        .set("STORE__LOSSES", "1000");
    let variables = redis.variables(trial.confirmed).into_iter();
    let plan = variables.fold(plan, |plan, (name, value)| plan.set(name, value));
    let cluster = tokio::task::block_in_place(|| Cluster::start(plan));
    let stage = Arc::new(Stage {
        clients: cluster.clients(),
        agents: cluster.agents(),
        counts: Counts::default(),
        any_task: OnceLock::new(),
        faults_over: watch::Sender::new(false),
        deadline: Instant::now() + trial.length() + PATIENCE,
        trial,
    });
    let over = Arc::new(AtomicBool::new(false));
    let progress = tokio::spawn(progress(stage.clone(), over.clone()));
    let faults = tokio::spawn(faults::run(stage.clone(), cluster, redis));
    let mut tasks = JoinSet::new();
    for number in 0..stage.trial.tasks {
        tasks.spawn(task::run(stage.clone(), number));
    }
    // Where the faults can't go on nobody waits for the tasks.
    let ended = tokio::try_join!(async { Ok(tasks.join_all().await) }, faults);
    let (histories, (cluster, redis)) = ended.expect("everything goes wrong as planned");
    over.store(true, Ordering::Relaxed);
    drop(progress.await);
    let verdict = Verdict::of(&stage, &histories);
    // Only now, so that the last reads had something to read from.
    drop((cluster, redis));
    verdict
}

#[expect(clippy::print_stdout, reason = "whoever waits for minutes sees how far it is")]
async fn progress(stage: Arc<Stage>, over: Arc<AtomicBool>) {
    let begun = Instant::now();
    let mut ticks = tokio::time::interval(Duration::from_secs(2));
    while !over.load(Ordering::Relaxed) {
        ticks.tick().await;
        println!("{:>4} s  {}", begun.elapsed().as_secs(), stage.counts);
    }
}

impl Counts {
    fn of_binding(counters: &[AtomicUsize; 3], binding: Binding) -> &AtomicUsize {
        let place = Binding::ALL.iter().position(|of| *of == binding);
        &counters[place.expect("a binding")]
    }

    fn shown(&self, binding: Binding) -> &AtomicUsize {
        Self::of_binding(&self.chunks, binding)
    }

    fn resumed(&self, binding: Binding) -> &AtomicUsize {
        Self::of_binding(&self.resumes, binding)
    }
}

/// One more.
pub(crate) fn count(counter: &AtomicUsize) {
    counter.fetch_add(1, Ordering::Relaxed);
}

/// So many.
pub(crate) fn value_of(counter: &AtomicUsize) -> usize {
    counter.load(Ordering::Relaxed)
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} tasks begun, {} ended; {} chunks acknowledged, {} unclear;",
            value_of(&self.begun),
            value_of(&self.ended),
            value_of(&self.acknowledged),
            value_of(&self.unclear)
        )?;
        for binding in Binding::ALL {
            let (shown, resumed) = (value_of(self.shown(binding)), value_of(self.resumed(binding)));
            write!(f, " {}: {shown} chunks, {resumed} resumes;", binding.name())?;
        }
        write!(
            f,
            " {} started over; {} kills, {} failovers",
            value_of(&self.started_over),
            value_of(&self.kills),
            value_of(&self.failovers)
        )
    }
}
