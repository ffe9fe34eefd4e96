//! Writing answers: the response object of JSON-RPC 2.0, its error object (§9.5), and the HTTP around them.

use axum::body::Body;
use bytes::Bytes;
use gateway_domain::{Error, ErrorKind, Version};
use gateway_edge::{Face, Response, negotiate};
use gateway_wire::{
    errors::{self, Detail, Edition, Row},
    operations,
    params::{self, media_type},
    v0_3::{Terms, terms},
};
use http::{
    HeaderMap, HeaderName, HeaderValue, StatusCode,
    header::{ALLOW, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE},
    request::Parts,
};
use jsonrpsee_types::{ErrorObject, ErrorObjectOwned};

use crate::envelope::Id;

/// The names that the caller used; nothing where they are of no method, and then the answer is one of 1.0.
pub(crate) type Called = Option<&'static operations::Row>;

/// Renders what stopped a request before it was read; its id is not known then.
#[derive(Debug, Clone, Copy, Default)]
pub struct RpcFace;

impl Face for RpcFace {
    fn refuse(&self, _parts: &Parts, error: &Error) -> Response {
        self::error(&Id::null(), error, None)
    }
}

/// What goes beside a response object.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Beside {
    status: StatusCode,
    headers: HeaderMap,
}

impl Beside {
    /// For a reply with these extensions activated.
    pub(crate) fn reply(activated: &[String], version: Version) -> Self {
        let mut beside = Self::default();
        beside.headers.extend(extensions(activated, version));
        beside
    }

    /// For an error.
    pub(crate) fn error(error: &Error, called: Called) -> Self {
        let mut headers = HeaderMap::new();
        if let Some(wait) = error.retry_delay() {
            headers.insert(RETRY_AFTER, negotiate::retry_after(wait));
        }
        match error.kind() {
            ErrorKind::Unauthenticated => {
                headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            }
            ErrorKind::MethodNotAllowed => {
                headers.insert(ALLOW, HeaderValue::from_static("POST"));
            }
            _ => {}
        }
        let status = StatusCode::from_u16(row(error, called).jsonrpc_http);
        Self {
            status: status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR),
            headers,
        }
    }

    fn around(self, json: Bytes) -> Response {
        let mut response = Response::new(Body::from(json));
        *response.status_mut() = self.status;
        *response.headers_mut() = self.headers;
        let json = HeaderValue::from_static(media_type::JSON);
        response.headers_mut().insert(CONTENT_TYPE, json);
        response
    }
}

/// `A2A-Extensions` of an answer, or what a version calls it, where there is something to tell.
pub(crate) fn extensions(activated: &[String], version: Version) -> Option<(HeaderName, HeaderValue)> {
    let value = negotiate::list_value(activated)?;
    Some((HeaderName::from_static(params::extensions(version).header), value))
}

/// An answer that is an error.
pub(crate) fn error(id: &Id, error: &Error, called: Called) -> Response {
    Beside::error(error, called).around(error_json(id, error, called))
}

/// The row of the error table that the caller's version goes by.
fn row(error: &Error, called: Called) -> &'static Row {
    match called.map(|names| names.version) {
        Some(Version::V0_3) => Edition::V0_3.row_of(error),
        Some(Version::V1_0) | None => errors::row_of(error),
    }
}

/// What cannot be while the binding is assembled rightly. The operator has to hear of it, and no layer within saw it.
pub(crate) fn broken(cause: &'static str) -> Error {
    tracing::error!(cause, "the JSON-RPC binding broke");
    Error::internal(cause)
}

/// The response object of an error.
pub(crate) fn error_json(id: &Id, error: &Error, called: Called) -> Bytes {
    let object =
        serde_json::to_vec(&error_object(error, called)).expect("an error object has names for keys");
    response_of(id, &[b"\"error\":", &object, b"}"])
}

