//! The version rule (§3.6): a call is served in a version that this listener serves and whose names it uses, or not at
//! all.

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
            served: vec![Version::V1_0, Version::V0_3],
            assumed: Version::V0_3,
        }
    }
}

impl Versions {
    /// The version of a call whose envelope uses the names of `names`.
    fn choose(&self, requested: &RequestedVersion, names: Option<Version>) -> Result<Version, Error> {
        let text = one_of(requested)?;
        let version = if text.is_empty() {
            Some(self.assumed)
        } else {
            Version::parse(text)
        };
        let version = version
            .filter(|version| self.served.contains(version))
            .ok_or_else(|| self.not_served(text, names))?;
        match names {
            Some(names) if names != version => Err(self.other_names(text, version, names)),
            _ => Ok(version),
        }
    }

    fn not_served(&self, text: &str, names: Option<Version>) -> Error {
        // Where the names are of a version that is served, that is the one the caller means.
        let meant = names.filter(|version| self.served.contains(version));
        let send = meant.or(self.served.first().copied()).unwrap_or_default();
        self.refusal(&format!(
            "{}; this interface serves {}: send the header or metadata A2A-Version: {}",
            self.said(text),
            self.served(),
            send.name()
        ))
    }

    fn other_names(&self, text: &str, version: Version, names: Version) -> Error {
        let (said, names_of) = (self.said(text), names.name());
        self.refusal(&if self.served.contains(&names) {
            format!(
                "{said}, but what it calls exists in version {names_of} only: send the header or metadata \
                 A2A-Version: {names_of}, or call it by its name of version {}",
                version.name()
            )
        } else {
            format!(
                "{said}, but what it calls exists in version {names_of} only, which this interface does not serve: \
                 call it by its name of version {}, with the header or metadata A2A-Version: {}",
                version.name(),
                version.name()
            )
        })
    }

    /// What the request says about its version.
    fn said(&self, text: &str) -> String {
        if text.is_empty() {
            let assumed = self.assumed.name();
            format!("the request names no version, which means {assumed}")
        } else {
            format!("the request asks for version {}", shown(text))
        }
    }

    fn served(&self) -> String {
        let names = self.served.iter().map(|version| version.name());
        names.collect::<Vec<_>>().join(", ")
    }

    fn refusal(&self, text: &str) -> Error {
        Error::new(ErrorKind::VersionNotSupported, text.to_owned())
            .with_metadata(metadata::SUPPORTED_VERSIONS, self.served())
            .outcome(Outcome::VersionNotSupported)
    }
}

/// The version that was sent, whichever way; both ways must agree.
fn one_of(requested: &RequestedVersion) -> Result<&str, Error> {
    let header = requested.header.as_deref().map(str::trim);
    let query = requested.query.as_deref().map(str::trim);
    match (header, query) {
        (Some(header), Some(query)) if !mean_the_same(header, query) => {
            let (header, query) = (shown(header), shown(query));
            let text = format!("is {header} in the header and {query} in the query; send one of them");
            Err(Error::invalid("A2A-Version", text))
        }
        (Some(text), _) | (None, Some(text)) => Ok(text),
        (None, None) => Ok(""),
    }
}

/// Patch numbers tell nothing apart.
fn mean_the_same(header: &str, query: &str) -> bool {
    header == query || (Version::parse(header).is_some() && Version::parse(header) == Version::parse(query))
}

