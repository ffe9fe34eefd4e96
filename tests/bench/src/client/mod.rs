//! One A2A client per worker, over any of the three bindings.
//!
//! An HTTP client holds one keep-alive HTTP/1.1 connection and sends one request at a time on it.
//! A gRPC client holds a handle on an HTTP/2 connection that workers may share.

mod grpc;
mod http;
mod v0_3;

use std::{
    net::{SocketAddr, ToSocketAddrs},
    sync::atomic::{AtomicU64, Ordering},
};

use ::http::{Method, Uri};
use anyhow::{Context, Result, bail, ensure};
use bytes::Bytes;
use clap::ValueEnum;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use serde::{Deserialize, Serialize};
use tonic::Streaming;

use crate::{
    client::{
        grpc::{GrpcClient, GrpcPool},
        http::HttpClient,
    },
    pb,
    sse::SseBuffer,
    wire::{Event, ListInfo, RpcReply, StreamReply, TaskInfo},
};

/// A protocol binding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Binding {
    Jsonrpc,
    Rest,
    Grpc,
}

/// A version of the protocol. Of 0.3 there are `send`, `stream` and `get`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
pub enum Version {
    #[default]
    #[value(name = "1.0")]
    #[serde(rename = "1.0")]
    V1_0,
    #[value(name = "0.3")]
    #[serde(rename = "0.3")]
    V0_3,
}

impl Version {
    /// What `A2A-Version` says.
    fn name(self) -> &'static str {
        match self {
            Version::V1_0 => "1.0",
            Version::V0_3 => "0.3",
        }
    }
}

/// Where and how to reach one binding of a server.
#[derive(Debug, Clone)]
pub struct Target {
    pub binding: Binding,
    pub version: Version,
    /// Base URL; its path is put in front of the binding's own paths.
    pub url: Uri,
    pub addr: SocketAddr,
    pub tenant: Option<String>,
    pub headers: Vec<(String, String)>,
    pub rest_content_type: String,
    pub subscribe_get: bool,
}

impl Target {
    /// Resolves `url` and refuses anything that is not on this machine.
    pub fn new(binding: Binding, url: &str) -> Result<Self> {
        let url: Uri = url.parse().with_context(|| format!("bad URL {url}"))?;
        ensure!(
            url.scheme_str() == Some("http"),
            "only http:// URLs are supported: {url}"
        );
        let host = url.host().context("URL has no host")?;
        let addr = (host.trim_matches(['[', ']']), url.port_u16().unwrap_or(80))
            .to_socket_addrs()?
            .find(|addr| addr.ip().is_loopback())
            .with_context(|| format!("{url} is not a loopback address: refusing to send load to it"))?;
        Ok(Target {
            binding,
            version: Version::default(),
            url,
            addr,
            tenant: None,
            headers: Vec::new(),
            rest_content_type: "application/a2a+json".into(),
            subscribe_get: false,
        })
    }

    fn prefix(&self) -> &str {
        self.url.path().trim_end_matches('/')
    }
}

/// A fresh message id, unique in this process and very likely across runs.
fn message_id() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    static RUN: std::sync::OnceLock<u64> = std::sync::OnceLock::new();
    let run = RUN.get_or_init(|| crate::now_us() ^ u64::from(std::process::id()) << 40);
    format!("{run:016x}-{:08x}", NEXT.fetch_add(1, Ordering::Relaxed))
}

/// A client over one binding.
pub enum Client {
    Http(Box<HttpClient>),
    Grpc(Box<GrpcClient>),
}

impl Client {
    /// Makes `count` clients; gRPC clients share `connections` HTTP/2 connections.
    pub async fn many(target: &Target, count: usize, connections: usize) -> Result<Vec<Client>> {
        if target.binding != Binding::Grpc {
            return (0..count)
                .map(|_| Ok(Client::Http(Box::new(HttpClient::new(target.clone())?))))
                .collect();
        }
        let pool = GrpcPool::connect(target, connections).await?;
        (0..count)
            .map(|i| {
                let channel = pool.channel(i);
                Ok(Client::Grpc(Box::new(GrpcClient::new(target, channel)?)))
            })
            .collect()
    }

    /// Blocking `SendMessage`.
    pub async fn send(&mut self, context: Option<&str>, text: &str) -> Result<TaskInfo> {
        match self {
            Client::Http(http) => http.send(context, text).await,
            Client::Grpc(grpc) => grpc.send(context, text).await,
        }
    }

    /// `SendStreamingMessage`.
    pub async fn stream(&mut self, context: Option<&str>, text: &str) -> Result<EventStream> {
        match self {
            Client::Http(http) => http.stream(context, text).await,
            Client::Grpc(grpc) => grpc.stream(context, text).await,
        }
    }

    /// `SubscribeToTask`.
    pub async fn subscribe(&mut self, id: &str) -> Result<EventStream> {
        match self {
            Client::Http(http) => http.subscribe(id).await,
            Client::Grpc(grpc) => grpc.subscribe(id).await,
        }
    }

    /// `GetTask`.
    pub async fn get(&mut self, id: &str) -> Result<TaskInfo> {
        match self {
            Client::Http(http) => http.get(id).await,
            Client::Grpc(grpc) => grpc.get(id).await,
        }
    }

    /// One page of `ListTasks`.
    pub async fn list(&mut self, context: Option<&str>, page_size: i32, token: &str) -> Result<ListInfo> {
        match self {
            Client::Http(http) => http.list(context, page_size, token).await,
            Client::Grpc(grpc) => grpc.list(context, page_size, token).await,
        }
    }

    /// `GET {base}/hello`, a bare HTTP request for finding the floor.
    pub async fn hello(&mut self) -> Result<()> {
        match self {
            Client::Http(http) => http.call(Method::GET, "/hello", Bytes::new()).await.map(drop),
            Client::Grpc(_) => bail!("hello is an HTTP operation"),
        }
    }
}

/// How the events of an HTTP stream are written.
#[derive(Debug, Clone, Copy)]
pub enum Notation {
    /// Events alone, which both versions write alike.
    Bare,
    /// 1.0 in an envelope of JSON-RPC.
    Rpc,
    /// 0.3 in an envelope of JSON-RPC.
    RpcOfKinds,
}

impl Notation {
    fn event(self, data: &[u8]) -> Result<Event> {
        Ok(match self {
            Notation::Bare => serde_json::from_slice::<StreamReply>(data)?.into(),
            Notation::Rpc => serde_json::from_slice::<RpcReply<StreamReply>>(data)?
                .into_result()?
                .into(),
            Notation::RpcOfKinds => serde_json::from_slice::<RpcReply<v0_3::Kind>>(data)?
                .into_result()?
                .into(),
        })
    }
}

/// An open stream of task events.
pub enum EventStream {
    Sse {
        body: Incoming,
        buffer: SseBuffer,
        notation: Notation,
    },
    Grpc(Box<Streaming<pb::StreamResponse>>),
}

impl EventStream {
    /// The next event, or `None` at the end of the stream.
    pub async fn next(&mut self) -> Result<Option<Event>> {
        match self {
            EventStream::Sse {
                body,
                buffer,
                notation,
            } => loop {
                if let Some(data) = buffer.next_event() {
                    return notation.event(&data).map(Some);
                }
                match body.frame().await {
                    None => return Ok(None),
                    Some(frame) => {
                        if let Some(chunk) = frame?.data_ref() {
                            buffer.push(chunk);
                        }
                    }
                }
            },
            EventStream::Grpc(stream) => Ok(stream
                .message()
                .await?
                .map(|response| grpc::event(response.payload))),
        }
    }
}
