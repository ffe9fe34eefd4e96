//! The scenarios on three replicas with one Redis, behind nginx and behind Envoy: each request goes to the next replica,
//! and it must make no difference. Then the replicas reached are counted: every step of every scenario must have been
//! answered by another replica than the step before it.
//!
//! Always with one choice of bindings; each binding alone, changing bindings, and the comparison of all, among the long
//! tests.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test: what must not be absent fails it, and its counts are for people"
)]

use std::{
    collections::{BTreeMap, BTreeSet},
    process::ExitCode,
    sync::{Arc, Condvar, Mutex, OnceLock},
};

use gateway_tests::{
    balancer::Kind,
    deployment::Lane,
    profile::Profile,
    scenario::{self, Pick, Played, Scenario},
};
use libtest_mimic::{Arguments, Failed, Trial};

/// Scenarios wait more than they work.
const LANES: usize = 4;

/// How often a scenario is played again where a step was not answered elsewhere.
const AGAIN: usize = 5;

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    arguments.test_threads.get_or_insert(LANES * Kind::ALL.len());
    let scenarios = scenario::all();
    let trials = Kind::ALL.into_iter().flat_map(|kind| {
        scenarios
            .clone()
            .into_iter()
            .enumerate()
            .flat_map(move |(number, scenario)| {
                let each = scenario.clone();
                let name = format!("{}::{}", kind.name(), scenario.name);
                let once = once(kind, &scenario, number);
                [
                    Trial::test(name.clone(), move || behind(kind, &scenario, &[once])),
                    Trial::test(format!("{name}::each_binding"), move || every(kind, &each))
                        .with_ignored_flag(true),
                ]
            })
    });
    let played = libtest_mimic::run(&arguments, trials.collect());
    // A static is never dropped, and what lanes hold is processes.
    idle().0.lock().unwrap().clear();
    let partial = arguments.filter.is_some() || arguments.list || !arguments.skip.is_empty();
    if partial || played.has_failed() {
        return played.exit_code();
    }
    let reached = vec![Trial::test(
        "every_step_was_answered_by_another_replica_than_the_one_before",
        every_step_elsewhere,
    )];
    libtest_mimic::run(&arguments_for_all(arguments), reached).exit_code()
}

/// nginx takes turns for HTTP and for gRPC apart, so that changing bindings can meet one replica twice in a row.
fn once(kind: Kind, scenario: &Scenario, number: usize) -> Pick {
    let tongues = scenario.tongues();
    match kind {
        Kind::Nginx => Pick::One(tongues[number % tongues.len()]),
        Kind::Envoy => Pick::Turns,
    }
}

/// What is held against the whole is no long test.
fn arguments_for_all(arguments: Arguments) -> Arguments {
    Arguments {
        ignored: false,
        ..arguments
    }
}

fn every(kind: Kind, scenario: &Scenario) -> Result<(), Failed> {
    let picks: Vec<_> = scenario
        .tongues()
        .into_iter()
        .map(Pick::One)
        .chain([Pick::Turns])
        .collect();
    behind(kind, scenario, &picks)
}

/// Plays a scenario in each of these ways; all must mean the same.
fn behind(kind: Kind, scenario: &Scenario, picks: &[Pick]) -> Result<(), Failed> {
    let lane = Borrowed::of(kind);
    let (mut first, mut left) = (None, 0);
    // A balancer that has just found a replica ill or well begins to count anew, and may take one twice in a row.
    let again = picks.last().into_iter().cycle().take(AGAIN);
    for (number, pick) in picks.iter().chain(again).enumerate() {
        if number >= picks.len() && left == 0 {
            break;
        }
        let played = play(lane.get(), scenario, *pick)
            .map_err(|why| format!("{pick:?}: {why}\n{}", lane.get().said()))?;
        left = note(kind, scenario, &played);
        let first = first.get_or_insert_with(|| played.transcript.clone());
        if !scenario.varies {
            first
                .compare(&played.transcript)
                .map_err(|why| format!("{:?} and {pick:?} differ in {why}", picks[0]))?;
        }
    }
    Ok(())
}

