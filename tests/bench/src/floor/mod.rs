//! A server that answers with canned bytes: what axum and tonic cost with no A2A logic behind them.
//!
//! Streams that the message text asks to hold are real: subscribers share a broadcast channel, and over HTTP an event
//! is written once for all of them, so that fan-out has a floor too.

mod notation;
mod script;

use std::{
    collections::HashMap,
    net::SocketAddr,
    pin::Pin,
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use anyhow::Result;
use axum::{
    body::Body,
    extract::{Path, State},
    response::{IntoResponse, Response},
    routing::{get, post},
    serve::ListenerExt,
};
use bytes::Bytes;
use futures_util::{Stream, StreamExt, stream};
use http::{StatusCode, header};
use redis::aio::MultiplexedConnection;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::{net::TcpListener, sync::broadcast};
use tokio_stream::wrappers::BroadcastStream;
use tonic::{Request, Status, transport::server::TcpIncoming};

use self::{
    notation::{event_json, event_pb, listed_json, listed_pb, task_json, task_pb},
    script::{Script, Step},
};
use crate::{
    pb,
    pb::a2a_service_server::{A2aService, A2aServiceServer},
};

/// An event, written once for all who read it over the same HTTP binding.
struct Event {
    id: Arc<str>,
    step: Step,
    written: [OnceLock<Bytes>; 2],
}

impl Event {
    fn new(id: &Arc<str>, step: Step) -> Arc<Self> {
        Arc::new(Event {
            id: id.clone(),
            step,
            written: Default::default(),
        })
    }

    fn sse(&self, rpc: bool) -> Bytes {
        let write = || sse_event(event_json(&self.id, &self.step), rpc);
        self.written[usize::from(rpc)].get_or_init(write).clone()
    }
}

type Events = Pin<Box<dyn Stream<Item = Arc<Event>> + Send>>;

struct Hub {
    next: AtomicU64,
    held: Mutex<HashMap<Arc<str>, broadcast::Sender<Arc<Event>>>>,
    task: Value,
    list: Value,
    grpc_list: pb::ListTasksResponse,
    /// Where the task lies that is read over HTTP+JSON, if not here.
    redis: Option<MultiplexedConnection>,
}

/// Its key there.
const REDIS_KEY: &str = "a2a-bench-floor-task";

const CANNED_ID: &str = "11111111-2222-3333-4444-555555555555";

impl Hub {
    fn new(redis: Option<MultiplexedConnection>) -> Arc<Self> {
        let task = task_json(CANNED_ID, "TASK_STATE_COMPLETED");
        let tasks = vec![listed_json(CANNED_ID, "TASK_STATE_COMPLETED"); 50];
        let list = json!({ "tasks": tasks, "nextPageToken": "", "pageSize": 50, "totalSize": 50 });
        let grpc_list = pb::ListTasksResponse {
            tasks: vec![listed_pb(CANNED_ID.into(), pb::TaskState::Completed); 50],
            next_page_token: String::new(),
            page_size: 50,
            total_size: 50,
        };
        Arc::new(Hub {
            next: AtomicU64::new(1),
            held: Mutex::default(),
            task,
            list,
            grpc_list,
            redis,
        })
    }

    fn held(&self) -> MutexGuard<'_, HashMap<Arc<str>, broadcast::Sender<Arc<Event>>>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts the task that `text` asks for: its id and its events.
    fn start(self: &Arc<Self>, text: &str) -> (Arc<str>, Events) {
        let script = Script::parse(text);
        if script.hold_ms == 0 {
            let id: Arc<str> = CANNED_ID.into();
            let key = id.clone();
            let steps = [Step::Working].into_iter().chain(script.steps());
            return (
                id,
                Box::pin(stream::iter(steps.map(move |step| Event::new(&key, step)))),
            );
        }
        let id: Arc<str> = format!("held-{}", self.next.fetch_add(1, Ordering::Relaxed)).into();
        let (sender, receiver) = broadcast::channel(script.chunks + 1);
        self.held().insert(id.clone(), sender.clone());
        tokio::spawn(self.clone().play(id.clone(), script, sender));
        (id, live(receiver))
    }

    /// Holds the task, then sends its events, each as soon as the one before is on its way.
    async fn play(self: Arc<Self>, id: Arc<str>, script: Script, sender: broadcast::Sender<Arc<Event>>) {
        tokio::time::sleep(Duration::from_millis(script.hold_ms)).await;
        self.held().remove(&id);
        for step in script.steps() {
            // Nobody may be listening.
            let _ = sender.send(Event::new(&id, step));
            tokio::task::yield_now().await;
        }
    }

    /// The events still to come of a held task.
    fn join(&self, id: &str) -> Option<Events> {
        Some(live(self.held().get(id)?.subscribe()))
    }
}

fn live(receiver: broadcast::Receiver<Arc<Event>>) -> Events {
    Box::pin(BroadcastStream::new(receiver).filter_map(|event| async { event.ok() }))
}

#[derive(Deserialize)]
struct Rpc {
    method: String,
    params: Value,
}

fn text_of(params: &Value) -> &str {
    params["message"]["parts"][0]["text"].as_str().unwrap_or_default()
}

fn json_reply(value: &Value, rpc: bool) -> Response {
    let body = if rpc {
        json!({ "jsonrpc": "2.0", "id": 1, "result": value }).to_string()
    } else {
        value.to_string()
    };
    ([(header::CONTENT_TYPE, "application/json")], body).into_response()
}

fn sse_event(value: Value, rpc: bool) -> Bytes {
    let value = if rpc {
        json!({ "jsonrpc": "2.0", "id": 1, "result": value })
    } else {
        value
    };
    Bytes::from(format!("data: {value}\n\n"))
}

fn sse(id: &str, events: Events, rpc: bool) -> Response {
    let first = sse_event(json!({ "task": task_json(id, "TASK_STATE_WORKING") }), rpc);
    let all = stream::iter([first]).chain(events.map(move |event| event.sse(rpc)));
    let body = Body::from_stream(all.map(Ok::<_, std::convert::Infallible>));
    ([(header::CONTENT_TYPE, "text/event-stream")], body).into_response()
}

fn stream_reply(hub: &Arc<Hub>, params: &Value, rpc: bool) -> Response {
    let (id, events) = hub.start(text_of(params));
    sse(&id, events, rpc)
}

async fn jsonrpc(State(hub): State<Arc<Hub>>, body: Bytes) -> Response {
    let Ok(rpc) = serde_json::from_slice::<Rpc>(&body) else {
        return StatusCode::BAD_REQUEST.into_response();
    };
    match rpc.method.as_str() {
        "SendMessage" => json_reply(&json!({ "task": hub.task }), true),
        "GetTask" => json_reply(&hub.task, true),
        "ListTasks" => json_reply(&hub.list, true),
        "SendStreamingMessage" => stream_reply(&hub, &rpc.params, true),
        "SubscribeToTask" => {
            let id = rpc.params["id"].as_str().unwrap_or_default().to_string();
            match hub.join(&id) {
                Some(events) => sse(&id, events, true),
                None => StatusCode::NOT_FOUND.into_response(),
            }
        }
        _ => StatusCode::NOT_FOUND.into_response(),
    }
}

async fn rest_send(State(hub): State<Arc<Hub>>, body: Bytes) -> Response {
    match serde_json::from_slice::<Value>(&body) {
        Ok(_) => json_reply(&json!({ "task": hub.task }), false),
        Err(_) => StatusCode::BAD_REQUEST.into_response(),
    }
}

async fn rest_stream(State(hub): State<Arc<Hub>>, body: Bytes) -> Response {
    match serde_json::from_slice(&body) {
        Ok(params) => stream_reply(&hub, &params, false),
        Err(_) => StatusCode::BAD_REQUEST.into_response(),
    }
}

async fn rest_subscribe(State(hub): State<Arc<Hub>>, Path(segment): Path<String>) -> Response {
    let Some(id) = segment.strip_suffix(":subscribe") else {
        return StatusCode::NOT_FOUND.into_response();
    };
    match hub.join(id) {
        Some(events) => sse(id, events, false),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

async fn rest_task(State(hub): State<Arc<Hub>>, Path(id): Path<String>) -> Response {
    if let Some(redis) = &hub.redis {
        let read = redis::cmd("GET")
            .arg(REDIS_KEY)
            .query_async(&mut redis.clone())
            .await;
        return match read {
            Ok(Some(task)) => json_text(task),
            Ok(None) => StatusCode::NOT_FOUND.into_response(),
            Err(_) => StatusCode::SERVICE_UNAVAILABLE.into_response(),
        };
    }
    let mut task = hub.task.clone();
    task["id"] = id.into();
    json_reply(&task, false)
}

fn json_text(text: Vec<u8>) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], text).into_response()
}