/// What was sent, for people: its beginning.
fn shown(text: &str) -> String {
    let beginning: String = text.chars().take(32).collect();
    format!("{beginning:?}")
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
            Actor::Client => self.versions.choose(&call.head.version, call.head.names),
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
    use gateway_domain::{Error, ErrorKind, Version};

    use super::Versions;
    use crate::call::RequestedVersion;

    const OLD: Version = Version::V0_3;
    const NEW: Version = Version::V1_0;

    fn only(version: Version) -> Versions {
        Versions {
            served: vec![version],
            ..Versions::default()
        }
    }

    fn requested(header: Option<&str>, query: Option<&str>) -> RequestedVersion {
        RequestedVersion {
            header: header.map(Into::into),
            query: query.map(Into::into),
        }
    }

    fn choose(versions: &Versions, header: &str, names: Option<Version>) -> Result<Version, Error> {
        versions.choose(&requested(Some(header), None), names)
    }

    #[test]
    fn the_version_sent_is_served_or_refused() {
        use ErrorKind::{InvalidParams, VersionNotSupported};
        for (header, query, both, new_only) in [
            (Some("1.0"), None, Ok(NEW), Ok(NEW)),
            (Some(" 1.0 "), None, Ok(NEW), Ok(NEW)),
            (Some("1.0.7"), None, Ok(NEW), Ok(NEW)),
            (None, Some("1.0"), Ok(NEW), Ok(NEW)),
            (Some("1.0"), Some("1.0"), Ok(NEW), Ok(NEW)),
            (Some("1.0"), Some("1.0.0"), Ok(NEW), Ok(NEW)),
            (Some("1.0"), Some("0.3"), Err(InvalidParams), Err(InvalidParams)),
            (Some("2.0"), Some("2.1"), Err(InvalidParams), Err(InvalidParams)),
            (None, None, Ok(OLD), Err(VersionNotSupported)),
            (Some(""), None, Ok(OLD), Err(VersionNotSupported)),
            (None, Some(""), Ok(OLD), Err(VersionNotSupported)),
            (Some("0.3"), None, Ok(OLD), Err(VersionNotSupported)),
            (Some("0.3.0"), None, Ok(OLD), Err(VersionNotSupported)),
            (
                Some("2.0"),
                None,
                Err(VersionNotSupported),
                Err(VersionNotSupported),
            ),
            (
                Some("1"),
                None,
                Err(VersionNotSupported),
                Err(VersionNotSupported),
            ),
            (
                Some("1.0.x"),
                None,
                Err(VersionNotSupported),
                Err(VersionNotSupported),
            ),
        ] {
            for (versions, expected) in [(Versions::default(), both), (only(NEW), new_only)] {
                let chosen = versions.choose(&requested(header, query), None);
                let chosen = chosen.map_err(|error| error.kind());
                assert_eq!(chosen, expected, "{header:?} {query:?} {:?}", versions.served);
            }
        }
    }

    #[test]
    fn an_operator_may_assume_another_version() {
        let versions = Versions {
            assumed: NEW,
            ..Versions::default()
        };
        assert_eq!(choose(&versions, "", Some(NEW)).unwrap(), NEW);
        assert!(choose(&versions, "", Some(OLD)).is_err());
    }

    #[test]
    fn names_of_another_version_are_refused_with_both_versions_and_the_header_to_send() {
        for (header, names, said, send) in [
            ("", NEW, "no version, which means 0.3", "A2A-Version: 1.0"),
            ("0.3", NEW, "\"0.3\"", "A2A-Version: 1.0"),
            ("1.0", OLD, "\"1.0\"", "A2A-Version: 0.3"),
        ] {
            let error = choose(&Versions::default(), header, Some(names)).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::VersionNotSupported);
            for text in [said, send, "exists in version"] {
                assert!(error.message().contains(text), "{error}");
            }
            assert_eq!(error.facts()["supportedVersions"], "1.0, 0.3");
        }
    }

    #[test]
    fn names_of_a_version_that_is_not_served_are_refused_with_the_one_that_is() {
        for (served, header, names) in [(NEW, "1.0", OLD), (OLD, "", NEW), (OLD, "0.3", NEW)] {
            let error = choose(&only(served), header, Some(names)).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::VersionNotSupported);
            for text in [names.name(), &format!("A2A-Version: {}", served.name())] {
                assert!(error.message().contains(text), "{error}");
            }
        }
    }

    #[test]
    fn the_refusal_says_which_header_to_send() {
        let error = only(NEW).choose(&RequestedVersion::default(), None).unwrap_err();
        assert!(error.message().contains("A2A-Version: 1.0"), "{error}");
        // By its names a call says which of several versions it means.
        let error = choose(&Versions::default(), "2.0", Some(OLD)).unwrap_err();
        assert!(error.message().contains("A2A-Version: 0.3"), "{error}");
    }
}
