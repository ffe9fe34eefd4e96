//! JSON-RPC: one path, the method in the body (§9).

use std::pin::Pin;

use async_trait::async_trait;
use futures::{StreamExt, stream::BoxStream};
use gateway_domain::{Binding, Version};
use http::{HeaderMap, Method};
use serde_json::{Value, json};

use super::{
    Answer, Ask, Driver, Event, LiveStream, Refusal, Reply, SseReader, Told,
    rest::encode,
    sse::SseEvent,
    v0_3::{kind_answer, kind_params},
};
use crate::raw::{Http, PATIENCE, Whole};

/// Every call goes here.
const PATH: &str = "/rpc";

/// Calls over JSON-RPC.
pub struct JsonRpc {
    http: Http,
}

impl JsonRpc {
    /// Calls a listener.
    pub fn new(http: Http) -> Self {
        Self { http }
    }
}

#[async_trait]
impl Driver for JsonRpc {
    fn binding(&self) -> Binding {
        Binding::JsonRpc
    }

    async fn call(&self, ask: &Ask) -> Answer {
        let id = json!("call-1");
        let (path, params) = place(ask);
        let body = json!({ "jsonrpc": "2.0", "id": id, "method": ask.row().jsonrpc, "params": params });
        let mut headers = ask.service_parameters();
        headers.push(("content-type".to_owned(), "application/json".to_owned()));
        let reached = reach(&self.http, Method::POST, &path, &headers, body.to_string()).await;
        let whole = match reached {
            Ok(Reached::Whole(whole)) => whole,
            Ok(Reached::Stream(headers, reader)) => {
                let (ask, names) = (ask.clone(), ask.names);
                let events = events(reader, id).map(move |item| told_back(&ask, item));
                return stream_or_refusal(names, headers, Box::pin(events)).await;
            }
            Err(why) => return Answer::Refusal(Refusal::broken(&why)),
        };
        assert_eq!(whole.header("content-type"), Some("application/json"));
        let status = whole.status.as_u16();
        match envelope(&whole.json(), &id, Some(status), whole.headers.clone()) {
            Ok(json) => {
                assert_eq!(status, 200, "the status of a result");
                Answer::Reply(Reply {
                    json: in_words_of_1_0(ask, json),
                    headers: whole.headers,
                })
            }
            Err(refusal) => Answer::Refusal(refusal.told_in(ask.names)),
        }
    }
}

/// A response of the gateway's.
pub(super) enum Reached {
    /// Read to its end.
    Whole(Whole),
    /// Events, with the headers before them.
    Stream(HeaderMap, SseReader),
}

/// Sends a request and reads as much of the answer as is there.
///
/// # Errors
/// A text, where the connection failed or the answer is not the gateway's: what stands in between answers with a page
/// for people.
pub(super) async fn reach(
    http: &Http,
    method: Method,
    path: &str,
    headers: &[(String, String)],
    body: String,
) -> Result<Reached, String> {
    let answered = async {
        let response = http.try_open(method, path, headers, body).await?;
        let kind = response.headers().get("content-type");
        let kind = kind.map_or(b"".as_slice(), |kind| kind.as_bytes());
        if kind == b"text/event-stream" {
            assert_eq!(response.status(), 200);
            let (parts, body) = response.into_parts();
            return Ok(Reached::Stream(parts.headers, SseReader::new(body)));
        }
        if !kind.ends_with(b"json") {
            let (status, kind) = (response.status(), String::from_utf8_lossy(kind));
            return Err(format!("{status} with {kind:?}, which is not the gateway's"));
        }
        Whole::try_read(response).await.map(Reached::Whole)
    };
    let answered = tokio::time::timeout(PATIENCE, answered).await;
    answered.unwrap_or_else(|_| Err(format!("no answer within {PATIENCE:?}")))
}

/// In 0.3 a call that is answered by a stream is refused by one, too.
async fn stream_or_refusal(
    names: Version,
    headers: HeaderMap,
    events: BoxStream<'static, Result<Event, Refusal>>,
) -> Answer {
    if names == Version::V1_0 {
        return Answer::Stream(LiveStream::new(headers, events));
    }
    let mut events = events.peekable();
    match Pin::new(&mut events).peek().await {
        Some(Err(refusal)) => Answer::Refusal(refusal.clone()),
        _ => Answer::Stream(LiveStream::new(headers, events)),
    }
}

/// Where a call goes, and with which params: those of 0.3 have no place for a tenant.
fn place(ask: &Ask) -> (String, Value) {
    match (ask.names, &ask.tenant) {
        (Version::V1_0, _) => (PATH.to_owned(), ask.params_with_tenant()),
        (Version::V0_3, None) => (PATH.to_owned(), kind_params(ask.operation, &ask.params)),
        (Version::V0_3, Some(tenant)) => (
            format!("/{}{PATH}", encode(tenant)),
            kind_params(ask.operation, &ask.params),
        ),
    }
}

fn in_words_of_1_0(ask: &Ask, json: Value) -> Value {
    match ask.names {
        Version::V1_0 => json,
        Version::V0_3 => kind_answer(ask.operation, json),
    }
}

fn told_back(ask: &Ask, item: Result<Event, Refusal>) -> Result<Event, Refusal> {
    match item {
        Ok(event) => Ok(Event {
            json: in_words_of_1_0(ask, event.json),
            id: event.id,
        }),
        Err(refusal) => Err(refusal.told_in(ask.names)),
    }
}

/// Opens an envelope: the result, or the error.
fn envelope(json: &Value, id: &Value, http: Option<u16>, headers: HeaderMap) -> Result<Value, Refusal> {
    assert_eq!(json["jsonrpc"], "2.0", "in {json}");
    // What the edge refuses has not been read, its id included.
    let unread = http.is_some_and(|http| http != 200) && json["id"].is_null();
    assert!(unread || json["id"] == *id, "the id in {json}");
    let Some(error) = json.get("error") else {
        let members = json.as_object().map(serde_json::Map::len);
        assert_eq!(members, Some(3), "more than jsonrpc, id and result in {json}");
        return Ok(json["result"].clone());
    };
    assert!(json.get("result").is_none(), "a result beside an error in {json}");
    let code = error["code"].as_i64().expect("a code");
    let details = error["data"].as_array().cloned().unwrap_or_default();
    let message = error["message"].as_str().expect("a message");
    Err(Refusal::read(
        Told::JsonRpc { code, http },
        message,
        &details,
        headers,
    ))
}

fn events(reader: SseReader, id: Value) -> impl futures::Stream<Item = Result<Event, Refusal>> + Send {
    futures::stream::unfold((reader, id, false), |(mut reader, id, ended)| async move {
        if ended {
            return None;
        }
        let item = match reader.next().await {
            Ok(event) => {
                let SseEvent { id: place, data } = event?;
                let json = serde_json::from_str(&data).unwrap_or_else(|error| panic!("{error} in {data:?}"));
                envelope(&json, &id, None, HeaderMap::new()).map(|json| Event { json, id: place })
            }
            Err(why) => Err(Refusal::broken(&why)),
        };
        let ended = item.is_err();
        Some((item, (reader, id, ended)))
    })
}
