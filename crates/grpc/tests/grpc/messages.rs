//! The message of a call: faults of it are the caller's, and its size is bounded both ways.

use std::{collections::BTreeSet, sync::Arc};

use gateway_domain::{
    Actor, Message, MessageId, TaskSnapshot,
    reply::{Body, Sent, TaskPage},
};
use gateway_grpc::Settings;
use gateway_wire::pb::v1::{self, a2a_service_client::A2aServiceClient};
use prost::{
    Message as _,
    encoding::{WireType, encode_key, encode_varint},
};
use tonic::Code;
use tonic_types::StatusExt as _;

use crate::{
    operations::send_message,
    support::{answering, call, clients, framed, listener, send, task},
};

const GET_TASK: &str = "/lf.a2a.v1.A2AService/GetTask";
const SEND_MESSAGE: &str = "/lf.a2a.v1.A2AService/SendMessage";

fn some_task() -> Body {
    Body::Task(task("task-1"))
}

#[tokio::test]
async fn bytes_that_are_no_message_of_the_method_are_the_callers_fault() {
    let channel = clients(answering(some_task)).await;
    let cut_off = framed(&[0x0a, 0x20, b'x']);
    let not_utf8 = framed(&[0x12, 0x02, 0xff, 0xfe]);
    let wrong_type = framed(&[0x10, 0x01]);
    let two = [framed(&[]), framed(&[])].concat();
    for body in [
        cut_off.to_vec(),
        not_utf8.to_vec(),
        wrong_type.to_vec(),
        two,
        Vec::new(),
        vec![0, 0],
        vec![1, 0, 0, 0, 0],
    ] {
        let status = send(&channel, call(GET_TASK, body.clone())).await.status.unwrap();
        assert_eq!(status.code(), Code::InvalidArgument, "{body:?}: {status:?}");
    }
}

/// A send whose part holds lists within lists.
fn nested(levels: usize) -> Vec<u8> {
    /// Wraps bytes into a field of a message.
    fn field(tag: u32, content: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(content.len() + 8);
        encode_key(tag, WireType::LengthDelimited, &mut bytes);
        encode_varint(content.len() as u64, &mut bytes);
        bytes.extend_from_slice(content);
        bytes
    }
    // Value.null_value is 1, Value.list_value 6, ListValue.values 1, Part.data 4.
    let null = vec![0x08, 0];
    let value = (0..levels).fold(null, |inner, _| field(6, &field(1, &inner)));
    let message = v1::Message {
        parts: Vec::new(),
        ..send_message().message.unwrap()
    };
    let message = [message.encode_to_vec(), field(5, &field(4, &value))].concat();
    // Message.parts is 5, SendMessageRequest.message 2.
    field(2, &message)
}

#[tokio::test]
async fn data_that_nests_too_deep_is_the_callers_fault_at_any_depth() {
    let channel = clients(answering(|| Body::Sent(Sent::Task(task("task-1"))))).await;
    let shallow = send(&channel, call(SEND_MESSAGE, framed(&nested(32)))).await;
    assert_eq!(shallow.status.unwrap().code(), Code::Ok);
    for levels in [33, 48, 64, 100, 129, 10_000] {
        let answer = send(&channel, call(SEND_MESSAGE, framed(&nested(levels)))).await;
        let status = answer.status.unwrap();
        assert_eq!(status.code(), Code::InvalidArgument, "{levels}: {status:?}");
    }
}

#[tokio::test]
async fn all_missing_fields_are_named_at_once() {
    let mut client = A2aServiceClient::new(clients(answering(some_task)).await);
    let request = v1::SendMessageRequest {
        message: Some(v1::Message::default()),
        ..v1::SendMessageRequest::default()
    };
    let status = client.send_message(request).await.unwrap_err();
    assert_eq!(status.code(), Code::InvalidArgument);
    let violations = status.get_details_bad_request().unwrap().field_violations;
    let fields: BTreeSet<_> = violations.iter().map(|violation| &*violation.field).collect();
    let missing = ["message.messageId", "message.role", "message.parts"];
    assert_eq!(fields, BTreeSet::from(missing));
}

#[tokio::test]
async fn a_body_at_the_bound_is_taken_and_one_byte_more_is_refused() {
    let edge = gateway_edge::Settings {
        body_bytes: 64 << 10,
        ..gateway_edge::Settings::default()
    };
    let settings = Settings {
        edge: Arc::new(edge),
        ..Settings::default()
    };
    let (channel, _) = listener(answering(some_task), Actor::Client, settings).await;
    // An unknown field of 4 bytes for its tag and length fills the body up.
    let filled = |length: usize| {
        let mut message = v1::GetTaskRequest {
            id: "task-1".to_owned(),
            ..Default::default()
        }
        .encode_to_vec();
        let filling = length - 5 - message.len() - 5;
        encode_key(100, WireType::LengthDelimited, &mut message);
        encode_varint(filling as u64, &mut message);
        message.resize(message.len() + filling, 0);
        let body = framed(&message);
        assert_eq!(body.len(), length);
        body
    };
    let taken = send(&channel, call(GET_TASK, filled(64 << 10))).await;
    assert_eq!(taken.status.unwrap().code(), Code::Ok);
    let refused = send(&channel, call(GET_TASK, filled((64 << 10) + 1))).await;
    assert_eq!(refused.status.unwrap().code(), Code::ResourceExhausted);
}

fn large_task(bytes: usize) -> TaskSnapshot {
    let message = Message::agent_text(MessageId::new("message-1"), "x".repeat(bytes));
    TaskSnapshot {
        history: vec![Arc::new(message)],
        ..task("task-1")
    }
}

#[tokio::test]
async fn a_reply_larger_than_four_mebibytes_is_sent() {
    let gateway = answering(|| Body::Task(large_task(6 << 20)));
    let mut client = A2aServiceClient::new(clients(gateway).await).max_decoding_message_size(64 << 20);
    let request = v1::GetTaskRequest {
        id: "task-1".to_owned(),
        ..Default::default()
    };
    let task = client.get_task(request).await.unwrap().into_inner();
    let Some(v1::part::Content::Text(text)) = &task.history[0].parts[0].content else {
        panic!("{:?}", task.history[0].message_id);
    };
    assert_eq!(text.len(), 6 << 20);
}

#[tokio::test]
async fn a_reply_over_its_bound_is_refused_with_what_to_ask_instead() {
    let gateway = answering(|| {
        Body::Tasks(TaskPage {
            tasks: vec![large_task(1 << 10)],
            next_page_token: String::new(),
            page_size: 1,
            total_size: 1,
        })
    });
    let settings = Settings {
        reply_bytes: 1 << 10,
        ..Settings::default()
    };
    let (channel, _) = listener(gateway, Actor::Client, settings).await;
    let mut client = A2aServiceClient::new(channel);
    let status = client
        .list_tasks(v1::ListTasksRequest::default())
        .await
        .unwrap_err();
    assert_eq!(status.code(), Code::ResourceExhausted);
    assert!(status.message().contains("smaller page"), "{}", status.message());
}

#[tokio::test]
async fn a_compressed_call_is_told_what_is_taken_instead() {
    let channel = clients(answering(some_task)).await;
    let mut request = call(GET_TASK, framed(&[]));
    request
        .headers_mut()
        .insert("grpc-encoding", "gzip".parse().unwrap());
    let answer = send(&channel, request).await;
    assert_eq!(answer.status.unwrap().code(), Code::Unimplemented);
    assert_eq!(answer.headers["grpc-accept-encoding"], "identity");
}
