//! HTTP+JSON: the operation in verb and path, the parameters in path, query and body (§11).

use async_trait::async_trait;
use gateway_domain::{Binding, Operation, Version, principal::Actor};
use gateway_wire::{
    operations::{Segment, Verb},
    params::media_type,
};
use http::{HeaderMap, Method};
use serde_json::{Map, Value};

use super::{
    Answer, Ask, Driver, Event, LiveStream, Refusal, Reply, SseReader, Told,
    jsonrpc::{Reached, reach},
    pool, to_dynamic, to_json,
    v0_3::{proto_answer, proto_request},
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
        let route = ask.row().routes[0];
        let mut members = members(ask);
        let mut path = match &ask.tenant {
            Some(tenant) if ask.operation.actor() == Actor::Client => format!("/{}", encode(tenant)),
            _ => String::new(),
        };
        for segment in route.segments() {
            path.push('/');
            match segment {
                Segment::Literal(literal) => path.push_str(literal),
                Segment::Variable(name) => path.push_str(&encode(&take(&mut members, name, ask.names))),
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
        let sent = match ask.names {
            Version::V1_0 => media_type::A2A_JSON,
            Version::V0_3 => media_type::JSON,
        };
        if body.is_some() {
            headers.push(("content-type".to_owned(), sent.to_owned()));
        }
        let content = body.clone().unwrap_or_default();
        let whole = match reach(&self.http, method, &path, &headers, content).await {
            Ok(Reached::Whole(whole)) => whole,
            Ok(Reached::Stream(headers, reader)) => {
                return Answer::Stream(LiveStream::new(headers, events(reader, ask.clone())));
            }
            Err(why) => return Answer::Refusal(Refusal::broken(&why)),
        };
        let expected = if body.is_some() { sent } else { media_type::JSON };
        assert_eq!(
            whole.header("content-type"),
            Some(expected),
            "the type of {:?}",
            whole.body
        );
        if whole.status == 200 {
            return Answer::Reply(Reply {
                json: in_words_of_1_0(ask, whole.json()),
                headers: whole.headers,
            });
        }
        let status = whole.status.as_u16();
        Answer::Refusal(refusal(&whole.json(), Some(status), whole.headers))
    }
}

/// What is spread: in 0.3 the ids that names are made of, one after the other.
fn members(ask: &Ask) -> Map<String, Value> {
    if ask.names == Version::V1_0 {
        return ask.members();
    }
    let mut request = proto_request(ask.operation, &ask.params);
    let request = request.as_object_mut().expect("a request is an object");
    for name in ["name", "parent"] {
        request.remove(name);
    }
    let ids = ["taskId", "id"].map(|name| ask.params[name].clone());
    let of_a_task = !matches!(
        ask.operation,
        Operation::SendMessage | Operation::SendStreamingMessage | Operation::GetExtendedAgentCard
    );
    if of_a_task {
        let [task, config] = ids;
        let (first, second) = if task.is_null() {
            (config, task)
        } else {
            (task, config)
        };
        request.insert("taskId".to_owned(), first);
        if ask.operation != Operation::CreateTaskPushNotificationConfig && !second.is_null() {
            request.insert("id".to_owned(), second);
        }
    }
    request.clone()
}

fn in_words_of_1_0(ask: &Ask, json: Value) -> Value {
    match ask.names {
        Version::V1_0 => json,
        Version::V0_3 => proto_answer(ask.operation, complete(ask, json)),
    }
}

/// The answer as protobuf has it: what is left out in JSON is there with its default.
fn complete(ask: &Ask, json: Value) -> Value {
    let service = pool()
        .get_service_by_name(ask.row().grpc_service)
        .expect("the service");
    let method = service
        .methods()
        .find(|method| method.name() == ask.row().grpc_method);
    let output = method.expect("the method").output();
    to_json(&to_dynamic(output, &json).unwrap_or_else(|error| panic!("{json} is no answer: {error}")))
}

/// Takes a variable's value out of the members, whichever way its name is written.
fn take(members: &mut Map<String, Value>, name: &str, names: Version) -> String {
    let camel = match name {
        _ if names == Version::V0_3 && members.contains_key("taskId") => "taskId",
        "task_id" => "taskId",
        _ if names == Version::V0_3 => "id",
        name => name,
    };
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
    if let (Some(text), Some(code)) = (json["message"].as_str(), json["code"].as_i64()) {
        assert_eq!(
            json.as_object().map(Map::len),
            Some(2),
            "more than code and message in {json}"
        );
        return Refusal::read(Told::Text { http, code }, text, &[], headers).told_in(Version::V0_3);
    }
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

fn events(reader: SseReader, ask: Ask) -> impl futures::Stream<Item = Result<Event, Refusal>> + Send {
    futures::stream::unfold((reader, ask, false), |(mut reader, ask, ended)| async move {
        if ended {
            return None;
        }
        let item = match reader.next().await {
            Ok(event) => {
                let event = event?;
                let json: Value = serde_json::from_str(&event.data).expect("an event is JSON");
                if json.get("error").is_some() || json["message"].is_string() {
                    Err(refusal(&json, None, HeaderMap::new()))
                } else {
                    let json = in_words_of_1_0(&ask, json);
                    Ok(Event { json, id: event.id })
                }
            }
            Err(why) => Err(Refusal::broken(&why)),
        };
        let ended = item.is_err();
        Some((item, (reader, ask, ended)))
    })
}
