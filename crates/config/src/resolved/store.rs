//! Where tasks are kept: what a form cannot say of it.

use crate::{fault::Fault, typed::Redis};

/// Schemes of the servers that are reached.
const SCHEMES: [&str; 2] = ["redis://", "redis+unix://"];

/// Says what is wrong with a deployment in Redis, whether it is the store or not.
pub(super) fn check(redis: &Redis, faults: &mut Vec<Fault>) {
    let rest = SCHEMES.iter().find_map(|scheme| redis.url.strip_prefix(scheme));
    match rest {
        None => {
            let text = "must begin with redis:// or redis+unix://";
            faults.push(Fault::of("store.redis.url", text));
        }
        // Not repeated here: a password may stand before it.
        Some(rest) if rest.contains('@') => {
            let text = "must not hold a user or a password: set store.redis.user and secrets.redis_password";
            faults.push(Fault::of("store.redis.url", text));
        }
        Some(_) => {}
    }
    let of_prefix = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
    if !redis.prefix.chars().all(of_prefix) {
        let text = "must hold only letters, digits, -, _ and .";
        faults.push(Fault::of("store.redis.prefix", text));
    }
}
