//! Push-notification configurations in the `kind` notation: what 1.0 has flat stands nested beside the task's id.

use gateway_domain::{
    AuthenticationInfo, PushNotificationConfigId, TaskId, TaskPushNotificationConfig, Version,
    notation::{empty_is_absent, null_default},
};
use serde::{Deserialize, Serialize};

/// A configuration as it is answered.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Written<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    task_id: Option<&'a TaskId>,
    push_notification_config: WrittenConfig<'a>,
}

#[derive(Serialize)]
struct WrittenConfig<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a PushNotificationConfigId>,
    url: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    token: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    authentication: Option<WrittenAuthentication<'a>>,
}

#[derive(Serialize)]
struct WrittenAuthentication<'a> {
    schemes: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    credentials: Option<&'a str>,
}

impl<'a> Written<'a> {
    pub(super) fn of(config: &'a TaskPushNotificationConfig) -> Self {
        let authentication = config.authentication.as_ref();
        Self {
            task_id: config.task_id.as_ref(),
            push_notification_config: WrittenConfig {
                id: config.id.as_ref(),
                url: &config.url,
                token: config.token.as_deref(),
                authentication: authentication.map(|info| WrittenAuthentication {
                    schemes: info.all_schemes(),
                    credentials: info.credentials.as_deref(),
                }),
            },
        }
    }
}

/// A configuration as clients give it, without its task.
#[derive(Deserialize)]
#[serde(expecting = "an object", remote = "Self")]
pub(super) struct Read {
    #[serde(default, deserialize_with = "empty_is_absent")]
    id: Option<PushNotificationConfigId>,
    #[serde(default, deserialize_with = "null_default")]
    url: String,
    #[serde(default, deserialize_with = "empty_is_absent")]
    token: Option<String>,
    #[serde(default)]
    authentication: Option<ReadAuthentication>,
}

#[derive(Deserialize)]
#[serde(expecting = "an object", remote = "Self")]
struct ReadAuthentication {
    #[serde(default, deserialize_with = "null_default")]
    schemes: Vec<String>,
    #[serde(default, deserialize_with = "empty_is_absent")]
    credentials: Option<String>,
}

gateway_domain::read_as_object!(Read, ReadAuthentication);

impl Read {
    pub(super) fn into_domain(self, task_id: Option<TaskId>) -> TaskPushNotificationConfig {
        TaskPushNotificationConfig {
            tenant: None,
            id: self.id,
            task_id,
            url: self.url,
            token: self.token,
            authentication: self
                .authentication
                .map(|info| AuthenticationInfo::of_schemes(info.schemes, info.credentials)),
            version: Version::V0_3,
        }
    }
}
