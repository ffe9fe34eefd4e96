//! Push-notification configurations. Any of them has a form in the domain.

use gateway_domain::{
    AuthenticationInfo, PushNotificationConfigId, TaskId, TaskPushNotificationConfig, Tenant, Version,
    reply::ConfigPage,
};

use super::non_empty;
use crate::pb::v1;

/// Reads a configuration.
pub fn config(config: v1::TaskPushNotificationConfig) -> TaskPushNotificationConfig {
    TaskPushNotificationConfig {
        tenant: Tenant::optional(config.tenant),
        id: PushNotificationConfigId::optional(config.id),
        task_id: TaskId::optional(config.task_id),
        url: config.url,
        token: non_empty(config.token),
        authentication: config.authentication.map(authentication),
        version: Version::V1_0,
    }
}

/// Reads a page of configurations.
pub fn configs(page: v1::ListTaskPushNotificationConfigsResponse) -> ConfigPage {
    ConfigPage {
        configs: page.configs.into_iter().map(config).collect(),
        next_page_token: page.next_page_token,
    }
}

fn authentication(info: v1::AuthenticationInfo) -> AuthenticationInfo {
    AuthenticationInfo {
        scheme: info.scheme,
        credentials: non_empty(info.credentials),
        schemes: Vec::new(),
    }
}
