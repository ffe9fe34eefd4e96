//! Identities. Each is a type of its own, so that a tenant cannot be passed where a task id is wanted.
//!
//! An id may be empty or malformed until [`request`](crate::request) has validated it; everything that the
//! service or a store returns has passed that check.

use std::{borrow::Cow, fmt, sync::Arc};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The longest id taken, in bytes.
pub const MAX_ID_BYTES: usize = 256;

/// Says what is wrong with an id: 1 to [`MAX_ID_BYTES`] bytes, no control characters.
pub fn id_fault(id: &str) -> Option<&'static str> {
    if id.is_empty() {
        Some("is required")
    } else if id.len() > MAX_ID_BYTES {
        Some("must be at most 256 bytes long")
    } else if id.chars().any(char::is_control) {
        Some("must not contain control characters")
    } else {
        None
    }
}

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Arc<str>);

        impl $name {
            /// Names something; the text is taken as it is.
            pub fn new(text: impl Into<Arc<str>>) -> Self {
                Self(text.into())
            }
            /// The text of the id.
            pub fn as_str(&self) -> &str {
                &self.0
            }
            /// The id, or nothing where the text is empty: an empty string is an absent field in ProtoJSON.
            pub fn optional(text: impl AsRef<str> + Into<Arc<str>>) -> Option<Self> {
                (!text.as_ref().is_empty()).then(|| Self(text.into()))
            }
        }
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}({:?})", stringify!($name), &*self.0)
            }
        }
        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
                s.serialize_str(&self.0)
            }
        }
        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
                Ok(Self(Cow::<str>::deserialize(d)?.into()))
            }
        }
    };
}

id!(
    /// Identity of a task; the server makes it, a client never does (§3.4.2).
    TaskId
);
id!(
    /// Groups the tasks of one conversation (§3.4.1).
    ContextId
);
id!(
    /// Identity of a message as its sender made it; unique only by the sender's discipline (§4.1.4).
    MessageId
);
id!(
    /// Identity of an artifact within its task (§4.1.7).
    ArtifactId
);
id!(
    /// What a client calls one of a task's push-notification configurations.
    PushNotificationConfigId
);
id!(
    /// Identity of a stored push-notification configuration.
    PushNotificationConfigRow
);
id!(
    /// The opaque routing value of §8.3.2: selects the agent and bounds what can be seen.
    Tenant
);
id!(
    /// Who an authenticated caller is, as its authenticator names it.
    Subject
);
id!(
    /// Which of a deployment's gateways; made anew at each start.
    ReplicaId
);
