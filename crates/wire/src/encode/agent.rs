//! The views of the agent side.

use gateway_domain::reply::{AllConfigsPage, AllTasksPage, ConfigRow, ConfigState, TaskRow};

use super::{artifact, authentication, message, object, or_empty, timestamp};
use crate::pb::agent as pb;

/// Writes a page of every task.
pub fn all_tasks(page: &AllTasksPage) -> pb::AllTasksResponse {
    pb::AllTasksResponse {
        tasks: page.tasks.iter().map(task_row).collect(),
        next_page_token: page.next_page_token.clone(),
    }
}

/// Writes a page of every configuration.
pub fn all_configs(page: &AllConfigsPage) -> pb::AllPushNotificationConfigsResponse {
    pb::AllPushNotificationConfigsResponse {
        configs: page.configs.iter().map(config_row).collect(),
        next_page_token: page.next_page_token.clone(),
    }
}

fn task_row(row: &TaskRow) -> pb::AllTaskRow {
    pb::AllTaskRow {
        id: row.id.to_string(),
        context_id: row.context_id.to_string(),
        tenant: or_empty(row.tenant.as_ref()),
        state: row.state.number(),
        status_message: row.status_message.as_deref().map(message),
        status_timestamp: Some(timestamp(row.status_timestamp)),
        artifacts: row.artifacts.iter().map(|shared| artifact(shared)).collect(),
        history: row.history.iter().map(|shared| message(shared)).collect(),
        metadata: row.metadata.as_ref().map(object),
    }
}

fn config_row(row: &ConfigRow) -> pb::ConfigRow {
    let state = match row.state {
        ConfigState::Active => "Active",
    };
    pb::ConfigRow {
        row: row.row.to_string(),
        config_id: row.config_id.to_string(),
        state: state.to_owned(),
        task_id: row.task_id.to_string(),
        tenant: or_empty(row.tenant.as_ref()),
        url: row.url.clone(),
        token: or_empty(row.token.as_ref()),
        authentication: row.authentication.as_ref().map(authentication),
    }
}
