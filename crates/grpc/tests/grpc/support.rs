//! A gateway that answers as the test says, and clients of it without a network.

use std::{convert::Infallible, future, sync::Arc};

use bytes::{BufMut, Bytes, BytesMut};
use futures::{StreamExt, stream};
use gateway_domain::{
    Actor, ContextId, Error, Outcome, Principal, Reply, Request, SharedEvent, StreamResponse, TaskId,
    TaskSnapshot, TaskState, TaskStatus, Timestamp, Version,
    cursor::Cursor,
    event::TaskStatusUpdateEvent,
    reply::{Body, EventStream, StreamItem},
};
use gateway_edge::RequestContext;
use gateway_grpc::{Health, Settings, service};
use gateway_pipeline::{Call, Gateway, Head};
use http::{HeaderMap, StatusCode};
use http_body_util::BodyExt;
use prost::Message;
use tonic::{Status, service::AxumBody};
use tower::{ServiceExt, util::BoxCloneSyncService};

/// What a client calls.
pub(crate) type Channel =
    BoxCloneSyncService<http::Request<tonic::body::Body>, http::Response<AxumBody>, Infallible>;

/// A gateway that reads every payload and lets `answer` say the rest.
pub(crate) fn gateway<F>(answer: F) -> Gateway
where
    F: Fn(Head, Result<Request, Error>) -> Result<Reply, Error> + Clone + Send + Sync + 'static,
{
    BoxCloneSyncService::new(tower::service_fn(move |call: Call| {
        let request = call.payload.decode(call.head.names.unwrap_or(Version::V1_0));
        future::ready(answer(call.head, request))
    }))
}

/// A gateway that gives the same answer whatever is asked, if it can be read.
pub(crate) fn answering(body: impl Fn() -> Body + Clone + Send + Sync + 'static) -> Gateway {
    gateway(move |_, request| request.map(|_| reply(body())))
}

pub(crate) fn reply(body: Body) -> Reply {
    Reply {
        body,
        outcome: Outcome::Found,
        activated: Vec::new(),
    }
}

/// The binding of a listener as a client sees it.
pub(crate) async fn listener(gateway: Gateway, actor: Actor, settings: Settings) -> (Channel, Health) {
    let (server, health) = service(gateway, actor, settings).await;
    let channel = tower::service_fn(move |request: http::Request<tonic::body::Body>| {
        let mut request = request.map(AxumBody::new);
        request.extensions_mut().insert(RequestContext {
            request_id: "request-1".into(),
            principal: Arc::new(Principal::anonymous(actor)),
        });
        server.clone().oneshot(request)
    });
    (BoxCloneSyncService::new(channel), health)
}

/// The clients' listener with usual settings.
pub(crate) async fn clients(gateway: Gateway) -> Channel {
    listener(gateway, Actor::Client, Settings::default()).await.0
}

/// An answer as it stands on the wire.
pub(crate) struct Answer {
    pub(crate) http: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    /// From the trailers, or from the headers of a response that has none.
    pub(crate) status: Option<Status>,
}

/// Sends a body as it is.
pub(crate) async fn send(channel: &Channel, request: http::Request<Bytes>) -> Answer {
    let request = request.map(|body| tonic::body::Body::new(http_body_util::Full::new(body)));
    let (parts, body) = channel.clone().oneshot(request).await.unwrap().into_parts();
    let body = body.collect().await.unwrap();
    let status = Status::from_header_map(body.trailers().unwrap_or(&parts.headers));
    Answer {
        http: parts.status,
        headers: parts.headers,
        body: body.to_bytes(),
        status,
    }
}

/// A call as clients make it, with the body to be chosen.
pub(crate) fn call(path: &str, body: impl Into<Bytes>) -> http::Request<Bytes> {
    http::Request::post(path)
        .version(http::Version::HTTP_2)
        .header("content-type", "application/grpc")
        .header("te", "trailers")
        .body(body.into())
        .unwrap()
}

pub(crate) fn framed(message: &[u8]) -> Bytes {
    let mut frame = BytesMut::from([0].as_slice());
    frame.put_u32(u32::try_from(message.len()).unwrap());
    frame.put_slice(message);
    frame.freeze()
}

/// Reads the messages of a body.
pub(crate) fn messages<M: Message + Default>(mut body: &[u8]) -> Vec<M> {
    let mut messages = Vec::new();
    while let Some((prefix, rest)) = body.split_at_checked(5) {
        let length = u32::from_be_bytes(prefix[1..].try_into().unwrap());
        let (message, rest) = rest.split_at(usize::try_from(length).unwrap());
        messages.push(M::decode(message).unwrap());
        body = rest;
    }
    messages
}

pub(crate) fn task(id: &str) -> TaskSnapshot {
    TaskSnapshot {
        id: TaskId::new(id),
        context_id: ContextId::new("context-1"),
        status: status(TaskState::Working),
        artifacts: Vec::new(),
        history: Vec::new(),
        metadata: None,
    }
}

pub(crate) fn status(state: TaskState) -> TaskStatus {
    TaskStatus {
        state,
        message: None,
        timestamp: Timestamp::from_millis(1_700_000_000_000).unwrap(),
    }
}

/// Events of a task: the task, then a status for each state.
pub(crate) fn events(states: &[TaskState]) -> Vec<SharedEvent> {
    let first = StreamResponse::Task(Arc::new(task("task-1")));
    let rest = states.iter().map(|state| {
        StreamResponse::StatusUpdate(Arc::new(TaskStatusUpdateEvent {
            task_id: TaskId::new("task-1"),
            context_id: ContextId::new("context-1"),
            status: status(*state),
            metadata: None,
        }))
    });
    std::iter::once(first).chain(rest).map(SharedEvent::new).collect()
}

/// The events as a stream, with an error behind them if there is one.
pub(crate) fn stream_of(events: Vec<SharedEvent>, error: Option<Error>) -> EventStream {
    let items = events.into_iter().zip(1..).map(|(event, revision)| {
        Ok(StreamItem {
            cursor: Some(Cursor { revision, mark: 7 }),
            event,
        })
    });
    stream::iter(items.collect::<Vec<_>>())
        .chain(stream::iter(error.map(Err)))
        .boxed()
}
