//! What comes back: a reply, a stream of events, or a refusal with its meaning.

use std::collections::BTreeMap;

use futures::{StreamExt, stream::BoxStream};
use gateway_domain::{Error, ErrorKind, Version};
use gateway_wire::errors::{self, Edition};
use http::HeaderMap;
use serde_json::Value;

/// The answer to a call.
#[derive(Debug)]
pub enum Answer {
    /// One result.
    Reply(Reply),
    /// Events, still coming.
    Stream(LiveStream),
    /// An error before anything else.
    Refusal(Refusal),
}

/// One result.
#[derive(Debug)]
pub struct Reply {
    /// Canonical JSON.
    pub json: Value,
    /// Headers, or metadata.
    pub headers: HeaderMap,
}

/// Events as they come. Dropping it leaves the call.
pub struct LiveStream {
    /// Headers, or metadata.
    pub headers: HeaderMap,
    events: BoxStream<'static, Result<Event, Refusal>>,
}

/// One event.
#[derive(Debug, Clone)]
pub struct Event {
    /// A `StreamResponse` in canonical JSON.
    pub json: Value,
    /// The event's id, where the binding has a place for one.
    pub id: Option<String>,
}

/// An error.
#[derive(Debug, Clone)]
pub struct Refusal {
    /// The numbers, as the binding told them.
    pub told: Told,
    /// The text.
    pub message: String,
    /// The bad fields.
    pub violations: Vec<Violation>,
    /// `ErrorInfo.reason`.
    pub reason: Option<String>,
    /// `ErrorInfo.metadata`.
    pub metadata: BTreeMap<String, String>,
    /// `RequestInfo.requestId`.
    pub request_id: Option<String>,
    /// The details as they came.
    pub details: Vec<Value>,
    /// Headers, or metadata.
    pub headers: HeaderMap,
    /// The version whose numbers are told.
    pub names: Version,
}

/// How a binding told an error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Told {
    /// The code, and the HTTP status under which it came; in a stream there is none of its own.
    JsonRpc {
        /// `error.code`
        code: i64,
        /// The response's.
        http: Option<u16>,
    },
    /// The HTTP status, and what the body says; in a stream there is only the body.
    HttpJson {
        /// The response's.
        http: Option<u16>,
        /// `error.code`
        code: i64,
        /// `error.status`
        status: String,
    },
    /// The status.
    Grpc {
        /// The number.
        code: i32,
    },
    /// Not by the gateway: the connection failed, or something in between answered in its place.
    Broken,
    /// HTTP+JSON of 0.3: a text with JSON-RPC's code, and beside it the HTTP status; in a stream there is none.
    Text {
        /// The response's.
        http: Option<u16>,
        /// `code`
        code: i64,
    },
}

/// One bad field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// Its path.
    pub field: String,
    /// What is wrong.
    pub description: String,
}

impl Answer {
    /// The one result.
    pub fn reply(self) -> Reply {
        match self {
            Self::Reply(reply) => reply,
            other => panic!("a reply was expected, not {other:?}"),
        }
    }

    /// The one result's JSON.
    pub fn json(self) -> Value {
        self.reply().json
    }

    /// The error.
    pub fn refusal(self) -> Refusal {
        match self {
            Self::Refusal(refusal) => refusal,
            other => panic!("a refusal was expected, not {other:?}"),
        }
    }

    /// The events.
    pub fn stream(self) -> LiveStream {
        match self {
            Self::Stream(stream) => stream,
            other => panic!("a stream was expected, not {other:?}"),
        }
    }
}

impl LiveStream {
    pub(super) fn new(
        headers: HeaderMap,
        events: impl futures::Stream<Item = Result<Event, Refusal>> + Send + 'static,
    ) -> Self {
        Self {
            headers,
            events: events.boxed(),
        }
    }

    /// The next event; nothing at the end.
    pub async fn next(&mut self) -> Option<Result<Event, Refusal>> {
        self.events.next().await
    }

    /// The next event's JSON, which must be there.
    pub async fn event(&mut self) -> Value {
        match self.next().await {
            Some(Ok(event)) => event.json,
            other => panic!("an event was expected, not {other:?}"),
        }
    }

    /// Every event up to an end without an error.
    pub async fn rest(mut self) -> Vec<Value> {
        let mut events = Vec::new();
        while let Some(event) = self.next().await {
            events.push(event.expect("the stream ends without an error").json);
        }
        events
    }
}

impl std::fmt::Debug for LiveStream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("LiveStream")
    }
}

