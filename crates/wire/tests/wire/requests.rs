//! Requests over gRPC and over JSON: the same request, and refused for the same reasons.

use gateway_domain::{Error, Operation, Request, request::from_json};
use gateway_wire::{decode, pb};

use crate::proto_json::from_proto_json;

/// A request as JSON becomes the same request as the message that the JSON is the ProtoJSON of.
macro_rules! same_request {
    ($module:ident of $package:literal; $($test:ident: $operation:ident, $message:ident, $decode:expr, $json:expr;)*) => {
        $(
            #[test]
            fn $test() {
                let name = concat!($package, ".", stringify!($message));
                let message: pb::$module::$message = from_proto_json(name, $json);
                let decode: fn(pb::$module::$message) -> Result<Request, Error> = $decode;
                let from_json = from_json(Operation::$operation, $json.as_bytes()).expect("the JSON is valid");
                assert_eq!(decode(message).expect("the message is valid"), from_json);
            }
        )*
    };
}

same_request! {
    v1 of "lf.a2a.v1";
    a_send_is_the_same_request_in_both_notations: SendMessage, SendMessageRequest,
        |pb| Ok(Request::SendMessage(decode::send_message(pb)?.validate()?)),
        r#"{"tenant":"t","message":{"messageId":"m","contextId":"c","taskId":"k","role":"ROLE_USER",
            "parts":[{"text":"a"},{"raw":"AQI=","filename":"f","mediaType":"x/y"},{"url":"u"},{"data":null},
            {"data":{"n":[1,2.5,true]}}],"metadata":{"a":1},"extensions":["e"],"referenceTaskIds":["r"]},
            "configuration":{"acceptedOutputModes":["text/plain"],"historyLength":0,"returnImmediately":true,
            "taskPushNotificationConfig":{"url":"https://x","token":"s","authentication":{"scheme":"Bearer"}}},
            "metadata":{"b":{}}}"#;
    a_bare_send_is_the_same_request_in_both_notations: SendMessage, SendMessageRequest,
        |pb| Ok(Request::SendMessage(decode::send_message(pb)?.validate()?)),
        r#"{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":""}]}}"#;
    a_get_is_the_same_request_in_both_notations: GetTask, GetTaskRequest,
        |pb| Ok(Request::GetTask(decode::get_task(pb).validate()?)),
        r#"{"tenant":"t","id":"i","historyLength":0}"#;
    a_list_is_the_same_request_in_both_notations: ListTasks, ListTasksRequest,
        |pb| Ok(Request::ListTasks(decode::list_tasks(pb).validate()?)),
        r#"{"tenant":"t","contextId":"c","status":"TASK_STATE_WORKING","pageSize":7,"pageToken":"p","historyLength":3,
            "statusTimestampAfter":"2026-01-31T09:05:07.250001Z","includeArtifacts":true}"#;
    a_bare_list_is_the_same_request_in_both_notations: ListTasks, ListTasksRequest,
        |pb| Ok(Request::ListTasks(decode::list_tasks(pb).validate()?)), "{}";
    a_cancel_is_the_same_request_in_both_notations: CancelTask, CancelTaskRequest,
        |pb| Ok(Request::CancelTask(decode::cancel_task(pb)?.validate()?)),
        r#"{"tenant":"t","id":"i","metadata":{"why":"late"}}"#;
    a_subscription_is_the_same_request_in_both_notations: SubscribeToTask, SubscribeToTaskRequest,
        |pb| Ok(Request::SubscribeToTask(decode::subscribe_to_task(pb).validate()?)),
        r#"{"tenant":"t","id":"i"}"#;
    a_new_configuration_is_the_same_request_in_both_notations:
        CreateTaskPushNotificationConfig, TaskPushNotificationConfig,
        |pb| Ok(Request::CreateTaskPushNotificationConfig(decode::create_config(pb).validate()?)),
        r#"{"tenant":"t","id":"i","taskId":"k","url":"https://x","token":"s",
            "authentication":{"scheme":"Basic","credentials":"c"}}"#;
    a_get_of_a_configuration_is_the_same_request_in_both_notations:
        GetTaskPushNotificationConfig, GetTaskPushNotificationConfigRequest,
        |pb| Ok(Request::GetTaskPushNotificationConfig(decode::get_config(pb).validate()?.into())),
        r#"{"tenant":"t","taskId":"k","id":"i"}"#;
    a_list_of_configurations_is_the_same_request_in_both_notations:
        ListTaskPushNotificationConfigs, ListTaskPushNotificationConfigsRequest,
        |pb| Ok(Request::ListTaskPushNotificationConfigs(decode::list_configs(pb).validate()?)),
        r#"{"tenant":"t","taskId":"k","pageSize":5,"pageToken":"p"}"#;
    a_delete_of_a_configuration_is_the_same_request_in_both_notations:
        DeleteTaskPushNotificationConfig, DeleteTaskPushNotificationConfigRequest,
        |pb| Ok(Request::DeleteTaskPushNotificationConfig(decode::delete_config(pb).validate()?)),
        r#"{"tenant":"t","taskId":"k","id":"i"}"#;
    a_request_for_a_card_is_the_same_request_in_both_notations: GetExtendedAgentCard, GetExtendedAgentCardRequest,
        |pb| Ok(Request::GetExtendedAgentCard(decode::get_extended_agent_card(pb).validate()?)),
        r#"{"tenant":"t"}"#;
}

