//! The version rule (§3.6): a call is served in a version that this listener serves, or not at all.

use std::{
    future::{Ready, ready},
    task::{Context, Poll},
};

use futures::future::Either;
use gateway_domain::{Actor, Error, ErrorKind, Outcome, Reply, Version, error::metadata};
use tower::Service;

use crate::call::{Call, RequestedVersion, Versioned};

/// The versions of a listener.
#[derive(Debug, Clone)]
pub struct Versions {
    /// Served, the preferred one first.
    pub served: Vec<Version>,
    /// What a call without a version means.
    pub assumed: Version,
}

impl Default for Versions {
    fn default() -> Self {
        Self {
            served: vec![Version::V1_0],
            assumed: Version::V0_3,
        }
    }
}

impl Versions {
    fn choose(&self, requested: &RequestedVersion) -> Result<Version, Error> {
        let text = one_of(requested)?;
        let version = if text.is_empty() {
            Some(self.assumed)
        } else {
            Version::parse(text)
        };
        version
            .filter(|version| self.served.contains(version))
            .ok_or_else(|| self.refusal(text))
    }

    fn refusal(&self, text: &str) -> Error {
        let served = self
            .served
            .iter()
            .map(|version| version.name())
            .collect::<Vec<_>>()
            .join(", ");
        let send = self.served.first().map_or("", |version| version.name());
        let said = if text.is_empty() {
            format!(
                "the request names no version, which means {}",
                self.assumed.name()
            )
        } else {
            format!(
                "version {:?} was asked for",
                text.chars().take(32).collect::<String>()
            )
        };
        let text = format!(
            "{said}; this interface serves {served}: send the header or metadata A2A-Version: {send}"
        );
        Error::new(ErrorKind::VersionNotSupported, text)
            .with_metadata(metadata::SUPPORTED_VERSIONS, served)
            .outcome(Outcome::VersionNotSupported)
    }
}

/// The version that was sent, whichever way; both ways must agree.
fn one_of(requested: &RequestedVersion) -> Result<&str, Error> {
    let header = requested.header.as_deref().map(str::trim);
    let query = requested.query.as_deref().map(str::trim);
    match (header, query) {
        (Some(header), Some(query)) if header != query => {
            let text = format!("is {header:?} in the header and {query:?} in the query; send one of them");
            Err(Error::invalid("A2A-Version", text))
        }
        (Some(text), _) | (None, Some(text)) => Ok(text),
        (None, None) => Ok(""),
    }
}

/// The layer.
#[derive(Clone)]
pub(crate) struct VersionRule<S> {
    inner: S,
    versions: Versions,
}

impl<S> VersionRule<S> {
    pub(crate) fn new(inner: S, versions: Versions) -> Self {
        Self { inner, versions }
    }
}

impl<S: Service<Versioned, Response = Reply, Error = Error>> Service<Call> for VersionRule<S> {
    type Response = Reply;
    type Error = Error;
    type Future = Either<S::Future, Ready<Result<Reply, Error>>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, call: Call) -> Self::Future {
        // The agent side is ours and has one version.
        let version = match call.head.principal.actor {
            Actor::Agent => Ok(Version::V1_0),
            Actor::Client => self.versions.choose(&call.head.version),
        };
        match version {
            Ok(version) => {
                // Set once per call: the facts were made with it.
                let _ = call.head.facts.version.set(version);
                Either::Left(self.inner.call(Versioned { call, version }))
            }
            Err(error) => Either::Right(ready(Err(error))),
        }
    }
}

#[cfg(test)]
mod tests {
    use gateway_domain::{ErrorKind, Version};

    use super::Versions;
    use crate::call::RequestedVersion;

    fn choose(header: Option<&str>, query: Option<&str>, assumed: Version) -> Result<Version, ErrorKind> {
        let versions = Versions {
            assumed,
            ..Versions::default()
        };
        let requested = RequestedVersion {
            header: header.map(Into::into),
            query: query.map(Into::into),
        };
        versions.choose(&requested).map_err(|error| error.kind())
    }

    #[test]
    fn the_version_sent_is_served_or_refused() {
        use ErrorKind::{InvalidParams, VersionNotSupported};
        for (header, query, expected) in [
            (Some("1.0"), None, Ok(Version::V1_0)),
            (Some(" 1.0 "), None, Ok(Version::V1_0)),
            (Some("1.0.7"), None, Ok(Version::V1_0)),
            (None, Some("1.0"), Ok(Version::V1_0)),
            (Some("1.0"), Some("1.0"), Ok(Version::V1_0)),
            (Some("1.0"), Some("0.3"), Err(InvalidParams)),
            (None, None, Err(VersionNotSupported)),
            (Some(""), None, Err(VersionNotSupported)),
            (Some("0.3"), None, Err(VersionNotSupported)),
            (Some("2.0"), None, Err(VersionNotSupported)),
            (Some("1"), None, Err(VersionNotSupported)),
            (Some("1.0.x"), None, Err(VersionNotSupported)),
        ] {
            assert_eq!(
                choose(header, query, Version::V0_3),
                expected,
                "{header:?} {query:?}"
            );
        }
    }

    #[test]
    fn an_operator_may_assume_another_version() {
        assert_eq!(choose(None, None, Version::V1_0), Ok(Version::V1_0));
    }

    #[test]
    fn the_refusal_says_which_header_to_send() {
        let error = Versions::default()
            .choose(&RequestedVersion::default())
            .unwrap_err();
        assert!(error.message().contains("A2A-Version: 1.0"), "{error}");
    }
}
