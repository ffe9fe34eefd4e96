//! The parameters of a call on their way to a request.

use gateway_domain::{Error, ErrorKind, Operation, Request, Version, json::Unique, request};
use gateway_edge::HeldBytes;
use gateway_pipeline::Payload;

use crate::envelope::Params;

/// Parameters that still stand in their body; it is let go once they are read.
pub(crate) struct Parameters {
    /// What they are for, or what is wrong with the call besides them.
    pub(crate) wanted: Result<Operation, Error>,
    pub(crate) body: HeldBytes,
    pub(crate) params: Params,
}

impl Payload for Parameters {
    /// The one version that is served has the domain's own notation.
    fn decode(self: Box<Self>, _version: Version) -> Result<Request, Error> {
        let operation = self.wanted?;
        match self.params {
            Params::Absent => request::from_json(operation, b"{}"),
            Params::Object(place) => read(operation, &self.body[place]),
            Params::Other => Err(Error::invalid("params", "must be an object")),
        }
    }
}

fn read(operation: Operation, json: &[u8]) -> Result<Request, Error> {
    request::from_json(operation, json).map_err(|error| ambiguous(json).unwrap_or(error))
}

/// A member that stands twice makes the request bad, not the member's value (RFC 8259 §4). Members that nobody reads
/// may stand twice: looking for them would cost every call what it costs to read it.
fn ambiguous(json: &[u8]) -> Option<Error> {
    let fault = serde_json::from_slice::<Unique>(json).err()?;
    let text = "an object in params names a member twice";
    fault
        .is_data()
        .then(|| Error::new(ErrorKind::InvalidRequest, text))
}
