//! The service of version 0.3: every method arrives as the operation that it is, and answers in its own message.

use gateway_domain::{
    Error, ErrorKind, Operation, Request, TaskState, Version,
    reply::Body,
    request::{GetConfig, OtherwiseCard, PageRequest},
};
use gateway_wire::{
    operations::{TABLE, TABLE_0_3, row_in},
    pb::{
        v0_3::{self, a2a_service_client::A2aServiceClient},
        v1,
    },
};
use prost::Message;
use tonic_types::StatusExt;

use crate::{
    operations::knowing_all,
    support::{answering, call, clients, events, framed, gateway, messages, reply, send, stream_of, task},
};

/// The path of an operation's method.
fn path(operation: Operation) -> String {
    row_in(Version::V0_3, operation).unwrap().grpc_path()
}

fn send_message() -> v0_3::SendMessageRequest {
    v0_3::SendMessageRequest {
        request: Some(v0_3::Message {
            message_id: "message-1".to_owned(),
            role: v0_3::Role::User.into(),
            content: vec![v0_3::Part {
                part: Some(v0_3::part::Part::Text("say hi".to_owned())),
                ..v0_3::Part::default()
            }],
            ..v0_3::Message::default()
        }),
        ..v0_3::SendMessageRequest::default()
    }
}

fn name() -> String {
    "tasks/task-1".to_owned()
}

fn config_name() -> String {
    "tasks/task-1/pushNotificationConfigs/config-1".to_owned()
}

fn create() -> v0_3::CreateTaskPushNotificationConfigRequest {
    v0_3::CreateTaskPushNotificationConfigRequest {
        parent: name(),
        config_id: "config-1".to_owned(),
        config: Some(v0_3::TaskPushNotificationConfig {
            name: config_name(),
            push_notification_config: Some(v0_3::PushNotificationConfig {
                id: "config-1".to_owned(),
                url: "https://hooks.example.com".to_owned(),
                ..v0_3::PushNotificationConfig::default()
            }),
        }),
        ..v0_3::CreateTaskPushNotificationConfigRequest::default()
    }
}

/// Calls a method and hands out the answer's message.
macro_rules! ask {
    ($client:ident.$method:ident($request:expr)) => {
        $client.$method($request).await.unwrap().into_inner()
    };
}

#[tokio::test]
async fn each_operation_arrives_as_itself_and_answers_in_its_own_message() {
    let mut client = A2aServiceClient::new(clients(knowing_all()).await);
    let sent = ask!(client.send_message(send_message())).payload.unwrap();
    let v0_3::send_message_response::Payload::Task(sent) = sent else {
        panic!("{sent:?}");
    };
    assert_eq!(sent.id, "SendMessage");
    let get = v0_3::GetTaskRequest {
        name: name(),
        ..v0_3::GetTaskRequest::default()
    };
    assert_eq!(ask!(client.get_task(get)).id, "GetTask");
    let cancel = v0_3::CancelTaskRequest {
        name: name(),
        ..v0_3::CancelTaskRequest::default()
    };
    assert_eq!(ask!(client.cancel_task(cancel)).id, "CancelTask");
    let card = ask!(client.get_agent_card(v0_3::GetAgentCardRequest::default()));
    assert_eq!(
        (card.name.as_str(), card.protocol_version.as_str()),
        ("GetExtendedAgentCard", "0.3.0")
    );
    let subscribe = v0_3::TaskSubscriptionRequest {
        name: name(),
        ..v0_3::TaskSubscriptionRequest::default()
    };
    for mut stream in [
        ask!(client.send_streaming_message(send_message())),
        ask!(client.task_subscription(subscribe)),
    ] {
        assert!(stream.message().await.unwrap().unwrap().payload.is_some());
        assert_eq!(stream.message().await.unwrap(), None);
    }
}

