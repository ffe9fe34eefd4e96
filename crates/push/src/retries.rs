//! How long is waited before a failed call is repeated, and when it is given up. Pure: time and chance are handed in.

use std::time::Duration;

/// Pauses double from the first to the longest, each a fifth more or less by chance, so that receivers that failed
/// together are not called together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Retries {
    /// The pause after the first failure.
    pub first_pause: Duration,
    /// No pause is longer, give or take the fifth.
    pub longest_pause: Duration,
    /// Calls for one event, the first included.
    pub attempts: u32,
    /// How long one event is tried, from its first call to its last.
    pub patience: Duration,
}

impl Default for Retries {
    fn default() -> Self {
        Self {
            first_pause: Duration::from_millis(500),
            longest_pause: Duration::from_secs(60),
            attempts: 10,
            patience: Duration::from_secs(60 * 60),
        }
    }
}

/// What a pause may differ by, to either side.
const JITTER: f64 = 0.2;

impl Retries {
    /// The pause before the next call after so many have failed; nothing where the event is given up. `chance` is 0 up
    /// to 1. A receiver may ask for a longer pause, but not for one beyond the longest.
    pub fn pause(
        &self,
        failed: u32,
        elapsed: Duration,
        asked: Option<Duration>,
        chance: f64,
    ) -> Option<Duration> {
        if failed >= self.attempts {
            return None;
        }
        let pause = self
            .growing(failed)
            .mul_f64(1.0 - JITTER + 2.0 * JITTER * chance)
            .max(asked.unwrap_or_default().min(self.longest_pause));
        (elapsed + pause <= self.patience).then_some(pause)
    }

    fn growing(&self, failed: u32) -> Duration {
        let doublings = failed.saturating_sub(1).min(31);
        self.first_pause
            .saturating_mul(1 << doublings)
            .min(self.longest_pause)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::Retries;

    fn pauses(retries: &Retries, chance: f64) -> Vec<Duration> {
        let mut elapsed = Duration::ZERO;
        let pause = |failed| {
            let pause = retries.pause(failed, elapsed, None, chance)?;
            elapsed += pause;
            Some(pause)
        };
        (1..).map_while(pause).collect()
    }

    #[test]
    fn pauses_double_up_to_the_longest_and_end_with_the_attempts() {
        let millis: Vec<_> = pauses(&Retries::default(), 0.5)
            .iter()
            .map(Duration::as_millis)
            .collect();
        assert_eq!(
            millis,
            [500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]
        );
    }

    #[test]
    fn chance_moves_a_pause_by_a_fifth_and_a_later_one_is_longer_all_the_same() {
        let retries = Retries::default();
        let (short, long) = (pauses(&retries, 0.0), pauses(&retries, 1.0));
        assert_eq!(short[0], Duration::from_millis(400));
        assert_eq!(long[0], Duration::from_millis(600));
        for (longest, next_shortest) in long.iter().zip(&short[1..7]) {
            assert!(longest < next_shortest);
        }
    }

    #[test]
    fn patience_ends_the_attempts_early() {
        let retries = Retries {
            patience: Duration::from_secs(4),
            ..Retries::default()
        };
        assert_eq!(pauses(&retries, 0.5).len(), 3);
    }

    #[test]
    fn a_receiver_is_granted_a_longer_pause_but_no_endless_one() {
        let retries = Retries::default();
        let seconds = |asked| retries.pause(1, Duration::ZERO, Some(Duration::from_secs(asked)), 0.5);
        assert_eq!(seconds(0), Some(Duration::from_millis(500)));
        assert_eq!(seconds(7), Some(Duration::from_secs(7)));
        assert_eq!(seconds(1_000_000), Some(Duration::from_secs(60)));
    }

    #[test]
    fn pauses_of_any_number_are_finite() {
        let retries = Retries {
            attempts: u32::MAX,
            patience: Duration::MAX,
            ..Retries::default()
        };
        for failed in [1, 31, 32, 33, u32::MAX - 1] {
            let pause = retries.pause(failed, Duration::ZERO, None, 0.5).unwrap();
            assert!(pause <= Duration::from_secs(60), "{failed}");
        }
    }
}
