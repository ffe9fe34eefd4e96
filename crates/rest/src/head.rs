//! What a call's head says, as far as it stands in the headers, the query and the path.

use gateway_domain::{Binding, Error, Tenant, Version};
use gateway_edge::{RequestContext, negotiate, query};
use gateway_pipeline::{Head, RequestedVersion};
use gateway_wire::params::{LAST_EVENT_ID, VERSION};
use http::{HeaderName, request::Parts};

use crate::{fields, form};

/// The head of a request for no operation yet, whose path is of a version.
pub(crate) fn head(parts: &Parts, context: &RequestContext, names: Option<Version>) -> Head {
    let declared = form::extensions(names.unwrap_or_default());
    let extensions = negotiate::list(&parts.headers, &declared);
    Head {
        binding: Binding::HttpJson,
        operation: None,
        version: version(parts),
        names,
        extensions: extensions.map(str::to_owned).collect(),
        cursor: query::sent_cursor(
            (&parts.headers, LAST_EVENT_ID.header),
            (parts.uri.query(), LAST_EVENT_ID.name),
        ),
        tenant: None,
        principal: context.principal.clone(),
        deadline: None,
        request_id: context.request_id.clone(),
        facts: Default::default(),
    }
}

/// The tenant of a path. Whether it is one is the pipeline's to judge.
///
/// # Errors
/// InvalidParams where the segment is no text.
pub(crate) fn tenant(segment: &str) -> Result<Tenant, Error> {
    fields::decoded("tenant", segment).map(Tenant::new)
}

fn version(parts: &Parts) -> RequestedVersion {
    RequestedVersion {
        header: negotiate::only(&parts.headers, &HeaderName::from_static(VERSION.header)),
        query: query::only(parts.uri.query(), VERSION.name),
    }
}
