//! JSON-RPC or HTTP+JSON over one HTTP/1.1 connection, one request at a time.

use std::fmt::Write as _;

use anyhow::{Context, Result, bail};
use bytes::Bytes;
use http::{HeaderName, HeaderValue, Method, Request, Response, header};
use http_body_util::{BodyExt, Full};
use hyper::{
    body::Incoming,
    client::conn::http1::{SendRequest, handshake},
};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

use super::{Binding, EventStream, Notation, Target, Version, message_id, v0_3};
use crate::{
    sse::SseBuffer,
    wire::{self, ListInfo, ListReply, RpcReply, SendReply, TaskInfo, TaskJson},
};

/// A client of one connection, which is opened again when the server closed it.
pub struct HttpClient {
    target: Target,
    host: HeaderValue,
    headers: Vec<(HeaderName, HeaderValue)>,
    sender: Option<SendRequest<Full<Bytes>>>,
}

impl HttpClient {
    pub fn new(target: Target) -> Result<Self> {
        let authority = target.url.authority().context("URL has no authority")?;
        let host = HeaderValue::from_str(authority.as_str())?;
        let mut headers = vec![(
            HeaderName::from_static("a2a-version"),
            HeaderValue::from_static(target.version.name()),
        )];
        for (name, value) in &target.headers {
            headers.push((name.parse()?, value.parse()?));
        }
        let content_type = match target.binding {
            Binding::Rest => HeaderValue::from_str(&target.rest_content_type)?,
            _ => HeaderValue::from_static("application/json"),
        };
        headers.push((header::CONTENT_TYPE, content_type));
        Ok(HttpClient {
            target,
            host,
            headers,
            sender: None,
        })
    }

    async fn sender(&mut self) -> Result<&mut SendRequest<Full<Bytes>>> {
        let open = match &mut self.sender {
            Some(sender) => sender.ready().await.is_ok(),
            None => false,
        };
        if !open {
            let stream = TcpStream::connect(self.target.addr).await.context("connect")?;
            stream.set_nodelay(true)?;
            let (sender, connection) = handshake(TokioIo::new(stream)).await?;
            tokio::spawn(async move {
                let _ = connection.await;
            });
            self.sender = Some(sender);
        }
        Ok(self.sender.as_mut().expect("just set"))
    }

    async fn request(
        &mut self,
        method: Method,
        path: &str,
        body: Bytes,
        accept: &'static str,
    ) -> Result<Response<Incoming>> {
        let uri = match (self.target.binding, path) {
            (Binding::Jsonrpc, "") => self.target.url.path().to_string(),
            (Binding::Rest, _) if self.target.tenant.is_some() => {
                format!(
                    "{}/{}{path}",
                    self.target.prefix(),
                    self.target.tenant.as_deref().unwrap_or_default()
                )
            }
            _ => format!("{}{path}", self.target.prefix()),
        };
        let mut request = Request::builder().method(method).uri(uri).body(Full::new(body))?;
        let headers = request.headers_mut();
        headers.insert(header::HOST, self.host.clone());
        headers.insert(header::ACCEPT, HeaderValue::from_static(accept));
        for (name, value) in &self.headers {
            headers.insert(name.clone(), value.clone());
        }
        let response = self.sender().await?.send_request(request).await?;
        if !response.status().is_success() {
            let status = response.status();
            let body = response.into_body().collect().await?.to_bytes();
            let text = String::from_utf8_lossy(&body);
            bail!("HTTP {status}: {}", text.chars().take(200).collect::<String>());
        }
        Ok(response)
    }

    pub async fn call(&mut self, method: Method, path: &str, body: Bytes) -> Result<Bytes> {
        let response = self.request(method, path, body, "application/json").await?;
        Ok(response.into_body().collect().await?.to_bytes())
    }

    async fn rpc(&mut self, method: &str, params: serde_json::Value) -> Result<Bytes> {
        self.call(Method::POST, "", wire::rpc(method, params).into())
            .await
    }

    async fn open(&mut self, method: Method, path: &str, body: Bytes) -> Result<EventStream> {
        let response = self.request(method, path, body, "text/event-stream").await?;
        let kind = response
            .headers()
            .get(header::CONTENT_TYPE)
            .map_or(&b""[..], HeaderValue::as_bytes);
        if !kind.starts_with(b"text/event-stream") {
            let body = response.into_body().collect().await?.to_bytes();
            let text = String::from_utf8_lossy(&body);
            bail!(
                "not an event stream: {}",
                text.chars().take(200).collect::<String>()
            );
        }
        Ok(EventStream::Sse {
            body: response.into_body(),
            buffer: SseBuffer::default(),
            notation: match (self.target.binding, self.target.version) {
                (Binding::Jsonrpc, Version::V1_0) => Notation::Rpc,
                (Binding::Jsonrpc, Version::V0_3) => Notation::RpcOfKinds,
                _ => Notation::Bare,
            },
        })
    }

