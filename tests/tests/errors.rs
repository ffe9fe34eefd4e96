//! The error table as callers meet it (§5.4, §9.5, §10.6, §11.6). The numbers stand here once more: a test that took
//! them from the gateway's own table would agree with whatever that says.

#![allow(clippy::unwrap_used, reason = "what must not be absent fails the test")]

use gateway_domain::{Binding, ErrorKind, Operation};
use gateway_tests::{
    client::{Ask, Refusal, Told},
    gateway::Gateway,
    profile::Profile,
    samples,
};
use serde_json::{Value, json};

/// An error, a gateway and a call that provoke it, its JSON-RPC code, HTTP status, gRPC status and reason.
type Row = (
    ErrorKind,
    &'static str,
    Operation,
    fn(&str) -> Value,
    i64,
    u16,
    i32,
    &'static str,
);

/// The nine errors of the protocol (§3.3.2). The call's parameters are made for a finished task.
const NINE: [Row; 9] = [
    (
        ErrorKind::TaskNotFound,
        "plain",
        Operation::GetTask,
        |_| json!({ "id": "nope" }),
        -32001,
        404,
        5,
        "TASK_NOT_FOUND",
    ),
    (
        ErrorKind::TaskNotCancelable,
        "plain",
        Operation::CancelTask,
        of_task,
        -32002,
        400,
        9,
        "TASK_NOT_CANCELABLE",
    ),
    (
        ErrorKind::PushNotificationNotSupported,
        "bare",
        Operation::CreateTaskPushNotificationConfig,
        |task| samples::valid(Operation::CreateTaskPushNotificationConfig, task),
        -32003,
        400,
        9,
        "PUSH_NOTIFICATION_NOT_SUPPORTED",
    ),
    (
        ErrorKind::UnsupportedOperation,
        "plain",
        Operation::SubscribeToTask,
        of_task,
        -32004,
        400,
        9,
        "UNSUPPORTED_OPERATION",
    ),
    (
        ErrorKind::ContentTypeNotSupported,
        "text",
        Operation::SendMessage,
        |_| json!({ "message": { "messageId": "m", "role": "ROLE_USER", "parts": [{ "data": {} }] } }),
        -32005,
        400,
        3,
        "CONTENT_TYPE_NOT_SUPPORTED",
    ),
    (
        ErrorKind::InvalidAgentResponse,
        "plain",
        Operation::SendMessage,
        |_| samples::message("script outside"),
        -32006,
        500,
        13,
        "INVALID_AGENT_RESPONSE",
    ),
    (
        ErrorKind::ExtendedAgentCardNotConfigured,
        "promised",
        Operation::GetExtendedAgentCard,
        |_| json!({}),
        -32007,
        400,
        9,
        "EXTENDED_AGENT_CARD_NOT_CONFIGURED",
    ),
    (
        ErrorKind::ExtensionSupportRequired,
        "extension",
        Operation::SendMessage,
        |_| samples::message("say hi"),
        -32008,
        400,
        9,
        "EXTENSION_SUPPORT_REQUIRED",
    ),
    // The version is spoilt where the call is made.
    (
        ErrorKind::VersionNotSupported,
        "plain",
        Operation::GetTask,
        of_task,
        -32009,
        400,
        9,
        "VERSION_NOT_SUPPORTED",
    ),
];

fn of_task(task: &str) -> Value {
    json!({ "id": task })
}

#[tokio::test]
async fn each_error_of_the_protocol_has_its_numbers_on_every_binding() {
    for (kind, profile, operation, params, code, http, grpc, reason) in NINE {
        let gateway = Gateway::start(Profile::named(profile)).await;
        let task = finished(&gateway, profile).await;
        for client in gateway.clients() {
            let mut ask = Ask::new(operation, params(&task));
            if kind == ErrorKind::VersionNotSupported {
                ask.version = Some("99.0".to_owned());
            }
            let refusal = client.call(&ask).await.refusal();
            match &refusal.told {
                Told::JsonRpc { code: told, http } => {
                    assert_eq!((*told, *http), (code, Some(200)), "{kind:?}");
                }
                Told::HttpJson { http: told, code, .. } => {
                    assert_eq!((*told, *code), (Some(http), i64::from(http)), "{kind:?}");
                }
                Told::Grpc { code } => assert_eq!(*code, grpc, "{kind:?}"),
                Told::Broken => panic!("{kind:?}: {}", refusal.message),
                Told::Text { .. } => panic!("{kind:?} was told in the form of 0.3"),
            }
            assert_eq!(
                refusal.reason.as_deref(),
                Some(reason),
                "{kind:?} over {}",
                client.binding().name()
            );
            assert!(!refusal.message.is_empty());
        }
    }
}