impl Refusal {
    /// What is left of a call whose answer never came, or not from the gateway.
    pub(super) fn broken(why: &str) -> Self {
        Self::read(Told::Broken, why, &[], HeaderMap::new())
    }

    /// Reads what every binding has in common: text and details in JSON.
    pub(super) fn read(told: Told, message: &str, details: &[Value], headers: HeaderMap) -> Self {
        let mut refusal = Self {
            told,
            message: message.to_owned(),
            violations: Vec::new(),
            reason: None,
            metadata: BTreeMap::new(),
            request_id: None,
            details: details.to_vec(),
            headers,
            names: Version::V1_0,
        };
        for detail in details {
            refusal.read_detail(detail);
        }
        refusal
    }

    /// The same, told to a caller who used the names of a version.
    pub(super) fn told_in(mut self, names: Version) -> Self {
        self.names = names;
        self
    }

    fn read_detail(&mut self, detail: &Value) {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        match detail["@type"].as_str() {
            Some("type.googleapis.com/google.rpc.ErrorInfo") => {
                assert_eq!(detail["domain"], errors::DOMAIN, "the domain of {detail}");
                assert!(self.reason.is_none(), "two ErrorInfo in one error");
                self.reason = Some(text(&detail["reason"]));
                let facts = detail["metadata"].as_object();
                self.metadata = facts
                    .into_iter()
                    .flatten()
                    .map(|(k, v)| (k.clone(), text(v)))
                    .collect();
            }
            Some("type.googleapis.com/google.rpc.BadRequest") => {
                let fields = detail["fieldViolations"].as_array().into_iter().flatten();
                self.violations.extend(fields.map(|violation| Violation {
                    field: text(&violation["field"]),
                    description: text(&violation["description"]),
                }));
            }
            Some("type.googleapis.com/google.rpc.RequestInfo") => {
                self.request_id = Some(text(&detail["requestId"]));
            }
            Some("type.googleapis.com/google.rpc.RetryInfo") => {}
            other => panic!("an unknown detail {other:?}"),
        }
    }

    /// Whether the same call can go well a moment later.
    pub fn is_passing(&self) -> bool {
        self.told == Told::Broken || self.check(ErrorKind::Unavailable).is_ok()
    }

    /// Whether the gateway refuses, and would refuse the same call a moment later.
    pub fn is_final(&self) -> bool {
        self.reason.is_some() && !self.is_passing()
    }

    /// Whether this is how an error of that meaning is told (§5.4).
    ///
    /// # Errors
    /// A text that says what differs.
    pub fn check(&self, kind: ErrorKind) -> Result<(), String> {
        let row = match self.names {
            // One whose version is not served is told in the form of 1.0.
            Version::V0_3 => Edition::V0_3.row_of(&Error::new(kind, "")),
            Version::V1_0 => errors::row(kind),
        };
        let numbers = match &self.told {
            Told::JsonRpc { code, http } => {
                *code == i64::from(row.jsonrpc) && http.is_none_or(|http| http == row.jsonrpc_http)
            }
            Told::HttpJson { http, code, status } => {
                *code == i64::from(row.http)
                    && http.is_none_or(|http| http == row.http)
                    && status == row.grpc.name()
            }
            Told::Grpc { code } => *code == row.grpc.code(),
            Told::Broken => false,
            Told::Text { http, code } => {
                *code == i64::from(row.jsonrpc) && http.is_none_or(|http| http == row.http)
            }
        };
        if !numbers {
            return Err(format!(
                "{} was expected, not {:?}: {}",
                kind.name(),
                self.told,
                self.message
            ));
        }
        if matches!(self.told, Told::Text { .. }) {
            return Ok(());
        }
        if self.reason.as_deref() != row.reason {
            return Err(format!("the reason of {} is {:?}", kind.name(), self.reason));
        }
        if let Some(field) = row.field
            && !self.names(field)
        {
            return Err(format!(
                "{} must name {field}: {:?}",
                kind.name(),
                self.violations
            ));
        }
        Ok(())
    }

    /// Whether it names a field as bad.
    pub fn names(&self, field: &str) -> bool {
        self.violations.iter().any(|violation| violation.field == field)
    }

    /// The bad fields in order.
    pub fn fields(&self) -> Vec<&str> {
        self.violations
            .iter()
            .map(|violation| &*violation.field)
            .collect()
    }

    /// Fails unless it is an error of that meaning.
    #[track_caller]
    pub fn assert(&self, kind: ErrorKind) {
        if let Err(why) = self.check(kind) {
            panic!("{why}");
        }
    }
}
