//! Version 0.3: its own vocabularies, to and from the same domain.
//!
//! What 0.3 cannot say is left out on the way out; the modules name it, and tests hold the list.

use gateway_domain::{Error, ErrorKind, Operation};

pub use terms::{Terms, terms};

pub mod card;
pub mod data;
pub mod decode;
pub mod encode;
pub mod json;
pub mod kind;
mod names;
mod request;
mod terms;

/// The refusal of an operation that a binding should not have found.
fn no_such_operation(operation: Operation) -> Error {
    let text = format!("version 0.3 has no operation {}", operation.name());
    Error::new(ErrorKind::MethodNotFound, text)
}
