//! Headers that are lists, single values, media types or delays. Only what the bindings need: parameters of media types
//! are passed over, except `q`.

use std::{borrow::Cow, time::Duration};

use http::{HeaderMap, HeaderName, HeaderValue, header};

/// The elements of a comma-separated list, over all fields of that name, in order, without empty ones. A field that
/// is not visible ASCII is passed over. Commas within quotes are not known.
pub fn list<'a>(headers: &'a HeaderMap, name: &HeaderName) -> impl Iterator<Item = &'a str> {
    headers
        .get_all(name)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .map(str::trim)
        .filter(|element| !element.is_empty())
}

/// The value of a list; nothing where it has no elements, or one that cannot stand in a header.
pub fn list_value(elements: &[String]) -> Option<HeaderValue> {
    let joined = (!elements.is_empty()).then(|| elements.join(", "))?;
    HeaderValue::try_from(joined).ok()
}

/// The value of a header that has one.
pub fn only(headers: &HeaderMap, name: &HeaderName) -> Option<String> {
    let values = headers.get_all(name).iter();
    the_one(values.map(|value| String::from_utf8_lossy(value.as_bytes())))
}

/// The one value that was sent, be it repeatedly. Different ones become a list, as with any header.
pub(crate) fn the_one<'a>(values: impl Iterator<Item = Cow<'a, str>>) -> Option<String> {
    let mut values: Vec<_> = values.collect();
    values.dedup();
    (!values.is_empty()).then(|| values.join(", "))
}

/// A delay as Retry-After has it: whole seconds, at least one, and never less than was meant.
pub fn retry_after(wait: Duration) -> HeaderValue {
    let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
    seconds.max(1).into()
}

/// The `type/subtype` of a media type, without parameters, in lower case.
pub fn essence(media_type: &str) -> String {
    let essence = media_type.split(';').next().unwrap_or_default();
    essence.trim().to_ascii_lowercase()
}

/// The essence of Content-Type, if there is one; an unreadable one is the empty text.
pub fn content_type(headers: &HeaderMap) -> Option<String> {
    let value = headers.get(header::CONTENT_TYPE)?;
    Some(essence(value.to_str().unwrap_or_default()))
}

/// The offered media type (in lower case, without parameters) that Accept names with the highest weight, the first
/// of several. A range like `*/*` names none.
pub fn named<'a>(headers: &HeaderMap, offered: &[&'a str]) -> Option<&'a str> {
    let mut best = None;
    for element in list(headers, &header::ACCEPT) {
        let wanted = essence(element);
        let named = offered.iter().copied().find(|offer| *offer == wanted);
        let weight = weight(element);
        if let Some(named) = named
            && weight > best.map_or(0.0, |(weight, _)| weight)
        {
            best = Some((weight, named));
        }
    }
    best.map(|(_, named)| named)
}

/// The weight of an element of Accept, from 0 to 1 (RFC 9110 §12.4.2); an unreadable one is 1.
fn weight(element: &str) -> f32 {
    element
        .split(';')
        .skip(1)
        .filter_map(|parameter| parameter.split_once('='))
        .find(|(name, _)| name.trim().eq_ignore_ascii_case("q"))
        .and_then(|(_, value)| value.trim().parse::<f32>().ok())
        .filter(|weight| (0.0..=1.0).contains(weight))
        .unwrap_or(1.0)
}

#[cfg(test)]
mod tests {
    use http::{HeaderMap, HeaderName, HeaderValue, header};

    use std::time::Duration;

    use super::{content_type, list, list_value, named, only, retry_after};

    fn headers(name: &HeaderName, values: &[&str]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(name, HeaderValue::from_bytes(value.as_bytes()).unwrap());
        }
        headers
    }

    #[test]
    fn a_list_may_be_spread_over_fields() {
        let headers = headers(&header::ACCEPT, &["a, b", ",", "é", " c ,,d"]);
        assert!(list(&headers, &header::ACCEPT).eq(["a", "b", "c", "d"]));
    }

    #[test]
    fn a_list_is_written_unless_there_is_nothing_to_write() {
        let value =
            |elements: &[&str]| list_value(&elements.iter().map(ToString::to_string).collect::<Vec<_>>());
        assert_eq!(value(&["a", "b"]), Some(HeaderValue::from_static("a, b")));
        assert_eq!(value(&[]), None);
        assert_eq!(value(&["a\nb"]), None);
    }

    #[test]
    fn a_value_that_is_sent_twice_is_one_and_different_ones_are_a_list() {
        let sent = |values: &[&str]| only(&headers(&header::ETAG, values), &header::ETAG);
        assert_eq!(sent(&[]), None);
        assert_eq!(sent(&["1.0", "1.0"]).as_deref(), Some("1.0"));
        assert_eq!(sent(&["1.0", "2.0"]).as_deref(), Some("1.0, 2.0"));
    }

    #[test]
    fn a_delay_is_told_in_whole_seconds_that_suffice() {
        for (millis, told) in [(0, "1"), (1_000, "1"), (1_001, "2"), (90_000, "90")] {
            assert_eq!(retry_after(Duration::from_millis(millis)), told);
        }
    }

    #[test]
    fn a_media_type_is_read_in_any_case_and_without_its_parameters() {
        for (sent, read) in [
            ("application/json", "application/json"),
            ("Application/JSON; charset=utf-8", "application/json"),
            ("text/plain ;x", "text/plain"),
            ("", ""),
            ("é", ""),
        ] {
            assert_eq!(
                content_type(&headers(&header::CONTENT_TYPE, &[sent])).as_deref(),
                Some(read)
            );
        }
        assert_eq!(content_type(&HeaderMap::new()), None);
    }

    #[test]
    fn accept_names_the_offer_of_the_highest_weight() {
        for (accept, expected) in [
            ("", None),
            ("*/*, a/*", None),
            ("x/y", None),
            ("A/B", Some("a/b")),
            ("a/c, a/b", Some("a/c")),
            ("*/*, a/b;q=0.1", Some("a/b")),
            ("a/c;q=0.5, a/b; Q=0.8", Some("a/b")),
            ("a/c;v=1;q=0.5, a/b;q=0.5", Some("a/c")),
            ("a/b;q=0", None),
            ("a/b;q=much", Some("a/b")),
            ("a/b;q=0.9, a/c;q=NaN", Some("a/c")),
        ] {
            assert_eq!(
                named(&headers(&header::ACCEPT, &[accept]), &["a/b", "a/c"]),
                expected,
                "{accept}"
            );
        }
    }
}
