//! Calls by the names of version 0.3: their parameters, results, events, errors and headers are those of that version.

use std::sync::Arc;

use futures::stream;
use gateway_domain::{
    Error, ErrorKind, Message, Operation, Reply, Request as DomainRequest, SharedEvent, StreamResponse,
    TaskState, Version,
    event::TaskStatusUpdateEvent,
    reply::{Body, ConfigPage, Sent, StreamItem, TaskPage},
};
use gateway_wire::operations;
use serde_json::{Value, json};

use super::{Fake, found, post, task};

fn call(method: &str, params: &Value) -> String {
    json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string()
}

fn get_task() -> String {
    call("tasks/get", &json!({"id": "t-1"}))
}

fn task_json() -> Value {
    json!({
        "kind": "task",
        "id": "t-1",
        "contextId": "c-1",
        "status": {"state": "working", "timestamp": "1970-01-01T00:00:00.000Z"},
    })
}

fn message() -> Message {
    serde_json::from_value(json!({"messageId": "m-1", "role": "ROLE_AGENT", "parts": [{"data": [1]}]}))
        .unwrap()
}

fn message_json() -> Value {
    json!({
        "kind": "message",
        "messageId": "m-1",
        "role": "agent",
        "parts": [{"kind": "data", "data": {"value": [1]}, "metadata": {"data_part_compat": true}}],
    })
}

#[tokio::test]
async fn parameters_are_read_in_the_notation_of_0_3() {
    let fake = Fake::replying(|request| {
        request.as_ref().map_err(Error::clone)?;
        Ok(found(Body::Sent(Sent::Task(task()))))
    });
    let params = json!({"message": {
        "kind": "message", "messageId": "m-1", "role": "user", "parts": [{"kind": "text", "text": "hi"}],
    }});
    let object = fake.post(call("message/send", &params)).await.object();
    assert_eq!(object.outcome, Ok(task_json()));
    let seen = &fake.seen()[0];
    assert_eq!(
        (seen.operation, seen.names),
        (Some(Operation::SendMessage), Some(Version::V0_3))
    );
    let Ok(DomainRequest::SendMessage(send)) = &seen.request else {
        panic!("{seen:?}")
    };
    assert_eq!(send.message.first_text(), Some("hi"));
    // The notation of 1.0 is none here, nor the other way about.
    let of_1_0 = json!({"message": {"messageId": "m-1", "role": "ROLE_USER", "parts": [{"text": "hi"}]}});
    let object = fake.post(call("message/send", &of_1_0)).await.object();
    assert_eq!(object.code(), Some(-32602));
    let object = fake.post(call("SendMessage", &params)).await.object();
    assert_eq!(object.code(), Some(-32602));
}

#[tokio::test]
async fn a_result_stands_unwrapped() {
    let config = json!({"id": "c", "taskId": "t-1", "url": "https://example.com/"});
    let nested =
        json!({"taskId": "t-1", "pushNotificationConfig": {"id": "c", "url": "https://example.com/"}});
    let config = move || serde_json::from_value(config.clone()).unwrap();
    let config_again = config.clone();
    let cases: [(Box<dyn Fn() -> Body + Send + Sync>, Value); 6] = [
        (Box::new(|| Body::Task(task())), task_json()),
        (Box::new(|| Body::Sent(Sent::Task(task()))), task_json()),
        (
            Box::new(|| Body::Sent(Sent::Message(Arc::new(message())))),
            message_json(),
        ),
        (Box::new(move || Body::Config(config())), nested.clone()),
        (
            Box::new(move || {
                Body::Configs(ConfigPage {
                    configs: vec![config_again()],
                    next_page_token: String::new(),
                })
            }),
            json!([nested]),
        ),
        (Box::new(|| Body::Deleted), json!(null)),
    ];
    for (body, expected) in cases {
        let answered = Fake::answering(body).post(get_task()).await;
        assert_eq!(answered.status, 200);
        // Read by hand, since an object with the result null is one with a result.
        let object: Value = serde_json::from_str(&answered.body).unwrap();
        assert_eq!(object, json!({"jsonrpc": "2.0", "id": 1, "result": expected}));
    }
}

