//! Everything that is held and in which order: the one place where a task is put up and taken down again, so that no
//! trace of it stays in any map. Whoever has it to himself may touch records too, never the other way round.

use std::{
    collections::{BTreeSet, HashMap},
    ops::Bound,
    sync::Arc,
};

use gateway_domain::{
    Cursor, Message, PushNotificationConfigId, TaskId, TaskSnapshot, Timestamp,
    ports::{
        Change, CommitError, ConfigPut, CreateError, Creation, Epoch, Granted, ListQuery, Listing, Purge,
        PurgeStep, PutConfigError, StoreError, TaskHead,
    },
    repeats::{FirstSend, SendClaim, SendKey},
};

use crate::{
    Settings,
    configs::Configs,
    due::Due,
    index::{Index, Page},
    record::{News, Record, View},
    retention::{Retention, Retired},
    sends::Sends,
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
    due: Due,
    sends: Sends,
}

impl Shelves {
    pub(crate) fn new(settings: Settings) -> Self {
        Self {
            settings,
            ..Self::default()
        }
    }

    pub(crate) fn create(&mut self, mut creation: Creation) -> Result<Granted, CreateError> {
        let id = creation.head.id.clone();
        if self.tasks.contains_key(&id) {
            let cause = format_args!("a task of the id {id} is held already");
            return Err(CreateError::Store(StoreError::new(cause)));
        }
        if let Some(first) = self.repeated(creation.send.as_deref()) {
            return Err(CreateError::Repeated(first));
        }
        if !self
            .retention
            .admit(&creation.head.scope.tenant, creation.live_limit)
        {
            return Err(CreateError::LiveLimit);
        }
        let mut granted = Granted::default();
        if let Some(run) = creation.run.take() {
            granted.run = Some(self.due.put_run(&id, *run));
        }
        if let Some(config) = creation.config.take() {
            let (delivery, most) = (creation.delivery.take(), usize::MAX);
            let put = ConfigPut {
                config,
                most,
                delivery,
            };
            // From the first event on.
            let begin = Cursor::START;
            granted.webhook = self.insert_config(&id, put, begin);
        }
        if let Some(claim) = creation.send.take() {
            self.sends.remember(&claim, &creation.head);
        }
        self.index.insert(&creation.head);
        let record = Arc::new(Record::new(creation, &self.settings));
        self.order.insert(id.clone());
        self.tasks.insert(id, record);
        Ok(granted)
    }

    /// Removes a task that is hidden. The record is handed out so that it is dropped outside of the lock.
    pub(crate) fn discard(&mut self, id: &TaskId, answer: Option<&Arc<Message>>) -> Option<Arc<Record>> {
        if !self.tasks.get(id)?.head().hidden {
            return None;
        }
        match answer {
            Some(answer) => self.sends.answer(id, answer),
            None => self.sends.forget_task(id),
        }
        self.remove(id)
    }

    /// Takes tasks away, looking at so many after one; also hands out what it took.
    pub(crate) fn purge(
        &mut self,
        what: &Purge,
        after: Option<&TaskId>,
        most: usize,
    ) -> (PurgeStep, Vec<Arc<Record>>) {
        let ids: Vec<TaskId> = match what {
            Purge::Task(id) => vec![id.clone()],
            Purge::Context { .. } | Purge::Tenant(_) => {
                let after = after.map_or(Bound::Unbounded, Bound::Excluded);
                let ids = self.order.range((after, Bound::Unbounded));
                ids.take(most).cloned().collect()
            }
        };
        let (mut step, mut taken) = (PurgeStep::default(), Vec::new());
        for id in &ids {
            let head = self.tasks.get(id).map(|record| record.head());
            let Some(head) = head.filter(|head| what.takes(head)) else {
                continue;
            };
            if !head.status.state.is_terminal() {
                step.live.push(id.clone());
            }
            taken.extend(self.remove(id));
        }
        step.removed = taken.len();
        step.next = ids
            .last()
            .filter(|_| what.tenant().is_some() && ids.len() == most)
            .cloned();
        if let (Purge::Tenant(tenant), None) = (what, &step.next) {
            self.sends.forget_tenant(tenant);
        }
        (step, taken)
    }

    pub(crate) fn first_send(&self, key: &SendKey, now: Timestamp) -> Option<&FirstSend> {
        self.sends.first(key, now)
    }

