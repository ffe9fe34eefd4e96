//! A length of time, written with its unit.

use std::{fmt, time::Duration};

/// A length of time in whole milliseconds, such as `30 s`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Period(pub Duration);

/// Largest first: a period is shown in the first that it is a multiple of.
const UNITS: [(&str, u64); 5] = [
    ("d", 86_400_000),
    ("h", 3_600_000),
    ("min", 60_000),
    ("s", 1_000),
    ("ms", 1),
];

impl Period {
    pub(crate) const FORMAT: &str = "period";

    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let read = || {
            let (number, unit) = super::number_and_unit(text)?;
            let (_, millis) = UNITS.into_iter().find(|(name, _)| *name == unit)?;
            number.checked_mul(millis).map(Duration::from_millis)
        };
        read().map(Self).ok_or_else(|| {
            format!("must be a time such as \"30 s\" or \"15 min\" (units ms, s, min, h, d), not {text:?}")
        })
    }
}

impl fmt::Display for Period {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let whole = u64::try_from(self.0.as_millis()).unwrap_or(u64::MAX);
        let fits = |(_, millis): &(&str, u64)| whole > 0 && whole.is_multiple_of(*millis);
        let (unit, millis) = UNITS.into_iter().find(fits).unwrap_or(("s", 1_000));
        write!(f, "{} {unit}", whole / millis)
    }
}

super::written_as_text!(Period);

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::Period;

    #[test]
    fn a_period_is_read_with_its_unit_and_shown_in_the_largest_that_fits() {
        for (text, seconds, shown) in [
            ("30 s", 30.0, "30 s"),
            ("90s", 90.0, "90 s"),
            ("1500 ms", 1.5, "1500 ms"),
            ("60 min", 3600.0, "1 h"),
            ("24 h", 86_400.0, "1 d"),
            ("0 s", 0.0, "0 s"),
        ] {
            let period = Period::parse(text).unwrap();
            let expected = (Duration::from_secs_f64(seconds), shown.to_owned());
            assert_eq!((period.0, period.to_string()), expected, "{text}");
        }
    }

    #[test]
    fn what_is_no_period_is_refused_with_an_example() {
        for text in [
            "",
            "30",
            "s",
            "30 m",
            "30 sec",
            "-1 s",
            "1.5 s",
            "18446744073709551615 d",
        ] {
            assert!(Period::parse(text).unwrap_err().contains("30 s"), "{text}");
        }
    }
}
