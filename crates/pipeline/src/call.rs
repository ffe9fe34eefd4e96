//! A call on its way through the stack. Each layer that finds something out hands on a richer type, so that the
//! layers can stand in one order only.

use std::{
    fmt,
    sync::{Arc, OnceLock},
    time::Instant,
};

use gateway_domain::{
    Binding, Error, Operation, Principal, Request, TaskId, Tenant, Version, directory::ServedAgent,
    resume::SentCursor,
};

/// One request, with its parameters not yet read.
pub struct Call {
    /// What the envelope says.
    pub head: Head,
    /// The parameters.
    pub payload: Box<dyn Payload>,
}

/// What a binding reads from its envelope.
#[derive(Debug, Clone)]
pub struct Head {
    /// Which binding; a label.
    pub binding: Binding,
    /// What is asked for; nothing where the binding does not know it, and then the payload says so.
    pub operation: Option<Operation>,
    /// The version, as sent.
    pub version: RequestedVersion,
    /// The version whose names the envelope uses: its path, method or service. Nothing where they are of no version.
    pub names: Option<Version>,
    /// The extensions, as sent.
    pub extensions: Arc<[String]>,
    /// Where a stream is to go on, as sent.
    pub cursor: Option<SentCursor>,
    /// The tenant, where the envelope names one.
    pub tenant: Option<Tenant>,
    /// Who calls.
    pub principal: Arc<Principal>,
    /// When the caller stops waiting.
    pub deadline: Option<Instant>,
    /// Under which the operator finds the call in the log.
    pub request_id: Arc<str>,
    /// What layers find out for the log.
    pub facts: Arc<Facts>,
}

/// `A2A-Version` as it was sent (§3.6.2).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RequestedVersion {
    /// As service parameter.
    pub header: Option<String>,
    /// As query parameter.
    pub query: Option<String>,
}

/// Facts about a call that only inner layers know and only the outermost one needs.
#[derive(Debug, Default)]
pub struct Facts {
    /// The version served.
    pub version: OnceLock<Version>,
    /// The task named.
    pub task: OnceLock<TaskId>,
    /// The tenant, once it is known to be served.
    pub tenant: OnceLock<Tenant>,
}

/// Parameters that become a request once the version is known.
pub trait Payload: Send {
    /// Reads and validates the parameters.
    ///
    /// # Errors
    /// InvalidParams, ParseError, UnsupportedMediaType, MethodNotFound, MethodNotAllowed.
    fn decode(self: Box<Self>, version: Version) -> Result<Request, Error>;
}

impl<F: FnOnce(Version) -> Result<Request, Error> + Send> Payload for F {
    fn decode(self: Box<Self>, version: Version) -> Result<Request, Error> {
        self(version)
    }
}

impl fmt::Debug for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call")
            .field("head", &self.head)
            .finish_non_exhaustive()
    }
}

/// A call whose version is served.
pub(crate) struct Versioned {
    pub(crate) call: Call,
    pub(crate) version: Version,
}

/// A call whose parameters are valid.
pub(crate) struct Decoded {
    pub(crate) head: Head,
    pub(crate) operation: Operation,
    pub(crate) request: Request,
}

/// A call whose tenant is served.
pub(crate) struct Routed {
    pub(crate) head: Head,
    pub(crate) operation: Operation,
    pub(crate) request: Request,
    pub(crate) agent: Arc<ServedAgent>,
}
