//! Writing answers: the response object of JSON-RPC 2.0, its error object (§9.5), and the HTTP around them.

use axum::body::Body;
use bytes::Bytes;
use gateway_domain::{Error, ErrorKind};
use gateway_edge::{Face, Response, negotiate};
use gateway_wire::{
    errors::{self, Detail},
    params::{self, media_type},
};
use http::{
    HeaderMap, HeaderName, HeaderValue, StatusCode,
    header::{ALLOW, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE},
    request::Parts,
};
use jsonrpsee_types::{ErrorObject, ErrorObjectOwned};

use crate::envelope::Id;

/// Renders what stopped a request before it was read; its id is not known then.
#[derive(Debug, Clone, Copy, Default)]
pub struct RpcFace;

impl Face for RpcFace {
    fn refuse(&self, _parts: &Parts, error: &Error) -> Response {
        self::error(&Id::null(), error)
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
    pub(crate) fn reply(activated: &[String]) -> Self {
        let mut beside = Self::default();
        beside.headers.extend(extensions(activated));
        beside
    }

    /// For an error.
    pub(crate) fn error(error: &Error) -> Self {
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
        let status = StatusCode::from_u16(errors::row_of(error).jsonrpc_http);
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

/// `A2A-Extensions` of an answer, where there is something to tell.
pub(crate) fn extensions(activated: &[String]) -> Option<(HeaderName, HeaderValue)> {
    let value = negotiate::list_value(activated)?;
    Some((HeaderName::from_static(params::EXTENSIONS.header), value))
}

/// An answer that is an error.
pub(crate) fn error(id: &Id, error: &Error) -> Response {
    Beside::error(error).around(error_json(id, error))
}

/// What cannot be while the binding is assembled rightly. The operator has to hear of it, and no layer within saw it.
pub(crate) fn broken(cause: &'static str) -> Error {
    tracing::error!(cause, "the JSON-RPC binding broke");
    Error::internal(cause)
}

/// The response object of an error.
pub(crate) fn error_json(id: &Id, error: &Error) -> Bytes {
    let object = serde_json::to_vec(&error_object(error)).expect("an error object has names for keys");
    object_of(id, &[b"\"error\":", &object, b"}"])
}

/// The error object: code and text from the tables, details as `data`.
pub(crate) fn error_object(error: &Error) -> ErrorObjectOwned {
    let details: Vec<_> = errors::details(error).iter().map(Detail::to_json).collect();
    let data = (!details.is_empty()).then_some(details);
    ErrorObject::owned(errors::row_of(error).jsonrpc, error.message(), data)
}

/// The response object of a result.
pub(crate) fn result_json(id: &Id, result: &[u8]) -> Bytes {
    object_of(id, &[b"\"result\":", result, b"}"])
}

/// An answer that is a result.
pub(crate) fn result(id: &Id, result: &[u8], beside: Beside) -> Response {
    beside.around(result_json(id, result))
}

/// The answer of a jsonrpsee method that was called without an id, with the id put in.
pub(crate) fn addressed(id: &Id, answer: &str, beside: Beside) -> Response {
    const UNADDRESSED: &str = r#"{"jsonrpc":"2.0","id":null,"#;
    match answer.strip_prefix(UNADDRESSED) {
        Some(payload) => beside.around(object_of(id, &[payload.as_bytes()])),
        None => error(id, &broken("jsonrpsee writes responses in another order")),
    }
}

/// A response object: version and id, then what is left of it.
fn object_of(id: &Id, rest: &[&[u8]]) -> Bytes {
    let begin: [&[u8]; 3] = [br#"{"jsonrpc":"2.0","id":"#, id.json().as_bytes(), b","];
    [&begin, rest].concat().concat().into()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use gateway_domain::{Error, ErrorKind};
    use gateway_wire::errors;

    use super::{Beside, error_object};

    #[test]
    fn each_meaning_has_the_code_of_the_table() {
        for kind in ErrorKind::ALL {
            let object = error_object(&Error::new(kind, "text"));
            let json = serde_json::to_value(&object).unwrap();
            assert_eq!(json["code"], errors::row(kind).jsonrpc, "{kind:?}");
            assert_eq!(json["message"], "text");
        }
    }

    #[test]
    fn data_is_an_array_of_typed_objects_or_absent() {
        let json = |kind| serde_json::to_value(error_object(&Error::new(kind, "text"))).unwrap();
        let data = json(ErrorKind::TaskNotFound)["data"].clone();
        assert_eq!(data[0]["@type"], "type.googleapis.com/google.rpc.ErrorInfo");
        assert_eq!(data[0]["reason"], "TASK_NOT_FOUND");
        assert!(json(ErrorKind::MethodNotFound).get("data").is_none());
    }

    #[test]
    fn headers_say_what_a_caller_can_do() {
        let beside = |error: Error| Beside::error(&error);
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
