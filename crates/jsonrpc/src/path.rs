//! Where JSON-RPC is served: `/rpc`, and `/{tenant}/rpc` for clients that cannot put a tenant into their parameters
//! (§8.3.2); either with or without a slash at the end.

use gateway_domain::{Actor, Error, Tenant};
use gateway_edge::query;
use gateway_wire::operations::{self, Segment};

const LAST: &str = "rpc";

/// Whether a path, as it stands in the request, is one of JSON-RPC's.
pub fn matches(path: &str) -> bool {
    match split(path) {
        Some((None, LAST)) => true,
        Some((Some(tenant), LAST)) => !tenant.is_empty() && !begins_a_route(tenant),
        _ => false,
    }
}

/// The tenant in a path that [`matches`]. Whether it is one is the pipeline's to judge.
///
/// # Errors
/// InvalidParams where it is no text, or where callers have no tenants.
pub(crate) fn tenant(path: &str, caller: Actor) -> Result<Option<Tenant>, Error> {
    let Some((Some(raw), _)) = split(path) else {
        return Ok(None);
    };
    if caller == Actor::Agent {
        return Err(Error::invalid("tenant", "is not for agents to name: call /rpc"));
    }
    match query::segment(raw) {
        Some(name) => Ok(Some(Tenant::new(name))),
        None => Err(Error::invalid(
            "tenant",
            "must be percent-encoded UTF-8 in the path",
        )),
    }
}

/// What stands before the last of at most two segments, if anything, and the last.
fn split(path: &str) -> Option<(Option<&str>, &str)> {
    let path = path.strip_prefix('/')?;
    let path = path.strip_suffix('/').unwrap_or(path);
    Some(match path.split_once('/') {
        Some((first, last)) => (Some(first), last),
        None => (None, path),
    })
}

/// `/tasks/rpc` is the task `rpc`, not the tenant `tasks`: what a route of HTTP+JSON begins with is no tenant here.
fn begins_a_route(segment: &str) -> bool {
    operations::TABLE
        .iter()
        .flat_map(|row| row.routes)
        .any(|route| matches!(route.segments().next(), Some(Segment::Literal(first)) if first == segment))
}
