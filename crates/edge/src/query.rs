//! Reading query parameters and path segments.

use std::borrow::Cow;

use percent_encoding::percent_decode_str;

/// The parameters of a query, in order, decoded. Bytes that are not UTF-8 become U+FFFD.
pub fn parameters(query: Option<&str>) -> impl Iterator<Item = (Cow<'_, str>, Cow<'_, str>)> {
    form_urlencoded::parse(query.unwrap_or_default().as_bytes())
}

/// The first parameter of that name.
pub fn parameter<'a>(query: Option<&'a str>, name: &str) -> Option<Cow<'a, str>> {
    parameters(query).find_map(|(key, value)| (key == name).then_some(value))
}

/// A path segment without its percent-encoding; nothing where it isn't UTF-8.
pub fn segment(raw: &str) -> Option<Cow<'_, str>> {
    percent_decode_str(raw).decode_utf8().ok()
}

#[cfg(test)]
mod tests {
    use super::{parameter, parameters, segment};

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
    }

    #[test]
    fn a_segment_comes_decoded_where_it_is_text() {
        for (raw, decoded) in [
            ("a%3Ab", Some("a:b")),
            ("a%2fb+c", Some("a/b+c")),
            ("%C3%A9", Some("é")),
            ("%zz%", Some("%zz%")),
            ("%FF", None),
        ] {
            assert_eq!(segment(raw).as_deref(), decoded, "{raw}");
        }
    }
}
