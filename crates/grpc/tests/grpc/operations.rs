//! Every operation over a generated client: it arrives as itself, and its answer is its own message.

use gateway_domain::{
    Actor, AgentCard, Operation, TaskPushNotificationConfig, Version,
    reply::{AllConfigsPage, AllTasksPage, Body, ConfigPage, Sent, TaskPage},
};
use gateway_grpc::Settings;
use gateway_pipeline::Gateway;
use gateway_wire::pb::{
    agent::{self, agent_service_client::AgentServiceClient},
    v1::{self, a2a_service_client::A2aServiceClient},
};

use crate::support::{clients, events, gateway, listener, reply, stream_of, task};

/// Answers each operation in its own way, with the operation's name where the answer has a place for it.
pub(crate) fn knowing_all() -> Gateway {
    gateway(|head, request| {
        request?;
        let operation = head.operation.unwrap();
        let name = operation.name().to_owned();
        Ok(reply(match operation {
            Operation::SendMessage => Body::Sent(Sent::Task(task(&name))),
            Operation::SendStreamingMessage | Operation::SubscribeToTask => {
                Body::Stream(stream_of(events(&[]), None))
            }
            Operation::ListTasks => Body::Tasks(TaskPage {
                tasks: vec![task(&name)],
                next_page_token: name,
                page_size: 50,
                total_size: 1,
            }),
            Operation::CreateTaskPushNotificationConfig | Operation::GetTaskPushNotificationConfig => {
                Body::Config(TaskPushNotificationConfig {
                    tenant: None,
                    id: None,
                    task_id: None,
                    url: name,
                    token: None,
                    authentication: None,
                    version: Version::V1_0,
                })
            }
            Operation::ListTaskPushNotificationConfigs => Body::Configs(ConfigPage {
                configs: Vec::new(),
                next_page_token: name,
            }),
            Operation::DeleteTaskPushNotificationConfig => Body::Deleted,
            Operation::GetExtendedAgentCard => Body::Card(std::sync::Arc::new(AgentCard {
                name,
                ..AgentCard::default()
            })),
            Operation::AllTasks => Body::AllTasks(AllTasksPage {
                tasks: Vec::new(),
                next_page_token: name,
            }),
            Operation::AllPushNotificationConfigs => Body::AllConfigs(AllConfigsPage {
                configs: Vec::new(),
                next_page_token: name,
            }),
            _ => Body::Task(task(&name)),
        }))
    })
}

fn id() -> String {
    "task-1".to_owned()
}

pub(crate) fn send_message() -> v1::SendMessageRequest {
    v1::SendMessageRequest {
        message: Some(v1::Message {
            message_id: "message-1".to_owned(),
            role: v1::Role::User.into(),
            parts: vec![v1::Part {
                content: Some(v1::part::Content::Text("say hi".to_owned())),
                ..v1::Part::default()
            }],
            ..v1::Message::default()
        }),
        ..v1::SendMessageRequest::default()
    }
}

/// Calls a method and hands out the answer's message.
macro_rules! ask {
    ($client:ident.$method:ident($request:expr)) => {
        $client.$method($request).await.unwrap().into_inner()
    };
}

