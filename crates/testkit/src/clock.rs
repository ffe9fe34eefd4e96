//! Clocks that tests set.

use std::sync::atomic::{AtomicI64, Ordering};

use gateway_domain::{Timestamp, ports::Clock};

/// Stands still.
#[derive(Debug, Clone, Copy)]
pub struct FixedClock(pub Timestamp);

impl Clock for FixedClock {
    fn now(&self) -> Timestamp {
        self.0
    }
}

/// Goes on by a step each time that it is looked at, so that no two moments are the same.
#[derive(Debug)]
pub struct TickClock {
    next: AtomicI64,
    step: i64,
}

impl TickClock {
    /// Begins at a moment; the step is in milliseconds.
    pub fn new(start: Timestamp, step: i64) -> Self {
        Self {
            next: AtomicI64::new(start.millis()),
            step,
        }
    }
}

impl Default for TickClock {
    /// From the beginning of 2026, a millisecond a look.
    fn default() -> Self {
        Self {
            next: AtomicI64::new(1_767_225_600_000),
            step: 1,
        }
    }
}

impl Clock for TickClock {
    fn now(&self) -> Timestamp {
        let millis = self.next.fetch_add(self.step, Ordering::Relaxed);
        Timestamp::from_millis(millis).expect("a test does not tick through to the year 10000")
    }
}
