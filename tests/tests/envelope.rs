//! JSON-RPC's envelope (§9): what is a request, what is answered, and under which id.

#![allow(clippy::unwrap_used, reason = "what must not be absent fails the test")]

use gateway_domain::{Binding, Operation};
use gateway_tests::{
    client::{Ask, SseReader},
    gateway::Gateway,
    profile::Profile,
    raw::{Whole, headers, usual_headers},
    samples,
};
use http::Method;
use serde_json::{Value, json};

/// A gateway with a finished task.
async fn with_task() -> (Gateway, String) {
    let gateway = Gateway::plain().await;
    let ask = Ask::new(Operation::SendMessage, samples::message("say hi"));
    let made = gateway.client(Binding::JsonRpc).call(&ask).await.json();
    let task = made["task"]["id"].as_str().unwrap().to_owned();
    (gateway, task)
}

async fn post(gateway: &Gateway, body: impl Into<bytes::Bytes>) -> Whole {
    gateway.http().post("/rpc", body).await
}

/// The one form of an error: always JSON, always HTTP 200 here.
#[track_caller]
fn is_error(answer: &Whole, code: i64, id: &Value, why: &str) {
    assert_eq!(answer.status, 200, "{why}");
    assert_eq!(answer.header("content-type"), Some("application/json"), "{why}");
    let json = answer.json();
    assert_eq!(json["jsonrpc"], "2.0", "{why}");
    assert_eq!(json["error"]["code"], code, "{why}: {json}");
    assert!(json.as_object().unwrap().contains_key("id"), "{why}");
    assert_eq!(&json["id"], id, "{why}");
}

#[tokio::test]
async fn a_bad_envelope_has_the_code_of_its_fault_and_echoes_a_usable_id() {
    let (gateway, _) = with_task().await;
    for (body, code, id) in [
        (
            r#"{"id":1,"method":"GetTask","params":{"id":"T1"}}"#,
            -32600,
            json!(1),
        ),
        (
            r#"{"jsonrpc":"2.0","id":{"a":1},"method":"GetTask","params":{"id":"T1"}}"#,
            -32600,
            json!(null),
        ),
        (
            r#"{"jsonrpc":"2.0","id":[1],"method":"GetTask","params":{"id":"T1"}}"#,
            -32600,
            json!(null),
        ),
        (
            r#"{"jsonrpc":"2.0","id":true,"method":"GetTask","params":{"id":"T1"}}"#,
            -32600,
            json!(null),
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"GetTask","params":"T1"}"#,
            -32602,
            json!(1),
        ),
        (
            r#"{"jsonrpc":"2.0","id":"x","method":"tasks/teleport","params":{}}"#,
            -32601,
            json!("x"),
        ),
        (
            r#"{"jsonrpc":"1.0","id":null,"method":"GetTask","params":{"id":"T1"}}"#,
            -32600,
            json!(null),
        ),
        (
            r#"{"jsonrpc":"2.0","id":2,"method":7,"params":{"id":"T1"}}"#,
            -32600,
            json!(2),
        ),
    ] {
        is_error(&post(&gateway, body).await, code, &id, body);
    }
}

#[tokio::test]
async fn what_is_no_json_is_a_parse_error_on_both_json_bindings() {
    let gateway = Gateway::plain().await;
    let deep = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{}1{}}}"#,
        "[".repeat(100),
        "]".repeat(100)
    );
    for body in [
        &br#"{"jsonrpc":"2.0","#[..],
        b"",
        b"not json",
        b"\xff\xfe",
        br#"{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"\ud800"}}"#,
        br#"{"jsonrpc":"2.0","id":01,"method":"GetTask","params":{"id":"T1"}}"#,
        b"{} x",
        br#"{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"historyLength":NaN}}"#,
        deep.as_bytes(),
    ] {
        let why = String::from_utf8_lossy(body).into_owned();
        is_error(&post(&gateway, body.to_vec()).await, -32700, &json!(null), &why);
    }
    for body in [
        &br#"{"message":"#[..],
        b"not json",
        b"\xff\xfe",
        br#"{"message":{"messageId":"\ud800"}}"#,
        b"{\"message\":01}",
        b"{} x",
        b"{\"message\":NaN}",
    ] {
        let answer = gateway.http().post("/message:send", body.to_vec()).await;
        assert_eq!(answer.status, 400, "{:?}", String::from_utf8_lossy(body));
        let error = &answer.json()["error"];
        assert_eq!(
            (&error["code"], &error["status"]),
            (&json!(400), &json!("INVALID_ARGUMENT"))
        );
    }
}

