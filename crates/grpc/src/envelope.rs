//! What a gRPC call says outside its message: path, metadata, and the frame around the message.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use gateway_domain::{Binding, Error, ErrorKind, Version as Protocol};
use gateway_edge::{RequestContext, negotiate, query};
use gateway_pipeline::{Head, RequestedVersion};
use gateway_wire::{operations::Row, params};
use http::{HeaderMap, HeaderName, Request, StatusCode, Version, request::Parts};

const VERSION: HeaderName = HeaderName::from_static(params::VERSION.header);
const TIMEOUT: &str = "grpc-timeout";
const ENCODING: &str = "grpc-encoding";

/// Bytes before a message: a flag that says whether it is compressed, and its length.
pub(crate) const PREFIX: usize = 5;

/// The extensions, in requests and in replies of a version.
pub(crate) fn extensions(version: Protocol) -> HeaderName {
    HeaderName::from_static(params::extensions(version).header)
}

/// Reads the metadata of a call, whose path means a row of the operation table or nothing.
///
/// # Errors
/// InvalidParams where grpc-timeout is none.
pub(crate) fn head(parts: &Parts, row: Option<&Row>) -> Result<Head, Error> {
    let context = parts
        .extensions
        .get::<RequestContext>()
        .ok_or_else(|| Error::internal("the request did not come through the edge's front"))?;
    let declared = extensions(row.map(|row| row.version).unwrap_or_default());
    Ok(Head {
        binding: Binding::Grpc,
        operation: row.map(|row| row.operation),
        names: row.map(|row| row.version),
        version: RequestedVersion {
            header: negotiate::only(&parts.headers, &VERSION),
            query: None,
        },
        extensions: negotiate::list(&parts.headers, &declared)
            .map(str::to_owned)
            .collect(),
        cursor: query::sent_cursor(
            (&parts.headers, params::LAST_EVENT_ID.header),
            (None, params::LAST_EVENT_ID.name),
        ),
        // It stands in the message, where the message has one.
        tenant: None,
        principal: context.principal.clone(),
        deadline: deadline(&parts.headers)?,
        request_id: context.request_id.clone(),
        facts: Arc::default(),
    })
}

fn deadline(headers: &HeaderMap) -> Result<Option<Instant>, Error> {
    let Some(value) = headers.get(TIMEOUT) else {
        return Ok(None);
    };
    let timeout = value.to_str().ok().and_then(timeout).ok_or_else(|| {
        Error::invalid(
            TIMEOUT,
            "must be up to 8 digits and one of the units H, M, S, m, u, n",
        )
    })?;
    // The runtime's clock, so that the wait and the deadline are measured by the same one.
    Ok(tokio::time::Instant::now().into_std().checked_add(timeout))
}

fn timeout(text: &str) -> Option<Duration> {
    let (digits, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    if digits.len() > 8 || !digits.bytes().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    let number = digits.parse().ok()?;
    Some(match unit {
        "H" => Duration::from_secs(number * 3_600),
        "M" => Duration::from_secs(number * 60),
        "S" => Duration::from_secs(number),
        "m" => Duration::from_millis(number),
        "u" => Duration::from_micros(number),
        "n" => Duration::from_nanos(number),
        _ => return None,
    })
}

/// Takes the one message of a call out of its frame.
///
/// # Errors
/// ParseError where the body is anything else than one message that is not compressed.
pub(crate) fn message(body: &[u8]) -> Result<&[u8], Error> {
    let fault = |text| Err(Error::new(ErrorKind::ParseError, text));
    let Some((prefix, message)) = body.split_at_checked(PREFIX) else {
        return fault("the call carries no message");
    };
    let (flag, length) = (prefix[0], &prefix[1..]);
    if flag != 0 {
        return fault("the message is marked as compressed; send it as it is");
    }
    if length != u32::try_from(message.len()).unwrap_or(u32::MAX).to_be_bytes() {
        return fault("the body is not exactly one message of the length that its prefix says");
    }
    Ok(message)
}

/// The compression that the caller uses, if any.
pub(crate) fn compression(headers: &HeaderMap) -> Option<String> {
    let encoding = headers.get(ENCODING)?.to_str().unwrap_or_default();
    (!encoding.eq_ignore_ascii_case("identity")).then(|| encoding.to_owned())
}

/// Whether a request can be answered in gRPC at all.
///
/// # Errors
/// The HTTP status to answer with.
pub(crate) fn check<B>(request: &Request<B>) -> Result<(), StatusCode> {
    if request.version() != Version::HTTP_2 {
        // There would be no way to send the status behind the messages.
        return Err(StatusCode::HTTP_VERSION_NOT_SUPPORTED);
    }
    match negotiate::content_type(request.headers()).as_deref() {
        Some("application/grpc" | "application/grpc+proto") => Ok(()),
        _ => Err(StatusCode::UNSUPPORTED_MEDIA_TYPE),
    }
}

/// Whether a path is one of gRPC's own services, such as health and reflection, which know no A2A version.
pub(crate) fn is_standard(path: &str) -> bool {
    path.starts_with("/grpc.")
}

#[cfg(test)]
mod tests {
    use gateway_domain::ErrorKind;

    use super::{Duration, message, timeout};

    #[test]
    fn a_timeout_is_digits_and_a_unit() {
        for (text, expected) in [
            ("5S", Some(Duration::from_secs(5))),
            ("2M", Some(Duration::from_secs(120))),
            ("99999999H", Some(Duration::from_secs(99_999_999 * 3_600))),
            ("250m", Some(Duration::from_millis(250))),
            ("7u", Some(Duration::from_micros(7))),
            ("0n", Some(Duration::ZERO)),
            ("", None),
            ("S", None),
            ("5", None),
            ("5s", None),
            ("+5S", None),
            ("-5S", None),
            ("1.5S", None),
            ("123456789n", None),
            ("5é", None),
        ] {
            assert_eq!(timeout(text), expected, "{text:?}");
        }
    }

    #[test]
    fn a_body_is_exactly_one_message_that_is_not_compressed() {
        assert_eq!(message(&[0, 0, 0, 0, 2, 7, 8]).unwrap(), [7, 8]);
        assert_eq!(message(&[0, 0, 0, 0, 0]).unwrap(), [0; 0]);
        for body in [
            &[][..],
            &[0, 0, 0, 0],
            &[1, 0, 0, 0, 2, 7, 8],
            &[0, 0, 0, 0, 3, 7, 8],
            &[0, 0, 0, 0, 1, 7, 8],
            &[0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
            &[0, 0xff, 0xff, 0xff, 0xff, 7],
        ] {
            assert_eq!(
                message(body).unwrap_err().kind(),
                ErrorKind::ParseError,
                "{body:?}"
            );
        }
    }
}
