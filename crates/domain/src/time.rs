//! Moments, to the millisecond, in UTC: `2026-01-31T09:05:07.250Z` (§5.6.1).

use std::{borrow::Cow, fmt, str::FromStr, time::Duration};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de, ser};

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

    /// As text, in ASCII. By hand, since nearly every answer and event carries one: a general formatter costs eight
    /// times as much.
    fn text(self) -> [u8; 24] {
        // None lies before the first moment, so that nothing below is negative.
        let since = self.0.saturating_sub(EARLIEST).unsigned_abs();
        let (days, millis) = ((since / DAY) as u32, (since % DAY) as u32);
        let (year, month, day) = date(days);
        let mut text = *b"0000-00-00T00:00:00.000Z";
        write(&mut text, 0, year / 100);
        write(&mut text, 2, year % 100);
        write(&mut text, 5, month);
        write(&mut text, 8, day);
        write(&mut text, 11, millis / 3_600_000);
        write(&mut text, 14, millis / 60_000 % 60);
        write(&mut text, 17, millis / 1000 % 60);
        write(&mut text, 20, millis % 1000 / 10);
        text[22] = b'0' + (millis % 10) as u8;
        text
    }

    /// How much time passed since an earlier moment; nothing where that is later.
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or_default())
    }
}

/// Milliseconds of a day.
const DAY: u64 = 24 * 3_600_000;

/// Year, month and day of a day counted from the first of the year 1. Years are counted here from March on, so that the
/// day of leap years comes last; 400 of them, with always the same number of days, are an era.
fn date(day: u32) -> (u32, u32, u32) {
    const ERA: u32 = 146_097;
    const FROM_MARCH_OF_YEAR_0: u32 = 306;
    let since = day + FROM_MARCH_OF_YEAR_0;
    let (era, day) = (since / ERA, since % ERA);
    let year = (day - day / 1_460 + day / 36_524 - day / (ERA - 1)) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let from_march = (5 * day + 2) / 153;
    let month = if from_march < 10 {
        from_march + 3
    } else {
        from_march - 9
    };
    let year = era * 400 + year + u32::from(month <= 2);
    (year, month, day - (153 * from_march + 2) / 5 + 1)
}

/// Writes a number below 100 as two digits.
fn write(text: &mut [u8; 24], at: usize, number: u32) {
    text[at] = b'0' + (number / 10) as u8;
    text[at + 1] = b'0' + (number % 10) as u8;
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
        f.write_str(str::from_utf8(&self.text()).map_err(|_| fmt::Error)?)
    }
}

impl fmt::Debug for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_str(str::from_utf8(&self.text()).map_err(ser::Error::custom)?)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        Cow::<str>::deserialize(d)?.parse().map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{EARLIEST, LATEST, Timestamp};

    proptest! {
        #[test]
        fn every_moment_is_printed_as_a_calendar_has_it(
            millis in EARLIEST..=jiff::Timestamp::MAX.as_millisecond(),
        ) {
            let moment = Timestamp::from_millis(millis).unwrap();
            let expected = format!("{:.3}", jiff::Timestamp::from_millisecond(millis).unwrap());
            prop_assert_eq!(moment.to_string(), expected);
            prop_assert_eq!(moment.to_string().parse(), Ok(moment));
        }
    }

    #[test]
    fn text_has_milliseconds_and_z_whatever_was_read() {
        for (read, printed) in [
            ("2026-01-31T09:05:07Z", "2026-01-31T09:05:07.000Z"),
            ("2026-01-31T09:05:07.25+02:00", "2026-01-31T07:05:07.250Z"),
            ("2026-01-31T09:05:07.2500001Z", "2026-01-31T09:05:07.251Z"),
            ("1969-12-31T23:59:59.999Z", "1969-12-31T23:59:59.999Z"),
            ("0001-01-01T00:00:00Z", "0001-01-01T00:00:00.000Z"),
            ("2000-02-29T12:00:00Z", "2000-02-29T12:00:00.000Z"),
            ("1900-03-01T00:00:00Z", "1900-03-01T00:00:00.000Z"),
        ] {
            assert_eq!(read.parse::<Timestamp>().unwrap().to_string(), printed, "{read}");
        }
    }

    #[test]
    fn the_last_moment_is_printed() {
        assert_eq!(Timestamp(LATEST).to_string(), "9999-12-31T23:59:59.999Z");
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
