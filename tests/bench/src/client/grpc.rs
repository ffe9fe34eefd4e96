//! gRPC over an HTTP/2 connection that several workers may share.

use anyhow::{Context, Result, bail};
use tonic::{
    metadata::{Ascii, MetadataKey, MetadataValue},
    transport::{Channel, Endpoint},
};

use super::{EventStream, Target, Version, message_id};
use crate::{
    pb,
    pb::a2a_service_client::A2aServiceClient,
    pb_v0_3,
    pb_v0_3::a2a_service_client::A2aServiceClient as A2aServiceClientV0_3,
    wire::{self, Event, ListInfo, TaskInfo},
};

/// Shared HTTP/2 connections for gRPC workers.
pub struct GrpcPool {
    channels: Vec<Channel>,
}

impl GrpcPool {
    pub async fn connect(target: &Target, connections: usize) -> Result<Self> {
        let mut channels = Vec::new();
        for _ in 0..connections.max(1) {
            let endpoint = Endpoint::from_shared(format!("http://{}", target.addr))?.tcp_nodelay(true);
            channels.push(endpoint.connect().await.context("gRPC connect")?);
        }
        Ok(GrpcPool { channels })
    }

    /// The connection of a worker.
    pub fn channel(&self, worker: usize) -> Channel {
        self.channels[worker % self.channels.len()].clone()
    }
}

/// gRPC over a possibly shared HTTP/2 connection.
pub struct GrpcClient {
    version: Version,
    inner: A2aServiceClient<Channel>,
    inner_v0_3: A2aServiceClientV0_3<Channel>,
    tenant: String,
    metadata: Vec<(MetadataKey<Ascii>, MetadataValue<Ascii>)>,
}

impl GrpcClient {
    pub fn new(target: &Target, channel: Channel) -> Result<Self> {
        let mut metadata = vec![(
            MetadataKey::from_static("a2a-version"),
            MetadataValue::from_static(target.version.name()),
        )];
        for (name, value) in &target.headers {
            metadata.push((name.to_lowercase().parse()?, value.parse()?));
        }
        Ok(GrpcClient {
            version: target.version,
            inner_v0_3: A2aServiceClientV0_3::with_origin(channel.clone(), target.url.clone()),
            inner: A2aServiceClient::with_origin(channel, target.url.clone())
                .max_decoding_message_size(64 << 20),
            tenant: target.tenant.clone().unwrap_or_default(),
            metadata,
        })
    }

    fn request<T>(&self, message: T) -> tonic::Request<T> {
        let mut request = tonic::Request::new(message);
        for (name, value) in &self.metadata {
            request.metadata_mut().insert(name.clone(), value.clone());
        }
        request
    }

    fn message(&self, context: Option<&str>, text: &str) -> pb::SendMessageRequest {
        pb::SendMessageRequest {
            tenant: self.tenant.clone(),
            message: Some(user_message(context, text)),
            configuration: None,
        }
    }

    fn message_v0_3(&self, context: Option<&str>, text: &str) -> tonic::Request<pb_v0_3::SendMessageRequest> {
        self.request(pb_v0_3::SendMessageRequest {
            request: Some(user_message(context, text)),
        })
    }

    pub async fn send(&mut self, context: Option<&str>, text: &str) -> Result<TaskInfo> {
        let reply = match self.version {
            Version::V1_0 => {
                let request = self.request(self.message(context, text));
                self.inner.send_message(request).await?
            }
            Version::V0_3 => {
                let request = self.message_v0_3(context, text);
                self.inner_v0_3.send_message(request).await?
            }
        };
        match reply.into_inner().payload {
            Some(pb::send_message_response::Payload::Task(task)) => Ok(task_info(task)),
            _ => bail!("SendMessage answered without a task"),
        }
    }

