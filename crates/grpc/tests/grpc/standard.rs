//! Health and reflection, over the generated clients of their crates. None of these calls names a version.

use std::collections::BTreeSet;

use futures::stream;
use gateway_domain::{Actor, reply::Body};
use gateway_grpc::{Health, Settings};
use gateway_wire::operations::{AGENT_SERVICE, CLIENT_SERVICE, CLIENT_SERVICE_0_3};
use prost::Message;
use prost_types::FileDescriptorProto;
use tonic::{Code, Status};
use tonic_health::pb::{
    HealthCheckRequest, health_check_response::ServingStatus, health_client::HealthClient,
};
use tonic_reflection::pb::{v1, v1alpha};

use crate::support::{Channel, answering, call, framed, listener, send, task};

async fn listener_for(actor: Actor) -> (Channel, Health) {
    listener(
        answering(|| Body::Task(task("task-1"))),
        actor,
        Settings::default(),
    )
    .await
}

fn health_of(service: &str) -> HealthCheckRequest {
    HealthCheckRequest {
        service: service.to_owned(),
    }
}

#[tokio::test]
async fn the_health_of_the_listeners_own_service_can_be_checked() {
    for (actor, own, other) in [
        (Actor::Client, CLIENT_SERVICE, AGENT_SERVICE),
        (Actor::Client, CLIENT_SERVICE_0_3, AGENT_SERVICE),
        (Actor::Agent, AGENT_SERVICE, CLIENT_SERVICE),
        (Actor::Agent, AGENT_SERVICE, CLIENT_SERVICE_0_3),
    ] {
        let (channel, health) = listener_for(actor).await;
        let mut client = HealthClient::new(channel);
        for expected in [ServingStatus::Serving, ServingStatus::NotServing] {
            for service in ["", own] {
                let answer = client.check(health_of(service)).await.unwrap().into_inner();
                assert_eq!(answer.status(), expected, "{service:?}");
            }
            health.drain().await;
        }
        let status = client.check(health_of(other)).await.unwrap_err();
        assert_eq!(status.code(), Code::NotFound);
    }
}

#[tokio::test]
async fn who_watches_the_health_learns_of_a_drain_and_is_let_go() {
    let (channel, health) = listener_for(Actor::Client).await;
    let mut watch = HealthClient::new(channel)
        .watch(health_of(CLIENT_SERVICE))
        .await
        .unwrap()
        .into_inner();
    let mut next = async || watch.message().await.unwrap().map(|answer| answer.status());
    assert_eq!(next().await, Some(ServingStatus::Serving));
    health.drain().await;
    assert_eq!(next().await, Some(ServingStatus::NotServing));
    assert_eq!(next().await, None);
}

/// Asks reflection one thing.
async fn reflect(
    channel: Channel,
    request: v1::server_reflection_request::MessageRequest,
) -> Result<v1::server_reflection_response::MessageResponse, Status> {
    let request = v1::ServerReflectionRequest {
        host: String::new(),
        message_request: Some(request),
    };
    let mut answers = v1::server_reflection_client::ServerReflectionClient::new(channel)
        .server_reflection_info(stream::iter([request]))
        .await?
        .into_inner();
    Ok(answers.message().await?.unwrap().message_response.unwrap())
}

async fn file_with(channel: &Channel, symbol: &str) -> Result<Vec<u8>, Status> {
    use v1::{
        server_reflection_request::MessageRequest::FileContainingSymbol,
        server_reflection_response::MessageResponse::FileDescriptorResponse,
    };
    match reflect(channel.clone(), FileContainingSymbol(symbol.to_owned())).await? {
        FileDescriptorResponse(mut files) => Ok(files.file_descriptor_proto.remove(0)),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn reflection_lists_what_the_listener_serves() {
    use v1::{
        server_reflection_request::MessageRequest::ListServices,
        server_reflection_response::MessageResponse::ListServicesResponse,
    };
    for (actor, services) in [
        (Actor::Client, &[CLIENT_SERVICE, CLIENT_SERVICE_0_3][..]),
        (Actor::Agent, &[AGENT_SERVICE]),
    ] {
        let (channel, _) = listener_for(actor).await;
        let answer = reflect(channel, ListServices(String::new())).await.unwrap();
        let ListServicesResponse(list) = answer else {
            panic!("{answer:?}");
        };
        let names: BTreeSet<_> = list.service.iter().map(|service| &*service.name).collect();
        let health = ["grpc.health.v1.Health"];
        assert_eq!(names, services.iter().copied().chain(health).collect());
    }
}

#[tokio::test]
async fn reflection_of_the_older_protocol_lists_the_same() {
    use v1alpha::{
        server_reflection_request::MessageRequest::ListServices,
        server_reflection_response::MessageResponse::ListServicesResponse,
    };
    let (channel, _) = listener_for(Actor::Client).await;
    let request = v1alpha::ServerReflectionRequest {
        host: String::new(),
        message_request: Some(ListServices(String::new())),
    };
    let mut answers = v1alpha::server_reflection_client::ServerReflectionClient::new(channel)
        .server_reflection_info(stream::iter([request]))
        .await
        .unwrap()
        .into_inner();
    let answer = answers.message().await.unwrap().unwrap().message_response;
    let Some(ListServicesResponse(list)) = answer else {
        panic!("{answer:?}");
    };
    assert!(list.service.iter().any(|service| service.name == CLIENT_SERVICE));
}

#[tokio::test]
async fn reflection_knows_every_file_that_is_imported_and_not_the_other_listeners() {
    use v1::{
        server_reflection_request::MessageRequest::FileByFilename,
        server_reflection_response::MessageResponse::FileDescriptorResponse,
    };
    for (actor, service) in [
        (Actor::Client, CLIENT_SERVICE),
        (Actor::Client, CLIENT_SERVICE_0_3),
        (Actor::Agent, AGENT_SERVICE),
    ] {
        let (channel, _) = listener_for(actor).await;
        let mut open =
            vec![FileDescriptorProto::decode(&*file_with(&channel, service).await.unwrap()).unwrap()];
        while let Some(file) = open.pop() {
            for import in file.dependency {
                let answer = reflect(channel.clone(), FileByFilename(import.clone())).await;
                let FileDescriptorResponse(files) = answer.unwrap() else {
                    panic!("{import}");
                };
                open.push(FileDescriptorProto::decode(&*files.file_descriptor_proto[0]).unwrap());
            }
        }
    }
    for (actor, other) in [(Actor::Client, AGENT_SERVICE), (Actor::Agent, CLIENT_SERVICE_0_3)] {
        let (channel, _) = listener_for(actor).await;
        let status = file_with(&channel, other).await.unwrap_err();
        assert_eq!(status.code(), Code::NotFound);
    }
}

#[tokio::test]
async fn reflection_shows_the_routes_of_the_operations() {
    let (channel, _) = listener_for(Actor::Client).await;
    let file = file_with(&channel, CLIENT_SERVICE).await.unwrap();
    let route = b"/message:send";
    assert!(file.windows(route.len()).any(|window| window == route));
}

#[tokio::test]
async fn a_service_of_grpc_that_is_not_served_is_unimplemented() {
    let (channel, _) = listener_for(Actor::Client).await;
    let answer = send(
        &channel,
        call("/grpc.channelz.v1.Channelz/GetServers", framed(&[])),
    )
    .await;
    assert_eq!(answer.status.unwrap().code(), Code::Unimplemented);
}