    /// Path and body of a call that sends a message.
    fn message(&self, call: &Sending, context: Option<&str>, text: &str) -> (&'static str, Bytes) {
        let tenant = self.target.tenant.as_deref();
        match (self.target.binding, self.target.version) {
            (Binding::Jsonrpc, Version::V1_0) => {
                let params = wire::send_params(tenant, &message_id(), context, text);
                ("", wire::rpc(call.method, params).into())
            }
            (Binding::Jsonrpc, Version::V0_3) => {
                let body = wire::rpc(call.method_v0_3, v0_3::rpc_params(context, text));
                ("", body.into())
            }
            (_, Version::V1_0) => {
                let params = wire::send_params(None, &message_id(), context, text);
                (call.path, params.to_string().into())
            }
            (_, Version::V0_3) => (call.path_v0_3, v0_3::rest_body(context, text).to_string().into()),
        }
    }

    pub async fn send(&mut self, context: Option<&str>, text: &str) -> Result<TaskInfo> {
        let (path, body) = self.message(&SEND, context, text);
        let reply = self.call(Method::POST, path, body).await?;
        let send: SendReply = match (self.target.binding, self.target.version) {
            (Binding::Jsonrpc, Version::V1_0) => {
                serde_json::from_slice::<RpcReply<SendReply>>(&reply)?.into_result()?
            }
            (Binding::Jsonrpc, Version::V0_3) => return task_of_kind(&reply),
            _ => serde_json::from_slice(&reply)?,
        };
        Ok(send
            .task
            .context("SendMessage answered with a message, not a task")?
            .into())
    }

    pub async fn stream(&mut self, context: Option<&str>, text: &str) -> Result<EventStream> {
        let (path, body) = self.message(&STREAM, context, text);
        self.open(Method::POST, path, body).await
    }

    pub async fn subscribe(&mut self, id: &str) -> Result<EventStream> {
        if self.target.binding == Binding::Jsonrpc {
            let body = wire::rpc(
                "SubscribeToTask",
                wire::id_params(self.target.tenant.as_deref(), id),
            );
            return self.open(Method::POST, "", body.into()).await;
        }
        let method = if self.target.subscribe_get {
            Method::GET
        } else {
            Method::POST
        };
        self.open(method, &format!("/tasks/{id}:subscribe"), Bytes::new())
            .await
    }

    pub async fn get(&mut self, id: &str) -> Result<TaskInfo> {
        let params = || wire::id_params(self.target.tenant.as_deref(), id);
        let path = match (self.target.binding, self.target.version) {
            (Binding::Jsonrpc, Version::V1_0) => {
                let reply = self.rpc("GetTask", params()).await?;
                return Ok(serde_json::from_slice::<RpcReply<TaskJson>>(&reply)?
                    .into_result()?
                    .into());
            }
            (Binding::Jsonrpc, Version::V0_3) => {
                return task_of_kind(&self.rpc("tasks/get", params()).await?);
            }
            (_, Version::V1_0) => format!("/tasks/{id}"),
            (_, Version::V0_3) => format!("/v1/tasks/{id}"),
        };
        let reply = self.call(Method::GET, &path, Bytes::new()).await?;
        Ok(serde_json::from_slice::<TaskJson>(&reply)?.into())
    }

    pub async fn list(&mut self, context: Option<&str>, page_size: i32, token: &str) -> Result<ListInfo> {
        if self.target.binding == Binding::Jsonrpc {
            let params = wire::list_params(self.target.tenant.as_deref(), context, page_size, token);
            let reply = self.rpc("ListTasks", params).await?;
            return Ok(serde_json::from_slice::<RpcReply<ListReply>>(&reply)?
                .into_result()?
                .into());
        }
        let mut path = format!("/tasks?pageSize={page_size}");
        if let Some(context) = context {
            path.push_str("&contextId=");
            path.push_str(&percent(context));
        }
        if !token.is_empty() {
            path.push_str("&pageToken=");
            path.push_str(&percent(token));
        }
        let reply = self.call(Method::GET, &path, Bytes::new()).await?;
        Ok(serde_json::from_slice::<ListReply>(&reply)?.into())
    }
}

/// The names of a call that sends a message.
struct Sending {
    method: &'static str,
    method_v0_3: &'static str,
    path: &'static str,
    path_v0_3: &'static str,
}

const SEND: Sending = Sending {
    method: "SendMessage",
    method_v0_3: "message/send",
    path: "/message:send",
    path_v0_3: "/v1/message:send",
};

const STREAM: Sending = Sending {
    method: "SendStreamingMessage",
    method_v0_3: "message/stream",
    path: "/message:stream",
    path_v0_3: "/v1/message:stream",
};

fn task_of_kind(reply: &[u8]) -> Result<TaskInfo> {
    serde_json::from_slice::<RpcReply<v0_3::Kind>>(reply)?
        .into_result()?
        .into_task()
}

/// Percent-encodes everything but unreserved characters.
fn percent(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => out.push(byte as char),
            _ => {
                let _ = write!(out, "%{byte:02X}");
            }
        }
    }
    out
}
