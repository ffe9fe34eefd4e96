//! Push-notification configurations.

use gateway_domain::{AuthenticationInfo, TaskPushNotificationConfig, reply::ConfigPage};

use super::or_empty;
use crate::pb::v1;

/// Writes a configuration.
pub fn config(config: &TaskPushNotificationConfig) -> v1::TaskPushNotificationConfig {
    v1::TaskPushNotificationConfig {
        tenant: or_empty(config.tenant.as_ref()),
        id: or_empty(config.id.as_ref()),
        task_id: or_empty(config.task_id.as_ref()),
        url: config.url.clone(),
        token: or_empty(config.token.as_ref()),
        authentication: config.authentication.as_ref().map(authentication),
    }
}

/// Writes what is shown to a receiver.
pub fn authentication(info: &AuthenticationInfo) -> v1::AuthenticationInfo {
    v1::AuthenticationInfo {
        scheme: info.scheme.clone(),
        credentials: or_empty(info.credentials.as_ref()),
    }
}

/// Writes a page of configurations.
pub fn configs(page: &ConfigPage) -> v1::ListTaskPushNotificationConfigsResponse {
    v1::ListTaskPushNotificationConfigsResponse {
        configs: page.configs.iter().map(config).collect(),
        next_page_token: page.next_page_token.clone(),
    }
}
