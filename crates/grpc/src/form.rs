//! In which version a call is answered, and by which table of errors.

use gateway_domain::{Error, ErrorKind, Operation, Version};
use gateway_wire::{
    errors::Edition,
    operations::Row,
    v0_3::{Terms, terms},
};
use tonic::Status;

use crate::status::to_status;

/// The form of an answer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Form {
    /// Whose messages are sent.
    pub(crate) version: Version,
    operation: Option<Operation>,
    edition: Edition,
}

impl Form {
    /// The form of answers to a row's method, or to a path that means nothing. `edition` is for callers of 1.0.
    pub(crate) fn of(row: Option<&Row>, edition: Edition) -> Self {
        Self {
            version: row.map(|row| row.version).unwrap_or_default(),
            operation: row.map(|row| row.operation),
            edition,
        }
    }

    /// An error as this caller is told it. One whose version is not served is told in the form of 1.0: nobody knows
    /// its own.
    pub(crate) fn status(self, error: &Error) -> Status {
        match (self.version, self.operation) {
            (Version::V0_3, Some(operation)) if error.kind() != ErrorKind::VersionNotSupported => {
                to_status(&terms(error.clone(), operation, Terms::Proto), Edition::V0_3)
            }
            _ => to_status(error, self.edition),
        }
    }
}
