//! Secrets, from a value or from a file. No text about a fault holds any of a secret.

use std::fs;

use crate::{fault::Fault, text::Secret, typed};

/// A key that is shorter can be guessed.
const LEAST_KEY_BYTES: usize = 16;

/// Every secret that was given.
#[derive(Default)]
pub(super) struct Secrets {
    pub(super) page_key: Option<Secret>,
    pub(super) redis_password: Option<Secret>,
    pub(super) redis_sentinel_password: Option<Secret>,
}

pub(super) fn resolve(typed: typed::Secrets, faults: &mut Vec<Fault>) -> Secrets {
    let page_key = one("secrets.page_key", typed.page_key, typed.page_key_file, faults);
    if let Some((path, key)) = &page_key {
        check_key(path, key, faults);
    }
    let password = one(
        "secrets.redis_password",
        typed.redis_password,
        typed.redis_password_file,
        faults,
    );
    let of_sentinels = one(
        "secrets.redis_sentinel_password",
        typed.redis_sentinel_password,
        typed.redis_sentinel_password_file,
        faults,
    );
    Secrets {
        page_key: page_key.map(|(_, key)| key),
        redis_password: password.map(|(_, password)| password),
        redis_sentinel_password: of_sentinels.map(|(_, password)| password),
    }
}

/// A secret with the setting that it came from.
fn one(
    path: &str,
    value: Option<Secret>,
    file: Option<String>,
    faults: &mut Vec<Fault>,
) -> Option<(String, Secret)> {
    let file_path = format!("{path}_file");
    match (value, file) {
        (Some(_), Some(_)) => {
            let text = format!("and {file_path} are both given; leave one out");
            faults.push(Fault::of(path, text));
            None
        }
        (Some(secret), None) => Some((path.to_owned(), secret)),
        (None, Some(file)) => match read(&file) {
            Ok(secret) => Some((file_path, secret)),
            Err(fault) => {
                faults.push(Fault::of(file_path, fault));
                None
            }
        },
        (None, None) => None,
    }
}

fn check_key(path: &str, key: &Secret, faults: &mut Vec<Fault>) {
    let length = key.expose().len();
    if length < LEAST_KEY_BYTES {
        let text = format!("must hold {LEAST_KEY_BYTES} bytes or more, not {length}");
        faults.push(Fault::of(path, text));
    }
}

fn read(file: &str) -> Result<Secret, String> {
    let text = fs::read_to_string(file).map_err(|error| format!("cannot be read: {file}: {error}"))?;
    Ok(Secret::new(text.trim_end_matches(['\r', '\n'])))
}
