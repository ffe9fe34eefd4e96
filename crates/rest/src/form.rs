//! In which version an answer is given, in which media type, and by which table of errors.

use gateway_domain::{Error, ErrorKind, Operation, Version};
use gateway_wire::{
    errors::{Edition, Row},
    operations::PATH_0_3,
    params::{self, media_type::JSON},
    v0_3::{Terms, terms},
};
use http::{HeaderMap, HeaderName};

use crate::media::{self, MediaType};

/// The form of an answer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Form {
    /// Whose JSON is written.
    pub(crate) version: Version,
    /// What is answered, where it is known.
    pub(crate) operation: Option<Operation>,
    media_type: MediaType,
    edition: Edition,
}

impl Form {
    /// The form of answers of 1.0 to a request with these headers, and of errors that no operation is known for.
    pub(crate) fn new(headers: &HeaderMap, edition: Edition) -> Self {
        Self {
            version: Version::V1_0,
            operation: None,
            media_type: media::of_reply(headers),
            edition,
        }
    }

    /// The same for answers of a version.
    pub(crate) fn of(self, version: Version, operation: Option<Operation>) -> Self {
        Self {
            version,
            operation,
            ..self
        }
    }

    /// The media type of a document. 0.3 knows one.
    pub(crate) fn media_type(self) -> MediaType {
        match self.version {
            Version::V1_0 => self.media_type,
            Version::V0_3 => JSON,
        }
    }

    /// The header in which extensions are told.
    pub(crate) fn extensions(self) -> HeaderName {
        extensions(self.version)
    }

    /// The form in which an error is told. One whose version is not served is told in that of 1.0: nobody knows the
    /// caller's own.
    pub(crate) fn of_error(self, error: &Error) -> Self {
        match error.kind() {
            ErrorKind::VersionNotSupported => self.of(Version::V1_0, None),
            _ => self,
        }
    }

    /// The numbers of an error.
    pub(crate) fn row(self, error: &Error) -> &'static Row {
        match self.version {
            Version::V1_0 => self.edition.row_of(error),
            Version::V0_3 => Edition::V0_3.row_of(error),
        }
    }

    /// The text of an error, with the names of fields that callers of 0.3 know.
    pub(crate) fn text(self, error: &Error) -> String {
        match (self.version, self.operation) {
            (Version::V0_3, Some(operation)) => {
                terms(error.clone(), operation, Terms::Proto).message().to_owned()
            }
            _ => error.message().to_owned(),
        }
    }
}

/// The header in which extensions are declared and told.
pub(crate) fn extensions(version: Version) -> HeaderName {
    HeaderName::from_static(params::extensions(version).header)
}

/// The version that a path is of, as far as its beginning tells: for what is refused before routes are looked at.
pub(crate) fn version_of(path: &str) -> Version {
    if path.split('/').skip(1).take(2).any(|segment| segment == PATH_0_3) {
        Version::V0_3
    } else {
        Version::V1_0
    }
}
