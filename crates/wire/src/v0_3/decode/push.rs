//! Push-notification configurations. Any of them has a form in the domain, but for a name that is none.

use gateway_domain::{Error, PushNotificationConfigId, TaskId, Version, reply::ConfigPage};

use super::{At, Faults, TaskPushNotificationConfig, whole};
use crate::{
    decode::{each, non_empty},
    pb::v0_3,
    v0_3::{names, request},
};

/// Reads a configuration under its name.
///
/// # Errors
/// InvalidParams where the name is none, or nothing stands under it.
pub fn config(config: v0_3::TaskPushNotificationConfig) -> Result<TaskPushNotificationConfig, Error> {
    whole(|faults, at| config_at(config, faults, at))
}

/// Reads a page of configurations.
///
/// # Errors
/// As [`config`], for any of them.
pub fn configs(page: v0_3::ListTaskPushNotificationConfigResponse) -> Result<ConfigPage, Error> {
    whole(|faults, at| {
        Some(ConfigPage {
            configs: each(page.configs, faults, &at.field("configs"), config_at),
            next_page_token: page.next_page_token,
        })
    })
}

fn config_at(
    config: v0_3::TaskPushNotificationConfig,
    faults: &mut Faults,
    at: &At<'_>,
) -> Option<TaskPushNotificationConfig> {
    let ids = names::config_ids(&config.name);
    let (task, id) = ids.or_else(|| faults.add(&at.field("name"), names::A_CONFIG))?;
    let inner = faults.required(
        &at.field("pushNotificationConfig"),
        config.push_notification_config,
    )?;
    Some(TaskPushNotificationConfig {
        id: Some(PushNotificationConfigId::new(id)),
        task_id: Some(TaskId::new(task)),
        ..plain(inner)
    })
}

/// Reads a configuration that nobody has named yet.
pub(super) fn plain(config: v0_3::PushNotificationConfig) -> TaskPushNotificationConfig {
    TaskPushNotificationConfig {
        tenant: None,
        id: PushNotificationConfigId::optional(config.id),
        task_id: None,
        url: config.url,
        token: non_empty(config.token),
        authentication: config
            .authentication
            .and_then(|info| request::authentication(info.schemes, non_empty(info.credentials))),
        version: Version::V0_3,
    }
}
