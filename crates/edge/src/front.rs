//! The front of a binding: what happens to a request before the binding sees it.
//!
//! ```text
//! request id → bound on the head → authenticator → guard against panics → binding
//! ```

use std::{
    convert::Infallible,
    panic::AssertUnwindSafe,
    sync::Arc,
    task::{Context, Poll},
};

use axum::body::Body;
use futures::{FutureExt, future::BoxFuture};
use gateway_domain::{Error, ErrorKind, Principal, error::metadata, principal::Authenticator};
use http::{HeaderMap, HeaderValue, Request, header, request::Parts};
use tower::{Service, ServiceExt};

use crate::{Response, Settings, request_id};

/// In the extensions of every request that reaches a binding.
#[derive(Debug, Clone)]
pub struct RequestContext {
    /// Under which the operator finds the request in the log: what the client sent as `X-Request-Id`, if it is fit
    /// for that, else a fresh one.
    pub request_id: Arc<str>,
    /// Who calls.
    pub principal: Arc<Principal>,
}

/// How a binding renders an error that stopped a request before the binding saw it.
pub trait Face: Clone + Send + Sync + 'static {
    /// The answer to a request of this head, whose body has not been read: HeadersTooLarge, InvalidRequest, Internal,
    /// or what the authenticator says.
    fn refuse(&self, parts: &Parts, error: &Error) -> Response;
}

/// The front of a binding; see [`front`].
#[derive(Clone)]
pub struct Front<S, F> {
    inner: S,
    face: F,
    authenticator: Arc<dyn Authenticator>,
    settings: Arc<Settings>,
}

/// Puts the front before a binding. Every answer carries `X-Request-Id`; every refusal looks as `face` says; the
/// binding never sees the Authorization header. The guard ends where the answer's head is made: a panic in its body
/// breaks the answer off.
pub fn front<S, F>(
    inner: S,
    face: F,
    authenticator: Arc<dyn Authenticator>,
    settings: Arc<Settings>,
) -> Front<S, F> {
    Front {
        inner,
        face,
        authenticator,
        settings,
    }
}

impl<S, F> Service<Request<Body>> for Front<S, F>
where
    S: Service<Request<Body>, Response = Response, Error = Infallible> + Clone + Send + 'static,
    S::Future: Send + 'static,
    F: Face,
{
    type Response = Response;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Response, Infallible>>;

    fn poll_ready(&mut self, _cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let (mut parts, body) = request.into_parts();
        let id = request_id::of(&parts.headers);
        let answer = match self.admit(&mut parts, &id) {
            Ok(()) => self.guarded(parts, body, id.clone()).left_future(),
            Err(error) => std::future::ready(self.face.refuse(&parts, &error)).right_future(),
        };
        Box::pin(answer.map(move |mut response| {
            if let Ok(id) = HeaderValue::from_str(&id) {
                response.headers_mut().insert(request_id::HEADER, id);
            }
            Ok(response)
        }))
    }
}

impl<S, F> Front<S, F>
where
    S: Service<Request<Body>, Response = Response, Error = Infallible> + Clone + Send + 'static,
    S::Future: Send + 'static,
    F: Face,
{
    /// Everything that is checked on the head alone. What is found out goes into the extensions.
    fn admit(&self, parts: &mut Parts, id: &Arc<str>) -> Result<(), Error> {
        // Taken out first of all, so that no refusal, log or binding can pass it on.
        let authorization = take_authorization(&mut parts.headers);
        within(parts, self.settings.header_bytes)?;
        check_transfer_coding(&parts.headers)?;
        let principal = self
            .authenticator
            .authenticate(authorization?.as_ref().map(HeaderValue::as_bytes))?;
        parts.extensions.insert(RequestContext {
            request_id: id.clone(),
            principal: Arc::new(principal),
        });
        Ok(())
    }

    /// The binding's answer, or, where it panics, the answer that its face has for that.
    fn guarded(&self, parts: Parts, body: Body, id: Arc<str>) -> impl Future<Output = Response> + use<S, F> {
        let (inner, face) = (self.inner.clone(), self.face.clone());
        // For a refusal after a panic, which has taken the head with it.
        let mut head = Request::new(()).into_parts().0;
        head.method = parts.method.clone();
        head.uri = parts.uri.clone();
        head.version = parts.version;
        head.headers = parts.headers.clone();
        let answer = async move { inner.oneshot(Request::from_parts(parts, body)).await };
        async move {
            match AssertUnwindSafe(answer).catch_unwind().await {
                Ok(Ok(response)) => response,
                Ok(Err(never)) => match never {},
                Err(panic) => {
                    let text = panic_text(panic.as_ref());
                    tracing::error!(request_id = %id, panic = text, "a binding panicked");
                    face.refuse(
                        &head,
                        &Error::internal(text).with_metadata(metadata::REQUEST_ID, &*id),
                    )
                }
            }
        }
    }
}

/// Takes the credentials out. Several are refused, since a proxy in front may have looked at another one than we would.
fn take_authorization(headers: &mut HeaderMap) -> Result<Option<HeaderValue>, Error> {
    let several = headers.get_all(header::AUTHORIZATION).iter().nth(1).is_some();
    let first = headers.remove(header::AUTHORIZATION);
    if several {
        let text = "Authorization stands there more than once; send it once";
        return Err(Error::new(ErrorKind::InvalidRequest, text));
    }
    Ok(first)
}

/// A coding beside `chunked` would be passed on undone, and a proxy in front may have undone it: refused, before
/// anybody can take the body for another one than was meant (RFC 9112 §6.1).
fn check_transfer_coding(headers: &HeaderMap) -> Result<(), Error> {
    let mut codings = headers.get_all(header::TRANSFER_ENCODING).iter();
    let understood = match (codings.next(), codings.next()) {
        (None, _) => true,
        (Some(coding), None) => coding.as_bytes().eq_ignore_ascii_case(b"chunked"),
        _ => false,
    };
    if understood {
        return Ok(());
    }
    let text = "a Transfer-Encoding other than chunked is not taken; send the body as it is";
    Err(Error::new(ErrorKind::UnsupportedMediaType, text))
}

/// The head's size as HTTP/1 would write it.
fn within(parts: &Parts, most: usize) -> Result<(), Error> {
    let target = parts
        .uri
        .path_and_query()
        .map_or(0, |target| target.as_str().len());
    let fields = parts
        .headers
        .iter()
        .map(|(name, value)| name.as_str().len() + value.len() + 4);
    if target + fields.sum::<usize>() <= most {
        return Ok(());
    }
    let text = format!("the request's target and headers are larger than {most} bytes together; send less");
    Err(Error::new(ErrorKind::HeadersTooLarge, text))
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> &str {
    panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("a panic without a text")
}

#[cfg(test)]
mod tests;
