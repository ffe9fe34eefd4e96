//! The operators' way to take tasks away for good: DELETE of a task, of a context of a tenant, of a tenant.

use axum::body::Body;
use gateway_domain::{
    ContextId, TaskId, Tenant,
    ports::Purge,
    service::{Purged, Service},
};
use gateway_edge::{
    Response,
    query::{parameter, segment},
};
use http::{
    HeaderValue, StatusCode, Uri,
    header::{CONTENT_TYPE, RETRY_AFTER},
};

/// What is to be found here, for whoever looks at the wrong place.
pub(crate) const PATHS: &str = "DELETE /tasks/{id}, /contexts/{id}?tenant=NAME and /tenants/{name}";

/// Which tasks a path means; nothing where it means none. A tenant without a name stands for the tasks without one.
pub(crate) fn of(uri: &Uri) -> Option<Purge> {
    let mut segments = uri.path().strip_prefix('/')?.split('/');
    let (kind, name) = (segments.next()?, segment(segments.next()?)?);
    if segments.next().is_some() {
        return None;
    }
    match kind {
        "tasks" => Some(Purge::Task(TaskId::optional(name.as_ref())?)),
        "contexts" => {
            let tenant = parameter(uri.query(), "tenant").unwrap_or_default();
            Some(Purge::Context {
                tenant: Tenant::optional(tenant.as_ref()),
                context: ContextId::optional(name.as_ref())?,
            })
        }
        "tenants" => Some(Purge::Tenant(Tenant::optional(name.as_ref()))),
        _ => None,
    }
}

/// Takes them away, and says how many they were.
pub(crate) async fn answer(service: &Service, purge: &Purge) -> Response {
    let (status, text) = match service.purge(purge).await {
        Ok(Purged { tasks, complete }) => {
            tracing::info!(?purge, tasks, complete, "purged");
            (
                StatusCode::OK,
                format!("{{\"tasks\":{tasks},\"complete\":{complete}}}\n"),
            )
        }
        Err(error) => {
            tracing::warn!(?purge, cause = error.cause(), "purge broken off");
            let text = "{\"error\":\"the store does not answer; what is left can be purged again\"}\n";
            (StatusCode::SERVICE_UNAVAILABLE, text.to_owned())
        }
    };
    let mut response = Response::new(Body::from(text));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    if status == StatusCode::SERVICE_UNAVAILABLE {
        headers.insert(RETRY_AFTER, HeaderValue::from_static("1"));
    }
    response
}

#[cfg(test)]
mod tests {
    use gateway_domain::{ContextId, TaskId, Tenant, ports::Purge};

    use super::of;

    #[test]
    fn a_path_names_a_task_a_context_or_a_tenant() {
        let purge = |path: &str| of(&path.parse().unwrap());
        let context = |tenant: Option<&str>, context: &str| Purge::Context {
            tenant: tenant.map(Tenant::new),
            context: ContextId::new(context),
        };
        assert_eq!(purge("/tasks/18-a"), Some(Purge::Task(TaskId::new("18-a"))));
        assert_eq!(purge("/contexts/a%2Fb"), Some(context(None, "a/b")));
        assert_eq!(purge("/contexts/a?tenant=x%20y"), Some(context(Some("x y"), "a")));
        assert_eq!(purge("/contexts/a?tenant="), Some(context(None, "a")));
        assert_eq!(
            purge("/tenants/acme"),
            Some(Purge::Tenant(Some(Tenant::new("acme"))))
        );
        assert_eq!(purge("/tenants/"), Some(Purge::Tenant(None)));
        for path in [
            "/",
            "/tasks",
            "/tasks/",
            "/tenants",
            "/contexts/",
            "/tasks/a/b",
            "/livez/a",
            "/tasks/%zz",
        ] {
            assert_eq!(purge(path), None, "{path}");
        }
    }
}