#[tokio::test]
async fn an_answer_that_0_3_does_not_have_is_an_internal_error() {
    let page = || {
        Body::Tasks(TaskPage {
            tasks: Vec::new(),
            next_page_token: String::new(),
            page_size: 50,
            total_size: 0,
        })
    };
    assert_eq!(
        Fake::answering(page).post(get_task()).await.object().code(),
        Some(-32603)
    );
}

#[tokio::test]
async fn each_event_stands_unwrapped_and_is_encoded_apart_from_that_of_1_0() {
    let mut status = task().status;
    status.state = TaskState::InputRequired;
    let events = [
        StreamResponse::Task(Arc::new(task())),
        StreamResponse::StatusUpdate(Arc::new(TaskStatusUpdateEvent {
            task_id: task().id,
            context_id: task().context_id,
            status,
            metadata: None,
        })),
        StreamResponse::Message(Arc::new(message())),
    ];
    let expected = [
        task_json(),
        json!({
            "kind": "status-update",
            "taskId": "t-1",
            "contextId": "c-1",
            "status": {"state": "input-required", "timestamp": "1970-01-01T00:00:00.000Z"},
            "final": true,
        }),
        message_json(),
    ];
    let shared: Vec<_> = events.iter().cloned().map(SharedEvent::new).collect();
    let fake = Fake::answering(move || {
        let items = shared
            .clone()
            .into_iter()
            .map(|event| Ok(StreamItem { cursor: None, event }));
        Body::Stream(Box::pin(stream::iter(items)))
    });
    let of_1_0: Vec<_> = events.iter().map(|event| json!(event)).collect();
    // The events are the same ones each time: readers of both versions share them.
    for _ in 0..2 {
        for (method, expected) in [("tasks/resubscribe", &expected[..]), ("SubscribeToTask", &of_1_0)] {
            let answered = fake.post(call(method, &json!({"id": "t-1"}))).await;
            let outcomes: Vec<_> = answered
                .events()
                .into_iter()
                .map(|(_, object)| object.outcome.unwrap())
                .collect();
            assert_eq!(outcomes, expected, "{method}");
        }
    }
}

#[tokio::test]
async fn an_error_has_the_code_and_the_words_of_0_3() {
    let refusing = |error: fn() -> Error| {
        Fake::replying(move |request| {
            request.as_ref().map_err(Error::clone)?;
            Err(error())
        })
    };
    let required = refusing(|| Error::new(ErrorKind::ExtensionSupportRequired, "declare urn:a"));
    assert_eq!(required.post(get_task()).await.object().code(), Some(-32600));
    assert_eq!(
        required
            .post(get_task().replace("tasks/get", "GetTask"))
            .await
            .object()
            .code(),
        Some(-32008)
    );

    let webhook = refusing(|| Error::invalid("url", "must be https"));
    let config = json!({"taskId": "t-1", "pushNotificationConfig": {"url": "http://example.com"}});
    let object = webhook
        .post(call("tasks/pushNotificationConfig/set", &config))
        .await
        .object();
    assert!(
        object
            .message()
            .contains("pushNotificationConfig.url must be https"),
        "{object:?}"
    );
    let error = object.outcome.unwrap_err();
    assert_eq!(
        error["data"][0]["fieldViolations"][0]["field"],
        "pushNotificationConfig.url"
    );

    let params = json!({"pushNotificationConfigId": "c"});
    let object = webhook
        .post(call("tasks/pushNotificationConfig/delete", &params))
        .await
        .object();
    let error = object.outcome.unwrap_err();
    assert_eq!(error["data"][0]["fieldViolations"][0]["field"], "id", "{error}");

    let failing = Fake::answering(|| {
        let first = StreamItem {
            cursor: None,
            event: SharedEvent::new(StreamResponse::Task(Arc::new(task()))),
        };
        let error = Error::new(ErrorKind::ExtensionSupportRequired, "declare urn:a");
        Body::Stream(Box::pin(stream::iter([Ok(first), Err(error)])))
    });
    let answered = failing
        .post(call("tasks/resubscribe", &json!({"id": "t-1"})))
        .await;
    assert_eq!(answered.events()[1].1.code(), Some(-32600));
}

