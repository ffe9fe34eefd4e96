//! What a trial came to.

use std::{collections::BTreeMap, fmt};

use gateway_domain::Binding;

use super::{
    Stage, read,
    task::{By, History, chunks},
};

/// The counts of a trial, and what must not have been.
pub struct Verdict {
    /// The counts, in a line.
    pub counts: String,
    /// Chunks that had been acknowledged and are gone, where that may be.
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
        let state = history.last["status"]["state"].as_str().unwrap_or_default();
        if state != "TASK_STATE_COMPLETED" {
            fault(format!("ended in {state:?}"));
        }
        let held = chunks(&history.last["artifacts"][0]);
        let missing = history
            .acknowledged
            .iter()
            .filter(|number| !held.contains(number))
            .count();
        if stage.trial.confirmed || stage.trial.failovers == 0 {
            if missing > 0 {
                fault(format!("{missing} acknowledged chunks are missing: {held:?}"));
            }
        } else {
            self.lost += missing;
        }
        let mut fault = |text: String| self.faults.push(format!("{task} ({:?}): {text}", history.by));
        if let Some(why) = out_of_order(&held, history, stage.trial.chunks, missing) {
            fault(format!("{why}: {held:?}"));
        }
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
        if read(&counts.kills) != trial.kills || read(&counts.failovers) != trial.failovers {
            self.faults.push("not every fault was made".to_owned());
        }
        for binding in Binding::ALL {
            let resumes = read(counts.resumed(binding));
            if resumes < trial.tasks / 2 {
                self.faults
                    .push(format!("only {resumes} resumes over {}", binding.name()));
            }
        }
    }
}

/// Chunks come in order, each once; twice only where a first try was unclear; and all of them, but for what was lost.
fn out_of_order(held: &[usize], history: &History, count: usize, missing: usize) -> Option<&'static str> {
    for pair in held.windows(2) {
        if pair[0] > pair[1] {
            return Some("chunks out of order");
        }
        if pair[0] == pair[1] && !history.unclear.contains(&pair[0]) {
            return Some("a chunk is there twice");
        }
    }
    let mut numbers = held.to_vec();
    numbers.dedup();
    let expected = if history.by == By::Agent {
        count - missing
    } else {
        count
    };
    (numbers.len() != expected).then_some("not every chunk is there")
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for fault in &self.faults {
            writeln!(f, "FAULT {fault}")?;
        }
        write!(
            f,
            "{}; {} acknowledged chunks lost where they may be; {} faults",
            self.counts,
            self.lost,
            self.faults.len()
        )
    }
}
