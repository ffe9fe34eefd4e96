//! What stands beside the envelope: service parameters (§3.2.6) as headers or in the query, and who calls.

use std::{borrow::Cow, sync::Arc};

use gateway_domain::{Binding, Error};
use gateway_edge::{RequestContext, negotiate, query};
use gateway_pipeline::{Head, RequestedVersion};
use gateway_wire::params;
use http::{HeaderName, request::Parts};

use crate::respond;

/// A call's head, but for its operation and its tenant.
///
/// # Errors
/// Internal where the binding was assembled without its front.
pub(crate) fn read(parts: &Parts) -> Result<Head, Error> {
    let context = parts
        .extensions
        .get::<RequestContext>()
        .ok_or_else(|| respond::broken("JSON-RPC is served without a front"))?;
    let extensions = HeaderName::from_static(params::EXTENSIONS.header);
    Ok(Head {
        binding: Binding::JsonRpc,
        operation: None,
        version: version(parts),
        extensions: negotiate::list(&parts.headers, &extensions)
            .map(str::to_owned)
            .collect(),
        tenant: None,
        principal: context.principal.clone(),
        deadline: None,
        request_id: context.request_id.clone(),
        facts: Arc::default(),
    })
}

fn version(parts: &Parts) -> RequestedVersion {
    let headers = parts.headers.get_all(params::VERSION.header).iter();
    let query = query::parameters(parts.uri.query());
    RequestedVersion {
        header: only(headers.map(|value| String::from_utf8_lossy(value.as_bytes()))),
        query: only(
            query
                .filter(|(name, _)| name == params::VERSION.name)
                .map(|(_, value)| value),
        ),
    }
}

/// Said twice is as good as once; different values are handed on together, and no version is called that.
fn only<'a>(values: impl Iterator<Item = Cow<'a, str>>) -> Option<String> {
    let mut values: Vec<_> = values.collect();
    values.dedup();
    (!values.is_empty()).then(|| values.join(", "))
}