async fn rest_list(State(hub): State<Arc<Hub>>) -> Response {
    json_reply(&hub.list, false)
}

struct FloorService(Arc<Hub>);

type EventReply = Pin<Box<dyn Stream<Item = Result<pb::StreamResponse, Status>> + Send>>;

fn grpc_stream(id: String, events: Events) -> EventReply {
    let task = task_pb(id, pb::TaskState::Working);
    let first = pb::StreamResponse {
        payload: Some(pb::stream_response::Payload::Task(task)),
    };
    let rest = events.map(|event| Ok(event_pb(&event.id, &event.step)));
    Box::pin(stream::iter([Ok(first)]).chain(rest))
}

#[tonic::async_trait]
impl A2aService for FloorService {
    async fn send_message(
        &self,
        _: Request<pb::SendMessageRequest>,
    ) -> Result<tonic::Response<pb::SendMessageResponse>, Status> {
        let task = task_pb(CANNED_ID.into(), pb::TaskState::Completed);
        Ok(tonic::Response::new(pb::SendMessageResponse {
            payload: Some(pb::send_message_response::Payload::Task(task)),
        }))
    }

    type SendStreamingMessageStream = EventReply;

    async fn send_streaming_message(
        &self,
        request: Request<pb::SendMessageRequest>,
    ) -> Result<tonic::Response<EventReply>, Status> {
        let part = request.get_ref().message.as_ref().and_then(|m| m.parts.first());
        let text = match part.and_then(|p| p.content.as_ref()) {
            Some(pb::part::Content::Text(text)) => text.as_str(),
            _ => "",
        };
        let (id, events) = self.0.start(text);
        Ok(tonic::Response::new(grpc_stream(id.to_string(), events)))
    }

