//! One meaning, three bindings: the same [`Ask`] over any of them gives an [`Answer`] of the same meaning.
//!
//! Parameters and answers are canonical A2A JSON. What a binding adds to a meaning (numbers, statuses, headers) is
//! kept beside it, so that a test can look at either.

mod answer;
mod drivers;
mod grpc;
mod jsonrpc;
mod protojson;
mod rest;
mod sse;
mod v0_3;

use async_trait::async_trait;
use gateway_domain::{Binding, Operation, Version};
use gateway_wire::{operations, params};
use serde_json::{Map, Value};

pub use answer::{Answer, Event, LiveStream, Refusal, Reply, Told, Violation};
pub use drivers::{Choice, Drivers};
pub use grpc::Grpc;
pub use jsonrpc::JsonRpc;
use protojson::{pool, to_dynamic, to_json};
pub use rest::Rest;
pub use sse::{SseEvent, SseReader};

/// Calls operations over one binding.
#[async_trait]
pub trait Driver: Send + Sync {
    /// Which binding.
    fn binding(&self) -> Binding;

    /// Makes a call.
    async fn call(&self, ask: &Ask) -> Answer;
}

/// A call.
#[derive(Debug, Clone)]
pub struct Ask {
    /// What is asked for.
    pub operation: Operation,
    /// The parameters, an object.
    pub params: Value,
    /// Whose token is shown; nothing shows none.
    pub caller: Option<String>,
    /// Whose names and notation are used. An operation that 0.3 does not have is called by 1.0 in any case.
    pub names: Version,
    /// `A2A-Version`; nothing sends none.
    pub version: Option<String>,
    /// `A2A-Extensions`.
    pub extensions: Vec<String>,
    /// The tenant, put where the binding has it: into the path over HTTP+JSON, else into the parameters.
    pub tenant: Option<String>,
    /// Further headers or metadata.
    pub headers: Vec<(String, String)>,
}

impl Ask {
    /// A call of version 1.0 by caller A.
    pub fn new(operation: Operation, params: Value) -> Self {
        Self {
            operation,
            params,
            caller: Some("A".to_owned()),
            names: Version::V1_0,
            version: Some(Version::V1_0.name().to_owned()),
            extensions: Vec::new(),
            tenant: None,
            headers: Vec::new(),
        }
    }

    /// The same call in a version, where that version has the operation.
    #[must_use]
    pub fn speaking(mut self, version: Version) -> Self {
        if operations::row_in(version, self.operation).is_some() {
            self.names = version;
            self.version = Some(version.name().to_owned());
        }
        self
    }

    /// The names of what is called.
    pub(crate) fn row(&self) -> &'static operations::Row {
        let row = operations::row_in(self.names, self.operation);
        row.expect("only what a version has is called by it")
    }

    /// The same by somebody else.
    #[must_use]
    pub fn by(mut self, caller: &str) -> Self {
        self.caller = Some(caller.to_owned());
        self
    }

    /// The same with a header or metadata more.
    #[must_use]
    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Every header or metadata entry of the call.
    pub(crate) fn service_parameters(&self) -> Vec<(String, String)> {
        let mut parameters = self.headers.clone();
        if let Some(caller) = &self.caller {
            parameters.push(("authorization".to_owned(), format!("Bearer {caller}")));
        }
        if let Some(version) = &self.version {
            parameters.push((params::VERSION.header.to_owned(), version.clone()));
        }
        if !self.extensions.is_empty() {
            let list = self.extensions.join(", ");
            parameters.push((params::extensions(self.names).header.to_owned(), list));
        }
        parameters
    }

    /// The parameters as an object, the tenant among them.
    pub(crate) fn params_with_tenant(&self) -> Value {
        let mut params = self.params.clone();
        if let (Some(tenant), Some(object)) = (&self.tenant, params.as_object_mut()) {
            object.insert("tenant".to_owned(), Value::String(tenant.clone()));
        }
        params
    }

    /// The parameters' members, for bindings that spread them.
    pub(crate) fn members(&self) -> Map<String, Value> {
        self.params.as_object().cloned().unwrap_or_default()
    }
}
