//! How many tasks each tenant has, and which finished ones have to leave. Live tasks never do.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use gateway_domain::{Tenant, Timestamp, page::TaskPosition, ports::TaskHead};

use crate::{Settings, index::place};

/// How many finished tasks have been removed, by the bound that they were over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Retired {
    /// Their tenant had too many.
    pub over_count: u64,
    /// All together took too many bytes.
    pub over_bytes: u64,
    /// Their time was over.
    pub over_age: u64,
}

#[derive(Debug, Default)]
pub(crate) struct Retention {
    /// A tenant that has no task is not here.
    tenants: HashMap<Option<Tenant>, Tally>,
    /// Finished tasks with the bytes of each, the first to leave first. The place of a task does not change any more
    /// once it is finished.
    finished: BTreeMap<TaskPosition, usize>,
    finished_bytes: usize,
    retired: Retired,
}

#[derive(Debug, Default)]
struct Tally {
    live: usize,
    finished: BTreeSet<TaskPosition>,
}

impl Retention {
    /// Counts a new task, unless its tenant has as many live ones already.
    pub(crate) fn admit(&mut self, tenant: &Option<Tenant>, live_limit: usize) -> bool {
        let live = self.tenants.get(tenant).map_or(0, |tally| tally.live);
        let room = live < live_limit;
        if room {
            self.tenants.entry(tenant.clone()).or_default().live += 1;
        }
        room
    }

    /// Counts a task that was live as finished.
    pub(crate) fn finish(&mut self, head: &TaskHead, bytes: usize) {
        let tally = self.tenants.entry(head.scope.tenant.clone()).or_default();
        tally.live -= 1;
        tally.finished.insert(place(head));
        self.finished_bytes += bytes;
        self.finished.insert(place(head), bytes);
    }

    /// Counts a task no more.
    pub(crate) fn remove(&mut self, head: &TaskHead) {
        let place = place(head);
        let finished = self.finished.remove(&place);
        let Some(tally) = self.tenants.get_mut(&head.scope.tenant) else {
            return;
        };
        match finished {
            Some(bytes) => {
                self.finished_bytes -= bytes;
                tally.finished.remove(&place);
            }
            None => tally.live -= 1,
        }
        if tally.live == 0 && tally.finished.is_empty() {
            self.tenants.remove(&head.scope.tenant);
        }
    }

    /// The next task that has to leave after one of this tenant has finished; counts it as retired.
    pub(crate) fn surplus(&mut self, tenant: &Option<Tenant>, settings: &Settings) -> Option<TaskPosition> {
        let of_tenant = self.tenants.get(tenant).map(|tally| &tally.finished);
        if let Some(finished) = of_tenant.filter(|finished| finished.len() > settings.finished_per_tenant) {
            self.retired.over_count += 1;
            return finished.first().cloned();
        }
        if self.finished_bytes > settings.finished_bytes {
            self.retired.over_bytes += 1;
            return self.finished.keys().next().cloned();
        }
        None
    }

    /// The next task whose time is over; counts it as retired.
    pub(crate) fn expired(&mut self, now: Timestamp, settings: &Settings) -> Option<TaskPosition> {
        let oldest = self.finished.keys().next()?;
        if now.since(oldest.timestamp) < settings.finished_kept {
            return None;
        }
        self.retired.over_age += 1;
        Some(oldest.clone())
    }

    /// How many finished tasks are held.
    pub(crate) fn finished(&self) -> usize {
        self.finished.len()
    }

    pub(crate) fn retired(&self) -> Retired {
        self.retired
    }

    #[cfg(test)]
    pub(crate) fn sizes(&self) -> [usize; 3] {
        [self.tenants.len(), self.finished.len(), self.finished_bytes]
    }
}
