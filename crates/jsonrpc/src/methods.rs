//! The methods of a listener, made from the one operation table. Those with one answer are jsonrpsee's methods; those
//! with a stream of answers are not, since jsonrpsee's streams have a shape of their own.

use gateway_domain::{Actor, Error, ErrorKind, Operation};
use gateway_pipeline::Gateway;
use gateway_wire::operations;
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
    Unary(Operation, &'a AsyncMethod<'static>),
    /// A method with a stream of answers.
    Streaming(Operation),
    /// No method of this listener.
    Unknown,
}

impl Meaning<'_> {
    pub(crate) fn operation(&self) -> Option<Operation> {
        match self {
            Self::Unary(operation, _) | Self::Streaming(operation) => Some(*operation),
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
            (Some(operation), Some(MethodCallback::Async(method))) => Meaning::Unary(operation, method),
            // What is registered below and what streams is all there is.
            (Some(operation), _) => Meaning::Streaming(operation),
            (None, _) => Meaning::Unknown,
        }
    }

    /// The answer to a name that means nothing here.
    pub(crate) fn unknown(&self, name: &str) -> Error {
        let name: String = name.chars().take(SHOWN_CHARS).collect();
        let known = rows(self.actor)
            .map(|row| row.jsonrpc)
            .collect::<Vec<_>>()
            .join(", ");
        let text = format!("there is no method {name:?}; the methods are {known}");
        Error::new(ErrorKind::MethodNotFound, text)
    }
}

fn rows(actor: Actor) -> impl Iterator<Item = &'static operations::Row> {
    const ROWS: &[operations::Row] = &operations::TABLE;
    ROWS.iter().filter(move |row| row.operation.actor() == actor)
}

fn register(actor: Actor, gateway: &Gateway) -> Result<server::Methods, RegisterMethodError> {
    let mut module = RpcModule::new(gateway.clone());
    for row in rows(actor).filter(|row| !row.operation.is_streaming()) {
        module.register_async_method(row.jsonrpc, |_, gateway, extensions| {
            unary::method(gateway, extensions)
        })?;
    }
    Ok(module.into())
}