#[tokio::test]
async fn each_operation_on_configurations_arrives_as_itself_and_answers_in_its_own_message() {
    let mut client = A2aServiceClient::new(clients(knowing_all()).await);
    let url = |config: v0_3::TaskPushNotificationConfig| config.push_notification_config.unwrap().url;
    let created = ask!(client.create_task_push_notification_config(create()));
    assert_eq!(url(created), "CreateTaskPushNotificationConfig");
    let get = v0_3::GetTaskPushNotificationConfigRequest {
        name: config_name(),
        ..v0_3::GetTaskPushNotificationConfigRequest::default()
    };
    let got = ask!(client.get_task_push_notification_config(get));
    assert_eq!(url(got), "GetTaskPushNotificationConfig");
    let list = v0_3::ListTaskPushNotificationConfigRequest {
        parent: name(),
        ..v0_3::ListTaskPushNotificationConfigRequest::default()
    };
    let listed = ask!(client.list_task_push_notification_config(list));
    assert_eq!(listed.next_page_token, "ListTaskPushNotificationConfigs");
    let delete = v0_3::DeleteTaskPushNotificationConfigRequest {
        name: config_name(),
        ..v0_3::DeleteTaskPushNotificationConfigRequest::default()
    };
    ask!(client.delete_task_push_notification_config(delete));
}

#[tokio::test]
async fn a_call_says_by_its_service_which_version_it_means() {
    let seen = gateway(|head, _| {
        let names = head.names.map_or("none", Version::name);
        Err(Error::new(ErrorKind::Internal, names))
    });
    let channel = clients(seen).await;
    for row in TABLE_0_3.iter().chain(TABLE.iter().take(TABLE_0_3.len())) {
        let status = send(&channel, call(&row.grpc_path(), framed(&[])))
            .await
            .status
            .unwrap();
        assert_eq!(status.message(), row.version.name(), "{}", row.grpc_path());
    }
    let status = send(&channel, call("/a2a.v1.A2AService/ListTasks", framed(&[]))).await;
    assert_eq!(status.status.unwrap().message(), "none");
}

/// What a request of 0.3 is read as.
async fn read(operation: Operation, message: impl Message) -> Result<Request, tonic::Status> {
    let (say, heard) = std::sync::mpsc::sync_channel(1);
    let seen = gateway(move |_, request| {
        say.send(request?).unwrap();
        Ok(reply(Body::Deleted))
    });
    let channel = clients(seen).await;
    let answer = send(&channel, call(&path(operation), framed(&message.encode_to_vec()))).await;
    heard.try_recv().map_err(|_| answer.status.unwrap())
}

#[tokio::test]
async fn without_a_configuration_a_send_waits_and_within_one_blocking_means_what_it_says() {
    let configuration = |blocking, history_length| {
        Some(v0_3::SendMessageConfiguration {
            blocking,
            history_length,
            ..v0_3::SendMessageConfiguration::default()
        })
    };
    for (configuration, at_once, history) in [
        (None, false, None),
        (configuration(false, 0), true, None),
        (configuration(true, 0), false, None),
        (configuration(true, 3), false, Some(3)),
    ] {
        let request = v0_3::SendMessageRequest {
            configuration,
            ..send_message()
        };
        let Request::SendMessage(read) = read(Operation::SendMessage, request).await.unwrap() else {
            panic!("it is a send");
        };
        let read = read.configuration;
        assert_eq!(
            (read.return_immediately, read.history_length, read.version),
            (at_once, history, Version::V0_3)
        );
    }
}

#[tokio::test]
async fn a_length_of_0_is_all_of_the_history_and_a_negative_one_is_refused() {
    for (history_length, expected) in [(0, Some(None)), (2, Some(Some(2))), (-1, None)] {
        let request = v0_3::GetTaskRequest {
            name: name(),
            history_length,
            ..v0_3::GetTaskRequest::default()
        };
        let length = match read(Operation::GetTask, request).await {
            Ok(Request::GetTask(read)) => Some(read.history_length),
            _ => None,
        };
        assert_eq!(length, expected);
    }
}

#[tokio::test]
async fn requests_carry_the_rules_of_their_version() {
    let subscribe = v0_3::TaskSubscriptionRequest {
        name: name(),
        tenant: "acme".to_owned(),
    };
    let Request::SubscribeToTask(request) = read(Operation::SubscribeToTask, subscribe).await.unwrap() else {
        panic!("it is a subscription");
    };
    assert_eq!(
        (request.version, request.tenant.unwrap().as_str()),
        (Version::V0_3, "acme")
    );
    let card = v0_3::GetAgentCardRequest::default();
    let Request::GetExtendedAgentCard(request) = read(Operation::GetExtendedAgentCard, card).await.unwrap()
    else {
        panic!("it asks for the card");
    };
    assert_eq!(request.otherwise, OtherwiseCard::PublicCard);
    let list = |page_size| v0_3::ListTaskPushNotificationConfigRequest {
        parent: name(),
        page_size,
        ..v0_3::ListTaskPushNotificationConfigRequest::default()
    };
    for (size, expected) in [(0, PageRequest::everything().page_size), (7, Some(7))] {
        let operation = Operation::ListTaskPushNotificationConfigs;
        let Request::ListTaskPushNotificationConfigs(request) = read(operation, list(size)).await.unwrap()
        else {
            panic!("it is a list");
        };
        assert_eq!(
            (request.page.page_size, request.version),
            (expected, Version::V0_3)
        );
    }
}

