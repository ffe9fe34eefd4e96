//! What reaches the gateway of a call, and what a single answer looks like.

use std::{sync::Arc, time::Duration};

use gateway_domain::{
    Actor, AgentCard, Error, ErrorKind, Message, Reply, Request as DomainRequest, TaskPushNotificationConfig,
    Version,
    error::metadata,
    reply::{AllConfigsPage, AllTasksPage, Body, ConfigPage, Sent, TaskPage},
};
use gateway_wire::operations;
use serde_json::{Value, json};

use super::{Fake, found, post, send, task};

fn fake() -> Fake {
    Fake::answering(|| Body::Task(task()))
}

fn get_task(id: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"GetTask","params":{{"id":"T1"}}}}"#)
}

const IDS: [&str; 14] = [
    "1",
    r#""1""#,
    "0",
    "-5",
    "-0",
    r#""""#,
    "null",
    "9007199254740993",
    "184467440737095516160",
    "1.5",
    "1.50",
    "1e400",
    r#""ü\u0000\"\u00e9""#,
    r#""\ud83d\ude00""#,
];

#[tokio::test]
async fn an_id_comes_back_as_it_was_written_with_results_and_with_errors() {
    let fake = Fake::replying(|request| match request {
        Ok(DomainRequest::GetTask(_)) => Ok(found(Body::Task(task()))),
        _ => Err(Error::task_not_found()),
    });
    for id in IDS {
        let result = fake.post(get_task(id)).await.object();
        assert_eq!((&*result.id, result.code()), (id, None));
        let error = fake
            .post(get_task(id).replace("GetTask", "CancelTask"))
            .await
            .object();
        assert_eq!((&*error.id, error.code()), (id, Some(-32001)));
        let unknown = fake
            .post(get_task(id).replace("GetTask", "Nothing"))
            .await
            .object();
        assert_eq!((&*unknown.id, unknown.code()), (id, Some(-32001)));
    }
}

#[tokio::test]
async fn each_method_reaches_the_gateway_as_its_operation_and_no_caller_has_the_others() {
    let fake = Fake::replying(|_| Err(Error::task_not_found()));
    for caller in [Actor::Client, Actor::Agent] {
        for row in operations::rows() {
            let body = json!({"jsonrpc": "2.0", "id": 1, "method": row.jsonrpc}).to_string();
            let answered = send(fake.rpc(caller), caller, post("/rpc", body)).await;
            let own = row.operation.actor() == caller;
            let code = if own && row.version == Version::V0_3 && row.operation.is_streaming() {
                answered.events()[0].1.code()
            } else {
                answered.object().code()
            };
            assert_eq!(code, Some(-32001));
            let seen = fake.seen();
            assert_eq!(seen.len(), 1);
            assert_eq!(
                (seen[0].operation, seen[0].names),
                (own.then_some(row.operation), own.then_some(row.version)),
                "{caller:?} {}",
                row.jsonrpc
            );
        }
    }
}

