//! What stands around a binding while it is tried: a gateway that reads every payload, and a runtime of one thread.

use std::{future::Future, sync::Arc};

use axum::body::Body;
use gateway_domain::{
    Actor, ContextId, Operation, Outcome, Principal, Reply, Request, TaskId, TaskSnapshot, TaskState,
    TaskStatus, Timestamp, Version, reply,
};
use gateway_edge::RequestContext;
use gateway_pipeline::{Call, Gateway};
use tower::util::BoxCloneSyncService;

/// A gateway that answers whatever it can read with a task, or with a stream without events.
pub fn gateway() -> Gateway {
    BoxCloneSyncService::new(tower::service_fn(|call: Call| async move {
        let operation = call.head.operation;
        let request = call.payload.decode(call.head.names.unwrap_or(Version::V1_0))?;
        let operation = operation.expect("a payload without an operation is never read");
        Ok(Reply {
            body: body(operation, request),
            outcome: Outcome::Found,
            activated: Vec::new(),
        })
    }))
}

fn body(operation: Operation, request: Request) -> reply::Body {
    if operation.is_streaming() {
        return reply::Body::Stream(Box::pin(futures::stream::empty()));
    }
    match request {
        Request::SendMessage(request) => reply::Body::Sent(reply::Sent::Message(Arc::new(request.message))),
        Request::CreateTaskPushNotificationConfig(request) => reply::Body::Config(request.config),
        Request::DeleteTaskPushNotificationConfig(_) => reply::Body::Deleted,
        _ => reply::Body::Task(task()),
    }
}

fn task() -> TaskSnapshot {
    TaskSnapshot {
        id: TaskId::new("t-1"),
        context_id: ContextId::new("c-1"),
        status: TaskStatus {
            state: TaskState::Working,
            message: None,
            timestamp: Timestamp::from_millis(1_700_000_000_000).unwrap(),
        },
        artifacts: Vec::new(),
        history: Vec::new(),
        metadata: None,
    }
}

/// A request as it comes from the front of its binding.
pub fn arrived(mut request: http::Request<Body>, actor: Actor) -> http::Request<Body> {
    request.extensions_mut().insert(RequestContext {
        request_id: "r-1".into(),
        principal: Arc::new(Principal::anonymous(actor)),
    });
    request
}

/// Runs a future to its end on this thread.
pub fn block_on<T>(future: impl Future<Output = T>) -> T {
    thread_local! {
        static RUNTIME: tokio::runtime::Runtime =
            tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    }
    RUNTIME.with(|runtime| runtime.block_on(future))
}

/// Reads a body to its end.
pub async fn whole(body: Body) -> Vec<u8> {
    axum::body::to_bytes(body, usize::MAX).await.unwrap().into()
}
