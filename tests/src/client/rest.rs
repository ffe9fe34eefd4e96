//! HTTP+JSON: the operation in verb and path, the parameters in path, query and body (§11).

use async_trait::async_trait;
use gateway_domain::{Binding, principal::Actor};
use gateway_wire::{
    operations::{self, Segment, Verb},
    params::media_type,
};
use http::{HeaderMap, Method};
use serde_json::{Map, Value};

use super::{
    Answer, Ask, Driver, Event, LiveStream, Refusal, Reply, SseReader, Told,
    jsonrpc::{Reached, reach},
};
use crate::raw::Http;

/// Calls over HTTP+JSON.
pub struct Rest {
    http: Http,
}

/// A call as verb, path and body.
pub struct Spread {
    /// The verb.
    pub method: Method,
    /// Path and query.
    pub path: String,
    /// The body, where the verb has one.
    pub body: Option<String>,
}

impl Rest {
    /// Calls a listener.
    pub fn new(http: Http) -> Self {
        Self { http }
    }

    /// Spreads a call over its preferred route.
    pub fn spread(ask: &Ask) -> Spread {
        let route = operations::row(ask.operation).routes[0];
        let mut members = ask.members();
        let mut path = match &ask.tenant {
            Some(tenant) if ask.operation.actor() == Actor::Client => format!("/{}", encode(tenant)),
            _ => String::new(),
        };
        for segment in route.segments() {
            path.push('/');
            match segment {
                Segment::Literal(literal) => path.push_str(literal),
                Segment::Variable(name) => path.push_str(&encode(&take(&mut members, name))),
            }
        }
        if let Some(verb) = route.custom_verb() {
            path.push(':');
            path.push_str(verb);
        }
        let (method, body) = match route.verb {
            Verb::Post => (Method::POST, Some(Value::Object(members).to_string())),
            Verb::Get => (Method::GET, query(&mut path, &members)),
            Verb::Delete => (Method::DELETE, query(&mut path, &members)),
        };
        Spread { method, path, body }
    }
}

#[async_trait]
impl Driver for Rest {
    fn binding(&self) -> Binding {
        Binding::HttpJson
    }

    async fn call(&self, ask: &Ask) -> Answer {
        let Spread { method, path, body } = Self::spread(ask);
        let mut headers = ask.service_parameters();
        if body.is_some() {
            headers.push(("content-type".to_owned(), media_type::A2A_JSON.to_owned()));
        }
        let sent = body.clone().unwrap_or_default();
        let whole = match reach(&self.http, method, &path, &headers, sent).await {
            Ok(Reached::Whole(whole)) => whole,
            Ok(Reached::Stream(headers, reader)) => {
                return Answer::Stream(LiveStream::new(headers, events(reader)));
            }
            Err(why) => return Answer::Refusal(Refusal::broken(&why)),
        };
        let expected = if body.is_some() {
            media_type::A2A_JSON
        } else {
            media_type::JSON
        };
        assert_eq!(
            whole.header("content-type"),
            Some(expected),
            "the type of {:?}",
            whole.body
        );
        if whole.status == 200 {
            return Answer::Reply(Reply {
                json: whole.json(),
                headers: whole.headers,
            });
        }
        let status = whole.status.as_u16();
        Answer::Refusal(refusal(&whole.json(), Some(status), whole.headers))
    }
}

/// Takes a variable's value out of the members, whichever way its name is written.
fn take(members: &mut Map<String, Value>, name: &str) -> String {
    let camel = if name == "task_id" { "taskId" } else { name };
    match members.remove(camel) {
        Some(Value::String(text)) => text,
        other => panic!("{camel} must be a text to stand in a path, not {other:?}"),
    }
}

fn query(path: &mut String, members: &Map<String, Value>) -> Option<String> {
    let mut separator = '?';
    for (name, value) in members {
        let text = match value {
            Value::String(text) => text.clone(),
            Value::Null => continue,
            other => other.to_string(),
        };
        path.push(separator);
        path.push_str(&encode(name));
        path.push('=');
        path.push_str(&encode(&text));
        separator = '&';
    }
    None
}

/// Percent-encodes everything but the unreserved characters.
pub(crate) fn encode(text: &str) -> String {
    use std::fmt::Write;
    let mut encoded = String::new();
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                encoded.push(char::from(byte));
            }
            _ => write!(encoded, "%{byte:02X}").expect("a text takes everything"),
        }
    }
    encoded
}

fn refusal(json: &Value, http: Option<u16>, headers: HeaderMap) -> Refusal {
    let error = &json["error"];
    let details = error["details"].as_array().cloned().unwrap_or_default();
    let told = Told::HttpJson {
        http,
        code: error["code"]
            .as_i64()
            .unwrap_or_else(|| panic!("no error.code in {json}")),
        status: error["status"].as_str().expect("error.status").to_owned(),
    };
    Refusal::read(
        told,
        error["message"].as_str().expect("error.message"),
        &details,
        headers,
    )
}

fn events(reader: SseReader) -> impl futures::Stream<Item = Result<Event, Refusal>> + Send {
    futures::stream::unfold((reader, false), |(mut reader, ended)| async move {
        if ended {
            return None;
        }
        let item = match reader.next().await {
            Ok(event) => {
                let event = event?;
                let json: Value = serde_json::from_str(&event.data).expect("an event is JSON");
                if json.get("error").is_some() {
                    Err(refusal(&json, None, HeaderMap::new()))
                } else {
                    Ok(Event { json, id: event.id })
                }
            }
            Err(why) => Err(Refusal::broken(&why)),
        };
        let ended = item.is_err();
        Some((item, (reader, ended)))
    })
}
