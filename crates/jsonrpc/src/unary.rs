//! A method with one answer. jsonrpsee looks it up, runs it and writes its errors; the call, its result and what goes
//! beside the answer pass through its extensions, since its own parameters and errors can't carry them, and since it
//! would read every result that it has written once more.

use std::sync::{Arc, Mutex, PoisonError};

use gateway_domain::{
    AgentCard, Error, Reply, TaskPushNotificationConfig, TaskSnapshot, Version,
    reply::{AllConfigsPage, AllTasksPage, Body, ConfigPage, Sent, TaskPage},
};
use gateway_edge::Response;
use gateway_pipeline::{Call, Gateway};
use gateway_wire::{operations::Row, v0_3::kind};
use http::Extensions;
use jsonrpsee_core::server::{AsyncMethod, ConnectionId};
use jsonrpsee_types::{ErrorObjectOwned, Id as NoId, Params as NoParams};
use serde::Serialize;
use tower::ServiceExt;

use crate::{
    envelope::Id,
    respond::{self, Beside},
};

/// Runs a method that goes by one of these names.
pub(crate) async fn call(method: &AsyncMethod<'static>, id: &Id, call: Call, row: &'static Row) -> Response {
    let exchange = Exchange::of(call, row);
    let mut extensions = Extensions::new();
    extensions.insert(exchange.clone());
    // The id is added when the answer is addressed: jsonrpsee's hold no negative or broken numbers. Parameters would
    // be copied. A bound on the answer's size would be told by a code that A2A gives another meaning.
    let (no_id, no_params, no_bound) = (NoId::Null, NoParams::new(None), usize::MAX);
    let answer = method(no_id, no_params, ConnectionId(0), no_bound, extensions).await;
    match exchange.result() {
        (Some(result), beside) => respond::result(id, &result, beside),
        (None, beside) => respond::addressed(id, answer.as_ref(), beside, row),
    }
}

/// What each method does: the call says which it is.
pub(crate) async fn method(gateway: Arc<Gateway>, extensions: Extensions) -> Result<(), ErrorObjectOwned> {
    let exchange = extensions.get::<Exchange>().cloned().unwrap_or_default();
    let (call, row) = exchange.take();
    let version = row.map_or(Version::V1_0, |row| row.version);
    let reply = match call {
        Some(call) => Gateway::clone(&gateway).oneshot(call).await,
        None => Err(respond::broken("a JSON-RPC method ran without a call")),
    };
    match reply.and_then(|Reply { body, activated, .. }| Ok((written(body, version)?, activated))) {
        Ok((result, activated)) => {
            exchange.put(Some(result), Beside::reply(&activated, version));
            Ok(())
        }
        Err(error) => {
            exchange.put(None, Beside::error(&error, row));
            Err(respond::error_object(&error, row))
        }
    }
}

/// The result in the notation of a version.
fn written(body: Body, version: Version) -> Result<Vec<u8>, Error> {
    match version {
        Version::V1_0 => Ok(serde_json::to_vec(&Answer::of(body)?).expect("every answer has names for keys")),
        Version::V0_3 => kind::result(&body),
    }
}

/// What one call and its answer leave for each other.
#[derive(Clone, Default)]
struct Exchange(Arc<Mutex<Halves>>);

#[derive(Default)]
struct Halves {
    call: Option<Call>,
    row: Option<&'static Row>,
    result: Option<Vec<u8>>,
    beside: Beside,
}

impl Exchange {
    fn of(call: Call, row: &'static Row) -> Self {
        let (call, row) = (Some(call), Some(row));
        Self(Arc::new(Mutex::new(Halves {
            call,
            row,
            ..Halves::default()
        })))
    }

    fn take(&self) -> (Option<Call>, Option<&'static Row>) {
        self.with(|halves| (halves.call.take(), halves.row))
    }

    fn put(&self, result: Option<Vec<u8>>, beside: Beside) {
        self.with(|halves| (halves.result, halves.beside) = (result, beside));
    }

    /// The result, where it is no error, and what goes beside it.
    fn result(&self) -> (Option<Vec<u8>>, Beside) {
        self.with(|halves| (halves.result.take(), std::mem::take(&mut halves.beside)))
    }

    fn with<T>(&self, with: impl FnOnce(&mut Halves) -> T) -> T {
        with(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The result of a method, as it is written.
#[derive(Serialize)]
#[serde(untagged)]
enum Answer {
    Sent(Sent),
    Task(TaskSnapshot),
    Tasks(TaskPage),
    Config(TaskPushNotificationConfig),
    Configs(ConfigPage),
    /// An empty object: `google.protobuf.Empty`.
    Deleted {},
    Card(Arc<AgentCard>),
    AllTasks(AllTasksPage),
    AllConfigs(AllConfigsPage),
}

impl Answer {
    fn of(body: Body) -> Result<Self, Error> {
        Ok(match body {
            Body::Sent(sent) => Self::Sent(sent),
            Body::Task(task) => Self::Task(task),
            Body::Tasks(page) => Self::Tasks(page),
            Body::Config(config) => Self::Config(config),
            Body::Configs(page) => Self::Configs(page),
            Body::Deleted => Self::Deleted {},
            Body::Card(card) => Self::Card(card),
            Body::AllTasks(page) => Self::AllTasks(page),
            Body::AllConfigs(page) => Self::AllConfigs(page),
            Body::Stream(_) => return Err(respond::broken("a stream answered a method that has one answer")),
        })
    }
}
