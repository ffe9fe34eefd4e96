//! gRPC's own services: health and reflection. They are asked without a version.

use gateway_domain::Actor;
use gateway_wire::{operations, pb::DESCRIPTORS};
use prost::{DecodeError, Message};
use prost_types::FileDescriptorProto;
use tonic::service::{AxumRouter, Routes};
use tonic_health::{
    ServingStatus,
    pb::health_server::HealthServer,
    server::{HealthReporter, HealthService},
};
use tonic_reflection::server::Builder;

/// Says how a listener's services are, to whoever checks or watches.
#[derive(Debug, Clone)]
pub struct Health {
    reporter: HealthReporter,
    services: Vec<&'static str>,
}

impl Health {
    async fn serving(actor: Actor) -> Self {
        // The empty name stands for the server as a whole.
        let services: Vec<_> = [""]
            .into_iter()
            .chain(services_of(actor).iter().copied())
            .collect();
        let reporter = HealthReporter::new();
        for service in &services {
            reporter.set_service_status(service, ServingStatus::Serving).await;
        }
        Self { reporter, services }
    }

    /// Says NOT_SERVING from now on, and ends the streams of those who watch, so that they do not hold up a drain.
    pub async fn drain(&self) {
        let mut reporter = self.reporter.clone();
        for service in &self.services {
            reporter
                .set_service_status(service, ServingStatus::NotServing)
                .await;
            // A watch ends when its channel does: this drops the channel, and whoever checks needs a new one.
            reporter.clear_service_status(service).await;
            reporter
                .set_service_status(service, ServingStatus::NotServing)
                .await;
        }
    }
}

/// The services of a listener, those of the latest version first.
pub(crate) fn services_of(actor: Actor) -> &'static [&'static str] {
    match actor {
        Actor::Client => &[operations::CLIENT_SERVICE, operations::CLIENT_SERVICE_0_3],
        Actor::Agent => &[operations::AGENT_SERVICE],
    }
}

/// Health and reflection for a listener.
pub(crate) async fn services(actor: Actor) -> (AxumRouter, Health) {
    let health = Health::serving(actor).await;
    let health_server = HealthServer::new(HealthService::from_health_reporter(health.reporter.clone()));
    let descriptors = descriptors(actor).expect("the descriptors were encoded when this was built");
    let reflection = || {
        let builder = Builder::configure()
            .register_encoded_file_descriptor_set(&descriptors)
            .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET)
            .with_service_name("grpc.health.v1.Health");
        let services = services_of(actor).iter();
        services.fold(builder, |builder, service| builder.with_service_name(*service))
    };
    let complete = "the descriptors name everything they hold";
    let routes = Routes::new(health_server)
        .add_service(reflection().build_v1().expect(complete))
        .add_service(reflection().build_v1alpha().expect(complete));
    (routes.prepare().into_axum_router(), health)
}

/// The descriptors that concern a listener, as they were encoded: reading them would lose the routes, which are
/// options unknown to prost.
fn descriptors(actor: Actor) -> Result<Vec<u8>, DecodeError> {
    let mut set = EncodedFiles::decode(DESCRIPTORS)?;
    // The agents' file imports that of the clients' latest version, and no other.
    let not_for_it = match actor {
        Actor::Client => operations::AGENT_SERVICE,
        Actor::Agent => operations::CLIENT_SERVICE_0_3,
    };
    let (package, _) = not_for_it.rsplit_once('.').unwrap_or_default();
    set.file.retain(|file| {
        FileDescriptorProto::decode(file.as_slice()).map_or(true, |file| file.package() != package)
    });
    Ok(set.encode_to_vec())
}

/// `google.protobuf.FileDescriptorSet` with its files left as they are.
#[derive(Clone, PartialEq, prost::Message)]
struct EncodedFiles {
    #[prost(bytes = "vec", repeated, tag = "1")]
    file: Vec<Vec<u8>>,
}
