//! Every scenario over every binding and in both versions, where they can carry it, and once with each step over another
//! binding and in another version; all must mean the same. Every check against every operation over every binding. Then what the runs have shown is held against
//! what there is to be shown, so that nothing can be left out.

use std::{collections::BTreeSet, process::ExitCode};

use gateway_domain::{Binding, Operation, Outcome};
use gateway_tests::{
    gateway::Gateway,
    ledger,
    profile::Profile,
    scenario::{self, Pick, Scenario, Transcript},
    sweep::{Check, sweep},
};
use libtest_mimic::{Arguments, Failed, Trial};

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    // Scenarios wait more than they work.
    arguments.test_threads.get_or_insert(8);
    let scenarios = scenario::all();
    let names: BTreeSet<_> = scenarios.iter().map(|scenario| &scenario.name).collect();
    assert_eq!(names.len(), scenarios.len(), "two scenarios of one name");
    let sweeps = Check::ALL.map(|check| {
        Trial::test(check.test_name(), move || {
            in_runtime(sweep(check)).map_err(Failed::from)
        })
    });
    let trials = sweeps
        .into_iter()
        .chain(scenarios.into_iter().map(trial))
        .collect();
    let played = libtest_mimic::run(&arguments, trials);
    let partial = arguments.filter.is_some() || arguments.list || !arguments.skip.is_empty();
    if partial || played.has_failed() {
        return played.exit_code();
    }
    let coverage = vec![
        Trial::test("every_outcome_was_seen_on_every_binding", every_outcome),
        Trial::test("every_check_met_every_operation_on_every_binding", every_check),
    ];
    libtest_mimic::run(&arguments, coverage).exit_code()
}

fn trial(scenario: Scenario) -> Trial {
    Trial::test(scenario.name.clone(), move || {
        play(&scenario).map_err(Failed::from)
    })
}

fn play(scenario: &Scenario) -> Result<(), String> {
    let tongues = scenario.tongues();
    let mut transcripts = Vec::new();
    for tongue in &tongues {
        transcripts.push((tongue.name(), alone(scenario, Pick::One(*tongue))?));
    }
    if tongues.len() > 1 {
        transcripts.push(("turns".to_owned(), alone(scenario, Pick::Turns)?));
    }
    if scenario.varies {
        return Ok(());
    }
    let (first, of_first) = &transcripts[0];
    for (name, transcript) in &transcripts[1..] {
        of_first
            .compare(transcript)
            .map_err(|why| format!("{first} and {name} differ in {why}"))?;
    }
    Ok(())
}

/// Plays on a gateway of its own.
fn alone(scenario: &Scenario, pick: Pick) -> Result<Transcript, String> {
    in_runtime(async {
        let gateway = Gateway::start(Profile::named(&scenario.profile)).await;
        scenario::run(scenario, &gateway, pick).await
    })
}

fn in_runtime<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    let done = runtime.block_on(work);
    runtime.shutdown_background();
    done
}

/// The domain's own list says which outcomes there are.
fn every_outcome() -> Result<(), Failed> {
    let seen = ledger::everything();
    demand(|operation, binding, missing| {
        for outcome in Outcome::of(operation) {
            let found = seen.iter().any(|seen| {
                seen.operation == Some(operation) && seen.binding == binding && seen.outcome == Some(*outcome)
            });
            if !found {
                missing(outcome.name());
            }
        }
    })
}

/// What happened inside must show each check at work; one that is not wired in cannot have refused.
fn every_check() -> Result<(), Failed> {
    let seen = ledger::everything();
    demand(|operation, binding, missing| {
        for check in Check::ALL {
            // The edge refuses before there is anything to see: there the sweep's answers are the proof.
            let inside = check != Check::Authentication && check.applies(operation, binding);
            if inside
                && !seen
                    .iter()
                    .any(|seen| check.is_shown_by(seen, operation, binding))
            {
                missing(&format!("{check:?}"));
            }
        }
    })
}

fn demand(mut each: impl FnMut(Operation, Binding, &mut dyn FnMut(&str))) -> Result<(), Failed> {
    let mut missing = Vec::new();
    for operation in Operation::all() {
        for binding in Binding::ALL {
            each(operation, binding, &mut |what| {
                missing.push(format!("{} over {}: {what}", operation.name(), binding.name()));
            });
        }
    }
    if missing.is_empty() {
        return Ok(());
    }
    Err(Failed::from(format!("never seen:\n  {}", missing.join("\n  "))))
}