async fn finished(gateway: &Gateway, profile: &str) -> String {
    if profile == "extension" {
        return String::new();
    }
    let ask = Ask::new(Operation::SendMessage, samples::message("say hi"));
    let made = gateway.client(Binding::JsonRpc).call(&ask).await.json();
    made["task"]["id"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_grpc_status_carries_its_code_text_and_one_error_info_in_its_details() {
    let gateway = Gateway::plain().await;
    let task = finished(&gateway, "plain").await;
    let client = gateway.client(Binding::Grpc);
    // The client itself demands that code and text agree with those of the status.
    for (operation, reason) in [
        (Operation::CancelTask, "TASK_NOT_CANCELABLE"),
        (Operation::SubscribeToTask, "UNSUPPORTED_OPERATION"),
    ] {
        let refusal = client
            .call(&Ask::new(operation, json!({ "id": task })))
            .await
            .refusal();
        let info = json!({
            "@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": reason, "domain": "a2a-protocol.org",
        });
        assert_eq!(refusal.details.len(), 1);
        gateway_tests::scenario::matches(&info, &refusal.details[0]).unwrap();
        assert!(
            refusal
                .headers
                .keys()
                .all(|name| name.as_str().chars().all(|c| !c.is_ascii_uppercase()))
        );
    }
    let gateway = Gateway::start(Profile::named("bare")).await;
    let params = samples::valid(Operation::CreateTaskPushNotificationConfig, "nope");
    let ask = Ask::new(Operation::CreateTaskPushNotificationConfig, params);
    let refusal = gateway.client(Binding::Grpc).call(&ask).await.refusal();
    assert_eq!(refusal.reason.as_deref(), Some("PUSH_NOTIFICATION_NOT_SUPPORTED"));
}

#[tokio::test]
async fn a_failure_inside_is_told_with_an_id_to_ask_about_and_nothing_of_the_inside() {
    let gateway = Gateway::plain().await;
    for client in gateway.clients() {
        let ask = Ask::new(Operation::SendMessage, samples::message("script unreachable"))
            .with("x-request-id", "ask-1");
        let refusal = client.call(&ask).await.refusal();
        refusal.assert(ErrorKind::Unavailable);
        assert_eq!(refusal.request_id.as_deref(), Some("ask-1"));
        tells_nothing_of_the_inside(&refusal);
    }
}

fn tells_nothing_of_the_inside(refusal: &Refusal) {
    let told = format!("{} {:?}", refusal.message, refusal.details);
    for inward in ["told not to be there", "::", "127.0.0.1", "panicked", "src/"] {
        assert!(!told.contains(inward), "{inward} in {told}");
    }
}

#[tokio::test]
async fn a_message_id_of_a_megabyte_is_refused_by_name_and_not_repeated() {
    let gateway = Gateway::plain().await;
    let mut params = samples::message("say hi");
    params["message"]["messageId"] = json!("x".repeat(1 << 20));
    for client in gateway.clients() {
        let refusal = client
            .call(&Ask::new(Operation::SendMessage, params.clone()))
            .await
            .refusal();
        refusal.assert(ErrorKind::InvalidParams);
        assert_eq!(refusal.fields(), ["message.messageId"]);
        assert!(refusal.message.len() < 1000);
    }
}

#[tokio::test]
async fn the_extended_card_is_kept_out_of_shared_caches() {
    let gateway = Gateway::start(Profile::named("open")).await;
    let mut names = Vec::new();
    for client in gateway.clients() {
        let reply = client
            .call(&Ask::new(Operation::GetExtendedAgentCard, json!({})))
            .await
            .reply();
        names.push(reply.json["name"].clone());
        if client.binding() == Binding::HttpJson {
            let cache = reply.headers["cache-control"].to_str().unwrap();
            assert!(cache.contains("no-store") || cache.contains("private"), "{cache}");
            assert!(
                reply.headers["vary"]
                    .to_str()
                    .unwrap()
                    .to_ascii_lowercase()
                    .contains("authorization")
            );
        }
        let mut anonymous = Ask::new(Operation::GetExtendedAgentCard, json!({}));
        anonymous.caller = None;
        client
            .call(&anonymous)
            .await
            .refusal()
            .assert(ErrorKind::Unauthenticated);
    }
    assert_eq!(names, vec![json!("Extended"); 3]);
}
