//! Paths of the client's listener, and the names that tenants cannot have because paths begin with them.

use gateway_domain::Actor;
use gateway_rest::openapi;
use gateway_wire::operations::{self, AGENT_CARD_PATH, Segment};

/// Where JSON-RPC is served, besides the same behind a tenant.
pub(crate) const RPC_PATH: &str = "/rpc";

/// Names that no tenant can have: what paths of the client's listener begin with.
pub(crate) fn reserved() -> Vec<&'static str> {
    let routes = operations::rows_of(Actor::Client).flat_map(|row| row.routes);
    let mut names: Vec<_> = routes
        .flat_map(|route| {
            let name = match route.segments().next() {
                Some(Segment::Literal(name)) => Some(name),
                _ => None,
            };
            // `/message:send` begins with both, depending on who reads it.
            [name, Some(first(route.path))]
        })
        .flatten()
        .chain([RPC_PATH, AGENT_CARD_PATH, openapi::PATH].map(first))
        .collect();
    names.sort_unstable();
    names.dedup();
    names
}

fn first(path: &'static str) -> &'static str {
    path.split('/').nth(1).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{RPC_PATH, reserved};

    #[test]
    fn what_a_path_begins_with_is_reserved_and_nothing_else() {
        let names = [
            ".well-known",
            "extendedAgentCard",
            "message",
            "message:send",
            "message:stream",
            "openapi.json",
            "rpc",
            "tasks",
            "v1",
        ];
        assert_eq!(reserved(), names);
    }

    #[test]
    fn json_rpc_is_served_where_the_card_says() {
        assert!(gateway_jsonrpc::matches(RPC_PATH));
        assert!(gateway_jsonrpc::matches(&format!("/tenant{RPC_PATH}")));
    }
}
