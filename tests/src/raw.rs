//! HTTP as it is: for the two JSON bindings, and for requests that no binding would make.

use std::{net::SocketAddr, time::Duration};

use bytes::Bytes;
use http::{HeaderMap, Method, Request, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper_util::{
    client::legacy::{Client, connect::HttpConnector},
    rt::TokioExecutor,
};
use serde_json::Value;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

/// How long a test waits for what must come. Long, since the machine may be busy: nothing is measured by it.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// A client of one listener, over HTTP/1.1.
#[derive(Clone)]
pub struct Http {
    address: SocketAddr,
    client: Client<HttpConnector, Full<Bytes>>,
}

/// Connects without waiting for more to send: otherwise both sides wait for each other, 40 ms at a time.
pub(crate) fn connector() -> HttpConnector {
    let mut connector = HttpConnector::new();
    connector.set_nodelay(true);
    // Else the system lets what a test leaves unread grow to tens of megabytes, and no reader is ever slow.
    connector.set_recv_buffer_size(Some(256 << 10));
    connector
}

/// A response that was read to its end.
#[derive(Debug)]
pub struct Whole {
    /// The status.
    pub status: StatusCode,
    /// The headers.
    pub headers: HeaderMap,
    /// The body.
    pub body: Bytes,
}

impl Http {
    /// A client without connections yet.
    pub fn new(address: SocketAddr) -> Self {
        Self {
            address,
            client: Client::builder(TokioExecutor::new()).build(connector()),
        }
    }

    /// Sends a request; the body of the response is still to be read.
    pub async fn open(
        &self,
        method: Method,
        path: &str,
        headers: &[(String, String)],
        body: impl Into<Bytes>,
    ) -> Response<Incoming> {
        let answer = tokio::time::timeout(PATIENCE, self.try_open(method, path, headers, body)).await;
        let answer = answer.expect("an answer in time");
        answer.unwrap_or_else(|error| panic!("an answer: {error}"))
    }

    /// The same where the other side may not be there.
    ///
    /// # Errors
    /// A text that says how the connection failed.
    pub async fn try_open(
        &self,
        method: Method,
        path: &str,
        headers: &[(String, String)],
        body: impl Into<Bytes>,
    ) -> Result<Response<Incoming>, String> {
        let mut request = Request::builder()
            .method(method)
            .uri(format!("http://{}{path}", self.address));
        for (name, value) in headers {
            request = request.header(name, value);
        }
        let request = request.body(Full::new(body.into())).expect("a request");
        let answer = self.client.request(request).await;
        answer.map_err(|error| format!("{error:?}"))
    }

    /// Sends a request and reads the whole answer.
    pub async fn send(
        &self,
        method: Method,
        path: &str,
        headers: &[(String, String)],
        body: impl Into<Bytes>,
    ) -> Whole {
        Whole::read(self.open(method, path, headers, body).await).await
    }

    /// Posts a text with the headers of a well-formed call by caller A.
    pub async fn post(&self, path: &str, body: impl Into<Bytes>) -> Whole {
        self.send(Method::POST, path, &usual_headers(), body).await
    }

    /// Gets a path with the headers of a well-formed call by caller A.
    pub async fn get(&self, path: &str) -> Whole {
        self.send(Method::GET, path, &usual_headers()[1..], Bytes::new())
            .await
    }
}

/// Content type, version and token of a well-formed call by caller A, in this order.
pub fn usual_headers() -> Vec<(String, String)> {
    headers(&[
        ("content-type", "application/json"),
        ("a2a-version", "1.0"),
        ("authorization", "Bearer A"),
    ])
}

/// Headers from literals.
pub fn headers(of: &[(&str, &str)]) -> Vec<(String, String)> {
    of.iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect()
}

impl Whole {
    /// Reads a response to its end.
    pub async fn read(response: Response<Incoming>) -> Self {
        let whole = tokio::time::timeout(PATIENCE, Self::try_read(response)).await;
        let whole = whole.expect("a body in time");
        whole.unwrap_or_else(|error| panic!("a body: {error}"))
    }

    /// The same where the connection may break.
    ///
    /// # Errors
    /// A text that says how it broke.
    pub async fn try_read(response: Response<Incoming>) -> Result<Self, String> {
        let (parts, body) = response.into_parts();
        let body = body.collect().await.map_err(|error| format!("{error:?}"))?;
        Ok(Self {
            status: parts.status,
            headers: parts.headers,
            body: body.to_bytes(),
        })
    }

    /// The body as JSON.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("{error} in {:?}", String::from_utf8_lossy(&self.body)))
    }

    /// A header's value, or nothing.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .get(name)
            .map(|value| value.to_str().expect("a header is ASCII"))
    }
}

/// Sends bytes over a connection of their own and reads until the other side closes or answers in full: what was
/// read. For requests that a client library refuses to make.
pub async fn bytes(address: SocketAddr, request: &[u8]) -> String {
    let mut connection = TcpStream::connect(address).await.expect("a connection");
    // The other side may answer, and close, before it has read everything.
    let _ = connection.write_all(request).await;
    let mut answer = Vec::new();
    let read = async {
        let mut buffer = [0; 4096];
        loop {
            match connection.read(&mut buffer).await {
                Ok(0) | Err(_) => break,
                Ok(read) => answer.extend_from_slice(&buffer[..read]),
            }
            if is_whole(&answer) {
                break;
            }
        }
    };
    tokio::time::timeout(PATIENCE, read)
        .await
        .expect("an answer in time");
    String::from_utf8_lossy(&answer).into_owned()
}

/// Whether a response with a Content-Length is there in full.
fn is_whole(answer: &[u8]) -> bool {
    let text = String::from_utf8_lossy(answer);
    let Some((head, body)) = text.split_once("\r\n\r\n") else {
        return false;
    };
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length")
            .then(|| value.trim().parse::<usize>().ok())?
    });
    length.is_some_and(|length| body.len() >= length)
}
