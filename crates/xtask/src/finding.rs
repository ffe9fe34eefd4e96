//! One thing to mend, in the form that editors and terminals turn into a link.

use std::fmt;

/// Where something is wrong and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Finding {
    place: String,
    text: String,
}

impl Finding {
    /// A fault on one line of a file; lines count from 1.
    pub(crate) fn at(path: &str, line: usize, text: impl Into<String>) -> Self {
        Self {
            place: format!("{path}:{line}"),
            text: text.into(),
        }
    }

    /// A fault of a whole file, crate or tool.
    pub(crate) fn of(subject: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            place: subject.into(),
            text: text.into(),
        }
    }

    /// Where, as printed: for tests.
    #[cfg(test)]
    pub(crate) fn place(&self) -> &str {
        &self.place
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.text)
    }
}
