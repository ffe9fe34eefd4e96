//! Streams: events in order, errors in their places.

use bytes::Bytes;
use gateway_domain::{
    Error, ErrorKind, TaskState,
    error::metadata,
    reply::{Body, EventStream},
};
use gateway_pipeline::Gateway;
use gateway_wire::{
    notation,
    pb::v1::{
        self, StreamResponse, SubscribeToTaskRequest, a2a_service_client::A2aServiceClient,
        stream_response::Payload,
    },
};
use prost::Message;
use tonic::{Code, Streaming};
use tonic_types::StatusExt as _;

use crate::support::{Channel, call, clients, events, framed, gateway, messages, reply, send, stream_of};

fn streaming(stream: impl Fn() -> EventStream + Clone + Send + Sync + 'static) -> Gateway {
    gateway(move |_, request| {
        let mut reply = reply(Body::Stream(stream()));
        reply.activated = vec!["urn:a".to_owned()];
        request.map(|_| reply)
    })
}

async fn subscribe(channel: Channel) -> Result<tonic::Response<Streaming<StreamResponse>>, tonic::Status> {
    let request = SubscribeToTaskRequest {
        id: "task-1".to_owned(),
        ..Default::default()
    };
    A2aServiceClient::new(channel).subscribe_to_task(request).await
}

fn state(event: &StreamResponse) -> v1::TaskState {
    match event.payload.as_ref().unwrap() {
        Payload::Task(task) => task.status.as_ref().unwrap().state(),
        Payload::StatusUpdate(update) => update.status.as_ref().unwrap().state(),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn events_come_in_order_with_the_activated_extensions_before_them() {
    let gateway = streaming(|| stream_of(events(&[TaskState::InputRequired, TaskState::Completed]), None));
    let response = subscribe(clients(gateway).await).await.unwrap();
    assert_eq!(response.metadata().get("a2a-extensions").unwrap(), "urn:a");
    let mut stream = response.into_inner();
    for expected in [
        v1::TaskState::Working,
        v1::TaskState::InputRequired,
        v1::TaskState::Completed,
    ] {
        assert_eq!(state(&stream.message().await.unwrap().unwrap()), expected);
    }
    assert_eq!(stream.message().await.unwrap(), None);
}

#[tokio::test]
async fn an_error_in_place_of_a_stream_is_the_calls_and_opens_none() {
    let gateway = gateway(|_, _| Err(Error::task_not_found()));
    let request = call("/lf.a2a.v1.A2AService/SubscribeToTask", framed(b"\x12\x01t"));
    let answer = send(&clients(gateway).await, request).await;
    assert!(answer.body.is_empty());
    assert_eq!(
        answer.headers["grpc-status"], "5",
        "the status stands in the head"
    );
    let status = answer.status.unwrap();
    assert_eq!(status.get_details_error_info().unwrap().reason, "TASK_NOT_FOUND");
}

#[tokio::test]
async fn a_stream_that_is_quiet_at_first_is_opened_at_once() {
    let gateway = streaming(|| Box::pin(futures::stream::pending()));
    let response = subscribe(clients(gateway).await).await.unwrap();
    assert_eq!(response.metadata().get("a2a-extensions").unwrap(), "urn:a");
}

#[tokio::test]
async fn an_error_after_events_is_the_streams_last_word_and_says_where_to_resume() {
    let cut = || {
        Error::new(ErrorKind::ResourceExhausted, "the next event is no longer held")
            .with_metadata(metadata::CURSOR, "2-00000007")
    };
    let gateway = streaming(move || stream_of(events(&[TaskState::InputRequired]), Some(cut())));
    let mut stream = subscribe(clients(gateway).await).await.unwrap().into_inner();
    assert!(stream.message().await.unwrap().is_some());
    assert!(stream.message().await.unwrap().is_some());
    let status = stream.message().await.unwrap_err();
    assert_eq!(status.code(), Code::ResourceExhausted);
    assert_eq!(status.message(), "the next event is no longer held");
    let info = status.get_details_error_info().unwrap();
    assert_eq!(info.metadata["cursor"], "2-00000007");
}

#[tokio::test]
async fn an_event_is_written_once_for_all_its_readers() {
    let events = events(&[TaskState::Completed]);
    // What is kept is another task than the event's, so that whoever encodes by itself is found out.
    let kept = StreamResponse {
        payload: Some(Payload::Task(v1::Task {
            id: "kept".to_owned(),
            ..v1::Task::default()
        })),
    };
    let bytes = Bytes::from(kept.encode_to_vec());
    for event in &events {
        event.encoded(notation::PROTOBUF, |_| bytes.clone());
    }
    let channel = clients(streaming(move || stream_of(events.clone(), None))).await;
    for _ in 0..2 {
        let request = call("/lf.a2a.v1.A2AService/SubscribeToTask", framed(b"\x12\x01t"));
        let answer = send(&channel, request).await;
        assert_eq!(answer.status.unwrap().code(), Code::Ok);
        assert_eq!(
            messages::<StreamResponse>(&answer.body),
            [kept.clone(), kept.clone()]
        );
    }
}