#[tokio::test]
async fn a_configuration_is_created_under_the_id_that_all_places_agree_on() {
    let read = async |change: fn(&mut v0_3::CreateTaskPushNotificationConfigRequest)| {
        let mut request = create();
        change(&mut request);
        match read(Operation::CreateTaskPushNotificationConfig, request).await {
            Ok(Request::CreateTaskPushNotificationConfig(request)) => Ok(request.config),
            Ok(other) => panic!("{other:?}"),
            Err(status) => {
                let fields = status.get_details_bad_request().unwrap().field_violations;
                Err(fields.into_iter().map(|fault| fault.field).collect::<Vec<_>>())
            }
        }
    };
    fn inner(
        request: &mut v0_3::CreateTaskPushNotificationConfigRequest,
    ) -> &mut v0_3::PushNotificationConfig {
        let config = request.config.as_mut().unwrap();
        config.push_notification_config.as_mut().unwrap()
    }
    let config = read(|_| ()).await.unwrap();
    assert_eq!(config.id.unwrap().as_str(), "config-1");
    assert_eq!(config.task_id.unwrap().as_str(), "task-1");
    assert_eq!(config.version, Version::V0_3);
    read(|request| {
        request.parent += "/pushNotificationConfigs";
        request.config.as_mut().unwrap().name.clear();
        inner(request).id.clear();
    })
    .await
    .unwrap();
    let config = read(|request| {
        inner(request).authentication = Some(v0_3::AuthenticationInfo {
            schemes: vec!["Digest".to_owned(), "basic".to_owned(), "Bearer".to_owned()],
            credentials: "secret".to_owned(),
        });
    })
    .await
    .unwrap();
    let authentication = config.authentication.unwrap();
    assert_eq!(authentication.scheme, "basic");
    assert_eq!(authentication.all_schemes(), ["Digest", "basic", "Bearer"]);

    assert_eq!(
        read(|request| request.config_id.clear()).await,
        Err(vec![
            "configId".to_owned(),
            "config.name".to_owned(),
            "config.pushNotificationConfig.id".to_owned(),
        ])
    );
    for (change, field) in [
        (
            (|request| request.parent = "task-1".to_owned())
                as fn(&mut v0_3::CreateTaskPushNotificationConfigRequest),
            "parent",
        ),
        (
            |request| request.config.as_mut().unwrap().name.push('x'),
            "config.name",
        ),
        (
            |request| inner(request).id.push('x'),
            "config.pushNotificationConfig.id",
        ),
        (
            |request| inner(request).url.clear(),
            "config.pushNotificationConfig.url",
        ),
    ] {
        assert_eq!(read(change).await, Err(vec![field.to_owned()]));
    }
    let nothing = read(|request| request.config = None).await;
    assert_eq!(nothing, Err(vec!["config.pushNotificationConfig".to_owned()]));
}

#[tokio::test]
async fn names_that_are_none_are_refused_by_the_field_that_has_them() {
    for name in ["", "task-1", "tasks/", "tasks/a/b", "task/a"] {
        let request = v0_3::GetTaskRequest {
            name: name.to_owned(),
            ..v0_3::GetTaskRequest::default()
        };
        let status = read(Operation::GetTask, request).await.unwrap_err();
        let fields = status.get_details_bad_request().unwrap().field_violations;
        assert_eq!((fields.len(), fields[0].field.as_str()), (1, "name"), "{name}");
    }
    let key = v0_3::GetTaskPushNotificationConfigRequest {
        name: config_name(),
        ..v0_3::GetTaskPushNotificationConfigRequest::default()
    };
    let Request::GetTaskPushNotificationConfig(GetConfig { task_id, id, .. }) =
        read(Operation::GetTaskPushNotificationConfig, key).await.unwrap()
    else {
        panic!("it asks for a configuration");
    };
    assert_eq!((task_id.as_str(), id.unwrap().as_str()), ("task-1", "config-1"));
}