/// Plays on replicas of its own, which are gone when this returns.
fn play(lane: &Lane, scenario: &Scenario, pick: Pick) -> Result<Played, String> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let gateway = lane.gateway(Profile::named(&scenario.profile)).await;
        scenario::play(scenario, &gateway, pick).await
    })
}

// === lanes ===

/// A lane for as long as a scenario is played.
struct Borrowed(Kind, Option<Lane>);

/// Lanes that nobody plays on, and how many there are.
type Idle = (Mutex<BTreeMap<Kind, (Vec<Lane>, usize)>>, Condvar);

fn idle() -> &'static Idle {
    static IDLE: OnceLock<Idle> = OnceLock::new();
    IDLE.get_or_init(Default::default)
}

impl Borrowed {
    fn of(kind: Kind) -> Self {
        let (idle, given_back) = idle();
        let mut lanes = idle.lock().unwrap();
        loop {
            let (free, count) = lanes.entry(kind).or_default();
            if let Some(lane) = free.pop() {
                return Self(kind, Some(lane));
            }
            if *count < LANES {
                *count += 1;
                drop(lanes);
                let mut this = Self(kind, None);
                this.1 = Some(Lane::start(kind));
                return this;
            }
            lanes = given_back.wait(lanes).unwrap();
        }
    }

    fn get(&self) -> &Lane {
        self.1.as_ref().expect("it is given back at the end")
    }
}

impl Drop for Borrowed {
    fn drop(&mut self) {
        let (idle, given_back) = idle();
        let mut lanes = idle.lock().unwrap();
        let (free, count) = lanes.entry(self.0).or_default();
        match self.1.take() {
            Some(lane) => free.push(lane),
            // It did not start; the next one tries in its place.
            None => *count -= 1,
        }
        given_back.notify_one();
    }
}

// === replicas reached ===

/// A step of a scenario behind a balancer.
type Stepped = (Kind, String, usize);

#[derive(Default)]
struct Reached {
    /// How many calls each replica answered, by balancer.
    calls: BTreeMap<(Kind, usize), usize>,
    /// Steps that were answered elsewhere than the step before, …
    elsewhere: BTreeSet<Stepped>,
    /// … and all steps that have one before.
    steps: BTreeSet<Stepped>,
}

fn reached() -> &'static Arc<Mutex<Reached>> {
    static REACHED: OnceLock<Arc<Mutex<Reached>>> = OnceLock::new();
    REACHED.get_or_init(Arc::default)
}

/// Notes who answered; says how many steps have not been answered elsewhere yet.
fn note(kind: Kind, scenario: &Scenario, played: &Played) -> usize {
    let mut reached = reached().lock().unwrap();
    for (_, replica) in &played.answered {
        *reached.calls.entry((kind, *replica)).or_default() += 1;
    }
    // Behind nginx the steps of a scenario that names bindings itself are in turn for one binding, not for all.
    let mixed = kind == Kind::Nginx && scenario.step.iter().any(|step| step.over.is_some());
    for pair in played.answered.windows(2).filter(|_| !mixed) {
        let [(before, one), (step, other)] = [pair[0], pair[1]];
        if before != step {
            let step = (kind, scenario.name.clone(), step);
            if one != other {
                reached.elsewhere.insert(step.clone());
            }
            reached.steps.insert(step);
        }
    }
    let missing = reached.steps.difference(&reached.elsewhere);
    missing
        .filter(|(of, name, _)| (*of, name) == (kind, &scenario.name))
        .count()
}

fn every_step_elsewhere() -> Result<(), Failed> {
    let reached = reached().lock().unwrap();
    for ((kind, replica), calls) in &reached.calls {
        println!(
            "behind {} replica {} answered {calls} calls",
            kind.name(),
            replica + 1
        );
    }
    let missing: Vec<_> = reached.steps.difference(&reached.elsewhere).collect();
    let balancers = Kind::ALL.map(|kind| reached.calls.keys().filter(|(of, _)| *of == kind).count());
    if balancers != [3; 2] {
        return Err(format!("replicas reached behind each balancer: {balancers:?}").into());
    }
    if !missing.is_empty() {
        return Err(format!("always on the replica of the step before: {missing:?}").into());
    }
    println!(
        "{} steps, each on another replica than the one before",
        reached.steps.len()
    );
    Ok(())
}
