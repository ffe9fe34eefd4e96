//! A receiver made ready: where it is, and the headers of every call to it. What a configuration holds goes into headers
//! as values, never as joined text.

use bytes::Bytes;
use gateway_domain::{self as domain, TaskPushNotificationConfig, error::Violation};
use gateway_wire::params::{NOTIFICATION_TOKEN, media_type};
use http::{
    HeaderMap, HeaderName, HeaderValue, Method, Request, Version,
    header::{AUTHORIZATION, CONTENT_TYPE, HOST, USER_AGENT},
};
use http_body_util::Full;

use crate::{guard::Guard, target::Target};

/// Bytes of a token and of credentials: receivers bound their headers, many at 8 KiB in all.
const MOST_BYTES: usize = 4_096;

pub(crate) struct Receiver {
    pub(crate) target: Target,
    headers: HeaderMap,
}

impl Receiver {
    /// # Errors
    /// Every bad field, by its path within the configuration.
    pub(crate) fn new(config: &TaskPushNotificationConfig, guard: &Guard) -> Result<Self, Vec<Violation>> {
        let mut violations = Vec::new();
        let mut add = |field: &'static str, description: String| {
            violations.push(Violation {
                field: field.into(),
                description: description.into(),
            });
        };
        let target = Target::parse(&config.url)
            .and_then(|target| guard.check_target(&target).map(|()| target))
            .map_err(|text| add("url", text));
        let token = config.token.as_deref().map(secret).transpose();
        let token = token.map_err(|text| add("token", text));
        let authorization = authorization(config).transpose();
        let authorization = authorization.map_err(|(field, text)| add(field, text));
        match (target, token, authorization) {
            (Ok(target), Ok(token), Ok(authorization)) => Ok(Self {
                headers: headers(&target, content_type(config.version), token, authorization),
                target,
            }),
            _ => Err(violations),
        }
    }

    /// A call with this body.
    pub(crate) fn request(&self, body: Bytes) -> Request<Full<Bytes>> {
        let mut request = Request::new(Full::new(body));
        *request.method_mut() = Method::POST;
        *request.version_mut() = Version::HTTP_11;
        *request.uri_mut() = self.target.path.clone().into();
        *request.headers_mut() = self.headers.clone();
        request
    }
}

/// What a body is said to be, by the version in which the receiver was registered.
fn content_type(version: domain::Version) -> HeaderValue {
    HeaderValue::from_static(match version {
        domain::Version::V1_0 => media_type::A2A_JSON,
        domain::Version::V0_3 => media_type::JSON,
    })
}

fn headers(
    target: &Target,
    content_type: HeaderValue,
    token: Option<HeaderValue>,
    authorization: Option<HeaderValue>,
) -> HeaderMap {
    let agent = concat!("a2a-gateway/", env!("CARGO_PKG_VERSION"));
    let given = [
        (AUTHORIZATION, authorization),
        (HeaderName::from_static(NOTIFICATION_TOKEN.header), token),
    ];
    let own = [
        (HOST, target.authority.clone()),
        (CONTENT_TYPE, content_type),
        (USER_AGENT, HeaderValue::from_static(agent)),
    ];
    let given = given.into_iter().filter_map(|(name, value)| Some((name, value?)));
    own.into_iter().chain(given).collect()
}

/// Scheme and credentials exactly as given. A scheme without credentials makes no header: half of one helps nobody.
fn authorization(config: &TaskPushNotificationConfig) -> Option<Result<HeaderValue, (&'static str, String)>> {
    let authentication = config.authentication.as_ref()?;
    let credentials = authentication.credentials.as_deref()?;
    let scheme = &authentication.scheme;
    let is_name = !scheme.is_empty() && scheme.bytes().all(is_scheme_letter);
    if !is_name {
        let text = "must be the name of a scheme such as Bearer";
        return Some(Err(("authentication.scheme", text.to_owned())));
    }
    let value = secret(&format!("{scheme} {credentials}"));
    Some(value.map_err(|text| ("authentication.credentials", text)))
}

/// The letters of a token (RFC 9110 §5.6.2).
fn is_scheme_letter(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

/// A value that nothing prints.
fn secret(text: &str) -> Result<HeaderValue, String> {
    if text.len() > MOST_BYTES {
        return Err(format!("must have at most {MOST_BYTES} bytes"));
    }
    let value = HeaderValue::from_bytes(text.as_bytes());
    let mut value = value.map_err(|_| "must not contain control characters")?;
    value.set_sensitive(true);
    Ok(value)
}
