//! Reading headers that are lists or media types. Only what the bindings need: no quality values.

use http::{HeaderMap, HeaderName};

/// The elements of a comma-separated list, over all fields of that name, in order, without empty ones. A field that
/// is not visible ASCII is passed over.
pub fn list<'a>(headers: &'a HeaderMap, name: &HeaderName) -> impl Iterator<Item = &'a str> {
    headers
        .get_all(name)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .map(str::trim)
        .filter(|element| !element.is_empty())
}

/// The `type/subtype` of a media type, without parameters, in lower case.
pub fn essence(media_type: &str) -> String {
    let essence = media_type.split(';').next().unwrap_or_default();
    essence.trim().to_ascii_lowercase()
}

/// The essence of Content-Type, if there is one; an unreadable one is the empty text.
pub fn content_type(headers: &HeaderMap) -> Option<String> {
    let value = headers.get(http::header::CONTENT_TYPE)?;
    Some(essence(value.to_str().unwrap_or_default()))
}

/// The first of the offered media types (in lower case, without parameters) that Accept names, literally.
pub fn named<'a>(headers: &HeaderMap, offered: &[&'a str]) -> Option<&'a str> {
    list(headers, &http::header::ACCEPT)
        .map(essence)
        .find_map(|wanted| offered.iter().copied().find(|offer| *offer == wanted))
}