same_request! {
    agent of "gateway.agent.v1";
    a_move_is_the_same_request_in_both_notations: RequireInput, ReportRequest,
        |pb| Ok(Request::AgentCommand(decode::report(pb)?.validate(Operation::RequireInput)?)),
        r#"{"id":"i","statusMessage":{"messageId":"m","role":"ROLE_AGENT","parts":[{"text":"which one?"}]}}"#;
    a_move_that_says_nothing_is_the_same_request_in_both_notations: CompleteTask, ReportRequest,
        |pb| Ok(Request::AgentCommand(decode::report(pb)?.validate(Operation::CompleteTask)?)),
        r#"{"id":"i"}"#;
    a_report_is_the_same_request_in_both_notations: ReportProgress, ReportRequest,
        |pb| Ok(Request::AgentCommand(decode::report(pb)?.validate(Operation::ReportProgress)?)),
        r#"{"id":"i","statusMessage":{"messageId":"m","role":"ROLE_AGENT","parts":[{"data":{"percent":50}}]}}"#;
    a_chunk_is_the_same_request_in_both_notations: UpdateArtifact, UpdateArtifactRequest,
        |pb| Ok(Request::AgentCommand(decode::update_artifact(pb)?.validate()?)),
        r#"{"id":"i","artifact":{"artifactId":"a","name":"n","parts":[{"raw":"AQI="}]},"append":false,"lastChunk":true}"#;
    a_page_of_tasks_is_the_same_request_in_both_notations: AllTasks, AllTasksRequest,
        |pb| Ok(Request::AllTasks(decode::all_tasks(pb).validate()?)),
        r#"{"pageSize":7,"pageToken":"p"}"#;
    a_page_of_configurations_is_the_same_request_in_both_notations:
        AllPushNotificationConfigs, AllPushNotificationConfigsRequest,
        |pb| Ok(Request::AllPushNotificationConfigs(decode::all_configs(pb).validate()?)), "{}";
}

fn fields(error: &Error) -> Vec<&str> {
    error
        .violations()
        .iter()
        .map(|violation| &*violation.field)
        .collect()
}

#[test]
fn a_role_that_does_not_exist_is_refused_at_its_field() {
    let message = pb::v1::Message {
        role: 9,
        ..pb::v1::Message::default()
    };
    let request = pb::v1::SendMessageRequest {
        message: Some(message),
        ..pb::v1::SendMessageRequest::default()
    };
    assert_eq!(
        fields(&decode::send_message(request).unwrap_err()),
        ["message.role"]
    );
}

#[test]
fn every_bad_field_of_a_list_is_refused_at_once() {
    let request = pb::v1::ListTasksRequest {
        status: 77,
        page_size: Some(0),
        history_length: Some(-1),
        status_timestamp_after: Some(prost_types::Timestamp {
            seconds: i64::MAX,
            nanos: 0,
        }),
        ..pb::v1::ListTasksRequest::default()
    };
    let error = decode::list_tasks(request).validate().unwrap_err();
    let mut fields = fields(&error);
    fields.sort_unstable();
    assert_eq!(
        fields,
        ["historyLength", "pageSize", "status", "statusTimestampAfter"]
    );
}

#[test]
fn a_chunk_that_does_not_say_how_it_is_meant_is_refused() {
    let artifact = Some(pb::v1::Artifact {
        artifact_id: "a".to_owned(),
        ..pb::v1::Artifact::default()
    });
    let request = |append, last_chunk| pb::agent::UpdateArtifactRequest {
        id: "i".to_owned(),
        artifact: artifact.clone(),
        append,
        last_chunk,
    };
    let refused = |request| decode::update_artifact(request).unwrap().validate().unwrap_err();
    assert_eq!(fields(&refused(request(None, None))), ["append", "lastChunk"]);
    assert_eq!(fields(&refused(request(Some(true), None))), ["lastChunk"]);
    assert!(
        decode::update_artifact(request(Some(false), Some(false)))
            .unwrap()
            .validate()
            .is_ok()
    );
}