#[tokio::test]
async fn a_batch_is_refused_once_and_nothing_of_it_is_done() {
    let (gateway, task) = with_task().await;
    let body = format!(
        r#"[{{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{{"id":"{task}"}}}},{{"jsonrpc":"2.0","id":2,"method":"SendMessage","params":{}}}]"#,
        samples::message("say hi")
    );
    let answer = post(&gateway, body).await;
    is_error(&answer, -32600, &json!(null), "a batch");
    assert!(
        answer.json()["error"]["message"]
            .as_str()
            .unwrap()
            .contains("batch")
    );
    is_error(
        &post(&gateway, "[]").await,
        -32600,
        &json!(null),
        "an empty batch",
    );
    let list = gateway
        .client(Binding::JsonRpc)
        .call(&Ask::new(Operation::ListTasks, json!({})))
        .await;
    assert_eq!(list.json()["totalSize"], 1);
}

#[tokio::test]
async fn a_reply_and_every_event_have_the_requests_id_digit_for_digit() {
    let (gateway, task) = with_task().await;
    for id in [
        "1",
        "\"1\"",
        "0",
        "-5",
        "\"\"",
        "null",
        "9007199254740993",
        "1.5",
        "\"\u{fc}\\u0000\"",
    ] {
        let body = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"GetTask","params":{{"id":"{task}"}}}}"#);
        let answer = post(&gateway, body).await;
        assert_eq!(raw_id(&answer.body), id);
        assert_eq!(answer.json()["result"]["id"], task.as_str());

        let params = samples::message("say hi");
        let body =
            format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"SendStreamingMessage","params":{params}}}"#);
        let response = gateway
            .http()
            .open(Method::POST, "/rpc", &usual_headers(), body)
            .await;
        let mut reader = SseReader::new(response.into_body());
        let mut events = 0;
        while let Some(event) = reader.next().await.unwrap() {
            assert_eq!(raw_id(event.data.as_bytes()), id);
            events += 1;
        }
        assert!(events > 1);
    }
}

/// The id's own characters: parsing would round what must not be rounded.
fn raw_id(body: &[u8]) -> String {
    #[derive(serde::Deserialize)]
    struct Envelope<'a> {
        #[serde(borrow)]
        id: &'a serde_json::value::RawValue,
    }
    serde_json::from_slice::<Envelope>(body)
        .unwrap()
        .id
        .get()
        .to_owned()
}

