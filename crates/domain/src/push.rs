//! Push-notification configurations (§4.3): where a task's changes are to be posted.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{
    PushNotificationConfigId, PushNotificationConfigRow, TaskId, Tenant, Version,
    notation::{empty_is_absent, null_default},
};

/// One configuration, as clients give it and get it.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", expecting = "an object", remote = "Self")]
pub struct TaskPushNotificationConfig {
    /// The tenant of the task.
    #[serde(
        default,
        deserialize_with = "empty_is_absent",
        skip_serializing_if = "Option::is_none"
    )]
    pub tenant: Option<Tenant>,
    /// Given by the client or made by the gateway.
    #[serde(
        default,
        deserialize_with = "empty_is_absent",
        skip_serializing_if = "Option::is_none"
    )]
    pub id: Option<PushNotificationConfigId>,
    /// Whose changes.
    #[serde(
        default,
        alias = "task_id",
        deserialize_with = "empty_is_absent",
        skip_serializing_if = "Option::is_none"
    )]
    pub task_id: Option<TaskId>,
    /// Where to post; empty only before validation.
    #[serde(default, deserialize_with = "null_default")]
    pub url: String,
    /// Handed back to the receiver, so that it knows its configuration.
    #[serde(
        default,
        deserialize_with = "empty_is_absent",
        skip_serializing_if = "Option::is_none"
    )]
    pub token: Option<String>,
    /// How the gateway shows the receiver who it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub authentication: Option<AuthenticationInfo>,
    /// The version in which it was registered, which is the one that its receiver reads.
    #[serde(skip)]
    pub version: Version,
}

/// Credentials for a receiver (§4.3.2).
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(expecting = "an object", remote = "Self")]
pub struct AuthenticationInfo {
    /// The scheme of the Authorization header, such as `Bearer`; empty only before validation.
    #[serde(default, deserialize_with = "null_default")]
    pub scheme: String,
    /// What follows the scheme.
    #[serde(
        default,
        deserialize_with = "empty_is_absent",
        skip_serializing_if = "Option::is_none"
    )]
    pub credentials: Option<String>,
    /// All schemes, in their order, where a client of 0.3 gave a list of them; `scheme` is the one that is used.
    #[serde(skip)]
    pub schemes: Vec<String>,
}

impl AuthenticationInfo {
    /// What a client of 0.3 gives: a list, of which the first of Bearer and Basic is used, else the first.
    pub fn of_schemes(schemes: Vec<String>, credentials: Option<String>) -> Self {
        let usable = |scheme: &&String| {
            let scheme = scheme.as_str();
            scheme.eq_ignore_ascii_case("Bearer") || scheme.eq_ignore_ascii_case("Basic")
        };
        let scheme = schemes.iter().find(usable).or(schemes.first());
        Self {
            scheme: scheme.cloned().unwrap_or_default(),
            credentials,
            schemes,
        }
    }

    /// The schemes as 0.3 shows them.
    pub fn all_schemes(&self) -> &[String] {
        match self.schemes.as_slice() {
            [] => std::slice::from_ref(&self.scheme),
            all => all,
        }
    }
}

crate::notation::read_as_object!(TaskPushNotificationConfig, AuthenticationInfo);
crate::notation::write_as_derived!(TaskPushNotificationConfig, AuthenticationInfo);

/// A configuration as it is stored.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredConfig {
    /// The identity of the stored row.
    pub row: PushNotificationConfigRow,
    /// The configuration; `id` and `task_id` are there.
    pub config: TaskPushNotificationConfig,
}

// Secrets never reach a log: what prints a configuration for a person leaves them out.
impl fmt::Debug for TaskPushNotificationConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TaskPushNotificationConfig")
            .field("id", &self.id)
            .field("task_id", &self.task_id)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for AuthenticationInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AuthenticationInfo")
            .field("scheme", &self.scheme)
            .finish_non_exhaustive()
    }
}
