//! The id under which an operator finds a request: the client's own, where it is fit for a log, else a fresh one.

use std::{
    hash::{BuildHasher, RandomState},
    sync::Arc,
    time::{SystemTime, UNIX_EPOCH},
};

use http::{HeaderMap, HeaderName};
use uuid::{Builder, Uuid};

/// Carries the id, both ways.
pub(crate) const HEADER: HeaderName = HeaderName::from_static("x-request-id");

/// Longer ones are replaced.
const LONGEST: usize = 128;

/// The id of a request with these headers.
pub(crate) fn of(headers: &HeaderMap) -> Arc<str> {
    sent(headers).map_or_else(fresh, Arc::from)
}

fn sent(headers: &HeaderMap) -> Option<&str> {
    let mut values = headers.get_all(HEADER).iter();
    let id = values.next()?.to_str().ok()?;
    let fit = (1..=LONGEST).contains(&id.len()) && id.bytes().all(is_fit) && values.next().is_none();
    fit.then_some(id)
}

/// What identifiers of tracing systems are made of; nothing that a log, a shell or a page could take for its own.
fn is_fit(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-_.:/+=@~".contains(&byte)
}

/// A UUID of version 7. It names and protects nothing, so its bits need not come from the system, whose call for
/// them would be the dearest step on the way of a small request.
fn fresh() -> Arc<str> {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let millis = u64::try_from(since.as_millis()).unwrap_or(u64::MAX);
    let mut random = [0; 10];
    random[..8].copy_from_slice(&RandomState::new().hash_one(0).to_ne_bytes());
    random[8..].copy_from_slice(&RandomState::new().hash_one(1).to_ne_bytes()[..2]);
    let id = Builder::from_unix_timestamp_millis(millis, &random).into_uuid();
    let mut text = Uuid::encode_buffer();
    Arc::from(&*id.hyphenated().encode_lower(&mut text))
}

#[cfg(test)]
mod tests {
    use http::{HeaderMap, HeaderValue};

    use super::{HEADER, LONGEST, of};

    fn id_of(values: &[&str]) -> String {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(HEADER, HeaderValue::from_bytes(value.as_bytes()).unwrap());
        }
        of(&headers).to_string()
    }

    #[test]
    fn an_id_that_is_fit_for_a_log_is_kept() {
        let longest = "x".repeat(LONGEST);
        for id in ["a", "01J-7_z.Q:1/2+3=@~", longest.as_str()] {
            assert_eq!(id_of(&[id]), id);
        }
    }

    #[test]
    fn an_absent_or_unfit_or_repeated_id_is_replaced_by_a_fresh_one() {
        let too_long = "x".repeat(LONGEST + 1);
        for values in [
            &[][..],
            &[""],
            &["a b"],
            &["a\"b"],
            &["é"],
            &[too_long.as_str()],
            &["a", "b"],
        ] {
            let id = id_of(values);
            assert_eq!(
                uuid::Uuid::parse_str(&id).unwrap().get_version_num(),
                7,
                "{values:?}"
            );
            assert_ne!(id, id_of(values));
        }
    }
}
