//! Secrets, from a value or from a file. No text about a fault holds any of a secret.

use std::fs;

use crate::{fault::Fault, text::Secret, typed::Secrets};

/// A key that is shorter can be guessed.
const LEAST_KEY_BYTES: usize = 16;

pub(super) fn page_key(secrets: Secrets, faults: &mut Vec<Fault>) -> Option<Secret> {
    let (path, key) = match (secrets.page_key, secrets.page_key_file) {
        (Some(_), Some(_)) => {
            let text = "and secrets.page_key_file are both given; leave one out";
            faults.push(Fault::of("secrets.page_key", text));
            return None;
        }
        (Some(key), None) => ("secrets.page_key", key),
        (None, Some(file)) => match read(&file) {
            Ok(key) => ("secrets.page_key_file", key),
            Err(fault) => {
                faults.push(Fault::of("secrets.page_key_file", fault));
                return None;
            }
        },
        (None, None) => return None,
    };
    let length = key.expose().len();
    if length < LEAST_KEY_BYTES {
        let text = format!("must hold {LEAST_KEY_BYTES} bytes or more, not {length}");
        faults.push(Fault::of(path, text));
    }
    Some(key)
}

fn read(file: &str) -> Result<Secret, String> {
    let text = fs::read_to_string(file).map_err(|error| format!("cannot be read: {file}: {error}"))?;
    Ok(Secret::new(text.trim_end_matches(['\r', '\n'])))
}