#[tokio::test]
async fn a_key_that_stands_twice_is_refused_at_every_level() {
    let (gateway, task) = with_task().await;
    for body in [
        r#"{"jsonrpc":"2.0","id":1,"method":"GetTask","method":"CancelTask","params":{"id":"T1"}}"#.to_owned(),
        r#"{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"T-mine","id":"T-other","tenant":"a","tenant":"b"}}"#.to_owned(),
        r#"{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"m","role":"ROLE_USER","taskId":"a","task_id":"b","parts":[{"text":"x"}]}}}"#.to_owned(),
        r#"{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"x","text":"y"}]}}}"#.to_owned(),
        format!(r#"{{"jsonrpc":"2.0","id":1,"id":2,"method":"GetTask","params":{{"id":"{task}"}}}}"#),
    ] {
        let answer = post(&gateway, body.clone()).await;
        assert_eq!(answer.status, 200, "{body}");
        let code = answer.json()["error"]["code"].as_i64();
        assert!(matches!(code, Some(-32600 | -32602 | -32700)), "{body}: {}", answer.json());
    }
    let twice = format!("/tasks/{task}?historyLength=1&historyLength=2");
    let answer = gateway.http().get(&twice).await;
    assert_eq!(answer.status, 400);
    let list = gateway
        .client(Binding::JsonRpc)
        .call(&Ask::new(Operation::ListTasks, json!({})))
        .await;
    assert_eq!(list.json()["totalSize"], 1);
}

#[tokio::test]
async fn a_request_without_an_id_is_refused_and_nothing_of_it_is_done() {
    let gateway = Gateway::plain().await;
    let made = gateway
        .client(Binding::JsonRpc)
        .call(&Ask::new(Operation::SendMessage, samples::message("ask")))
        .await;
    let task = made.json()["task"]["id"].as_str().unwrap().to_owned();
    for body in [
        format!(r#"{{"jsonrpc":"2.0","method":"CancelTask","params":{{"id":"{task}"}}}}"#),
        r#"{"jsonrpc":"2.0","method":"SendStreamingMessage","params":{"message":{"messageId":"m-12","role":"ROLE_USER","parts":[{"text":"work 5"}]}}}"#.to_owned(),
        r#"{"jsonrpc":"2.0","method":"no-such"}"#.to_owned(),
    ] {
        is_error(&post(&gateway, body.clone()).await, -32600, &json!(null), &body);
    }
    let list = gateway
        .client(Binding::JsonRpc)
        .call(&Ask::new(Operation::ListTasks, json!({})))
        .await
        .json();
    assert_eq!(list["totalSize"], 1);
    assert_eq!(list["tasks"][0]["status"]["state"], "TASK_STATE_INPUT_REQUIRED");
    // An id that is null is an id.
    let body = format!(r#"{{"jsonrpc":"2.0","id":null,"method":"GetTask","params":{{"id":"{task}"}}}}"#);
    let answer = post(&gateway, body).await.json();
    assert_eq!(
        (&answer["id"], &answer["result"]["id"]),
        (&json!(null), &json!(task))
    );
}

#[tokio::test]
async fn parameters_may_be_left_out_where_none_are_needed() {
    for (profile, code) in [("bare", -32004), ("declined", -32004), ("promised", -32007)] {
        let gateway = Gateway::start(Profile::named(profile)).await;
        let answer = post(
            &gateway,
            r#"{"jsonrpc":"2.0","id":26,"method":"GetExtendedAgentCard"}"#,
        )
        .await;
        is_error(&answer, code, &json!(26), profile);
    }
    let gateway = Gateway::plain().await;
    let answer = post(
        &gateway,
        r#"{"jsonrpc":"2.0","id":26,"method":"GetExtendedAgentCard"}"#,
    )
    .await;
    assert_eq!(answer.json()["result"]["name"], "Extended");
    let answer = post(&gateway, r#"{"jsonrpc":"2.0","id":34,"method":"SendMessage"}"#).await;
    is_error(&answer, -32602, &json!(34), "no params");
    let violations = &answer.json()["error"]["data"][0]["fieldViolations"];
    assert_eq!(violations[0]["field"], "message");
}

#[tokio::test]
async fn credentials_come_before_the_extended_cards_own_refusals() {
    let gateway = Gateway::start(Profile::named("bare")).await;
    let without = headers(&[("content-type", "application/json"), ("a2a-version", "1.0")]);
    let body = r#"{"jsonrpc":"2.0","id":26,"method":"GetExtendedAgentCard"}"#;
    let answer = gateway.http().send(Method::POST, "/rpc", &without, body).await;
    assert_eq!(answer.status, 401);
    assert_eq!(answer.header("www-authenticate"), Some("Bearer"));
}

#[tokio::test]
async fn unknown_members_of_the_envelope_are_ignored() {
    let gateway = Gateway::plain().await;
    let body = r#"{"jsonrpc":"2.0","id":32,"method":"SendMessage","extra":1,"params":{"newField":{"a":[1]},"message":{"messageId":"m-9","role":"ROLE_USER","kind":"message","parts":[{"text":"say hi","unknownFieldXyz":1}]}}}"#;
    let answer = post(&gateway, body).await;
    assert_eq!(
        answer.json()["result"]["task"]["status"]["state"],
        "TASK_STATE_COMPLETED"
    );
    assert!(!String::from_utf8_lossy(&answer.body).contains("unknownFieldXyz"));
}
