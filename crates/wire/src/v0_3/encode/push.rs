//! Push-notification configurations.

use gateway_domain::{AuthenticationInfo, TaskPushNotificationConfig, reply::ConfigPage};

use crate::{encode::or_empty, pb::v0_3, v0_3::names};

/// Writes a configuration under its name.
pub fn config(config: &TaskPushNotificationConfig) -> v0_3::TaskPushNotificationConfig {
    v0_3::TaskPushNotificationConfig {
        name: names::of_stored(config),
        push_notification_config: Some(v0_3::PushNotificationConfig {
            id: or_empty(config.id.as_ref()),
            url: config.url.clone(),
            token: or_empty(config.token.as_ref()),
            authentication: config.authentication.as_ref().map(authentication),
        }),
    }
}

fn authentication(info: &AuthenticationInfo) -> v0_3::AuthenticationInfo {
    v0_3::AuthenticationInfo {
        schemes: info.all_schemes().to_vec(),
        credentials: or_empty(info.credentials.as_ref()),
    }
}

/// Writes a page of configurations.
pub fn configs(page: &ConfigPage) -> v0_3::ListTaskPushNotificationConfigResponse {
    v0_3::ListTaskPushNotificationConfigResponse {
        configs: page.configs.iter().map(config).collect(),
        next_page_token: page.next_page_token.clone(),
    }
}