    pub async fn stream(&mut self, context: Option<&str>, text: &str) -> Result<EventStream> {
        let reply = match self.version {
            Version::V1_0 => {
                let request = self.request(self.message(context, text));
                self.inner.send_streaming_message(request).await?
            }
            Version::V0_3 => {
                let request = self.message_v0_3(context, text);
                self.inner_v0_3.send_streaming_message(request).await?
            }
        };
        Ok(EventStream::Grpc(Box::new(reply.into_inner())))
    }

    pub async fn subscribe(&mut self, id: &str) -> Result<EventStream> {
        let request = self.request(pb::SubscribeToTaskRequest {
            tenant: self.tenant.clone(),
            id: id.into(),
        });
        Ok(EventStream::Grpc(Box::new(
            self.inner.subscribe_to_task(request).await?.into_inner(),
        )))
    }

    pub async fn get(&mut self, id: &str) -> Result<TaskInfo> {
        let reply = match self.version {
            Version::V1_0 => {
                let request = self.request(pb::GetTaskRequest {
                    tenant: self.tenant.clone(),
                    id: id.into(),
                    history_length: None,
                });
                self.inner.get_task(request).await?
            }
            Version::V0_3 => {
                let name = format!("tasks/{id}");
                let request = self.request(pb_v0_3::GetTaskRequest { name });
                self.inner_v0_3.get_task(request).await?
            }
        };
        Ok(task_info(reply.into_inner()))
    }

    pub async fn list(&mut self, context: Option<&str>, page_size: i32, token: &str) -> Result<ListInfo> {
        let request = self.request(pb::ListTasksRequest {
            tenant: self.tenant.clone(),
            context_id: context.unwrap_or_default().into(),
            page_size: Some(page_size),
            page_token: token.into(),
            ..Default::default()
        });
        let reply = self.inner.list_tasks(request).await?.into_inner();
        Ok(ListInfo {
            count: reply.tasks.len(),
            total: reply.total_size.into(),
            next: reply.next_page_token,
        })
    }
}

fn user_message(context: Option<&str>, text: &str) -> pb::Message {
    pb::Message {
        message_id: message_id(),
        context_id: context.unwrap_or_default().into(),
        task_id: String::new(),
        role: pb::Role::User.into(),
        parts: vec![pb::Part {
            content: Some(pb::part::Content::Text(text.into())),
        }],
    }
}

fn state_of(status: Option<&pb::TaskStatus>) -> pb::TaskState {
    status.map_or(pb::TaskState::Unspecified, pb::TaskStatus::state)
}

fn is_terminal(state: pb::TaskState) -> bool {
    use pb::TaskState::{Canceled, Completed, Failed, Rejected};
    matches!(state, Completed | Failed | Canceled | Rejected)
}

fn task_info(task: pb::Task) -> TaskInfo {
    TaskInfo {
        completed: state_of(task.status.as_ref()) == pb::TaskState::Completed,
        id: task.id,
    }
}

/// Reduces an event to what is measured.
pub fn event(payload: Option<pb::stream_response::Payload>) -> Event {
    use pb::stream_response::Payload;
    match payload {
        Some(Payload::Task(task)) => Event {
            terminal: is_terminal(state_of(task.status.as_ref())),
            task_id: Some(task.id),
            ..Event::default()
        },
        Some(Payload::StatusUpdate(update)) => Event {
            terminal: is_terminal(state_of(update.status.as_ref())),
            task_id: Some(update.task_id),
            ..Event::default()
        },
        Some(Payload::ArtifactUpdate(update)) => Event {
            artifact: true,
            stamp_us: update
                .artifact
                .as_ref()
                .and_then(|artifact| match &artifact.parts.first()?.content {
                    Some(pb::part::Content::Text(text)) => wire::stamp(text),
                    _ => None,
                }),
            task_id: Some(update.task_id),
            terminal: false,
        },
        Some(Payload::Message(_)) => Event {
            terminal: true,
            ..Event::default()
        },
        None => Event::default(),
    }
}
