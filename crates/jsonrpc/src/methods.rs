//! The methods of a listener, made from the one operation table. Those with one answer are jsonrpsee's methods; those
//! with a stream of answers are not, since jsonrpsee's streams have a shape of their own.

use gateway_domain::{Actor, Error, ErrorKind, Version};
use gateway_pipeline::Gateway;
use gateway_wire::operations::{self, Row};
use jsonrpsee_core::{
    RegisterMethodError,
    server::{self, AsyncMethod, MethodCallback, RpcModule},
};

use crate::unary;

/// So much of an unknown method's name is told back.
const SHOWN_CHARS: usize = 64;

/// The methods of one kind of caller.
pub(crate) struct Methods {
    actor: Actor,
    unary: server::Methods,
}

/// What a method's name means.
pub(crate) enum Meaning<'a> {
    /// A method with one answer.
    Unary(&'static Row, &'a AsyncMethod<'static>),
    /// A method with a stream of answers.
    Streaming(&'static Row),
    /// No method of this listener.
    Unknown,
}

impl Meaning<'_> {
    /// The names among which the method's is, which say its version.
    pub(crate) fn row(&self) -> Option<&'static Row> {
        match self {
            Self::Unary(row, _) | Self::Streaming(row) => Some(row),
            Self::Unknown => None,
        }
    }
}

impl Methods {
    /// Those that a kind of caller may know of.
    pub(crate) fn of(actor: Actor, gateway: &Gateway) -> Self {
        let unary = register(actor, gateway).expect("the operation table has each name once per listener");
        Self { actor, unary }
    }

    pub(crate) fn find(&self, name: &str) -> Meaning<'_> {
        match (operations::by_jsonrpc(self.actor, name), self.unary.method(name)) {
            (Some(row), Some(MethodCallback::Async(method))) => Meaning::Unary(row, method),
            // What is registered below and what streams is all there is.
            (Some(row), _) => Meaning::Streaming(row),
            (None, _) => Meaning::Unknown,
        }
    }
}

/// The answer to a name that means nothing to a kind of caller in any version.
pub(crate) fn unknown(actor: Actor, version: Version, name: &str) -> Error {
    let name: String = name.chars().take(SHOWN_CHARS).collect();
    let known = operations::rows_of(actor)
        .filter(|row| row.version == version)
        .map(|row| row.jsonrpc)
        .collect::<Vec<_>>()
        .join(", ");
    let text = format!("there is no method {name:?}; the methods are {known}");
    Error::new(ErrorKind::MethodNotFound, text)
}

fn register(actor: Actor, gateway: &Gateway) -> Result<server::Methods, RegisterMethodError> {
    let mut module = RpcModule::new(gateway.clone());
    for row in operations::rows_of(actor).filter(|row| !row.operation.is_streaming()) {
        module.register_async_method(row.jsonrpc, |_, gateway, extensions| {
            unary::method(gateway, extensions)
        })?;
    }
    Ok(module.into())
}
