//! Bounds how often something is logged, and counts what is left out.

use std::{
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

const WINDOW: Duration = Duration::from_secs(1);

/// Admits so many lines a second.
pub(crate) struct Sampler {
    per_second: u32,
    window: Mutex<Window>,
}

struct Window {
    began: Instant,
    admitted: u32,
    left_out: u64,
}

impl Sampler {
    pub(crate) fn new(per_second: u32) -> Self {
        Self {
            per_second,
            window: Mutex::new(Window {
                began: Instant::now(),
                admitted: 0,
                left_out: 0,
            }),
        }
    }

    /// Whether a line may be written now, and then how many were left out since the last one.
    pub(crate) fn admit(&self, now: Instant) -> Option<u64> {
        let mut window = self.window.lock().unwrap_or_else(PoisonError::into_inner);
        if now.saturating_duration_since(window.began) >= WINDOW {
            window.began = now;
            window.admitted = 0;
        }
        if window.admitted >= self.per_second {
            window.left_out += 1;
            return None;
        }
        window.admitted += 1;
        Some(std::mem::take(&mut window.left_out))
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::Sampler;

    #[test]
    fn lines_beyond_the_bound_are_left_out_and_counted_with_the_next() {
        let sampler = Sampler::new(2);
        let now = Instant::now();
        let second = |after: u64| now + Duration::from_secs(after);
        let admitted: Vec<_> = (0..5).map(|_| sampler.admit(second(0))).collect();
        assert_eq!(admitted, [Some(0), Some(0), None, None, None]);
        assert_eq!(sampler.admit(second(1)), Some(3));
        assert_eq!(sampler.admit(second(1)), Some(0));
        assert_eq!(sampler.admit(second(1)), None);
    }
}
