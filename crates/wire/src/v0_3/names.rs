//! Resource names: how gRPC and HTTP+JSON of 0.3 call tasks and configurations.

use gateway_domain::{PushNotificationConfigId, TaskId, TaskPushNotificationConfig};

const TASKS: &str = "tasks/";
const CONFIGS: &str = "/pushNotificationConfigs";

/// What a task's name has to look like, for people.
pub(super) const A_TASK: &str = "must be tasks/{task}";
/// What a configuration's name has to look like, for people.
pub(super) const A_CONFIG: &str = "must be tasks/{task}/pushNotificationConfigs/{config}";

/// The id in `tasks/{task}`.
pub(super) fn task_id(name: &str) -> Option<&str> {
    let id = name.strip_prefix(TASKS)?;
    (!id.is_empty() && !id.contains('/')).then_some(id)
}

/// The id in `tasks/{task}`, or in the same with what its configurations are called behind it.
pub(super) fn parent_id(name: &str) -> Option<&str> {
    task_id(name.strip_suffix(CONFIGS).unwrap_or(name))
}

/// The ids in `tasks/{task}/pushNotificationConfigs/{config}`; the second may have slashes.
pub(super) fn config_ids(name: &str) -> Option<(&str, &str)> {
    let (task, rest) = name.strip_prefix(TASKS)?.split_once('/')?;
    let config = rest
        .strip_prefix(CONFIGS.trim_start_matches('/'))?
        .strip_prefix('/')?;
    (!task.is_empty() && !config.is_empty()).then_some((task, config))
}

/// The name of a stored configuration, which has both ids.
pub(super) fn of_stored(config: &TaskPushNotificationConfig) -> String {
    let (task, id) = (config.task_id.clone(), config.id.clone());
    of_config(&task.unwrap_or_default(), &id.unwrap_or_default())
}

fn of_config(task: &TaskId, config: &PushNotificationConfigId) -> String {
    format!("{TASKS}{task}{CONFIGS}/{config}")
}

#[cfg(test)]
mod tests {
    use super::{config_ids, of_config, parent_id, task_id};

    #[test]
    fn a_task_goes_by_its_id_behind_a_prefix() {
        for (name, id) in [
            ("tasks/t", Some("t")),
            ("tasks/t:1", Some("t:1")),
            ("tasks/", None),
            ("tasks", None),
            ("t", None),
            ("", None),
            ("tasks/t/", None),
            ("task/t", None),
        ] {
            assert_eq!(task_id(name), id, "{name}");
            assert_eq!(parent_id(name), id, "{name}");
        }
        assert_eq!(parent_id("tasks/t/pushNotificationConfigs"), Some("t"));
        assert_eq!(task_id("tasks/t/pushNotificationConfigs"), None);
    }

    #[test]
    fn a_configuration_goes_by_the_name_of_its_task_and_its_own() {
        for (name, ids) in [
            ("tasks/t/pushNotificationConfigs/c", Some(("t", "c"))),
            ("tasks/t/pushNotificationConfigs/a/b", Some(("t", "a/b"))),
            ("tasks/t/pushNotificationConfigs/", None),
            ("tasks/t/pushNotificationConfigs", None),
            ("tasks//pushNotificationConfigs/c", None),
            ("tasks/t/pushNotificationConfigsX/c", None),
            ("tasks/t", None),
            ("", None),
        ] {
            assert_eq!(config_ids(name), ids, "{name}");
            if let Some((task, config)) = ids {
                use gateway_domain::{PushNotificationConfigId as Config, TaskId};
                assert_eq!(of_config(&TaskId::new(task), &Config::new(config)), name);
            }
        }
    }
}