/// The error object: code and text from the tables, details as `data`, in the words of the caller's version.
pub(crate) fn error_object(error: &Error, called: Called) -> ErrorObjectOwned {
    match called {
        Some(names) if names.version == Version::V0_3 => {
            object_of(&terms(error.clone(), names.operation, Terms::Kind), called)
        }
        _ => object_of(error, called),
    }
}

fn object_of(error: &Error, called: Called) -> ErrorObjectOwned {
    let details: Vec<_> = errors::details(error).iter().map(Detail::to_json).collect();
    let data = (!details.is_empty()).then_some(details);
    ErrorObject::owned(row(error, called).jsonrpc, error.message(), data)
}

/// The response object of a result.
pub(crate) fn result_json(id: &Id, result: &[u8]) -> Bytes {
    response_of(id, &[b"\"result\":", result, b"}"])
}

/// An answer that is a result.
pub(crate) fn result(id: &Id, result: &[u8], beside: Beside) -> Response {
    beside.around(result_json(id, result))
}

/// The answer of a jsonrpsee method that was called without an id, with the id put in.
pub(crate) fn addressed(id: &Id, answer: &str, beside: Beside, called: &'static operations::Row) -> Response {
    const UNADDRESSED: &str = r#"{"jsonrpc":"2.0","id":null,"#;
    match answer.strip_prefix(UNADDRESSED) {
        Some(payload) => beside.around(response_of(id, &[payload.as_bytes()])),
        None => error(
            id,
            &broken("jsonrpsee writes responses in another order"),
            Some(called),
        ),
    }
}

/// A response object: version and id, then what is left of it.
fn response_of(id: &Id, rest: &[&[u8]]) -> Bytes {
    let begin: [&[u8]; 3] = [br#"{"jsonrpc":"2.0","id":"#, id.json().as_bytes(), b","];
    [&begin, rest].concat().concat().into()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use gateway_domain::{Actor, Error, ErrorKind};
    use gateway_wire::{
        errors::{self, Edition},
        operations,
    };

    use super::{Beside, error_object};

    #[test]
    fn each_meaning_has_the_code_of_the_table() {
        for kind in ErrorKind::ALL {
            let error = Error::new(kind, "text");
            let rows = [
                (
                    operations::by_jsonrpc(Actor::Client, "GetTask"),
                    errors::row(kind),
                ),
                (
                    operations::by_jsonrpc(Actor::Client, "tasks/get"),
                    Edition::V0_3.row_of(&error),
                ),
            ];
            for (called, row) in rows {
                let json = serde_json::to_value(error_object(&error, called)).unwrap();
                assert_eq!(json["code"], row.jsonrpc, "{kind:?} {called:?}");
                assert_eq!(json["message"], "text");
            }
        }
    }

    #[test]
    fn data_is_an_array_of_typed_objects_or_absent() {
        let json = |kind| serde_json::to_value(error_object(&Error::new(kind, "text"), None)).unwrap();
        let data = json(ErrorKind::TaskNotFound)["data"].clone();
        assert_eq!(data[0]["@type"], "type.googleapis.com/google.rpc.ErrorInfo");
        assert_eq!(data[0]["reason"], "TASK_NOT_FOUND");
        assert!(json(ErrorKind::MethodNotFound).get("data").is_none());
    }

    #[test]
    fn headers_say_what_a_caller_can_do() {
        let beside = |error: Error| Beside::error(&error, None);
        let limited = Error::new(ErrorKind::ResourceExhausted, "").retry_after(Duration::from_millis(1_200));
        assert_eq!(beside(limited).headers["retry-after"], "2");
        let stranger = beside(Error::new(ErrorKind::Unauthenticated, ""));
        assert_eq!(
            (stranger.status.as_u16(), &stranger.headers["www-authenticate"]),
            (401, &"Bearer".parse().unwrap())
        );
        let got = beside(Error::new(ErrorKind::MethodNotAllowed, ""));
        assert_eq!(
            (got.status.as_u16(), &got.headers["allow"]),
            (405, &"POST".parse().unwrap())
        );
        assert_eq!(beside(Error::task_not_found()), Beside::default());
    }
}
