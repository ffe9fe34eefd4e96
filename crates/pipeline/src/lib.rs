//! One tower stack for every call, whatever binding it came over.
//!
//! A binding reads its envelope and makes a [`Call`]; the [`stack`](stack::stack) checks it and hands it to the domain.
//! The pipeline has never heard of headers, paths or status codes, and knows of a binding only its name.

mod authorize;
pub mod call;
mod deadline;
mod decode;
mod dispatch;
mod extensions;
pub mod limits;
pub mod observe;
pub mod stack;
mod tenant;
mod version;

pub use call::{Call, Head, Payload, RequestedVersion};
pub use observe::{Observer, Record, StreamEnd};
pub use stack::{Gateway, Settings, stack};
pub use version::Versions;