#[tokio::test]
async fn bad_fields_of_a_message_have_their_names_of_0_3() {
    let mut request = send_message();
    let message = request.request.as_mut().unwrap();
    message.message_id.clear();
    message.content.push(v0_3::Part::default());
    let status = read(Operation::SendMessage, request).await.unwrap_err();
    let fields = status.get_details_bad_request().unwrap().field_violations;
    assert_eq!(fields[0].field, "message.content[1]");
    let mut request = send_message();
    request.request.as_mut().unwrap().content.clear();
    let status = read(Operation::SendMessage, request).await.unwrap_err();
    assert!(status.message().contains("message.content must have"), "{status}");
}

#[tokio::test]
async fn a_status_update_says_whether_the_stream_ends_with_it() {
    use v0_3::stream_response::Payload::StatusUpdate;
    let states = [
        (TaskState::AuthRequired, false),
        (TaskState::InputRequired, true),
        (TaskState::Working, false),
        (TaskState::Completed, true),
    ];
    let channel = clients(answering(move || {
        Body::Stream(stream_of(events(&states.map(|(state, _)| state)), None))
    }))
    .await;
    let body = framed(&send_message().encode_to_vec());
    let answer = send(&channel, call(&path(Operation::SendStreamingMessage), body)).await;
    let events: Vec<v0_3::StreamResponse> = messages(&answer.body);
    let said: Vec<_> = events
        .into_iter()
        .filter_map(|event| match event.payload {
            Some(StatusUpdate(update)) => Some(update.r#final),
            _ => None,
        })
        .collect();
    assert_eq!(said, states.map(|(_, ends)| ends));
}

#[tokio::test]
async fn an_event_is_kept_in_each_version() {
    let shared = events(&[]);
    let channel = clients({
        let shared = shared.clone();
        answering(move || Body::Stream(stream_of(shared.clone(), None)))
    })
    .await;
    let old = send(
        &channel,
        call(
            &path(Operation::SendStreamingMessage),
            framed(&send_message().encode_to_vec()),
        ),
    )
    .await;
    let new = framed(&crate::operations::send_message().encode_to_vec());
    let new = send(&channel, call("/lf.a2a.v1.A2AService/SendStreamingMessage", new)).await;
    let old: Vec<v0_3::StreamResponse> = messages(&old.body);
    let new: Vec<v1::StreamResponse> = messages(&new.body);
    let kept = |notation| shared[0].encoded(notation, |_| panic!("it was not kept"));
    use gateway_wire::notation::{PROTOBUF, PROTOBUF_0_3};
    assert_eq!(*kept(PROTOBUF_0_3), old[0].encode_to_vec());
    assert_eq!(*kept(PROTOBUF), new[0].encode_to_vec());
}

#[tokio::test]
async fn extensions_travel_under_the_name_that_0_3_has_for_them() {
    let channel = clients(gateway(|head, _| {
        let mut reply = reply(Body::Task(task("task-1")));
        reply.activated = head.extensions.to_vec();
        Ok(reply)
    }))
    .await;
    let body = v0_3::GetTaskRequest {
        name: name(),
        ..v0_3::GetTaskRequest::default()
    };
    let mut request = call(&path(Operation::GetTask), framed(&body.encode_to_vec()));
    let headers = request.headers_mut();
    headers.insert("x-a2a-extensions", "urn:a, urn:b".parse().unwrap());
    headers.insert("a2a-extensions", "urn:c".parse().unwrap());
    let answer = send(&channel, request).await;
    assert_eq!(answer.headers["x-a2a-extensions"], "urn:a, urn:b");
    assert!(!answer.headers.contains_key("a2a-extensions"));
}

#[tokio::test]
async fn a_missing_extension_is_an_invalid_argument_in_0_3_alone() {
    let channel = clients(gateway(|_, _| {
        Err(Error::new(ErrorKind::ExtensionSupportRequired, "urn:a"))
    }));
    let channel = channel.await;
    for (path, code) in [
        (path(Operation::GetTask), tonic::Code::InvalidArgument),
        (
            "/lf.a2a.v1.A2AService/GetTask".to_owned(),
            tonic::Code::FailedPrecondition,
        ),
    ] {
        let status = send(&channel, call(&path, framed(&[]))).await.status.unwrap();
        assert_eq!(status.code(), code, "{path}");
        let info = status.get_details_error_info().unwrap();
        assert_eq!(info.reason, "EXTENSION_SUPPORT_REQUIRED");
    }
}
