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
