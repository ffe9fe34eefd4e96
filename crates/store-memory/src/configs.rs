//! Push-notification configurations: by task and id, and all of them by row. What they say is not looked at.

use std::{
    collections::{BTreeMap, HashMap},
    ops::Bound,
};

use gateway_domain::{PushNotificationConfigId, PushNotificationConfigRow, TaskId, push::StoredConfig};

#[derive(Debug, Default)]
pub(crate) struct Configs {
    /// A task that has none is not here.
    by_task: HashMap<TaskId, BTreeMap<PushNotificationConfigId, StoredConfig>>,
    by_row: BTreeMap<PushNotificationConfigRow, (TaskId, PushNotificationConfigId)>,
}

impl Configs {
    /// Whether a configuration can be stored: in place of the one of the same id, or within the limit.
    pub(crate) fn has_room(&self, task: &TaskId, config: &StoredConfig, most: usize) -> bool {
        let held = self.by_task.get(task);
        let replaces =
            held.is_some_and(|held| config.config.id.as_ref().is_some_and(|id| held.contains_key(id)));
        replaces || held.map_or(0, BTreeMap::len) < most
    }

    /// Stores a configuration whatever is held. One of the same id leaves, and its row with it.
    pub(crate) fn insert(&mut self, task: &TaskId, config: StoredConfig) {
        let (id, row) = (config.config.id.clone().unwrap_or_default(), config.row.clone());
        let held = self.by_task.entry(task.clone()).or_default();
        if let Some(replaced) = held.insert(id.clone(), config) {
            self.by_row.remove(&replaced.row);
        }
        self.by_row.insert(row, (task.clone(), id));
    }

    pub(crate) fn one(&self, task: &TaskId, id: &PushNotificationConfigId) -> Option<&StoredConfig> {
        self.by_task.get(task)?.get(id)
    }

    pub(crate) fn of_task(
        &self,
        task: &TaskId,
        after: Option<&PushNotificationConfigId>,
        most: usize,
    ) -> Vec<StoredConfig> {
        let after = after.map_or(Bound::Unbounded, Bound::Excluded);
        let held = self.by_task.get(task).into_iter();
        held.flat_map(|held| held.range((after, Bound::Unbounded)))
            .map(|(_, config)| config.clone())
            .take(most)
            .collect()
    }

    pub(crate) fn all(&self, after: Option<&PushNotificationConfigRow>, most: usize) -> Vec<StoredConfig> {
        let after = after.map_or(Bound::Unbounded, Bound::Excluded);
        self.by_row
            .range((after, Bound::Unbounded))
            .filter_map(|(_, (task, id))| self.one(task, id).cloned())
            .take(most)
            .collect()
    }

    pub(crate) fn delete(&mut self, task: &TaskId, id: &PushNotificationConfigId) -> bool {
        let Some(held) = self.by_task.get_mut(task) else {
            return false;
        };
        let Some(deleted) = held.remove(id) else {
            return false;
        };
        self.by_row.remove(&deleted.row);
        if held.is_empty() {
            self.by_task.remove(task);
        }
        true
    }

    pub(crate) fn forget(&mut self, task: &TaskId) {
        for (_, config) in self.by_task.remove(task).into_iter().flatten() {
            self.by_row.remove(&config.row);
        }
    }

    #[cfg(test)]
    pub(crate) fn sizes(&self) -> [usize; 2] {
        [self.by_task.len(), self.by_row.len()]
    }
}
