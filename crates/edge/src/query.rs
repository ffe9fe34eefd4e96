//! Reading query parameters and path segments.

use std::borrow::Cow;

use gateway_domain::resume::SentCursor;
use http::{HeaderMap, HeaderName};
use percent_encoding::percent_decode_str;

use crate::negotiate::{self, the_one};

/// The parameters of a query, in order, decoded. Bytes that are not UTF-8 become U+FFFD.
pub fn parameters(query: Option<&str>) -> impl Iterator<Item = (Cow<'_, str>, Cow<'_, str>)> {
    form_urlencoded::parse(query.unwrap_or_default().as_bytes())
}

/// The first parameter of that name.
pub fn parameter<'a>(query: Option<&'a str>, name: &str) -> Option<Cow<'a, str>> {
    parameters(query).find_map(|(key, value)| (key == name).then_some(value))
}

/// The value of that name, be it there repeatedly. Different ones become a list, as with a header.
pub fn only(query: Option<&str>, name: &str) -> Option<String> {
    the_one(
        parameters(query)
            .filter(|(key, _)| key == name)
            .map(|(_, value)| value),
    )
}

/// Where a caller wants an event stream to go on, by a header or else by a query parameter. The header has the last
/// word: a client library that comes back by itself sends it, to an address that its user wrote before.
pub fn sent_cursor(
    (headers, header): (&HeaderMap, &'static str),
    (query, parameter): (Option<&str>, &'static str),
) -> Option<SentCursor> {
    let in_header = || {
        Some((
            header,
            negotiate::only(headers, &HeaderName::from_static(header))?,
        ))
    };
    let in_query = || Some((parameter, only(query, parameter)?));
    let sent = |(_, text): &(_, String)| !text.is_empty();
    let (field, text) = in_header().filter(sent).or_else(|| in_query().filter(sent))?;
    Some(SentCursor { field, text })
}

/// A path segment without its percent-encoding; nothing where that is broken, or not of UTF-8.
pub fn segment(raw: &str) -> Option<Cow<'_, str>> {
    let mut after_percent = raw.split('%').skip(1);
    let whole = after_percent
        .all(|text| matches!(text.as_bytes(), [a, b, ..] if a.is_ascii_hexdigit() && b.is_ascii_hexdigit()));
    whole.then(|| percent_decode_str(raw).decode_utf8().ok())?
}

#[cfg(test)]
mod tests {
    use http::{HeaderMap, HeaderValue};

    use super::{only, parameter, parameters, segment, sent_cursor};

    #[test]
    fn parameters_come_decoded_and_in_order() {
        let query = Some("a=1&b=%C3%A9+x&a=2&c&%64=%zz&=&e=%FF");
        let read: Vec<_> = parameters(query).collect();
        let expected = [
            ("a", "1"),
            ("b", "é x"),
            ("a", "2"),
            ("c", ""),
            ("d", "%zz"),
            ("", ""),
            ("e", "\u{fffd}"),
        ];
        assert!(
            read.iter()
                .map(|(key, value)| (key.as_ref(), value.as_ref()))
                .eq(expected),
            "{read:?}"
        );
        assert_eq!(parameter(query, "a").as_deref(), Some("1"));
        assert_eq!(parameter(query, "x"), None);
        assert_eq!(parameters(None).count(), 0);
        assert_eq!(only(query, "a").as_deref(), Some("1, 2"));
        assert_eq!(only(query, "b").as_deref(), Some("é x"));
        assert_eq!(only(query, "x"), None);
    }

    #[test]
    fn a_cursor_stands_in_the_header_or_else_in_the_query() {
        for (header, query, sent) in [
            (None, None, None),
            (Some(""), Some("at=&x=1"), None),
            (None, Some("at=7-00c0ffee"), Some(("at", "7-00c0ffee"))),
            (Some(""), Some("at=7-00c0ffee"), Some(("at", "7-00c0ffee"))),
            (
                Some("8-00c0ffee"),
                Some("at=7-00c0ffee"),
                Some(("last", "8-00c0ffee")),
            ),
            (Some("x"), Some("at=7-00c0ffee"), Some(("last", "x"))),
        ] {
            let headers = header.map(|text| ("last".parse().unwrap(), HeaderValue::from_static(text)));
            let headers = HeaderMap::from_iter(headers);
            let read = sent_cursor((&headers, "last"), (query, "at"));
            let read = read.as_ref().map(|cursor| (cursor.field, cursor.text.as_str()));
            assert_eq!(read, sent, "{header:?} {query:?}");
        }
    }

    #[test]
    fn a_segment_comes_decoded_where_it_is_text() {
        for (raw, decoded) in [
            ("a%3Ab", Some("a:b")),
            ("a%2fb+c", Some("a/b+c")),
            ("%C3%A9", Some("é")),
            ("%zz", None),
            ("a%4", None),
            ("a%", None),
            ("%FF", None),
        ] {
            assert_eq!(segment(raw).as_deref(), decoded, "{raw}");
        }
    }
}
