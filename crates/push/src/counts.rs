//! What has been delivered and what has not, for metrics. The lists of names are here and nowhere else.

use std::sync::atomic::{AtomicU64, Ordering};

/// How one call to a receiver ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Attempt {
    /// It took the event.
    Delivered,
    /// It refused the event; a repetition would not help.
    Refused,
    /// It failed or asked to come back later.
    Failed,
    /// Nobody answered in time.
    TimedOut,
    /// Nobody could be reached.
    Unreachable,
    /// Its address may not be connected to; nothing was.
    Forbidden,
}

/// Why an event was given up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeadLetter {
    /// The receiver refused it.
    Refused,
    /// All attempts failed.
    Exhausted,
    /// The receiver's address may not be connected to.
    Forbidden,
}

impl Attempt {
    const ALL: [(Self, &'static str); 6] = [
        (Self::Delivered, "delivered"),
        (Self::Refused, "refused"),
        (Self::Failed, "failed"),
        (Self::TimedOut, "timed_out"),
        (Self::Unreachable, "unreachable"),
        (Self::Forbidden, "forbidden"),
    ];
}

impl DeadLetter {
    const ALL: [(Self, &'static str); 3] = [
        (Self::Refused, "refused"),
        (Self::Exhausted, "exhausted"),
        (Self::Forbidden, "forbidden"),
    ];
}

/// Numbers since the start.
#[derive(Debug, Default)]
pub struct Counts {
    attempts: [AtomicU64; Attempt::ALL.len()],
    dead_letters: [AtomicU64; DeadLetter::ALL.len()],
    gaps: AtomicU64,
}

impl Counts {
    /// Calls by how they ended.
    pub fn attempts(&self) -> Vec<(&'static str, u64)> {
        named(Attempt::ALL.iter().map(|(_, name)| *name), &self.attempts)
    }

    /// Events that were given up, by the reason.
    pub fn dead_letters(&self) -> Vec<(&'static str, u64)> {
        named(DeadLetter::ALL.iter().map(|(_, name)| *name), &self.dead_letters)
    }

    /// How often a receiver got the task as it stands in place of events that the log no longer held.
    pub fn gaps(&self) -> u64 {
        self.gaps.load(Ordering::Relaxed)
    }

    /// Calls that ended so.
    pub fn of_attempt(&self, attempt: Attempt) -> u64 {
        self.attempts[attempt as usize].load(Ordering::Relaxed)
    }

    /// Events that were given up for this reason.
    pub fn of_dead_letter(&self, reason: DeadLetter) -> u64 {
        self.dead_letters[reason as usize].load(Ordering::Relaxed)
    }

    pub(crate) fn attempt(&self, attempt: Attempt) {
        self.attempts[attempt as usize].fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn dead_letter(&self, reason: DeadLetter) {
        self.dead_letters[reason as usize].fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn gap(&self) {
        self.gaps.fetch_add(1, Ordering::Relaxed);
    }
}

fn named(names: impl Iterator<Item = &'static str>, numbers: &[AtomicU64]) -> Vec<(&'static str, u64)> {
    names
        .zip(numbers.iter().map(|number| number.load(Ordering::Relaxed)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{Attempt, Counts, DeadLetter};

    #[test]
    fn each_number_stands_under_its_own_name() {
        for (attempt, name) in Attempt::ALL {
            let counts = Counts::default();
            counts.attempt(attempt);
            let counted: Vec<_> = counts
                .attempts()
                .into_iter()
                .filter(|(_, number)| *number > 0)
                .collect();
            assert_eq!(counted, [(name, 1)]);
            assert_eq!(counts.of_attempt(attempt), 1);
        }
        for (reason, name) in DeadLetter::ALL {
            let counts = Counts::default();
            counts.dead_letter(reason);
            let counted: Vec<_> = counts
                .dead_letters()
                .into_iter()
                .filter(|(_, number)| *number > 0)
                .collect();
            assert_eq!(counted, [(name, 1)]);
            assert_eq!(counts.of_dead_letter(reason), 1);
        }
    }
}
