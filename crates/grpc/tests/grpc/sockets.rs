//! Behind the edge and over real connections: what only the transport can show.

use std::{
    pin::Pin,
    sync::{Arc, Mutex},
    task::{Context, Poll},
};

use futures::{Stream, StreamExt};
use gateway_domain::{
    Actor, Error, ErrorKind, Operation, Principal,
    error::Violation,
    principal::{Anonymous, Authenticator},
    reply::{Body, EventStream, Sent, StreamItem},
};
use gateway_edge::{front, listen};
use gateway_grpc::{GrpcFace, Settings, service};
use gateway_pipeline::Gateway;
use gateway_wire::pb::v1::{self, a2a_service_client::A2aServiceClient};
use tokio::{net::TcpListener, sync::oneshot};
use tokio_util::sync::{CancellationToken, DropGuard};
use tonic::{Code, Request, Status, transport::Channel};
use tonic_types::StatusExt as _;

use crate::{
    operations::send_message,
    support::{answering, events, gateway, reply, task},
};

/// A gateway behind everything that stands before it in the process, and a client with one connection to it.
struct Served {
    client: A2aServiceClient<Channel>,
    _shutdown: DropGuard,
}

impl Served {
    async fn with(gateway: Gateway) -> Self {
        Self::guarded(gateway, Anonymous(Actor::Client)).await
    }

    async fn guarded(gateway: Gateway, authenticator: impl Authenticator + 'static) -> Self {
        let settings = Settings::default();
        let edge = settings.edge.clone();
        let (server, _) = service(gateway, Actor::Client, settings).await;
        let server = front(server, GrpcFace, Arc::new(authenticator), edge.clone());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let shutdown = CancellationToken::new();
        tokio::spawn(listen::serve(listener, server, edge, shutdown.clone()));
        let endpoint = Channel::from_shared(format!("http://{address}")).unwrap();
        Self {
            client: A2aServiceClient::new(endpoint.connect().await.unwrap()),
            _shutdown: shutdown.drop_guard(),
        }
    }

    async fn get_task(&mut self) -> Result<v1::Task, Status> {
        let request = v1::GetTaskRequest {
            id: "task-1".to_owned(),
            ..Default::default()
        };
        Ok(self.client.get_task(request).await?.into_inner())
    }
}

#[tokio::test]
async fn a_message_far_too_large_is_refused_and_its_connection_goes_on() {
    let mut served = Served::with(gateway(|head, request| {
        request?;
        Ok(reply(match head.operation {
            Some(Operation::GetTask) => Body::Task(task("task-1")),
            _ => Body::Sent(Sent::Task(task("task-1"))),
        }))
    }))
    .await;
    let of = |bytes: usize| {
        let mut request = send_message();
        let content = v1::part::Content::Text("x".repeat(bytes));
        request.message.as_mut().unwrap().parts[0].content = Some(content);
        request
    };
    served.client.send_message(of(6 << 20)).await.unwrap();
    let status = served.client.send_message(of(40 << 20)).await.unwrap_err();
    assert_eq!(status.code(), Code::ResourceExhausted, "{status:?}");
    served.get_task().await.unwrap();
}

#[tokio::test]
async fn a_refusal_with_very_many_bad_fields_reaches_its_client() {
    let violations = (0..500).map(|at| Violation {
        field: format!("message.parts[{at}].metadata").into(),
        description: "nests deeper than 32 levels; keep deeper data in a file and send its URL".into(),
    });
    let error = Error::invalid_params(violations.collect());
    let mut served = Served::with(gateway(move |_, _| Err(error.clone()))).await;
    let status = served.get_task().await.unwrap_err();
    assert_eq!(status.code(), Code::InvalidArgument, "{status:?}");
    let fields = status.get_details_bad_request().unwrap().field_violations;
    assert_eq!(fields[0].field, "message.parts[0].metadata");
}

struct NobodyKnown;

impl Authenticator for NobodyKnown {
    fn authenticate(&self, _: Option<&[u8]>) -> Result<Principal, Error> {
        Err(Error::new(ErrorKind::Unauthenticated, "show who you are"))
    }
}

#[tokio::test]
async fn what_stops_a_call_before_the_binding_is_a_status_with_the_requests_id() {
    let some_task = || answering(|| Body::Task(task("task-1")));
    let mut unknown = Served::guarded(some_task(), NobodyKnown).await;
    let status = unknown.get_task().await.unwrap_err();
    assert_eq!(status.code(), Code::Unauthenticated);
    assert!(status.metadata().contains_key("x-request-id"));

    let mut served = Served::with(some_task()).await;
    let mut request = Request::new(v1::GetTaskRequest::default());
    let metadata = "x".repeat(17 << 10).parse().unwrap();
    request.metadata_mut().insert("a2a-extensions", metadata);
    let status = served.client.get_task(request).await.unwrap_err();
    assert_eq!(status.code(), Code::ResourceExhausted, "{status:?}");
    served.get_task().await.unwrap();
}

#[tokio::test]
async fn a_panic_is_internal_and_nothing_of_it_gets_out() {
    let mut served = Served::with(gateway(|_, _| panic!("secret"))).await;
    let status = served.get_task().await.unwrap_err();
    assert_eq!(status.code(), Code::Internal);
    assert!(!format!("{status:?}").contains("secret"));
}

/// Events that never end, and somebody who is told when they are given up.
struct Endless {
    first: Option<StreamItem>,
    _given_up: oneshot::Sender<()>,
}

impl Stream for Endless {
    type Item = Result<StreamItem, Error>;

    fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.first
            .take()
            .map_or(Poll::Pending, |item| Poll::Ready(Some(Ok(item))))
    }
}

#[tokio::test]
async fn a_client_that_leaves_takes_its_stream_with_it() {
    let (given_up, gone) = oneshot::channel();
    let given_up = Arc::new(Mutex::new(Some(given_up)));
    let mut served = Served::with(gateway(move |_, request| {
        let endless = given_up.lock().unwrap().take().map(|given_up| Endless {
            first: Some(StreamItem {
                cursor: None,
                event: events(&[]).remove(0),
            }),
            _given_up: given_up,
        });
        let events: EventStream = futures::stream::iter(endless).flatten().boxed();
        request.map(|_| reply(Body::Stream(events)))
    }))
    .await;
    let request = v1::SubscribeToTaskRequest {
        id: "task-1".to_owned(),
        ..Default::default()
    };
    let response = served.client.subscribe_to_task(request).await.unwrap();
    let mut stream = response.into_inner();
    assert!(stream.message().await.unwrap().is_some());
    drop(stream);
    // The sender was dropped, not used.
    gone.await.unwrap_err();
}