#[tokio::test]
async fn a_refusal_of_a_streaming_method_is_its_only_event_unless_http_has_a_status_for_it() {
    let before_it = Fake::replying(|_| Err(Error::task_not_found()));
    let in_its_place =
        Fake::answering(|| Body::Stream(Box::pin(stream::iter([Err(Error::task_not_found())]))));
    for method in ["message/stream", "tasks/resubscribe"] {
        for fake in [&before_it, &in_its_place] {
            let params = json!({"id": "t-1", "message": {"messageId": "m", "role": "user", "parts": [{"kind": "text", "text": "x"}]}});
            let answered = fake.post(call(method, &params)).await;
            assert_eq!(answered.status, 200);
            let events = answered.events();
            assert_eq!(
                (events.len(), events[0].1.code(), &*events[0].1.id),
                (1, Some(-32001), "1")
            );
        }
    }
    let away = Fake::replying(|_| Err(Error::unavailable("away")));
    let answered = away.post(call("tasks/resubscribe", &json!({"id": "t-1"}))).await;
    assert_eq!(
        (answered.status.as_u16(), answered.object().code()),
        (503, Some(-32053))
    );
}

#[tokio::test]
async fn extensions_travel_under_the_name_of_0_3() {
    let fake = Fake::replying(|_| {
        Ok(Reply {
            activated: vec!["urn:a".into()],
            ..found(Body::Task(task()))
        })
    });
    for (method, own, other) in [
        ("tasks/get", "x-a2a-extensions", "a2a-extensions"),
        ("GetTask", "a2a-extensions", "x-a2a-extensions"),
    ] {
        let mut request = post("/rpc", get_task().replace("tasks/get", method));
        let headers = request.headers_mut();
        headers.append(own, "urn:a, urn:b".parse().unwrap());
        headers.append(other, "urn:c".parse().unwrap());
        let answered = fake.send(request).await;
        assert_eq!(
            (answered.header(own), answered.header(other)),
            (Some("urn:a"), None)
        );
        assert_eq!(fake.seen()[0].extensions, ["urn:a", "urn:b"]);
    }
}

#[tokio::test]
async fn a_request_without_an_id_is_judged_and_then_refused_and_never_carried_out() {
    let fake = Fake::answering(|| Body::Task(task()));
    for (method, params, code) in [
        ("tasks/get", r#"{"id":"t-1"}"#, -32600),
        ("tasks/get", r#"{"id":7}"#, -32602),
        ("message/send", r#"{}"#, -32602),
        ("GetTask", r#"{"id":7}"#, -32600),
    ] {
        let body = format!(r#"{{"jsonrpc":"2.0","method":"{method}","params":{params}}}"#);
        let object = fake.post(body).await.object();
        assert_eq!(
            (&*object.id, object.code()),
            ("null", Some(code)),
            "{method} {params}"
        );
        let reached: Vec<_> = fake
            .seen()
            .into_iter()
            .filter(|seen| seen.request.is_ok())
            .collect();
        assert!(reached.is_empty(), "{reached:?}");
    }
}

#[tokio::test]
async fn a_member_that_stands_twice_makes_the_request_bad() {
    let fake = Fake::answering(|| Body::Task(task()));
    for params in [
        r#"{"id":"t-1","id":"t-2"}"#,
        r#"{"id":"t-1","metadata":{"a":1,"a":2}}"#,
    ] {
        let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{params}}}"#);
        assert_eq!(fake.post(body).await.object().code(), Some(-32600), "{params}");
    }
}

#[test]
fn an_unknown_method_is_told_those_of_the_callers_version() {
    let told = |version| crate::methods::unknown(gateway_domain::Actor::Client, version, "tasks/list");
    for row in operations::rows_of(gateway_domain::Actor::Client) {
        let named = |version: Version| {
            told(version)
                .message()
                .split([' ', ','])
                .any(|word| word == row.jsonrpc)
        };
        assert!(named(row.version), "{}", row.jsonrpc);
        let other = [Version::V0_3, Version::V1_0]
            .into_iter()
            .find(|version| *version != row.version);
        assert!(!named(other.unwrap()), "{}", row.jsonrpc);
    }
}
