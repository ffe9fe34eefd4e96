//! The paths of version 0.3: what they are read as, and in which JSON they are answered.

use axum::body::Body;
use futures::stream;
use gateway_domain::{
    Error, ErrorKind, Operation, Request, SharedEvent, StreamResponse, TaskSnapshot, Version,
    reply::{self, Sent, StreamItem},
    request::{OtherwiseCard, PageRequest},
};
use gateway_edge::Face;
use serde_json::{Value, json};

use super::{Fake, post, replied, request, text, without_body};
use crate::RestFace;

fn task(state: &str) -> TaskSnapshot {
    let status = json!({ "state": state, "timestamp": "2026-01-31T09:05:07.250Z" });
    serde_json::from_value(json!({ "id": "T1", "contextId": "C1", "status": status })).unwrap()
}

async fn read(request: http::Request<Body>) -> (Operation, Request) {
    let seen = Fake::deleting().reach(request).await;
    assert_eq!(seen.head.names, Some(Version::V0_3));
    (seen.head.operation.unwrap(), seen.request)
}

/// The status and the text of a refusal, which is an object with a code and a text.
async fn refusal(request: http::Request<Body>) -> (u16, String) {
    let fake = Fake::deleting();
    let response = fake.send(request).await;
    assert!(fake.seen.lock().unwrap().is_empty(), "it reached the gateway");
    refused(response).await
}

async fn refused(response: gateway_edge::Response) -> (u16, String) {
    let status = response.status().as_u16();
    assert_eq!(response.headers()["content-type"], "application/json");
    let body: Value = serde_json::from_str(&text(response).await).unwrap();
    let members: Vec<_> = body.as_object().unwrap().keys().collect();
    assert_eq!(members, ["code", "message"]);
    assert!(body["code"].is_i64(), "{body}");
    (status, body["message"].as_str().unwrap().to_owned())
}

const SEND: &str = r#"{"message": {"messageId": "m-1", "role": "ROLE_USER", "content": [{"text": "hi"}]}}"#;

#[tokio::test]
async fn a_send_is_read_in_the_json_of_its_proto() {
    let body = json!({
        "message": {
            "messageId": "m-1",
            "contextId": "c-1",
            "taskId": "t-1",
            "role": 1,
            "content": [
                { "text": "hi", "metadata": { "a": 1 } },
                { "file": { "fileWithUri": "https://example.com/x", "mimeType": "image/png", "name": "x.png" } },
                { "file": { "file_with_bytes": "aGk=" } },
                { "data": { "data": { "n": 9_007_199_254_740_993_u64 } } },
                { "data": { "data": { "value": [1] } }, "metadata": { "data_part_compat": true } },
            ],
            "extensions": ["urn:a"],
        },
        "configuration": {
            "acceptedOutputModes": ["text/plain"],
            "historyLength": "2",
            "blocking": true,
            "push_notification": {
                "url": "https://hooks.example.com",
                "authentication": { "schemes": ["Digest", "Bearer"], "credentials": "s" },
            },
        },
        "metadata": { "k": "v" },
    });
    let (operation, request) = read(post("/acme/v1/message:send", &body.to_string())).await;
    assert_eq!(operation, Operation::SendMessage);
    let Request::SendMessage(send) = request else {
        panic!("it is a send");
    };
    let canonical = serde_json::to_value(&send.message).unwrap();
    assert_eq!(
        canonical,
        json!({
            "messageId": "m-1",
            "contextId": "c-1",
            "taskId": "t-1",
            "role": "ROLE_USER",
            "parts": [
                { "text": "hi", "metadata": { "a": 1 } },
                { "url": "https://example.com/x", "filename": "x.png", "mediaType": "image/png" },
                { "raw": "aGk=" },
                { "data": { "n": 9_007_199_254_740_993_u64 } },
                { "data": [1] },
            ],
            "extensions": ["urn:a"],
        })
    );
    let configuration = send.configuration;
    assert_eq!(
        (configuration.history_length, configuration.return_immediately),
        (Some(2), false)
    );
    let push = configuration.push.unwrap();
    assert_eq!(
        (push.url.as_str(), push.version),
        ("https://hooks.example.com", Version::V0_3)
    );
    assert_eq!(push.authentication.unwrap().scheme, "Bearer");
    assert_eq!(send.metadata.unwrap()["k"], "v");
}