    pub(crate) fn forget_send(&mut self, key: &SendKey) {
        self.sends.forget(key);
    }

    fn repeated(&self, claim: Option<&SendClaim>) -> Option<FirstSend> {
        claim.and_then(|claim| self.sends.first(&claim.key, claim.now).cloned())
    }

    pub(crate) fn record(&self, id: &TaskId) -> Option<&Arc<Record>> {
        self.tasks.get(id)
    }

    /// Applies a change of state or sight, or one with a configuration. Also hands out what it made leave.
    pub(crate) fn commit(
        &mut self,
        mut change: Change,
    ) -> Result<(News, Granted, Vec<Arc<Record>>), CommitError> {
        let record = self.tasks.get(&change.head.id).ok_or(CommitError::Gone)?.clone();
        let before = record.head();
        if let Some(first) = self.repeated(change.send.as_deref()) {
            return Err(CommitError::Repeated(first));
        }
        let (put, run, claim, cursor) = (
            change.config.take(),
            change.run.take(),
            change.send.take(),
            change.entry.cursor,
        );
        if before.cursor.revision + 1 != cursor.revision {
            return Err(CommitError::Conflict);
        }
        if let Some(owner) = change.owner
            && !self.due.is_newest_run(&before.id, owner)
        {
            return Err(CommitError::Superseded);
        }
        if let Some(ConfigPut { config, most, .. }) = &put
            && !self.configs.has_room(&before.id, config, *most)
        {
            return Err(CommitError::ConfigLimit);
        }
        let news = record.apply(change)?;
        let granted = Granted {
            run: run.map(|run| self.due.put_run(&before.id, *run)),
            webhook: put.and_then(|put| self.insert_config(&before.id, put, cursor)),
        };
        let after = record.head();
        if let Some(claim) = claim {
            self.sends.remember(&claim, &after);
        }
        if before.hidden && !after.hidden {
            self.sends.shown(&before.id);
        }
        self.index.replace(&before, &after);
        let ended = after.status.state.is_terminal() && !before.status.state.is_terminal();
        let retired = if ended {
            self.due.end_run(&after.id);
            self.finish(&after, record.weight())
        } else {
            Vec::new()
        };
        Ok((news, granted, retired))
    }

    /// Stores a configuration for which there is room, and begins its delivery where that is asked for.
    fn insert_config(&mut self, task: &TaskId, put: ConfigPut, after: Cursor) -> Option<Epoch> {
        let id = put.config.config.id.clone().unwrap_or_default();
        self.configs.insert(task, put.config);
        match put.delivery {
            Some(terms) => Some(self.due.put_webhook(task, &id, after, &terms)),
            None => {
                self.due.remove_webhook(task, &id);
                None
            }
        }
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

    /// Forgets the sends whose time is over.
    pub(crate) fn sweep_sends(&mut self, now: Timestamp) {
        self.sends.sweep(now);
    }

    fn remove(&mut self, id: &TaskId) -> Option<Arc<Record>> {
        let record = self.tasks.remove(id)?;
        self.order.remove(id);
        let head = record.head();
        self.index.remove(&head);
        self.retention.remove(&head);
        self.configs.forget(id);
        self.due.forget(id);
        self.sends.shown(id);
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

    pub(crate) fn put_config(&mut self, put: ConfigPut) -> Result<Option<Epoch>, PutConfigError> {
        let task = put.config.config.task_id.clone().unwrap_or_default();
        let Some(record) = self.tasks.get(&task) else {
            return Err(PutConfigError::NoTask);
        };
        if !self.configs.has_room(&task, &put.config, put.most) {
            return Err(PutConfigError::Limit);
        }
        let newest = record.head().cursor;
        Ok(self.insert_config(&task, put, newest))
    }

    pub(crate) fn delete_config(&mut self, task: &TaskId, id: &PushNotificationConfigId) -> bool {
        self.due.remove_webhook(task, id);
        self.configs.delete(task, id)
    }

    pub(crate) fn due(&self) -> &Due {
        &self.due
    }

    pub(crate) fn due_mut(&mut self) -> &mut Due {
        &mut self.due
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
            due: self.due.sizes(),
            sends: self.sends.sizes(),
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
    pub(crate) due: [usize; 2],
    pub(crate) sends: [usize; 2],
}
