//! What is wrong with the settings, each fault with its place: every one is reported at once.

use std::fmt;

/// Everything that is wrong; one line each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Faults(pub(crate) Vec<Fault>);

/// One thing that is wrong. Never holds a secret's value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Where the value was given.
    pub(crate) origin: Option<Origin>,
    /// Which setting, such as `limits.parts_per_message`; empty for the whole.
    pub(crate) path: String,
    /// What is wrong and what to write, as the rest of a sentence.
    pub(crate) text: String,
}

/// Where a value was given; the order is that in which people look.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Origin {
    /// In the file of that name, in that line, counted from 1.
    Line(String, usize),
    /// By that environment variable.
    Variable(String),
}

impl Fault {
    pub(crate) fn of(path: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            origin: None,
            path: path.into(),
            text: text.into(),
        }
    }
}

impl Faults {
    /// The same, in the order of the places.
    pub(crate) fn in_order(mut self) -> Self {
        self.0.sort_by(|one, other| one.origin.cmp(&other.origin));
        self
    }

    /// What is wrong, in the order of the file, then of the variables.
    pub fn iter(&self) -> impl Iterator<Item = &Fault> {
        self.0.iter()
    }

    pub(crate) fn or<T>(faults: Vec<Fault>, value: T) -> Result<T, Self> {
        if faults.is_empty() {
            Ok(value)
        } else {
            Err(Self(faults))
        }
    }
}

impl From<Fault> for Faults {
    fn from(fault: Fault) -> Self {
        Self(vec![fault])
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(file, line) => write!(f, "{file}:{line}"),
            Self::Variable(name) => f.write_str(name),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(origin) = &self.origin {
            write!(f, "{origin}: ")?;
        }
        if !self.path.is_empty() {
            write!(f, "{} ", self.path)?;
        }
        f.write_str(&self.text)
    }
}

impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, fault) in self.0.iter().enumerate() {
            let line_break = if index == 0 { "" } else { "\n" };
            write!(f, "{line_break}{fault}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Faults {}
