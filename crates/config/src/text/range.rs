//! A range of IP addresses.

use std::fmt;

use ipnet::IpNet;

/// A range of addresses, such as `10.0.0.0/8`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Range(pub IpNet);

impl Range {
    pub(crate) const FORMAT: &str = "address range";

    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let read = text.parse::<IpNet>().ok().filter(|range| range.trunc() == *range);
        read.map(Self).ok_or_else(|| {
            format!(
                "must be a range of addresses such as \"10.0.0.0/8\" or \"fd00::/8\", or one address such as \
                 \"192.168.1.7/32\", not {text:?}"
            )
        })
    }
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

super::written_as_text!(Range);

#[cfg(test)]
mod tests {
    use super::Range;

    #[test]
    fn a_range_is_shown_as_it_was_written() {
        for text in ["10.0.0.0/8", "192.168.1.7/32", "0.0.0.0/0", "fd00::/8", "::1/128"] {
            assert_eq!(Range::parse(text).unwrap().to_string(), text);
        }
    }

    #[test]
    fn what_is_no_range_is_refused_with_an_example() {
        // Neither an address without its length nor one inside of a range: it is not clear what was meant.
        for text in [
            "",
            "10.0.0.1",
            "10.0.0.1/8",
            "10.0.0.0/33",
            "10/8",
            "localhost",
            "fd00::/129",
        ] {
            assert!(Range::parse(text).unwrap_err().contains("10.0.0.0/8"), "{text}");
        }
    }
}
