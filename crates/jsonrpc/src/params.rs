//! The parameters of a call on their way to a request.

use gateway_domain::{Actor, Error, ErrorKind, Operation, Request, Version, json::Unique, request};
use gateway_edge::HeldBytes;
use gateway_pipeline::Payload;
use gateway_wire::v0_3::kind;

use crate::{
    envelope::{self, Params},
    methods,
};

/// Parameters that still stand in their body; it is let go once they are read.
pub(crate) struct Parameters {
    pub(crate) wanted: Wanted,
    /// Whether there is no id that an answer could go to.
    pub(crate) lacks_id: bool,
    pub(crate) body: HeldBytes,
    pub(crate) params: Params,
}

/// What parameters are for, or what is wrong with the call besides them.
pub(crate) enum Wanted {
    Operation(Operation),
    /// A kind of caller has no method of this name.
    Unknown(Actor, String),
    Refused(Error),
}

impl Payload for Parameters {
    fn decode(self: Box<Self>, version: Version) -> Result<Request, Error> {
        if self.lacks_id && version == Version::V1_0 {
            return Err(envelope::without_id());
        }
        let operation = match self.wanted {
            Wanted::Operation(operation) => operation,
            Wanted::Unknown(actor, name) => return Err(methods::unknown(actor, version, &name)),
            Wanted::Refused(error) => return Err(error),
        };
        let json = match self.params {
            Params::Absent => &b"{}"[..],
            Params::Object(place) => &self.body[place],
            Params::Other => return Err(Error::invalid("params", "must be an object")),
        };
        let request = match version {
            // The domain's own notation.
            Version::V1_0 => request::from_json(operation, json),
            Version::V0_3 => kind::request(operation, json),
        };
        let request = request.map_err(|error| ambiguous(json).unwrap_or(error))?;
        if self.lacks_id {
            return Err(envelope::without_id());
        }
        Ok(request)
    }
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
