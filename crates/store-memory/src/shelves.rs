//! Everything that is held and in which order: the one place where a task is put up and taken down again, so that no
//! trace of it stays in any map. Whoever has it to himself may touch records too, never the other way round.

use std::{
    collections::{BTreeSet, HashMap},
    ops::Bound,
    sync::Arc,
};

use gateway_domain::{
    PushNotificationConfigId, TaskId, TaskSnapshot, Timestamp,
    ports::{
        Change, CommitError, ConfigPut, CreateError, Creation, ListQuery, Listing, PutConfigError,
        StoreError, TaskHead,
    },
    push::StoredConfig,
};

use crate::{
    Settings,
    configs::Configs,
    index::{Index, Page},
    record::{News, Record, View},
    retention::{Retention, Retired},
};

/// How many tasks are held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Held {
    /// Not finished, hidden ones included.
    pub live: usize,
    /// Finished.
    pub finished: usize,
}

#[derive(Debug, Default)]
pub(crate) struct Shelves {
    settings: Settings,
    tasks: HashMap<TaskId, Arc<Record>>,
    /// The same tasks by id. Finding one in here would compare long ids that begin alike, again and again.
    order: BTreeSet<TaskId>,
    index: Index,
    retention: Retention,
    configs: Configs,
}

impl Shelves {
    pub(crate) fn new(settings: Settings) -> Self {
        Self {
            settings,
            ..Self::default()
        }
    }

    pub(crate) fn create(&mut self, mut creation: Creation) -> Result<(), CreateError> {
        let id = creation.head.id.clone();
        if self.tasks.contains_key(&id) {
            let cause = format_args!("a task of the id {id} is held already");
            return Err(CreateError::Store(StoreError::new(cause)));
        }
        if !self
            .retention
            .admit(&creation.head.scope.tenant, creation.live_limit)
        {
            return Err(CreateError::LiveLimit);
        }
        if let Some(config) = creation.config.take() {
            self.configs.insert(&id, config);
        }
        self.index.insert(&creation.head);
        let record = Arc::new(Record::new(creation, &self.settings));
        self.order.insert(id.clone());
        self.tasks.insert(id, record);
        Ok(())
    }

    /// Removes a task that is hidden. The record is handed out so that it is dropped outside of the lock.
    pub(crate) fn discard(&mut self, id: &TaskId) -> Option<Arc<Record>> {
        let hidden = self.tasks.get(id)?.head().hidden;
        if hidden { self.remove(id) } else { None }
    }

    pub(crate) fn record(&self, id: &TaskId) -> Option<&Arc<Record>> {
        self.tasks.get(id)
    }

    /// Applies a change of state or sight, or one with a configuration. Also hands out what it made leave.
    pub(crate) fn commit(&mut self, mut change: Change) -> Result<(News, Vec<Arc<Record>>), CommitError> {
        let record = self.tasks.get(&change.head.id).ok_or(CommitError::Gone)?.clone();
        let before = record.head();
        let put = change.config.take();
        if let Some(ConfigPut { config, most }) = &put
            && !self.configs.has_room(&before.id, config, *most)
        {
            return Err(CommitError::ConfigLimit);
        }
        let news = record.apply(change)?;
        if let Some(ConfigPut { config, .. }) = put {
            self.configs.insert(&before.id, config);
        }
        let after = record.head();
        self.index.replace(&before, &after);
        let ended = after.status.state.is_terminal() && !before.status.state.is_terminal();
        let retired = if ended {
            self.finish(&after, record.weight())
        } else {
            Vec::new()
        };
        Ok((news, retired))
    }

    fn finish(&mut self, head: &TaskHead, bytes: usize) -> Vec<Arc<Record>> {
        self.retention.finish(head, bytes);
        let mut removed = Vec::new();
        while let Some(oldest) = self.retention.surplus(&head.scope.tenant, &self.settings) {
            removed.extend(self.remove(&oldest.id));
        }
        removed
    }