#[tokio::test]
async fn without_a_configuration_a_send_waits_and_within_one_blocking_means_what_it_says() {
    for (configuration, at_once) in [
        (json!(null), false),
        (json!({}), true),
        (json!({ "blocking": false }), true),
        (json!({ "blocking": true }), false),
    ] {
        let mut body: Value = serde_json::from_str(SEND).unwrap();
        body["configuration"] = configuration;
        let (_, request) = read(post("/v1/message:stream", &body.to_string())).await;
        let Request::SendStreamingMessage(send) = request else {
            panic!("it is a send");
        };
        assert_eq!(send.configuration.return_immediately, at_once, "{body}");
        assert_eq!(send.configuration.version, Version::V0_3);
    }
}

#[tokio::test]
async fn a_task_is_named_by_the_path_and_the_rest_by_the_query() {
    for (query, length) in [
        ("", None),
        ("?historyLength=0", None),
        ("?history_length=2", Some(2)),
    ] {
        let (_, request) = read(without_body("GET", &format!("/v1/tasks/a%2Fb{query}"))).await;
        let Request::GetTask(get) = request else {
            panic!("it is a read");
        };
        assert_eq!((get.id.as_str(), get.history_length), ("a/b", length));
    }
    for request in [
        post("/v1/tasks/T1:cancel", "{}"),
        post("/v1/tasks/T1:cancel", ""),
        post("/v1/tasks/T1:cancel", r#"{"name": "tasks/T1"}"#),
    ] {
        let (_, request) = read(request).await;
        assert_eq!(request.task_id().unwrap().as_str(), "T1");
    }
    let (status, said) = refusal(post("/v1/tasks/T1:cancel", r#"{"name": "tasks/T2"}"#)).await;
    assert_eq!(status, 400);
    assert!(said.contains("name must be absent"), "{said}");
}

#[tokio::test]
async fn a_subscription_is_asked_for_by_either_verb_and_keeps_the_rules_of_0_3() {
    for request in [
        without_body("GET", "/v1/tasks/T1:subscribe?tenant=acme"),
        post("/v1/tasks/T1:subscribe", r#"{"tenant": "acme"}"#),
    ] {
        let (_, request) = read(request).await;
        let Request::SubscribeToTask(subscribe) = request else {
            panic!("it is a subscription");
        };
        assert_eq!(subscribe.version, Version::V0_3);
        assert_eq!(subscribe.tenant.unwrap().as_str(), "acme");
    }
    let (_, request) = read(without_body("GET", "/v1/card")).await;
    let Request::GetExtendedAgentCard(card) = request else {
        panic!("it asks for the card");
    };
    assert_eq!(card.otherwise, OtherwiseCard::PublicCard);
}

#[tokio::test]
async fn a_configuration_is_taken_by_itself_or_within_the_whole_request() {
    const AT: &str = "/v1/tasks/T1/pushNotificationConfigs";
    let url = "https://hooks.example.com";
    let alone = json!({ "pushNotificationConfig": { "url": url, "authentication": {} } });
    let named =
        json!({ "name": "tasks/T1/pushNotificationConfigs/c", "pushNotificationConfig": { "url": url } });
    let whole = json!({
        "parent": "tasks/T1",
        "config_id": "c",
        "config": { "push_notification_config": { "id": "c", "url": url } },
    });
    for (query, body) in [
        ("?configId=c", &alone),
        ("", &named),
        ("", &whole),
        ("?config_id=c", &whole),
    ] {
        let (_, request) = read(post(&format!("{AT}{query}"), &body.to_string())).await;
        let Request::CreateTaskPushNotificationConfig(create) = request else {
            panic!("it creates");
        };
        let config = create.config;
        assert_eq!((config.id.unwrap().as_str(), config.url.as_str()), ("c", url));
        assert_eq!(config.task_id.unwrap().as_str(), "T1");
        assert_eq!(config.authentication, None);
    }
    for (query, body, fault) in [
        ("", &alone, "configId is required"),
        ("?configId=d", &named, "config.name must be"),
        ("?configId=d", &whole, "configId is one thing"),
    ] {
        let (status, said) = refusal(post(&format!("{AT}{query}"), &body.to_string())).await;
        assert_eq!(status, 400);
        assert!(said.contains(fault), "{said}");
    }
    let in_query = format!("{AT}?configId=c&tenant=acme");
    let (_, request) = read(post(&in_query, &alone.to_string())).await;
    assert_eq!(request.tenant().unwrap().as_str(), "acme");
    let (_, request) = read(without_body("GET", AT)).await;
    let Request::ListTaskPushNotificationConfigs(list) = request else {
        panic!("it lists");
    };
    assert_eq!(list.page.page_size, PageRequest::everything().page_size);
    let (operation, _) = read(without_body("DELETE", &format!("{AT}/c"))).await;
    assert_eq!(operation, Operation::DeleteTaskPushNotificationConfig);
    let (_, request) = read(without_body("GET", &format!("{AT}/c"))).await;
    let Request::GetTaskPushNotificationConfig(get) = request else {
        panic!("it reads");
    };
    assert_eq!(get.id.unwrap().as_str(), "c");
}

#[tokio::test]
async fn bad_fields_have_their_names_of_0_3() {
    for (message, field) in [
        (
            json!({ "messageId": "m", "role": "ROLE_USER" }),
            "message.content must have",
        ),
        (
            json!({ "messageId": "m", "role": "ROLE_USER", "content": [{}] }),
            "message.content[0] must hold one of text, file and data",
        ),
        (
            json!({ "messageId": "m", "role": "ROLE_USER", "content": [{ "file": { "name": "x" } }] }),
            "message.content[0] must hold one of file.fileWithUri",
        ),
        (
            json!({ "messageId": "m", "role": "user", "content": [{ "text": "x" }] }),
            "message.role must be",
        ),
    ] {
        let body = json!({ "message": message });
        let (status, said) = refusal(post("/v1/message:send", &body.to_string())).await;
        assert_eq!(status, 400);
        assert!(said.contains(field), "{said}");
    }
    let (status, said) = refusal(post("/v1/message:send", r#"{"message": []}"#)).await;
    assert_eq!(status, 400);
    assert!(said.contains("message"), "{said}");
    let (status, _) = refusal(post("/v1/message:send", "{")).await;
    assert_eq!(status, 400);
    let (status, said) = refusal(without_body("GET", "/v1/tasks/T1?historyLength=-1")).await;
    assert_eq!(status, 400);
    assert!(said.contains("historyLength must not be negative"), "{said}");
}

#[tokio::test]
async fn answers_are_in_the_json_of_the_proto_and_of_one_media_type() {
    let canceled = || reply::Body::Task(task("TASK_STATE_CANCELED"));
    let request = request("GET", "/v1/tasks/T1").header("accept", "application/a2a+json");
    let response = Fake::answering(move || Ok(canceled()))
        .send(request.body(Body::empty()).unwrap())
        .await;
    assert_eq!(response.headers()["content-type"], "application/json");
    let expected = json!({
        "id": "T1",
        "contextId": "C1",
        "status": { "state": "TASK_STATE_CANCELLED", "timestamp": "2026-01-31T09:05:07.250Z" },
    });
    let body: Value = serde_json::from_str(&text(response).await).unwrap();
    assert_eq!(body, expected);
    let sent = || reply::Body::Sent(Sent::Task(task("TASK_STATE_CANCELED")));
    let response = Fake::answering(move || Ok(sent()))
        .send(post("/v1/message:send", SEND))
        .await;
    let body: Value = serde_json::from_str(&text(response).await).unwrap();
    assert_eq!(body, json!({ "task": expected }));
}

#[tokio::test]
async fn a_stream_has_events_of_0_3_and_an_error_in_its_form() {
    let events = || {
        let event = SharedEvent::new(StreamResponse::Task(task("TASK_STATE_WORKING").into()));
        let items = [
            Ok(StreamItem { cursor: None, event }),
            Err(Error::new(ErrorKind::Unavailable, "come back")),
        ];
        reply::Body::Stream(Box::pin(stream::iter(items)))
    };
    let fake = Fake::answering(move || Ok(events()));
    let body = text(fake.send(without_body("GET", "/v1/tasks/T1:subscribe")).await).await;
    let data: Vec<Value> = body
        .lines()
        .filter_map(|line| line.strip_prefix("data: "))
        .map(|json| serde_json::from_str(json).unwrap())
        .collect();
    assert_eq!(data[0]["task"]["status"]["state"], "TASK_STATE_WORKING");
    assert_eq!(data[1], json!({ "code": -32053, "message": "come back" }));
}

#[tokio::test]
async fn errors_have_a_text_and_the_status_of_the_table() {
    for (kind, status) in [
        (ErrorKind::TaskNotFound, 404),
        (ErrorKind::TaskNotCancelable, 400),
        (ErrorKind::ExtensionSupportRequired, 400),
        (ErrorKind::Unauthenticated, 401),
    ] {
        let fake = Fake::answering(move || Err(Error::new(kind, "no").because("inward")));
        let response = fake.send(without_body("GET", "/v1/tasks/T1")).await;
        let bearer = response.headers().contains_key("www-authenticate");
        assert_eq!(bearer, kind == ErrorKind::Unauthenticated);
        assert_eq!(refused(response).await, (status, "no".to_owned()));
    }
}

#[tokio::test]
async fn a_version_that_is_not_served_is_told_in_the_form_of_1_0() {
    let fake = Fake::answering(|| Err(Error::new(ErrorKind::VersionNotSupported, "no")));
    let response = fake.send(without_body("GET", "/v1/tasks/T1")).await;
    let body: Value = serde_json::from_str(&text(response).await).unwrap();
    assert_eq!(body["error"]["status"], "FAILED_PRECONDITION");
}

#[tokio::test]
async fn other_verbs_and_refusals_before_the_binding_have_the_form_of_the_path() {
    let response = Fake::deleting()
        .send(without_body("DELETE", "/v1/tasks/T1"))
        .await;
    assert_eq!(response.headers()["allow"], "GET");
    assert_eq!(refused(response).await.0, 405);
    for (path, old) in [
        ("/v1/message:send", true),
        ("/acme/v1/card", true),
        ("/tasks/v2", false),
    ] {
        let (parts, ()) = request("POST", path).body(()).unwrap().into_parts();
        let response = RestFace.refuse(&parts, &Error::new(ErrorKind::Unauthenticated, "send a token"));
        let body: Value = serde_json::from_str(&text(response).await).unwrap();
        assert_eq!(body.get("message").is_some(), old, "{path}");
    }
}

#[tokio::test]
async fn extensions_travel_under_the_name_that_0_3_has_for_them() {
    let fake = Fake::deleting();
    let request = request("GET", "/v1/tasks/T1")
        .header("x-a2a-extensions", "urn:a")
        .header("a2a-extensions", "urn:b");
    let seen = fake.reach(request.body(Body::empty()).unwrap()).await;
    assert_eq!(*seen.head.extensions, ["urn:a".to_owned()]);
    let mut answering = Fake::deleting();
    answering.answer = std::sync::Arc::new(|| {
        let mut reply = replied(reply::Body::Deleted);
        reply.activated = vec!["urn:a".to_owned()];
        Ok(reply)
    });
    let response = answering.send(without_body("GET", "/v1/tasks/T1")).await;
    assert_eq!(response.headers()["x-a2a-extensions"], "urn:a");
}
