//! From the envelope to what the gateway is asked.

use std::{
    convert::Infallible,
    sync::Arc,
    task::{Context, Poll},
};

use axum::body::Body;
use bytes::Bytes;
use futures::stream;
use gateway_domain::{
    Binding, Error, ErrorKind, Operation, Principal, Request, TaskState,
    lifecycle::Move,
    principal::Actor,
    request::{AgentAction, AgentCommand},
};
use gateway_edge::RequestContext;
use gateway_wire::errors::Edition;
use serde_json::json;
use tower::{ServiceExt, util::BoxCloneSyncService};

use super::{Fake, Refusal, post, request, without_body};

const MESSAGE: &str = r#"{"message":{"messageId":"m-1","role":"ROLE_USER","parts":[{"text":"hi"}]}}"#;

#[tokio::test]
async fn cancelling_takes_no_body_an_empty_object_or_metadata() {
    let metadata = json!({ "why": "user" }).as_object().cloned();
    for (request, expected) in [
        (without_body("POST", "/tasks/T1:cancel"), None),
        (post("/tasks/T1:cancel", ""), None),
        (post("/tasks/T1:cancel", "{}"), None),
        (post("/tasks/T1:cancel", r#"{"id":"T1"}"#), None),
        (
            post("/tasks/T1:cancel", r#"{"metadata":{"why":"user"}}"#),
            metadata,
        ),
    ] {
        let seen = Fake::deleting().reach(request).await;
        assert_eq!(seen.head.operation, Some(Operation::CancelTask));
        let Request::CancelTask(params) = seen.request else {
            panic!("{:?}", seen.request)
        };
        assert_eq!((params.id.as_str(), params.metadata), ("T1", expected));
    }
}

#[tokio::test]
async fn subscribing_works_by_get_and_by_post_with_and_without_a_tenant() {
    for (path, tenant) in [
        ("/tasks/T1:subscribe", None),
        ("/acme/tasks/T1:subscribe", Some("acme")),
    ] {
        for request in [
            without_body("GET", path),
            without_body("POST", path),
            post(path, "{}"),
            post(path, r#"{"id":"T1"}"#),
        ] {
            let seen = Fake::deleting().reach(request).await;
            let Request::SubscribeToTask(params) = seen.request else {
                panic!("{:?}", seen.request)
            };
            assert_eq!(params.id.as_str(), "T1");
            assert_eq!(seen.head.tenant.as_ref().map(|tenant| tenant.as_str()), tenant);
        }
    }
}

#[tokio::test]
async fn a_configuration_is_of_the_task_in_the_path() {
    for body in [
        r#"{"url":"https://hooks.example.com/one"}"#,
        r#"{"url":"https://hooks.example.com/one","taskId":"T1"}"#,
        r#"{"url":"https://hooks.example.com/one","task_id":""}"#,
    ] {
        let seen = Fake::deleting()
            .reach(post("/tasks/T1/pushNotificationConfigs", body))
            .await;
        let Request::CreateTaskPushNotificationConfig(params) = seen.request else {
            panic!("{:?}", seen.request)
        };
        assert_eq!(params.task_id.as_str(), "T1");
        assert_eq!(params.config.task_id, Some(params.task_id));
    }
}

#[tokio::test]
async fn a_field_that_is_two_things_at_two_places_is_refused_by_name() {
    let config = r#"{"url":"https://hooks.example.com/one","taskId":"T2"}"#;
    for (request, field) in [
        (post("/tasks/T1/pushNotificationConfigs", config), "taskId"),
        (post("/tasks/T1:cancel", r#"{"id":"T2"}"#), "id"),
        (post("/tasks/T1:subscribe", r#"{"id":"T2"}"#), "id"),
        (without_body("GET", "/tasks/T1?id=T2"), "id"),
        (
            without_body("GET", "/tasks/T1/pushNotificationConfigs/c?task_id=T2"),
            "taskId",
        ),
        (post("/tasks/T1:cancel", r#"{"id":7}"#), "id"),
    ] {
        let refusal = Fake::deleting().refusal(request).await;
        assert_eq!((refusal.status, refusal.fields()), (400, vec![field]));
    }
}

#[tokio::test]
async fn a_history_length_means_what_it_says_and_none_means_none() {
    for (query, expected) in [
        ("", None),
        ("?", None),
        ("?historyLength=0", Some(0)),
        ("?historyLength=3", Some(3)),
        ("?history_length=3", Some(3)),
        ("?historyLength=2147483647", Some(2_147_483_647)),
        ("?unknown=1&unknown=2", None),
        ("?A2A-Version=1.0", None),
    ] {
        let seen = Fake::deleting()
            .reach(without_body("GET", &format!("/tasks/T1{query}")))
            .await;
        let Request::GetTask(params) = seen.request else {
            panic!("{:?}", seen.request)
        };
        assert_eq!(params.history_length, expected, "{query}");
    }
}

#[tokio::test]
async fn bad_parameters_of_a_query_are_named_all_together() {
    for (target, fields) in [
        ("/tasks/T1?historyLength=-1", vec!["historyLength"]),
        ("/tasks/T1?historyLength=-2147483648", vec!["historyLength"]),
        ("/tasks/T1?historyLength=2147483648", vec!["historyLength"]),
        ("/tasks/T1?historyLength=1.5", vec!["historyLength"]),
        ("/tasks/T1?historyLength=abc", vec!["historyLength"]),
        ("/tasks/T1?historyLength=", vec!["historyLength"]),
        ("/tasks/T1?historyLength=1&historyLength=1", vec!["historyLength"]),
        (
            "/tasks/T1?historyLength=1&history_length=2",
            vec!["historyLength"],
        ),
        ("/tasks?pageSize=0", vec!["pageSize"]),
        ("/tasks?pageSize=-1", vec!["pageSize"]),
        ("/tasks?pageSize=101", vec!["pageSize"]),
        ("/tasks?status=TASK_STATE_RUNNING", vec!["status"]),
        ("/tasks?includeArtifacts=yes", vec!["includeArtifacts"]),
        (
            "/tasks?statusTimestampAfter=yesterday",
            vec!["statusTimestampAfter"],
        ),
        (
            "/tasks?pageSize=0&historyLength=-5&status=TASK_STATE_RUNNING",
            vec!["pageSize", "status", "historyLength"],
        ),
        ("/tasks/T1/pushNotificationConfigs?pageSize=101", vec!["pageSize"]),
    ] {
        let refusal = Fake::deleting().refusal(without_body("GET", target)).await;
        assert_eq!((refusal.status, refusal.fields()), (400, fields), "{target}");
    }
}

#[tokio::test]
async fn a_list_is_asked_for_by_query() {
    let target = "/acme/tasks?contextId=c%2F1&status=TASK_STATE_WORKING&page_size=7&pageToken=t%3D\
                  &historyLength=2&statusTimestampAfter=2026-01-31T09:05:07.250Z&includeArtifacts=true";
    let seen = Fake::deleting().reach(without_body("GET", target)).await;
    assert_eq!(seen.head.tenant.unwrap().as_str(), "acme");
    let Request::ListTasks(params) = seen.request else {
        panic!("{:?}", seen.request)
    };
    assert_eq!(params.filter.context_id.unwrap().as_str(), "c/1");
    assert_eq!(params.filter.status, Some(TaskState::Working));
    assert_eq!(
        params.filter.status_timestamp_after.unwrap().to_string(),
        "2026-01-31T09:05:07.250Z"
    );
    assert_eq!((params.page_size, params.page_token.as_str()), (7, "t="));
    assert_eq!((params.history_length, params.include_artifacts), (Some(2), true));
}

#[tokio::test]
async fn every_bodiless_operation_reads_its_path() {
    for (verb, target, expected) in [
        ("GET", "/tasks/T%2F1", "T/1"),
        ("GET", "/tasks/T1%3Acancel", "T1:cancel"),
        ("GET", "/tasks/%C3%A4", "ä"),
        ("GET", "/tasks/T1/pushNotificationConfigs", "T1"),
        ("GET", "/tasks/T1/pushNotificationConfigs/c", "T1"),
        ("DELETE", "/tasks/T1/pushNotificationConfigs/c", "T1"),
    ] {
        let seen = Fake::deleting().reach(without_body(verb, target)).await;
        assert_eq!(
            seen.request.task_id().map(|id| id.as_str()),
            Some(expected),
            "{target}"
        );
    }
    let seen = Fake::deleting()
        .reach(without_body("GET", "/extendedAgentCard"))
        .await;
    assert!(matches!(seen.request, Request::GetExtendedAgentCard(_)));
}

#[tokio::test]
async fn a_path_that_is_no_text_is_refused_by_the_name_of_its_field() {
    for (target, field) in [
        ("/tasks/%ff", "id"),
        ("/tasks/%", "id"),
        ("/tasks/%2", "id"),
        ("/tasks/%zz", "id"),
        ("/tasks/a%00b", "id"),
        ("/tasks/%/pushNotificationConfigs/c", "taskId"),
        ("/tasks/T1/pushNotificationConfigs/%", "id"),
        ("/%ff/tasks/T1", "tenant"),
    ] {
        let refusal = Fake::deleting().refusal(without_body("GET", target)).await;
        assert_eq!((refusal.status, refusal.fields()), (400, vec![field]), "{target}");
    }
}

#[tokio::test]
async fn bodies_of_either_json_type_are_read_and_others_refused_unread() {
    let send = |content_type: &str, body: Body| {
        let builder = request("POST", "/message:send");
        let builder = match content_type {
            "" => builder,
            content_type => builder.header("content-type", content_type),
        };
        builder.body(body).unwrap()
    };
    for content_type in [
        "application/a2a+json",
        "application/json",
        "application/json; charset=utf-8",
        "APPLICATION/JSON",
        "",
    ] {
        let seen = Fake::deleting()
            .reach(send(content_type, Body::from(MESSAGE)))
            .await;
        assert!(matches!(seen.request, Request::SendMessage(_)), "{content_type}");
    }
    let unread =
        |_: &mut Context<'_>| -> Poll<Option<Result<Bytes, Infallible>>> { panic!("the body was read") };
    for content_type in ["text/plain", "multipart/form-data; boundary=x"] {
        let body = Body::from_stream(stream::poll_fn(unread));
        let refusal = Fake::deleting().refusal(send(content_type, body)).await;
        assert_eq!(refusal.status, 415, "{content_type}");
        assert_eq!(refusal.error["status"], "INVALID_ARGUMENT");
        assert_eq!(
            refusal.error["details"][0]["reason"],
            "CONTENT_TYPE_NOT_SUPPORTED"
        );
    }
}

#[tokio::test]
async fn what_is_no_json_is_told_apart_from_what_is_no_request() {
    let deep = format!("{{\"metadata\":{}1{}}}", "[".repeat(64), "]".repeat(64));
    for body in ["{", "nonsense", "{} {}", "\u{feff}{}", &deep] {
        let refusal = Fake::deleting().refusal(post("/tasks/T1:cancel", body)).await;
        assert_eq!((refusal.status, refusal.fields()), (400, vec![]), "{body}");
    }
    for (body, fields) in [
        ("[]", vec!["params"]),
        ("null", vec!["params"]),
        ("{}", vec!["message"]),
        ("", vec!["message"]),
        (
            r#"{"message":{}}"#,
            vec!["message.messageId", "message.parts", "message.role"],
        ),
        (
            r#"{"tenant":7,"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":""}]}}"#,
            vec!["tenant"],
        ),
    ] {
        let refusal = Fake::deleting().refusal(post("/message:send", body)).await;
        assert_eq!((refusal.status, refusal.fields()), (400, fields), "{body}");
    }
}

#[tokio::test]
async fn the_head_says_what_the_headers_and_the_query_say() {
    let request = request("GET", "/acme/tasks/T1?A2A-Version=1.0")
        .header("a2a-version", "1.0")
        .header("a2a-version", "1.0")
        .header("a2a-extensions", "https://x.example/a, https://x.example/b")
        .header("a2a-extensions", "https://x.example/c")
        .body(Body::empty())
        .unwrap();
    let head = Fake::deleting().reach(request).await.head;
    assert_eq!(
        (head.binding, head.operation),
        (Binding::HttpJson, Some(Operation::GetTask))
    );
    assert_eq!(head.version.header.as_deref(), Some("1.0"));
    assert_eq!(head.version.query.as_deref(), Some("1.0"));
    assert_eq!(
        *head.extensions,
        [
            "https://x.example/a",
            "https://x.example/b",
            "https://x.example/c"
        ]
    );
    assert_eq!(head.tenant.unwrap().as_str(), "acme");
    assert_eq!(&*head.request_id, "r-1");
}

#[tokio::test]
async fn different_versions_in_one_place_are_handed_on_as_no_version() {
    let request = request("GET", "/tasks/T1?A2A-Version=1.0&A2A-Version=0.3")
        .body(Body::empty())
        .unwrap();
    let head = Fake::deleting().reach(request).await.head;
    assert_eq!(
        (head.version.header.as_deref(), head.version.query.as_deref()),
        (None, Some("1.0, 0.3"))
    );
}

#[tokio::test]
async fn an_agent_reports_over_its_own_routes() {
    let fake = Fake::deleting().for_actor(Actor::Agent);
    for request in [
        without_body("POST", "/tasks/T1:work"),
        post("/tasks/T1:work", r#"{"id":"T1"}"#),
    ] {
        let seen = fake.reach(request).await;
        let Request::AgentCommand(AgentCommand { id, action }) = seen.request else {
            panic!("{:?}", seen.request)
        };
        assert_eq!((id.as_str(), action), ("T1", AgentAction::Move(Move::Work, None)));
    }
    let artifact =
        r#"{"artifact":{"artifactId":"a","parts":[{"text":"x"}]},"append":false,"lastChunk":true}"#;
    let seen = fake.reach(post("/tasks/T1:update_artifact", artifact)).await;
    assert_eq!(seen.request.task_id().unwrap().as_str(), "T1");
    let seen = fake
        .reach(without_body("GET", "/allTasks?pageSize=3&pageToken=x"))
        .await;
    let Request::AllTasks(page) = seen.request else {
        panic!("{:?}", seen.request)
    };
    assert_eq!((page.page_size, page.page_token.as_str()), (Some(3), "x"));
    let seen = fake
        .reach(without_body("GET", "/allPushNotificationConfigs"))
        .await;
    assert!(matches!(seen.request, Request::AllPushNotificationConfigs(_)));
}

#[tokio::test]
async fn unknown_paths_and_verbs_are_refused_in_the_common_form() {
    for (verb, target, status, allow) in [
        ("GET", "/no/such/path", 404, ""),
        ("DELETE", "/some/other/path", 404, ""),
        ("GET", "/acme/tasks/", 404, ""),
        ("PUT", "/tasks/T1", 405, "GET"),
        ("HEAD", "/tasks/T1", 405, "GET"),
        (
            "PATCH",
            "/acme/tasks/T1/pushNotificationConfigs",
            405,
            "POST, GET",
        ),
        ("GET", "/message:send", 405, "POST"),
    ] {
        let refusal = Fake::deleting().refusal(without_body(verb, target)).await;
        assert_eq!(
            (refusal.status, refusal.header("allow")),
            (status, allow),
            "{verb} {target}"
        );
        assert_eq!(refusal.error["status"], "UNIMPLEMENTED");
    }
}

#[tokio::test]
async fn the_version_is_judged_before_path_verb_and_body() {
    let strict = BoxCloneSyncService::new(tower::service_fn(|_| async {
        Err(Error::new(
            ErrorKind::VersionNotSupported,
            "send A2A-Version: 1.0",
        ))
    }));
    let service = crate::service(strict, Actor::Client, Arc::default(), Edition::default());
    for mut request in [
        without_body("GET", "/no/such/path"),
        without_body("PUT", "/tasks/T1"),
        without_body("GET", "/tasks/%"),
        post("/message:send", "{"),
    ] {
        request.extensions_mut().insert(RequestContext {
            request_id: "r-1".into(),
            principal: Arc::new(Principal::anonymous(Actor::Client)),
        });
        let refusal = Refusal::read(service.clone().oneshot(request).await.unwrap()).await;
        assert_eq!(refusal.error["details"][0]["reason"], "VERSION_NOT_SUPPORTED");
        assert_eq!((refusal.status, refusal.header("allow")), (400, ""));
    }
}
