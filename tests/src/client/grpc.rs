//! gRPC by descriptors (§10): one client for every method, with no generated code between it and the wire.
//!
//! It runs on a bare HTTP/2 client, so that a deadline in the metadata is the server's business alone.

use std::{net::SocketAddr, str::FromStr};

use async_trait::async_trait;
use futures::StreamExt;
use gateway_domain::{Binding, Version};
use http::{Uri, uri::PathAndQuery};
use hyper_util::{
    client::legacy::{Client, connect::HttpConnector},
    rt::{TokioExecutor, TokioTimer},
};
use prost::Message;
use prost_reflect::{DynamicMessage, MessageDescriptor, MethodDescriptor};
use serde_json::Value;
use tonic::{
    Request, Status, Streaming,
    codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder},
    metadata::{AsciiMetadataKey, MetadataMap},
};

use super::{
    Answer, Ask, Driver, Event, LiveStream, Refusal, Reply, Told, pool, to_dynamic, to_json,
    v0_3::{proto_answer, proto_request},
};
use crate::raw::connector;

type Http2 = Client<HttpConnector, tonic::body::Body>;

/// Larger than anything that the gateway stores.
const MOST_BYTES: usize = 64 << 20;

/// Calls over gRPC.
pub struct Grpc {
    client: Http2,
    origin: Uri,
}

impl Grpc {
    /// Calls a listener.
    pub fn new(address: SocketAddr) -> Self {
        let mut builder = Client::builder(TokioExecutor::new());
        builder.http2_only(true).timer(TokioTimer::new());
        Self {
            client: builder.build(connector()),
            origin: Uri::from_str(&format!("http://{address}")).expect("an address"),
        }
    }

    /// Calls a method with a message.
    ///
    /// # Errors
    /// The status, where the call did not begin well.
    async fn invoke(
        &self,
        path: &str,
        message: DynamicMessage,
        output: MessageDescriptor,
        metadata: MetadataMap,
        streaming: bool,
    ) -> Result<Invoked, Status> {
        let mut grpc = tonic::client::Grpc::with_origin(self.client.clone(), self.origin.clone())
            .max_decoding_message_size(MOST_BYTES);
        grpc.ready()
            .await
            .map_err(|error| Status::unavailable(error.to_string()))?;
        let path = PathAndQuery::from_str(path).expect("a path");
        let request = Request::from_parts(metadata, tonic::Extensions::default(), message);
        let codec = DynamicCodec(output);
        if streaming {
            Ok(Invoked::Stream(
                grpc.server_streaming(request, path, codec).await?,
            ))
        } else {
            Ok(Invoked::One(grpc.unary(request, path, codec).await?))
        }
    }
}

/// What a method gave.
#[derive(Debug)]
enum Invoked {
    /// One message.
    One(tonic::Response<DynamicMessage>),
    /// Messages, still coming.
    Stream(tonic::Response<Streaming<DynamicMessage>>),
}

#[async_trait]
impl Driver for Grpc {
    fn binding(&self) -> Binding {
        Binding::Grpc
    }

    async fn call(&self, ask: &Ask) -> Answer {
        let method = method(ask);
        let params = match ask.names {
            Version::V1_0 => ask.params_with_tenant(),
            Version::V0_3 => proto_request(ask.operation, &ask.params_with_tenant()),
        };
        let message = to_dynamic(method.input(), &params)
            .unwrap_or_else(|error| panic!("gRPC cannot carry {params}: {error}"));
        let path = ask.row().grpc_path();
        let (names, operation) = (ask.names, ask.operation);
        let told_back = move |message: &DynamicMessage| match names {
            Version::V1_0 => to_json(message),
            Version::V0_3 => proto_answer(operation, to_json(message)),
        };
        let metadata = metadata(&ask.service_parameters());
        match self
            .invoke(
                &path,
                message,
                method.output(),
                metadata,
                method.is_server_streaming(),
            )
            .await
        {
            Ok(Invoked::One(response)) => {
                let (metadata, message, _) = response.into_parts();
                Answer::Reply(Reply {
                    json: told_back(&message),
                    headers: metadata.into_headers(),
                })
            }
            Ok(Invoked::Stream(response)) => {
                let (metadata, messages, _) = response.into_parts();
                let events = messages.map(move |item| match item {
                    Ok(message) => Ok(Event {
                        json: told_back(&message),
                        id: None,
                    }),
                    Err(status) => Err(refusal(&status).told_in(names)),
                });
                Answer::Stream(LiveStream::new(metadata.into_headers(), events))
            }
            Err(status) => Answer::Refusal(refusal(&status).told_in(names)),
        }
    }
}

fn method(ask: &Ask) -> MethodDescriptor {
    let row = ask.row();
    let service = pool().get_service_by_name(row.grpc_service).expect("the service");
    let found = service.methods().find(|method| method.name() == row.grpc_method);
    found.expect("the method")
}

/// Metadata from pairs.
fn metadata(pairs: &[(String, String)]) -> MetadataMap {
    let mut metadata = MetadataMap::new();
    for (name, value) in pairs {
        let key = AsciiMetadataKey::from_str(name).expect("a metadata key");
        metadata.append(key, value.parse().expect("a metadata value"));
    }
    metadata
}

/// Reads a status with its details.
fn refusal(status: &Status) -> Refusal {
    let told = Told::Grpc {
        code: status.code() as i32,
    };
    let mut details = Vec::new();
    if !status.details().is_empty() {
        let descriptor = pool().get_message_by_name("google.rpc.Status").expect("the type");
        let message = DynamicMessage::decode(descriptor, status.details()).expect("the details decode");
        let json = to_json(&message);
        assert_eq!(
            json["code"],
            Value::from(told.number()),
            "the code in the details"
        );
        assert_eq!(json["message"], status.message(), "the text in the details");
        details = json["details"].as_array().cloned().unwrap_or_default();
    }
    let headers = status.metadata().clone().into_headers();
    Refusal::read(told, status.message(), &details, headers)
}

impl Told {
    fn number(&self) -> i64 {
        match self {
            Self::JsonRpc { code, .. } | Self::HttpJson { code, .. } | Self::Text { code, .. } => *code,
            Self::Grpc { code } => i64::from(*code),
            Self::Broken => 0,
        }
    }
}

/// Encodes and decodes by descriptor.
#[derive(Clone)]
struct DynamicCodec(MessageDescriptor);

impl Codec for DynamicCodec {
    type Encode = DynamicMessage;
    type Decode = DynamicMessage;
    type Encoder = Self;
    type Decoder = Self;

    fn encoder(&mut self) -> Self {
        self.clone()
    }

    fn decoder(&mut self) -> Self {
        self.clone()
    }
}

impl Encoder for DynamicCodec {
    type Item = DynamicMessage;
    type Error = Status;

    fn encode(&mut self, item: DynamicMessage, buffer: &mut EncodeBuf<'_>) -> Result<(), Status> {
        item.encode(buffer)
            .map_err(|error| Status::internal(error.to_string()))
    }
}

impl Decoder for DynamicCodec {
    type Item = DynamicMessage;
    type Error = Status;

    fn decode(&mut self, buffer: &mut DecodeBuf<'_>) -> Result<Option<DynamicMessage>, Status> {
        DynamicMessage::decode(self.0.clone(), buffer)
            .map(Some)
            .map_err(|error| Status::internal(error.to_string()))
    }
}
