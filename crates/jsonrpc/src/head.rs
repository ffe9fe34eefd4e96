//! What stands beside the envelope: service parameters (§3.2.6) as headers or in the query, and who calls.

use std::sync::Arc;

use gateway_domain::{Binding, Error, Version};
use gateway_edge::{RequestContext, negotiate, query};
use gateway_pipeline::{Head, RequestedVersion};
use gateway_wire::params::{self, Parameter};
use http::{HeaderName, request::Parts};

use crate::respond;

/// A call's head, but for what its method says: operation, names and extensions, and for its tenant.
///
/// # Errors
/// Internal where the binding was assembled without its front.
pub(crate) fn read(parts: &Parts) -> Result<Head, Error> {
    let context = parts
        .extensions
        .get::<RequestContext>()
        .ok_or_else(|| respond::broken("JSON-RPC is served without a front"))?;
    Ok(Head {
        binding: Binding::JsonRpc,
        operation: None,
        names: None,
        version: version(parts),
        extensions: Arc::default(),
        cursor: query::sent_cursor(
            (&parts.headers, params::LAST_EVENT_ID.header),
            (parts.uri.query(), params::LAST_EVENT_ID.name),
        ),
        tenant: None,
        principal: context.principal.clone(),
        deadline: None,
        request_id: context.request_id.clone(),
        facts: Arc::default(),
    })
}

/// The extensions that a call of a version declares.
pub(crate) fn extensions(parts: &Parts, version: Version) -> Arc<[String]> {
    let header = HeaderName::from_static(params::extensions(version).header);
    negotiate::list(&parts.headers, &header)
        .map(str::to_owned)
        .collect()
}

fn version(parts: &Parts) -> RequestedVersion {
    let Parameter { name, header } = params::VERSION;
    RequestedVersion {
        header: negotiate::only(&parts.headers, &HeaderName::from_static(header)),
        query: query::only(parts.uri.query(), name),
    }
}
