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

/// Goes with the runtime's time, which a test may have paused. It begins at the machine's.
#[derive(Debug, Clone, Copy)]
pub struct RuntimeClock {
    began: tokio::time::Instant,
    at: i64,
}

impl Default for RuntimeClock {
    fn default() -> Self {
        let since = std::time::SystemTime::now().duration_since(std::time::SystemTime::UNIX_EPOCH);
        Self {
            began: tokio::time::Instant::now(),
            at: i64::try_from(since.unwrap_or_default().as_millis()).unwrap_or_default(),
        }
    }
}

impl Clock for RuntimeClock {
    fn now(&self) -> Timestamp {
        let passed = i64::try_from(self.began.elapsed().as_millis()).unwrap_or_default();
        Timestamp::from_millis(self.at + passed).expect("a test does not run through to the year 10000")
    }
}