#[tokio::test]
async fn an_unknown_method_is_told_the_known_ones_once_the_version_has_been_judged() {
    let object = fake()
        .post(r#"{"jsonrpc":"2.0","id":1,"method":"tasks/teleport","params":7}"#)
        .await
        .object();
    assert_eq!(object.code(), Some(-32601));
    assert!(object.message().contains("tasks/teleport") && object.message().contains("SendMessage"));

    let strict = Fake::replying(|_| Err(Error::new(ErrorKind::VersionNotSupported, "send 1.0")));
    for body in [
        r#"{"jsonrpc":"2.0","id":1,"method":"tasks/teleport"}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"GetTask","params":"T1"}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":7}}"#,
    ] {
        assert_eq!(strict.post(body).await.object().code(), Some(-32009), "{body}");
    }
}

#[tokio::test]
async fn parameters_are_an_object_or_left_out() {
    let fake = Fake::answering(|| Body::Card(Arc::default()));
    for (params, code) in [
        ("", None),
        (r#","params":null"#, None),
        (r#", "params" : {} "#, None),
        (r#","params":"T1""#, Some(-32602)),
        (r#","params":7"#, Some(-32602)),
        (r#","params":[]"#, Some(-32602)),
        (r#","params":true"#, Some(-32602)),
    ] {
        let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"GetExtendedAgentCard"{params}}}"#);
        let object = fake.post(body).await.object();
        assert_eq!(object.code(), code, "{params}");
        if let Err(error) = object.outcome {
            assert_eq!(error["data"][0]["fieldViolations"][0]["field"], "params");
        }
    }
}

#[tokio::test]
async fn bad_parameters_name_their_fields() {
    let fake = fake();
    for (params, code, field) in [
        (r#"{"id":"T1","historyLength":-1}"#, -32602, Some("historyLength")),
        (r#"{"id":""}"#, -32602, Some("id")),
        (r#"{"id":"T1","id":"T2"}"#, -32600, None),
        (r#"{"id":"T1","tenant":"a","tenant":"b"}"#, -32600, None),
        (
            r#"{"id":"T1","history_length":1,"historyLength":1}"#,
            -32602,
            Some("params"),
        ),
    ] {
        let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{params}}}"#);
        let object = fake.post(body).await.object();
        assert_eq!(object.code(), Some(code), "{params}");
        if let (Some(field), Err(error)) = (field, object.outcome) {
            assert_eq!(error["data"][0]["fieldViolations"][0]["field"], field, "{error}");
        }
    }
}

#[tokio::test]
async fn unknown_members_are_passed_over_at_every_level() {
    let fake = fake();
    let body =
        r#"{"jsonrpc":"2.0","id":1,"method":"GetTask","extra":[1],"params":{"new":{"a":[1]},"id":"T1"}}"#;
    assert_eq!(fake.post(body).await.object().code(), None);
    assert!(matches!(&fake.seen()[0].request, Ok(DomainRequest::GetTask(get)) if get.id.as_str() == "T1"));
}

#[tokio::test]
async fn service_parameters_come_from_headers_and_from_the_query() {
    let fake = fake();
    let mut request = post("/rpc?A2A-Version=1.0&a2a-version=9", get_task("1"));
    let headers = request.headers_mut();
    headers.append("a2a-version", "1.0".parse().unwrap());
    headers.append("a2a-version", "1.0".parse().unwrap());
    headers.append("a2a-extensions", "urn:a, urn:b".parse().unwrap());
    headers.append("a2a-extensions", "urn:c".parse().unwrap());
    fake.send(request).await;
    let seen = &fake.seen()[0];
    assert_eq!(seen.version.header.as_deref(), Some("1.0"));
    assert_eq!(seen.version.query.as_deref(), Some("1.0"));
    assert_eq!(seen.extensions, ["urn:a", "urn:b", "urn:c"]);
    assert_eq!(seen.tenant, None);
}

#[tokio::test]
async fn two_versions_in_one_place_are_no_version() {
    let fake = fake();
    let mut request = post("/rpc?A2A-Version=0.3&A2A-Version=1.0", get_task("1"));
    request
        .headers_mut()
        .append("a2a-version", "1.0".parse().unwrap());
    request
        .headers_mut()
        .append("a2a-version", "0.3".parse().unwrap());
    fake.send(request).await;
    let seen = &fake.seen()[0];
    assert_eq!(seen.version.header.as_deref(), Some("1.0, 0.3"));
    assert_eq!(seen.version.query.as_deref(), Some("0.3, 1.0"));
}

#[tokio::test]
async fn a_path_may_name_the_tenant() {
    let fake = fake();
    for (path, tenant) in [
        ("/rpc", None),
        ("/rpc/", None),
        ("/acme/rpc", Some("acme")),
        ("/acme/rpc/", Some("acme")),
        ("/a%2Fb%20%C3%BC/rpc", Some("a/b ü")),
    ] {
        fake.send(post(path, get_task("1"))).await;
        let seen = &fake.seen()[0];
        assert_eq!(
            seen.tenant.as_ref().map(|tenant| tenant.as_str()),
            tenant,
            "{path}"
        );
    }
}

#[tokio::test]
async fn a_path_that_names_no_tenant_is_an_invalid_parameter() {
    let fake = fake();
    for path in ["/%FF/rpc", "/%zz/rpc"] {
        let object = fake.send(post(path, get_task("1"))).await.object();
        assert_eq!(object.code(), Some(-32602), "{path}");
        let error = object.outcome.unwrap_err();
        assert_eq!(error["data"][0]["fieldViolations"][0]["field"], "tenant");
    }
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"tasks:work","params":{"id":"T1"}}"#;
    let answered = send(fake.rpc(Actor::Agent), Actor::Agent, post("/acme/rpc", body)).await;
    assert_eq!(answered.object().code(), Some(-32602));
}

#[tokio::test]
async fn a_reply_is_written_in_its_canonical_form() {
    let message: Message = serde_json::from_value(json!({
        "messageId": "m-1", "role": "ROLE_AGENT", "parts": [{"data": {"big": 9_007_199_254_740_993_i64}}],
    }))
    .unwrap();
    let config: TaskPushNotificationConfig =
        serde_json::from_value(json!({"id": "c", "taskId": "t-1", "url": "https://example.com/"})).unwrap();
    let task_json = serde_json::to_value(task()).unwrap();
    let cases: [(Box<dyn Fn() -> Body + Send + Sync>, Value); 10] = [
        (Box::new(|| Body::Task(task())), task_json.clone()),
        (
            Box::new(|| Body::Sent(Sent::Task(task()))),
            json!({"task": task_json}),
        ),
        (
            Box::new({
                let message = message.clone();
                move || Body::Sent(Sent::Message(Arc::new(message.clone())))
            }),
            json!({"message": message}),
        ),
        (
            Box::new(|| {
                Body::Tasks(TaskPage {
                    tasks: vec![task()],
                    next_page_token: String::new(),
                    page_size: 50,
                    total_size: 1,
                })
            }),
            json!({"tasks": [task_json], "nextPageToken": "", "pageSize": 50, "totalSize": 1}),
        ),
        (
            Box::new({
                let config = config.clone();
                move || Body::Config(config.clone())
            }),
            json!(config),
        ),
        (
            Box::new({
                let configs = vec![config.clone()];
                move || {
                    Body::Configs(ConfigPage {
                        configs: configs.clone(),
                        next_page_token: String::new(),
                    })
                }
            }),
            json!({"configs": [config]}),
        ),
        (Box::new(|| Body::Deleted), json!({})),
        (
            Box::new(|| Body::Card(Arc::default())),
            json!(AgentCard::default()),
        ),
        (
            Box::new(|| {
                Body::AllTasks(AllTasksPage {
                    tasks: Vec::new(),
                    next_page_token: "next".into(),
                })
            }),
            json!({"tasks": [], "nextPageToken": "next"}),
        ),
        (
            Box::new(|| {
                Body::AllConfigs(AllConfigsPage {
                    configs: Vec::new(),
                    next_page_token: String::new(),
                })
            }),
            json!({"configs": [], "nextPageToken": ""}),
        ),
    ];
    for (body, expected) in cases {
        let answered = Fake::answering(body).post(get_task("1")).await;
        assert_eq!(answered.status, 200);
        assert_eq!(answered.object().outcome, Ok(expected));
    }
}

#[tokio::test]
async fn an_error_tells_its_code_its_details_and_when_to_come_back() {
    let fake = Fake::replying(|_| {
        let error = Error::unavailable("redis://10.0.0.7 refused").retry_after(Duration::from_millis(1_500));
        Err(error.with_metadata(metadata::REQUEST_ID, "r-1"))
    });
    let answered = fake.post(get_task("1")).await;
    assert_eq!(
        (answered.status.as_u16(), answered.header("retry-after")),
        (503, Some("2"))
    );
    assert!(!answered.body.contains("10.0.0.7"), "{answered:?}");
    let error = answered.object().outcome.unwrap_err();
    assert_eq!(error["code"], -32053);
    assert_eq!(error["data"][0]["reason"], "UNAVAILABLE");
    assert_eq!(error["data"][0]["domain"], "a2a-protocol.org");
}

#[tokio::test]
async fn activated_extensions_are_told_and_nothing_is_told_where_there_are_none() {
    assert_eq!(fake().post(get_task("1")).await.header("a2a-extensions"), None);
    let activating = Fake::replying(|_| {
        Ok(Reply {
            activated: vec!["urn:a".into(), "urn:b".into()],
            ..found(Body::Task(task()))
        })
    });
    let answered = activating.post(get_task("1")).await;
    assert_eq!(answered.header("a2a-extensions"), Some("urn:a, urn:b"));
}

#[tokio::test]
async fn a_reply_of_the_wrong_kind_is_an_internal_error_and_no_empty_success() {
    let streaming = Fake::answering(|| Body::Stream(Box::pin(futures::stream::empty())));
    assert_eq!(streaming.post(get_task("1")).await.object().code(), Some(-32603));
    let subscribe = get_task("1").replace("GetTask", "SubscribeToTask");
    assert_eq!(fake().post(subscribe).await.object().code(), Some(-32603));
}
