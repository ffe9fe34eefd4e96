//! Where tasks are kept: what a form cannot say of it.

use gateway_domain::ids::id_fault;

use crate::{
    fault::Fault,
    typed::{Redis, RedisMode, RedisSpread, Typed},
};

/// What a part of a spread tenant must be able to remember of sends.
const LEAST_BYTES_OF_SENDS: usize = 64 << 10;

/// Schemes of the servers that are reached.
const SCHEMES: [&str; 3] = ["redis://", "rediss://", "redis+unix://"];

/// Says what is wrong with a deployment in Redis, whether it is the store or not.
pub(super) fn check(typed: &Typed, faults: &mut Vec<Fault>) {
    let redis = &typed.store.redis;
    check_url(redis, faults);
    check_tls(redis, faults);
    let spread = redis.spread.as_deref().unwrap_or_default();
    for index in 0..spread.len() {
        check_spread(typed, spread, index, faults);
    }
    let of_prefix = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
    if !redis.prefix.chars().all(of_prefix) {
        let text = "must hold only letters, digits, -, _ and .";
        faults.push(Fault::of("store.redis.prefix", text));
    }
    if redis.sentinel_user.is_some() && redis.mode != RedisMode::Sentinel {
        let text = "is for store.redis.mode \"sentinel\" only: leave it out";
        faults.push(Fault::of("store.redis.sentinel_user", text));
    }
}

fn check_url(redis: &Redis, faults: &mut Vec<Fault>) {
    let mut fault = |text: &str| faults.push(Fault::of("store.redis.url", text));
    let scheme = SCHEMES.iter().find(|scheme| redis.url.starts_with(**scheme));
    let Some(rest) = scheme.and_then(|scheme| redis.url.strip_prefix(scheme)) else {
        return fault("must begin with redis://, rediss:// or redis+unix://");
    };
    // Not repeated here: a password may stand before it.
    if rest.contains('@') {
        return fault("must not hold a user or a password: set store.redis.user and secrets.redis_password");
    }
    if rest.contains(['?', '#']) {
        return fault(
            "must not hold ? or #: what they would say is a setting of its own, see store.redis.tls",
        );
    }
    let socket = redis.url.starts_with("redis+unix://");
    let hosts = rest.split('/').next().unwrap_or_default();
    match redis.mode {
        RedisMode::Standalone if !socket && hosts.contains(',') => {
            fault("names several servers: set store.redis.mode to \"sentinel\" or \"cluster\", or name one");
        }
        RedisMode::Sentinel | RedisMode::Cluster if socket => {
            fault("names the socket of one server: set store.redis.mode to \"standalone\"");
        }
        RedisMode::Cluster
            if rest
                .split_once('/')
                .is_some_and(|(_, database)| !["", "0"].contains(&database)) =>
        {
            fault("names a database, and a Redis Cluster has only database 0: leave it out");
        }
        _ => {}
    }
}

fn check_tls(redis: &Redis, faults: &mut Vec<Fault>) {
    let tls = &redis.tls;
    let mut fault =
        |field: &str, text: &str| faults.push(Fault::of(format!("store.redis.tls.{field}"), text));
    match (&tls.certificate_file, &tls.key_file) {
        (Some(_), None) => fault("certificate_file", "needs store.redis.tls.key_file beside it"),
        (None, Some(_)) => fault("key_file", "needs store.redis.tls.certificate_file beside it"),
        _ => {}
    }
    if tls.accept_any_certificate && tls.ca_file.is_some() {
        let text = "makes store.redis.tls.ca_file useless: leave one of them out";
        fault("accept_any_certificate", text);
    }
    let any = tls.accept_any_certificate || tls.ca_file.is_some() || tls.certificate_file.is_some();
    if any && !redis.url.starts_with("rediss://") {
        // Somebody meant an encrypted connection and would get another.
        let text = "must begin with rediss:// where store.redis.tls is set";
        faults.push(Fault::of("store.redis.url", text));
    }
}

fn check_spread(typed: &Typed, all: &[RedisSpread], index: usize, faults: &mut Vec<Fault>) {
    let mut fault = |field: &str, text: String| {
        faults.push(Fault::of(format!("store.redis.spread[{index}].{field}"), text));
    };
    let RedisSpread { tenant, parts } = &all[index];
    if all[..index].iter().any(|before| before.tenant == *tenant) {
        fault("tenant", "is spread in the list already".to_owned());
    }
    // Not whether it is among tenants.names: one that no longer is keeps its tasks, and stays spread.
    if let Some(text) = tenant.as_deref().and_then(id_fault) {
        fault("tenant", text.to_owned());
    }
    // Every part keeps one of each at least, and of sends more than any one takes.
    let bounds = [
        ("store.redis.buckets", usize::from(typed.store.redis.buckets)),
        ("limits.live_tasks_per_tenant", typed.limits.live_tasks_per_tenant),
        ("store.finished_per_tenant", typed.store.finished_per_tenant),
        ("repeats.most", typed.repeats.most),
        ("repeats.bytes", typed.repeats.bytes.0 / LEAST_BYTES_OF_SENDS),
    ];
    for (name, bound) in bounds {
        if usize::from(*parts) > bound {
            let text = format!("must be {bound} or less, by {name}, not {parts}");
            fault("parts", text);
        }
    }
}
