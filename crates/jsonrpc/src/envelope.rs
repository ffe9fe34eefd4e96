//! The request object of JSON-RPC 2.0: is it one, what is its id, which method is meant, where are its parameters.
//!
//! It looks at no member of the parameters. Every refusal of this module happens before anything is carried out.

use std::ops::Range;

use gateway_domain::{Error, ErrorKind, error::Violation, json};
use jsonrpsee_types::TwoPointZero;
use serde::{Deserialize, Deserializer, de::IgnoredAny};
use serde_json::value::RawValue;

use crate::surrogates;

/// The longest id taken, in bytes as written: it comes back with every event of a stream.
pub(crate) const MAX_ID_BYTES: usize = 1024;

/// One request.
#[derive(Debug)]
pub(crate) struct Request {
    /// Null where there is none.
    pub(crate) id: Id,
    /// Whether it has no id. It is refused then, but in 0.3 only after its method and parameters have been judged.
    pub(crate) lacks_id: bool,
    pub(crate) method: String,
    pub(crate) params: Params,
}

/// An id as its sender wrote it, so that it goes back with the same type and the same digits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Id(Box<str>);

impl Id {
    /// The id of answers to what has no usable one.
    pub(crate) fn null() -> Self {
        Self("null".into())
    }

    /// Its JSON.
    pub(crate) fn json(&self) -> &str {
        &self.0
    }
}

/// Where the parameters stand in the body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Params {
    /// There are none.
    Absent,
    /// An object, at these bytes.
    Object(Range<usize>),
    /// Something else.
    Other,
}

/// What is answered to a body that is not one request.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) id: Id,
    pub(crate) error: Error,
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Self {
            id: Id::null(),
            error,
        }
    }
}

/// Reads a body.
///
/// # Errors
/// ParseError where it is not a JSON document that is served, PayloadTooLarge where it has too many values;
/// InvalidRequest where it is a document, but not one request.
pub(crate) fn read(body: &[u8]) -> Result<Request, Refusal> {
    let text = document(body)?;
    let why = match text.trim_start().as_bytes().first() {
        Some(b'{') => match serde_json::from_str::<Members>(text) {
            Ok(members) => return members.request(text),
            Err(_) => "each member of a request stands once",
        },
        Some(b'[') => "batches are not taken: send each request by itself",
        _ => "a request is a JSON object",
    };
    Err(not_a_request(text, why))
}

/// The body as text, if it is worth a reader's time.
fn document(body: &[u8]) -> Result<&str, Error> {
    let text = std::str::from_utf8(body).map_err(|_| parse_error("the body is not UTF-8"))?;
    json::check_document(body)?;
    if surrogates::unpaired(text) {
        return Err(parse_error("a string of the JSON holds half of a surrogate pair"));
    }
    Ok(text)
}

fn parse_error(text: impl Into<std::borrow::Cow<'static, str>>) -> Error {
    Error::new(ErrorKind::ParseError, text)
}

/// The first reader stops at the first thing that it minds, so only now it is known whether the text is JSON at all.
fn not_a_request(text: &str, why: &'static str) -> Refusal {
    if let Err(error) = serde_json::from_str::<IgnoredAny>(text) {
        return parse_error(format!("the body is not valid JSON: {error}")).into();
    }
    Refusal {
        id: id_of(text).unwrap_or_else(Id::null),
        error: Error::new(ErrorKind::InvalidRequest, why),
    }
}

/// The id of an object that is no request; a list has none, whatever the reader of structures makes of it.
fn id_of(text: &str) -> Option<Id> {
    let OnlyId { id } = serde_json::from_str(text)
        .ok()
        .filter(|_| text.trim_start().starts_with('{'))?;
    usable(id?).ok()
}

#[derive(Deserialize)]
struct Members<'a> {
    #[serde(borrow, default, deserialize_with = "present")]
    jsonrpc: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    id: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    method: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    params: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct OnlyId<'a> {
    #[serde(borrow, default, deserialize_with = "present")]
    id: Option<&'a RawValue>,
}

/// Keeps `null` apart from a member that is missing: a request with the first has an id, one with the second has none.
fn present<'de, D: Deserializer<'de>>(d: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(d).map(Some)
}

impl Members<'_> {
    fn request(self, text: &str) -> Result<Request, Refusal> {
        let version = self
            .jsonrpc
            .is_some_and(|raw| read_as::<TwoPointZero>(raw).is_some());
        let lacks_id = self.id.is_none();
        let id = self.id.map_or(Ok(Id::null()), usable);
        let method = self.method.and_then(read_as::<String>);
        match (version, id, method) {
            (true, Ok(id), Some(method)) => Ok(Request {
                id,
                lacks_id,
                method,
                params: self.params.map_or(Params::Absent, |raw| place(raw, text)),
            }),
            (version, id, method) => {
                let faults = [
                    ("jsonrpc", (!version).then_some("must be \"2.0\"")),
                    ("id", id.as_ref().err().copied().or(lacks_id.then_some(NO_ID))),
                    ("method", method.is_none().then_some("must be a string")),
                ];
                Err(Refusal {
                    id: id.unwrap_or_else(|_| Id::null()),
                    error: invalid_request(faults),
                })
            }
        }
    }
}

const NO_ID: &str = "is required: every method has an answer";

/// The refusal of a request that has everything but an id.
pub(crate) fn without_id() -> Error {
    invalid_request([("id", Some(NO_ID))])
}

fn read_as<'a, T: Deserialize<'a>>(raw: &'a RawValue) -> Option<T> {
    serde_json::from_str(raw.get()).ok()
}

/// An id that can go back: a string, a number or null, and not too long.
fn usable(raw: &RawValue) -> Result<Id, &'static str> {
    match raw.get() {
        long if long.len() > MAX_ID_BYTES => Err("must be at most 1024 bytes long"),
        composite if composite.starts_with(['{', '[', 't', 'f']) => Err("must be a string, a number or null"),
        id => Ok(Id(id.into())),
    }
}

/// The parameters stay where they are, since a body may be large and is read only once the version is known.
fn place(raw: &RawValue, text: &str) -> Params {
    match raw.get().as_bytes() {
        b"null" => Params::Absent,
        [b'{', ..] => {
            // Both point into the same text.
            let begin = raw.get().as_ptr().addr() - text.as_ptr().addr();
            Params::Object(begin..begin + raw.get().len())
        }
        _ => Params::Other,
    }
}

fn invalid_request<const N: usize>(faults: [(&'static str, Option<&'static str>); N]) -> Error {
    let violations: Vec<_> = faults
        .into_iter()
        .filter_map(|(field, fault)| {
            Some(Violation {
                field: field.into(),
                description: fault?.into(),
            })
        })
        .collect();
    let text = violations
        .iter()
        .map(|Violation { field, description }| format!("{field} {description}"))
        .collect::<Vec<_>>()
        .join("; ");
    let text = format!("not a JSON-RPC 2.0 request: {text}");
    Error::new(ErrorKind::InvalidRequest, text).with_violations(violations)
}
