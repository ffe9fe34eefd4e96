//! A number of bytes, written with its unit.

use std::fmt;

/// A number of bytes, such as `8 MiB`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size(pub usize);

/// Largest first: a size is shown in the first that it is a multiple of.
const UNITS: [(&str, usize); 4] = [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10), ("B", 1)];

impl Size {
    pub(crate) const FORMAT: &str = "size";

    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let read = || {
            let (number, unit) = super::number_and_unit(text)?;
            let (_, bytes) = UNITS.into_iter().find(|(name, _)| *name == unit)?;
            usize::try_from(number).ok()?.checked_mul(bytes)
        };
        read().map(Self).ok_or_else(|| {
            format!("must be a size such as \"512 KiB\" or \"8 MiB\" (units B, KiB, MiB, GiB), not {text:?}")
        })
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fits = |(_, bytes): &(&str, usize)| self.0 > 0 && self.0.is_multiple_of(*bytes);
        let (unit, bytes) = UNITS.into_iter().find(fits).unwrap_or(("B", 1));
        write!(f, "{} {unit}", self.0 / bytes)
    }
}

super::written_as_text!(Size);

#[cfg(test)]
mod tests {
    use super::Size;

    #[test]
    fn a_size_is_read_with_its_unit_and_shown_in_the_largest_that_fits() {
        for (text, bytes, shown) in [
            ("8 MiB", 8 << 20, "8 MiB"),
            ("8MiB", 8 << 20, "8 MiB"),
            ("1024 KiB", 1 << 20, "1 MiB"),
            ("1500 B", 1500, "1500 B"),
            ("0 B", 0, "0 B"),
        ] {
            let size = Size::parse(text).unwrap();
            assert_eq!((size.0, size.to_string().as_str()), (bytes, shown), "{text}");
        }
    }

    #[test]
    fn what_is_no_size_is_refused_with_an_example() {
        for text in [
            "",
            "8",
            "MiB",
            "8 MB",
            "-1 MiB",
            "1.5 MiB",
            "99999999999999999999 B",
            "18446744073709551615 GiB",
        ] {
            assert!(Size::parse(text).unwrap_err().contains("8 MiB"), "{text}");
        }
    }
}
