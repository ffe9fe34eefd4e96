//! Moments, to the millisecond, in UTC: `2026-01-31T09:05:07.250Z` (§5.6.1).

use std::{borrow::Cow, fmt, str::FromStr, time::Duration};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A moment in milliseconds since the Unix epoch, within the years 1 to 9999 that protobuf can carry.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

/// 0001-01-01T00:00:00Z
const EARLIEST: i64 = -62_135_596_800_000;
/// 9999-12-31T23:59:59.999Z
const LATEST: i64 = 253_402_300_799_999;

impl Timestamp {
    /// The moment, or nothing outside the years 1 to 9999.
    pub fn from_millis(millis: i64) -> Option<Self> {
        (EARLIEST..=LATEST).contains(&millis).then_some(Self(millis))
    }

    /// The moment given as protobuf does. A fraction of a millisecond counts as a whole one, so that a filter
    /// "at or after" never takes in what lies before it.
    pub fn from_seconds_nanos(seconds: i64, nanos: i32) -> Option<Self> {
        if !(0..1_000_000_000).contains(&nanos) {
            return None;
        }
        Self::from_millis(
            seconds
                .checked_mul(1000)?
                .checked_add(millis_up(i64::from(nanos)))?,
        )
    }

    /// Milliseconds since the Unix epoch.
    pub fn millis(self) -> i64 {
        self.0
    }

    /// Whole seconds since the Unix epoch, and the nanoseconds after them.
    pub fn seconds_nanos(self) -> (i64, i32) {
        let nanos = i32::try_from(self.0.rem_euclid(1000)).unwrap_or_default() * 1_000_000;
        (self.0.div_euclid(1000), nanos)
    }

    /// How much time passed since an earlier moment; nothing where that is later.
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or_default())
    }
}

/// Whole milliseconds of some nanoseconds, a fraction counting as a whole one.
fn millis_up(nanos: i64) -> i64 {
    (nanos + 999_999).div_euclid(1_000_000)
}

/// The text was no moment in RFC 3339.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotATimestamp;

impl fmt::Display for NotATimestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("must be a timestamp such as 2026-01-31T09:05:07.250Z")
    }
}

impl std::error::Error for NotATimestamp {}

impl FromStr for Timestamp {
    type Err = NotATimestamp;

    fn from_str(text: &str) -> Result<Self, NotATimestamp> {
        let moment: jiff::Timestamp = text.parse().map_err(|_| NotATimestamp)?;
        let nanos = moment.as_nanosecond();
        let millis = i64::try_from((nanos + 999_999).div_euclid(1_000_000)).map_err(|_| NotATimestamp)?;
        Self::from_millis(millis).ok_or(NotATimestamp)
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::Timestamp::from_millisecond(self.0) {
            Ok(moment) => write!(f, "{moment:.3}"),
            Err(_) => Err(fmt::Error),
        }
    }
}

impl fmt::Debug for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        Cow::<str>::deserialize(d)?.parse().map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::Timestamp;

    #[test]
    fn text_has_milliseconds_and_z_whatever_was_read() {
        for (read, printed) in [
            ("2026-01-31T09:05:07Z", "2026-01-31T09:05:07.000Z"),
            ("2026-01-31T09:05:07.25+02:00", "2026-01-31T07:05:07.250Z"),
            ("2026-01-31T09:05:07.2500001Z", "2026-01-31T09:05:07.251Z"),
            ("1969-12-31T23:59:59.999Z", "1969-12-31T23:59:59.999Z"),
        ] {
            assert_eq!(read.parse::<Timestamp>().unwrap().to_string(), printed, "{read}");
        }
    }

    #[test]
    fn seconds_and_nanos_come_back() {
        let moment = Timestamp::from_seconds_nanos(-1, 250_000_000).unwrap();
        assert_eq!(moment.seconds_nanos(), (-1, 250_000_000));
        assert_eq!(moment.to_string(), "1969-12-31T23:59:59.250Z");
    }

    #[test]
    fn moments_that_protobuf_cannot_carry_are_refused() {
        assert!("-000001-01-01T00:00:00Z".parse::<Timestamp>().is_err());
        assert!(Timestamp::from_seconds_nanos(253_402_300_800, 0).is_none());
        assert!(Timestamp::from_seconds_nanos(0, 1_000_000_000).is_none());
        assert!("yesterday".parse::<Timestamp>().is_err());
    }
}
