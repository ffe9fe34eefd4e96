//! Names of what travels beside a payload: service parameters (§3.2.6), headers of webhooks, media types.

use gateway_domain::Version;

/// A service parameter. HTTP headers and gRPC metadata know no case, query parameters do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parameter {
    /// As the specification writes it; also its name in a query.
    pub name: &'static str,
    /// The same in lower case: its name as a header and as gRPC metadata.
    pub header: &'static str,
}

/// The version of the protocol that the caller speaks (§3.6.1).
pub const VERSION: Parameter = Parameter {
    name: "A2A-Version",
    header: "a2a-version",
};

/// The extensions that the caller declares, and in answers those that are active: URIs with commas between them.
pub const EXTENSIONS: Parameter = Parameter {
    name: "A2A-Extensions",
    header: "a2a-extensions",
};

/// [`EXTENSIONS`] as version 0.3 calls it.
pub const EXTENSIONS_0_3: Parameter = Parameter {
    name: "X-A2A-Extensions",
    header: "x-a2a-extensions",
};

/// The extensions as a version calls them.
pub const fn extensions(version: Version) -> Parameter {
    match version {
        Version::V1_0 => EXTENSIONS,
        Version::V0_3 => EXTENSIONS_0_3,
    }
}

/// The cursor of the last event seen. In a query it has another name, since there it is written by hand.
pub const LAST_EVENT_ID: Parameter = Parameter {
    name: "lastEventId",
    header: "last-event-id",
};

/// Sent with a webhook call: the token of the configuration (§4.3.3).
pub const NOTIFICATION_TOKEN: Parameter = Parameter {
    name: "X-A2A-Notification-Token",
    header: "x-a2a-notification-token",
};

/// Media types of bodies.
pub mod media_type {
    /// A2A over HTTP+JSON, and webhook bodies (§11.1).
    pub const A2A_JSON: &str = "application/a2a+json";
    /// JSON-RPC, and A2A over HTTP+JSON where it is preferred.
    pub const JSON: &str = "application/json";
    /// Streams of either.
    pub const EVENT_STREAM: &str = "text/event-stream";
}

#[cfg(test)]
mod tests {
    use super::{EXTENSIONS, EXTENSIONS_0_3, NOTIFICATION_TOKEN, VERSION};

    #[test]
    fn a_header_is_the_name_in_lower_case() {
        for parameter in [VERSION, EXTENSIONS, EXTENSIONS_0_3, NOTIFICATION_TOKEN] {
            assert_eq!(parameter.header, parameter.name.to_ascii_lowercase());
        }
    }
}