#[tokio::test]
async fn each_operation_of_clients_arrives_as_itself_and_answers_in_its_own_message() {
    let mut client = A2aServiceClient::new(clients(knowing_all()).await);
    let sent = ask!(client.send_message(send_message())).payload.unwrap();
    let v1::send_message_response::Payload::Task(sent) = sent else {
        panic!("{sent:?}");
    };
    assert_eq!(sent.id, "SendMessage");
    let get = v1::GetTaskRequest {
        id: id(),
        ..v1::GetTaskRequest::default()
    };
    assert_eq!(ask!(client.get_task(get)).id, "GetTask");
    let list = ask!(client.list_tasks(v1::ListTasksRequest::default()));
    assert_eq!((list.next_page_token.as_str(), list.page_size), ("ListTasks", 50));
    let cancel = v1::CancelTaskRequest {
        id: id(),
        ..v1::CancelTaskRequest::default()
    };
    assert_eq!(ask!(client.cancel_task(cancel)).id, "CancelTask");
    let card = ask!(client.get_extended_agent_card(v1::GetExtendedAgentCardRequest::default()));
    assert_eq!(card.name, "GetExtendedAgentCard");

    let subscribe = v1::SubscribeToTaskRequest {
        id: id(),
        ..v1::SubscribeToTaskRequest::default()
    };
    for mut stream in [
        ask!(client.send_streaming_message(send_message())),
        ask!(client.subscribe_to_task(subscribe)),
    ] {
        assert!(stream.message().await.unwrap().unwrap().payload.is_some());
        assert_eq!(stream.message().await.unwrap(), None);
    }
}

#[tokio::test]
async fn each_operation_on_configurations_arrives_as_itself_and_answers_in_its_own_message() {
    let mut client = A2aServiceClient::new(clients(knowing_all()).await);
    let create = v1::TaskPushNotificationConfig {
        task_id: id(),
        url: "https://hooks.example.com".to_owned(),
        ..v1::TaskPushNotificationConfig::default()
    };
    let created = ask!(client.create_task_push_notification_config(create));
    assert_eq!(created.url, "CreateTaskPushNotificationConfig");
    let get = v1::GetTaskPushNotificationConfigRequest {
        task_id: id(),
        id: "config-1".to_owned(),
        ..v1::GetTaskPushNotificationConfigRequest::default()
    };
    let got = ask!(client.get_task_push_notification_config(get));
    assert_eq!(got.url, "GetTaskPushNotificationConfig");
    let list = v1::ListTaskPushNotificationConfigsRequest {
        task_id: id(),
        ..v1::ListTaskPushNotificationConfigsRequest::default()
    };
    let listed = ask!(client.list_task_push_notification_configs(list));
    assert_eq!(listed.next_page_token, "ListTaskPushNotificationConfigs");
    let delete = v1::DeleteTaskPushNotificationConfigRequest {
        task_id: id(),
        id: "config-1".to_owned(),
        ..v1::DeleteTaskPushNotificationConfigRequest::default()
    };
    ask!(client.delete_task_push_notification_config(delete));
}

#[tokio::test]
async fn each_operation_of_agents_arrives_as_itself_and_answers_in_its_own_message() {
    let (channel, _) = listener(knowing_all(), Actor::Agent, Settings::default()).await;
    let mut client = AgentServiceClient::new(channel);
    let report = || agent::ReportRequest {
        id: id(),
        status_message: None,
    };
    assert_eq!(ask!(client.start_working(report())).id, "StartWorking");
    assert_eq!(ask!(client.report_progress(report())).id, "ReportProgress");
    assert_eq!(ask!(client.require_input(report())).id, "RequireInput");
    assert_eq!(ask!(client.require_auth(report())).id, "RequireAuth");
    assert_eq!(ask!(client.complete_task(report())).id, "CompleteTask");
    assert_eq!(ask!(client.fail_task(report())).id, "FailTask");
    assert_eq!(ask!(client.reject_task(report())).id, "RejectTask");
    let update = agent::UpdateArtifactRequest {
        id: id(),
        artifact: Some(v1::Artifact {
            artifact_id: "artifact-1".to_owned(),
            parts: send_message().message.unwrap().parts,
            ..v1::Artifact::default()
        }),
        append: Some(false),
        last_chunk: Some(true),
    };
    assert_eq!(ask!(client.update_artifact(update)).id, "UpdateArtifact");
    let tasks = ask!(client.all_tasks(agent::AllTasksRequest::default()));
    assert_eq!(tasks.next_page_token, "AllTasks");
    let request = agent::AllPushNotificationConfigsRequest::default();
    let configs = ask!(client.all_push_notification_configs(request));
    assert_eq!(configs.next_page_token, "AllPushNotificationConfigs");
}