    /// Removes finished tasks whose time is over, at most so many.
    pub(crate) fn sweep(&mut self, now: Timestamp, most: usize) -> Vec<Arc<Record>> {
        let mut removed = Vec::new();
        while removed.len() < most
            && let Some(oldest) = self.retention.expired(now, &self.settings)
        {
            removed.extend(self.remove(&oldest.id));
        }
        removed
    }

    fn remove(&mut self, id: &TaskId) -> Option<Arc<Record>> {
        let record = self.tasks.remove(id)?;
        self.order.remove(id);
        let head = record.head();
        self.index.remove(&head);
        self.retention.remove(&head);
        self.configs.forget(id);
        Some(record)
    }

    pub(crate) fn list(&self, query: &ListQuery) -> ListedViews {
        let Page { ids, more, total } = self.index.page(query);
        let views = ids.iter().filter_map(|id| Some(self.tasks.get(id)?.view()));
        ListedViews {
            views: views.collect(),
            more,
            total,
        }
    }

    pub(crate) fn all(&self, after: Option<&TaskId>, most: usize) -> Vec<View> {
        let after = after.map_or(Bound::Unbounded, Bound::Excluded);
        let ids = self.order.range((after, Bound::Unbounded)).take(most);
        ids.filter_map(|id| Some(self.tasks.get(id)?.view())).collect()
    }

    pub(crate) fn put_config(&mut self, config: StoredConfig, most: usize) -> Result<(), PutConfigError> {
        let task = config.config.task_id.clone().unwrap_or_default();
        if !self.tasks.contains_key(&task) {
            return Err(PutConfigError::NoTask);
        }
        if !self.configs.has_room(&task, &config, most) {
            return Err(PutConfigError::Limit);
        }
        self.configs.insert(&task, config);
        Ok(())
    }

    pub(crate) fn delete_config(&mut self, task: &TaskId, id: &PushNotificationConfigId) -> bool {
        self.configs.delete(task, id)
    }

    pub(crate) fn configs(&self) -> &Configs {
        &self.configs
    }

    pub(crate) fn retired(&self) -> Retired {
        self.retention.retired()
    }

    pub(crate) fn held(&self) -> Held {
        let finished = self.retention.finished();
        Held {
            live: self.tasks.len() - finished,
            finished,
        }
    }

    #[cfg(test)]
    pub(crate) fn sizes(&self) -> Sizes {
        Sizes {
            tasks: [self.tasks.len(), self.order.len()],
            scopes: self.index.scopes(),
            configs: self.configs.sizes(),
            retention: self.retention.sizes(),
        }
    }
}

/// A page of tasks at one moment, still shared with their records.
pub(crate) struct ListedViews {
    views: Vec<View>,
    more: bool,
    total: usize,
}

impl ListedViews {
    /// To be called outside of all locks: it costs what the page shows.
    pub(crate) fn into_listing(self, query: &ListQuery) -> Listing {
        Listing {
            tasks: self.views.iter().map(|view| shown(&view.task, query)).collect(),
            more: self.more,
            total: self.total,
        }
    }
}

/// What a list shows of a task; the rest is not copied first.
fn shown(task: &TaskSnapshot, query: &ListQuery) -> TaskSnapshot {
    let most = query.history_length.unwrap_or(0);
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    let surplus = task.history.len().saturating_sub(most);
    TaskSnapshot {
        id: task.id.clone(),
        context_id: task.context_id.clone(),
        status: task.status.clone(),
        artifacts: if query.include_artifacts {
            task.artifacts.clone()
        } else {
            Vec::new()
        },
        history: task.history[surplus..].to_vec(),
        metadata: task.metadata.clone(),
    }
}

/// How much every map holds.
#[cfg(test)]
#[derive(Debug, PartialEq, Eq, Default)]
pub(crate) struct Sizes {
    pub(crate) tasks: [usize; 2],
    pub(crate) scopes: usize,
    pub(crate) configs: [usize; 2],
    pub(crate) retention: [usize; 3],
}