    async fn get_task(
        &self,
        request: Request<pb::GetTaskRequest>,
    ) -> Result<tonic::Response<pb::Task>, Status> {
        Ok(tonic::Response::new(task_pb(
            request.into_inner().id,
            pb::TaskState::Completed,
        )))
    }

    async fn list_tasks(
        &self,
        _: Request<pb::ListTasksRequest>,
    ) -> Result<tonic::Response<pb::ListTasksResponse>, Status> {
        Ok(tonic::Response::new(self.0.grpc_list.clone()))
    }

    type SubscribeToTaskStream = EventReply;

    async fn subscribe_to_task(
        &self,
        request: Request<pb::SubscribeToTaskRequest>,
    ) -> Result<tonic::Response<EventReply>, Status> {
        let id = request.into_inner().id;
        let events = self
            .0
            .join(&id)
            .ok_or_else(|| Status::not_found("no such held task"))?;
        Ok(tonic::Response::new(grpc_stream(id, events)))
    }
}

/// Serves JSON-RPC at `/jsonrpc`, HTTP+JSON below `/rest` and gRPC on its own address. With a Redis the task that is
/// read over HTTP+JSON comes from there each time.
pub async fn serve(http: SocketAddr, grpc: SocketAddr, redis: Option<&str>) -> Result<()> {
    let redis = match redis {
        None => None,
        Some(url) => Some(
            redis::Client::open(url)?
                .get_multiplexed_async_connection()
                .await?,
        ),
    };
    let hub = Hub::new(redis);
    if let Some(redis) = &hub.redis {
        let mut store = redis::cmd("SET");
        store.arg(REDIS_KEY).arg(serde_json::to_vec(&hub.task)?);
        store.query_async::<()>(&mut redis.clone()).await?;
    }
    let app = axum::Router::new()
        .route("/hello", get(|| async { "hello" }))
        .route("/jsonrpc", post(jsonrpc))
        .route("/rest/message:send", post(rest_send))
        .route("/rest/message:stream", post(rest_stream))
        .route("/rest/tasks", get(rest_list))
        .route("/rest/tasks/{id}", get(rest_task).post(rest_subscribe))
        .with_state(hub.clone());
    // Neither axum::serve nor tonic's serve_with_incoming turns Nagle's algorithm off; with it on,
    // every stream waits some 40 ms for the client's delayed acknowledgement.
    let http = TcpListener::bind(http).await?.tap_io(|tcp| {
        let _ = tcp.set_nodelay(true);
    });
    let grpc = TcpIncoming::bind(grpc)?.with_nodelay(Some(true));
    let rpc = tonic::transport::Server::builder()
        .add_service(A2aServiceServer::new(FloorService(hub)))
        .serve_with_incoming(grpc);
    let web = async { axum::serve(http, app).await.map_err(anyhow::Error::from) };
    tokio::try_join!(web, async { rpc.await.map_err(anyhow::Error::from) })?;
    Ok(())
}
