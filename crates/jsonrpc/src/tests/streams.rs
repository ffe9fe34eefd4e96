//! What a stream looks like.

use std::{sync::Arc, time::Duration};

use futures::{StreamExt, stream};
use gateway_domain::{
    Actor, Cursor, Error, ErrorKind, Reply, SharedEvent, StreamResponse, TaskState,
    error::metadata,
    event::TaskStatusUpdateEvent,
    reply::{Body, StreamItem},
};
use http_body_util::BodyExt;
use serde_json::json;
use tokio::time::Instant;
use tower::ServiceExt;

use super::{Fake, found, post, task};

const SUBSCRIBE: &str = r#"{"jsonrpc":"2.0","id":"s-1","method":"SubscribeToTask","params":{"id":"t-1"}}"#;

fn cursor(revision: u64) -> Cursor {
    Cursor { revision, mark: 7 }
}

fn item(revision: u64, event: StreamResponse) -> Result<StreamItem, Error> {
    Ok(StreamItem {
        cursor: Some(cursor(revision)),
        event: SharedEvent::new(event),
    })
}

fn completed() -> StreamResponse {
    let mut status = task().status;
    status.state = TaskState::Completed;
    StreamResponse::StatusUpdate(Arc::new(TaskStatusUpdateEvent {
        task_id: task().id,
        context_id: task().context_id,
        status,
        metadata: None,
    }))
}

fn first() -> Result<StreamItem, Error> {
    item(1, StreamResponse::Task(Arc::new(task())))
}

fn streaming(items: impl Fn() -> Vec<Result<StreamItem, Error>> + Send + Sync + 'static) -> Fake {
    Fake::answering(move || Body::Stream(Box::pin(stream::iter(items()))))
}

#[tokio::test]
async fn each_event_is_a_response_to_the_request_and_has_its_cursor_as_id() {
    let fake = streaming(|| vec![first(), item(2, completed())]);
    let answered = fake.post(SUBSCRIBE).await;
    assert_eq!(answered.status, 200);
    let events = answered.events();
    let ids: Vec<_> = events.iter().map(|(id, _)| *id).collect();
    assert_eq!(ids, [Some("1-00000007"), Some("2-00000007")]);
    for (_, object) in &events {
        assert_eq!(object.id, r#""s-1""#);
    }
    assert_eq!(events[0].1.outcome, Ok(json!({"task": task()})));
    assert_eq!(events[1].1.outcome, Ok(json!(completed())));
}

#[tokio::test]
async fn the_id_of_a_stream_is_echoed_digit_for_digit() {
    let fake = streaming(|| vec![first(), Err(Error::task_not_found())]);
    for id in ["-5", "1.50", "9007199254740993", "null", r#""\u0000""#] {
        let answered = fake.post(SUBSCRIBE.replace(r#""s-1""#, id)).await;
        for (_, object) in answered.events() {
            assert_eq!(object.id, id);
        }
    }
}

#[tokio::test]
async fn a_direct_message_is_one_event_without_a_cursor() {
    let message =
        json!({"messageId": "m-1", "role": "ROLE_AGENT", "parts": [{"text": "a\nb\r\ndata: x\n\n\u{2028}"}]});
    let event: StreamResponse = serde_json::from_value(json!({"message": message.clone()})).unwrap();
    let fake = streaming(move || {
        vec![Ok(StreamItem {
            cursor: None,
            event: SharedEvent::new(event.clone()),
        })]
    });
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"SendStreamingMessage","params":{"message":
        {"messageId":"m-1","role":"ROLE_USER","parts":[{"text":"hi"}]}}}"#;
    let answered = fake.post(body).await;
    let events = answered.events();
    assert_eq!(events.len(), 1);
    assert_eq!(
        (events[0].0, &events[0].1.outcome),
        (None, &Ok(json!({"message": message})))
    );
}

#[tokio::test]
async fn an_error_in_place_of_a_stream_is_no_stream() {
    let fake = Fake::replying(|_| Err(Error::task_not_found()));
    let answered = fake.post(SUBSCRIBE).await;
    assert_eq!(answered.status, 200);
    let object = answered.object();
    assert_eq!((&*object.id, object.code()), (r#""s-1""#, Some(-32001)));
}

#[tokio::test]
async fn bad_parameters_of_a_stream_open_none() {
    let fake = streaming(|| vec![first()]);
    let answered = fake.post(SUBSCRIBE.replace(r#""t-1""#, r#""""#)).await;
    assert_eq!(answered.object().code(), Some(-32602));
}

#[tokio::test]
async fn an_error_after_the_first_event_is_the_last_event_and_keeps_its_code() {
    let fake = streaming(|| {
        let cut = Error::new(ErrorKind::ResourceExhausted, "fell behind")
            .with_metadata(metadata::CURSOR, cursor(1).to_string());
        vec![first(), Err(cut), item(2, completed())]
    });
    let answered = fake.post(SUBSCRIBE).await;
    let events = answered.events();
    assert_eq!(events.len(), 2);
    let (id, object) = &events[1];
    assert_eq!(
        (*id, &*object.id, object.code()),
        (None, r#""s-1""#, Some(-32029))
    );
    let error = object.outcome.as_ref().unwrap_err();
    assert_eq!(error["data"][0]["metadata"]["cursor"], "1-00000007");
}

#[tokio::test]
async fn a_stream_tells_the_extensions_that_were_activated() {
    let fake = Fake::replying(|_| {
        Ok(Reply {
            activated: vec!["urn:a".into()],
            ..found(Body::Stream(Box::pin(stream::iter([first()]))))
        })
    });
    assert_eq!(fake.post(SUBSCRIBE).await.header("a2a-extensions"), Some("urn:a"));
}

#[tokio::test]
async fn readers_of_one_event_share_its_encoding() {
    let event = SharedEvent::new(completed());
    let shared = event.clone();
    let fake = streaming(move || {
        vec![Ok(StreamItem {
            cursor: Some(cursor(1)),
            event: shared.clone(),
        })]
    });
    fake.post(SUBSCRIBE).await;
    let kept = event.encoded(gateway_wire::notation::JSON, |_| panic!("it was not kept"));
    assert_eq!(kept, serde_json::to_vec(&completed()).unwrap());
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_is_quiet_at_first_is_opened_at_once() {
    let fake = Fake::replying(|_| {
        let late = stream::once(async {
            tokio::time::sleep(Duration::from_secs(3600)).await;
            first()
        });
        Ok(found(Body::Stream(Box::pin(late.chain(stream::pending())))))
    });
    let mut request = post("/rpc", SUBSCRIBE);
    request.extensions_mut().insert(gateway_edge::RequestContext {
        request_id: "r-1".into(),
        principal: Arc::new(gateway_domain::Principal::anonymous(Actor::Client)),
    });
    let asked = Instant::now();
    let response = fake.rpc(Actor::Client).oneshot(request).await.unwrap();
    assert_eq!(asked.elapsed(), Duration::ZERO);
    let mut body = response.into_body();
    let mut text = Vec::new();
    while !text.ends_with(b"}\n\n") {
        text.extend_from_slice(&body.frame().await.unwrap().unwrap().into_data().unwrap());
    }
    assert!(
        String::from_utf8(text)
            .unwrap()
            .contains(r#"data: {"jsonrpc":"2.0","id":"s-1","result""#)
    );
}
