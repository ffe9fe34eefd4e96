//! The tasks domain of A2A: what a task is, what may happen to it, and who may see it.
//!
//! It knows tasks, messages, artifacts, cards, the lifecycle table, every command with its outcomes, errors by
//! meaning, and its ports as traits. Its types have one neutral notation: canonical A2A JSON by serde.
//! It has never heard of HTTP, gRPC, JSON-RPC, protobuf, Redis or a network.

pub mod artifact;
pub mod card;
pub mod cursor;
pub mod decide;
pub mod directory;
pub mod error;
pub mod event;
pub mod ids;
pub mod json;
pub mod lifecycle;
pub mod limits;
pub mod message;
pub mod notation;
pub mod operation;
pub mod outcome;
pub mod page;
pub mod ports;
pub mod principal;
pub mod push;
pub mod repeats;
pub mod reply;
pub mod request;
pub mod resume;
pub mod service;
pub mod tail;
pub mod task;
pub mod time;
pub mod work;

pub use artifact::Artifact;
pub use card::AgentCard;
pub use cursor::{Cursor, Revision};
pub use error::{Error, ErrorKind};
pub use event::{Entry, LogEntry, SharedEvent, StreamResponse};
pub use ids::{
    ArtifactId, ContextId, MessageId, PushNotificationConfigId, PushNotificationConfigRow, ReplicaId,
    Subject, TaskId, Tenant,
};
pub use limits::Limits;
pub use message::{Content, Message, Part, Role};
pub use operation::{Binding, Operation, Version};
pub use outcome::Outcome;
pub use principal::{Actor, Principal, Scope};
pub use push::{AuthenticationInfo, TaskPushNotificationConfig};
pub use reply::Reply;
pub use request::Request;
pub use service::Service;
pub use task::{TaskSnapshot, TaskState, TaskStatus};
pub use time::Timestamp;
