//! Where a reader of a task's log is.

use std::{fmt, str::FromStr};

/// The number of a task's change: 1 for the first, then one more for each.
pub type Revision = u64;

/// A place in a task's log: the revision, and a mark of the entry that stands there. After a failover that lost
/// commits the same revision may hold another entry; the mark tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Cursor {
    /// The entry's number.
    pub revision: Revision,
    /// Drawn at random when the entry was made.
    pub mark: u32,
}

impl Cursor {
    /// The place before a task's first entry.
    pub const START: Self = Self { revision: 0, mark: 0 };
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{:08x}", self.revision, self.mark)
    }
}

/// The text was no cursor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotACursor;

impl FromStr for Cursor {
    type Err = NotACursor;

    fn from_str(text: &str) -> Result<Self, NotACursor> {
        let (revision, mark) = text.split_once('-').ok_or(NotACursor)?;
        if mark.len() != 8 || text.len() > 29 {
            return Err(NotACursor);
        }
        Ok(Self {
            revision: revision.parse().map_err(|_| NotACursor)?,
            mark: u32::from_str_radix(mark, 16).map_err(|_| NotACursor)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Cursor;

    #[test]
    fn a_cursor_reads_back_and_other_texts_do_not() {
        let cursor = Cursor {
            revision: 12,
            mark: 0x00ab_cdef,
        };
        assert_eq!(cursor.to_string(), "12-00abcdef");
        assert_eq!("12-00abcdef".parse(), Ok(cursor));
        for text in [
            "",
            "12",
            "12-",
            "-00abcdef",
            "12-abcdef",
            "x-00abcdef",
            "12-00abcdeg",
        ] {
            assert!(text.parse::<Cursor>().is_err(), "{text}");
        }
    }
}
