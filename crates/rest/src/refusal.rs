//! Errors as §11.6 writes them: `{"error": {code, status, message, details}}`; in 0.3 `{code, message}` is all, with the code
//! of JSON-RPC, by which clients of that version tell errors apart.

use axum::body::Body;
use bytes::Bytes;
use gateway_domain::{Error, ErrorKind, Version};
use gateway_edge::{Face, Response, negotiate};
use gateway_wire::errors::{Detail, Edition, details};
use http::{HeaderValue, StatusCode, header, request::Parts};
use serde_json::json;

use crate::{
    form::{self, Form},
    reply,
    routes::Verbs,
};

/// How this binding refuses a request that never reached it. Such refusals are told alike in every edition.
#[derive(Debug, Clone, Copy, Default)]
pub struct RestFace;

impl Face for RestFace {
    fn refuse(&self, parts: &Parts, error: &Error) -> Response {
        let form = Form::new(&parts.headers, Edition::default());
        response(error, form.of(form::version_of(parts.uri.path()), None))
    }
}

/// An error as an answer of its own.
pub(crate) fn response(error: &Error, form: Form) -> Response {
    let form = form.of_error(error);
    let mut response = reply::json_response(Body::from(body(error, form)), form.media_type());
    // The table holds status codes only; were it wrong, a test would say so.
    *response.status_mut() =
        StatusCode::from_u16(form.row(error).http).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let headers = response.headers_mut();
    if let Some(delay) = error.retry_delay() {
        headers.insert(header::RETRY_AFTER, negotiate::retry_after(delay));
    }
    if error.kind() == ErrorKind::Unauthenticated {
        headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    }
    response
}

/// The refusal of a path that is none of ours.
pub(crate) fn not_found(parts: &Parts) -> Error {
    let text = format!(
        "no operation has the path {:?}; the base URL of this interface stands in the agent card",
        shown(parts.uri.path())
    );
    Error::new(ErrorKind::MethodNotFound, text)
}

/// The refusal of a verb that the path doesn't know.
pub(crate) fn method_not_allowed(parts: &Parts, verbs: &Verbs) -> Error {
    let (verb, verbs) = (shown(parts.method.as_str()), verbs.join(" or "));
    let text = format!("{verb} is not served at this path; use {verbs}");
    Error::new(ErrorKind::MethodNotAllowed, text)
}

/// What a caller sent, short enough for an answer.
fn shown(text: &str) -> String {
    text.chars().take(80).collect()
}

/// An answer with the verbs that the path knows.
pub(crate) fn allowing(mut response: Response, verbs: &Verbs) -> Response {
    if let Ok(verbs) = HeaderValue::from_str(&verbs.join(", ")) {
        response.headers_mut().insert(header::ALLOW, verbs);
    }
    response
}

/// The JSON of an error; also the last event of a stream that ends with one.
pub(crate) fn body(error: &Error, form: Form) -> Bytes {
    if form.version == Version::V0_3 {
        return reply::json(&json!({ "code": form.row(error).jsonrpc, "message": form.text(error) }));
    }
    let row = form.row(error);
    reply::json(&json!({
        "error": {
            "code": row.http,
            "status": row.grpc.name(),
            "message": error.message(),
            "details": details(error).iter().map(Detail::to_json).collect::<Vec<_>>(),
        }
    }))
}
