//! Protobuf to domain. Fails with InvalidParams that names every field without a form in the domain.
//!
//! Only form is judged here: whether a request makes sense is validated in the domain, where requests of every
//! binding pass. The empty string is absence, as it is everywhere in this protocol.

use std::fmt;

use gateway_domain::{Error, error::Violation};

pub use agent::{all_configs, all_tasks, report, update_artifact};
pub use card::agent_card;
pub use message::{artifact, message};
pub use push::{config, configs};
pub use request::{
    cancel_task, create_config, delete_config, get_config, get_extended_agent_card, get_task, list_configs,
    list_tasks, send_message, subscribe_to_task,
};
pub use task::{sent, stream_response, task, tasks};
pub(crate) use task::{state, timestamp};

mod agent;
mod card;
mod message;
mod push;
mod request;
mod task;
pub(crate) mod value;

/// Reads a whole message; nothing goes through once a fault was found.
pub(crate) fn whole<T>(read: impl FnOnce(&mut Faults, &At<'_>) -> Option<T>) -> Result<T, Error> {
    let mut faults = Faults::default();
    match read(&mut faults, &At::Root) {
        Some(value) if faults.0.is_empty() => Ok(value),
        _ => Err(Error::invalid_params(faults.0)),
    }
}

/// What was found wrong so far.
#[derive(Default)]
pub(crate) struct Faults(Vec<Violation>);

/// The most faults that one answer lists; a message may have as many as it has fields.
const MOST_FAULTS: usize = 100;

impl Faults {
    /// Notes a fault. Whoever does may go on with any value, since no value comes of it.
    pub(crate) fn add<T>(
        &mut self,
        at: &At<'_>,
        description: impl Into<std::borrow::Cow<'static, str>>,
    ) -> Option<T> {
        if self.0.len() < MOST_FAULTS {
            self.0.push(Violation {
                field: at.to_string().into(),
                description: description.into(),
            });
        }
        None
    }

    pub(crate) fn required<T>(&mut self, at: &At<'_>, value: Option<T>) -> Option<T> {
        value.or_else(|| self.add(at, "is required"))
    }
}

/// Where a reader is. Lives on the stack, so that a path costs nothing until there is a fault to name.
pub(crate) enum At<'a> {
    /// The request itself.
    Root,
    /// A field, by its JSON name.
    Field(&'a At<'a>, &'a str),
    /// A member of a repeated field.
    Item(&'a At<'a>, usize),
}

impl<'a> At<'a> {
    pub(crate) fn field(&'a self, name: &'a str) -> At<'a> {
        At::Field(self, name)
    }

    pub(crate) fn item(&'a self, index: usize) -> At<'a> {
        At::Item(self, index)
    }
}

impl fmt::Display for At<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            At::Root => Ok(()),
            At::Field(At::Root, name) => f.write_str(name),
            At::Field(parent, name) => write!(f, "{parent}.{name}"),
            At::Item(parent, index) => write!(f, "{parent}[{index}]"),
        }
    }
}

/// Reads the members of a repeated field, each at its place.
pub(crate) fn each<P, T>(
    items: Vec<P>,
    faults: &mut Faults,
    at: &At<'_>,
    read: impl Fn(P, &mut Faults, &At<'_>) -> Option<T>,
) -> Vec<T> {
    items
        .into_iter()
        .enumerate()
        .filter_map(|(index, item)| read(item, faults, &at.item(index)))
        .collect()
}

/// A text that may be absent.
pub(crate) fn non_empty(text: String) -> Option<String> {
    Some(text).filter(|text| !text.is_empty())
}
