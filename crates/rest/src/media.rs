//! Media types of bodies: which are read, and which one an answer has (§11.1).

use gateway_domain::{Error, ErrorKind};
use gateway_edge::negotiate;
use gateway_wire::params::media_type::{A2A_JSON, JSON};
use http::HeaderMap;

/// One of [`KNOWN`].
pub(crate) type MediaType = &'static str;

/// Read alike; the last is written where the request names neither.
const KNOWN: [MediaType; 2] = [A2A_JSON, JSON];

/// The media type of an answer: the one that Accept names, else the request body's, else plain JSON.
pub(crate) fn of_reply(headers: &HeaderMap) -> MediaType {
    negotiate::named(headers, &KNOWN)
        .or_else(|| known(&negotiate::content_type(headers)?))
        .unwrap_or(JSON)
}

/// Checks the media type of a body. None at all is taken for JSON.
///
/// # Errors
/// UnsupportedMediaType.
pub(crate) fn check(headers: &HeaderMap) -> Result<(), Error> {
    match negotiate::content_type(headers) {
        Some(sent) if known(&sent).is_none() => {
            let shown: String = sent.chars().take(80).collect();
            let text = format!("the body is {shown:?}; send it as {}", KNOWN.join(" or "));
            Err(Error::new(ErrorKind::UnsupportedMediaType, text))
        }
        _ => Ok(()),
    }
}

fn known(essence: &str) -> Option<MediaType> {
    KNOWN.into_iter().find(|known| *known == essence)
}

#[cfg(test)]
mod tests {
    use gateway_domain::ErrorKind;
    use http::{
        HeaderMap, HeaderValue,
        header::{ACCEPT, CONTENT_TYPE},
    };

    use super::{check, of_reply};

    fn headers(accept: &'static str, content_type: &'static str) -> HeaderMap {
        [(ACCEPT, accept), (CONTENT_TYPE, content_type)]
            .into_iter()
            .filter(|(_, text)| !text.is_empty())
            .map(|(name, text)| (name, HeaderValue::from_static(text)))
            .collect()
    }

    #[test]
    fn an_answer_has_the_type_that_accept_names_or_else_the_requests() {
        const A2A: &str = "application/a2a+json";
        const JSON: &str = "application/json";
        for (accept, content_type, answer) in [
            ("", "", JSON),
            ("", A2A, A2A),
            ("", "application/a2a+json; charset=utf-8", A2A),
            ("", "text/plain", JSON),
            ("*/*", A2A, A2A),
            ("*/*", "", JSON),
            (JSON, A2A, JSON),
            (A2A, JSON, A2A),
            ("text/event-stream, Application/A2A+JSON", "", A2A),
            ("application/json;q=0.9, text/html", A2A, JSON),
        ] {
            assert_eq!(
                of_reply(&headers(accept, content_type)),
                answer,
                "{accept} {content_type}"
            );
        }
    }

    #[test]
    fn a_body_is_read_as_json_of_either_name_or_of_none() {
        for content_type in [
            "",
            "application/json",
            "application/a2a+json",
            "application/json; charset=utf-8",
            "APPLICATION/JSON",
        ] {
            assert!(check(&headers("", content_type)).is_ok(), "{content_type}");
        }
        for content_type in [
            "text/plain",
            "multipart/form-data; boundary=x",
            "application/x-www-form-urlencoded",
            "json",
        ] {
            let error = check(&headers("", content_type)).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::UnsupportedMediaType, "{content_type}");
            assert!(
                error
                    .message()
                    .contains("application/a2a+json or application/json"),
                "{error}"
            );
        }
    }
}
