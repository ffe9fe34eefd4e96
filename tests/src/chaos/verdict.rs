//! What a trial came to.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

use gateway_domain::Binding;

use super::{
    Stage,
    task::{By, History, chunks},
    value_of,
};

/// The counts of a trial, and what must not have been.
pub struct Verdict {
    /// The counts, in a line.
    pub counts: String,
    /// Chunks that had been acknowledged and are gone.
    pub lost: usize,
    /// Each fault, with its task.
    pub faults: Vec<String>,
}

impl Verdict {
    pub(super) fn of(stage: &Stage, histories: &[History]) -> Self {
        let mut this = Self {
            counts: stage.counts.to_string(),
            lost: 0,
            faults: Vec::new(),
        };
        for history in histories {
            this.judge(stage, history);
        }
        this.judge_amount(stage);
        this
    }

    fn judge(&mut self, stage: &Stage, history: &History) {
        let task = &history.task;
        let mut fault = |text: String| self.faults.push(format!("{task} ({:?}): {text}", history.by));
        history.fault.iter().for_each(|text| fault(text.clone()));
        let state = history.last["status"]["state"].as_str().unwrap_or_default();
        if state != "TASK_STATE_COMPLETED" {
            fault(format!("ended in {state:?}"));
        }
        let held = chunks(&history.last["artifacts"][0]);
        let given = match history.by {
            By::Agent => history.acknowledged.clone(),
            // It completes its task behind the last one.
            By::BuiltIn => (1..=stage.trial.chunks).collect(),
        };
        let missing: Vec<_> = given.iter().filter(|number| !held.contains(number)).collect();
        if stage.trial.confirmed && !missing.is_empty() {
            fault(format!(
                "acknowledged chunks are missing: {missing:?} of {held:?}"
            ));
        }
        // A run that is taken over goes on from as many chunks as the task holds, and cannot know of those that are lost.
        let again = history.by == By::BuiltIn && !missing.is_empty();
        if let Some(why) = out_of_order(&held, &history.unclear, again) {
            fault(format!("{why}: {held:?}"));
        }
        self.lost += missing.len();
        // Whoever saw a revision saw the same.
        let mut content = BTreeMap::new();
        for seen in &history.seen {
            let name = seen.binding.name();
            seen.faults
                .iter()
                .for_each(|text| fault(format!("over {name}: {text}")));
            if seen.chunks() != held {
                fault(format!(
                    "over {name} {:?} were shown, and {held:?} are there",
                    seen.chunks()
                ));
            }
            for (revision, chunks) in &seen.events {
                if *content.entry(*revision).or_insert(chunks) != chunks {
                    fault(format!(
                        "over {name} revision {revision} was another than elsewhere"
                    ));
                }
            }
        }
    }

    /// A trial that did not do what it is for proves nothing.
    fn judge_amount(&mut self, stage: &Stage) {
        let counts = &stage.counts;
        let trial = &stage.trial;
        if value_of(&counts.kills) != trial.kills || value_of(&counts.failovers) != trial.failovers {
            self.faults.push("not every fault was made".to_owned());
        }
        for binding in Binding::ALL {
            let (shown, resumes) = (value_of(counts.shown(binding)), value_of(counts.resumed(binding)));
            // What a stream begins with is not counted, but it begins early.
            if shown < trial.tasks * trial.chunks * 3 / 4 || resumes < trial.tasks / 2 {
                self.faults.push(format!(
                    "only {shown} chunks and {resumes} resumes over {}",
                    binding.name()
                ));
            }
        }
        let started_over = value_of(&counts.started_over);
        if !trial.confirmed && (self.lost == 0 || started_over == 0) {
            self.faults.push(format!(
                "failovers lost {} chunks and {started_over} streams noticed",
                self.lost
            ));
        }
    }
}

/// Chunks come in order, each once; twice where a first try was unclear, or wherever `again` says so.
fn out_of_order(held: &[usize], unclear: &BTreeSet<usize>, again: bool) -> Option<&'static str> {
    for pair in held.windows(2) {
        if pair[0] > pair[1] {
            return Some("chunks out of order");
        }
        if pair[0] == pair[1] && !again && !unclear.contains(&pair[0]) {
            return Some("a chunk is there twice");
        }
    }
    None
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for fault in &self.faults {
            writeln!(f, "FAULT {fault}")?;
        }
        write!(
            f,
            "{}; {} chunks lost that were acknowledged; {} faults",
            self.counts,
            self.lost,
            self.faults.len()
        )
    }
}
