//! Due work: of each task its run, its webhooks, and what is asked of the run. A task for which nothing was ever put is
//! not here.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use gateway_domain::{
    Cursor, PushNotificationConfigId, ReplicaId, TaskId, Timestamp,
    ports::{
        Asked, AskedOffer, DueWork, Epoch, Lease, MOST_ANSWERS, MOST_ASKED, NumberedAsk, Renewed, RunAnswer,
        RunAsk, RunGrant, RunPut, Settled, Taken, Terms, WorkKey, WorkKind,
    },
};

#[derive(Debug, Default)]
pub(crate) struct Due {
    tasks: HashMap<TaskId, TaskWork>,
    /// All of it, the longest due first.
    order: BTreeSet<(Timestamp, WorkKey)>,
}

#[derive(Debug, Default)]
struct TaskWork {
    /// The newest grant of any work of the task.
    epoch: Epoch,
    /// The number of the latest that was asked.
    asked: u64,
    run: Option<Run>,
    webhooks: BTreeMap<PushNotificationConfigId, Webhook>,
    answers: BTreeMap<u64, RunAnswer>,
}

#[derive(Debug)]
struct Run {
    epoch: Epoch,
    holder: ReplicaId,
    due: Timestamp,
    attempt: u32,
    lost: u32,
    /// Whether its last holder gave it back.
    handed: bool,
    asks: BTreeMap<u64, RunAsk>,
}

#[derive(Debug)]
struct Webhook {
    epoch: Epoch,
    due: Timestamp,
    delivered: Cursor,
}

impl TaskWork {
    fn grant(&mut self) -> Epoch {
        self.epoch += 1;
        self.epoch
    }

    /// Adds to what is asked of the run that is there.
    fn ask(&mut self, ask: RunAsk) -> Option<Asked> {
        let run = self.run.as_mut()?;
        self.asked += 1;
        run.asks.insert(self.asked, ask);
        if run.asks.len() > MOST_ASKED {
            // The first began the run.
            let oldest = run.asks.keys().nth(1).copied();
            oldest.and_then(|oldest| run.asks.remove(&oldest));
        }
        Some(Asked {
            number: self.asked,
            holder: run.holder.clone(),
        })
    }

    /// The run, where this lease of it is the newest.
    fn run_under(&mut self, lease: &Lease) -> Option<&mut Run> {
        let current = lease.key.kind == WorkKind::Run;
        self.run
            .as_mut()
            .filter(|run| current && run.epoch == lease.epoch)
    }

    /// When some work is due, and its grant.
    fn slot(&mut self, kind: &WorkKind) -> Option<(&mut Timestamp, &mut Epoch)> {
        match kind {
            WorkKind::Run => self.run.as_mut().map(|run| (&mut run.due, &mut run.epoch)),
            WorkKind::Webhook(id) => {
                let webhook = self.webhooks.get_mut(id)?;
                Some((&mut webhook.due, &mut webhook.epoch))
            }
        }
    }
}

impl Due {
    // === putting ===

    /// Begins the run of a task, or asks the one that it has.
    pub(crate) fn put_run(&mut self, task: &TaskId, put: RunPut) -> RunGrant {
        let RunPut { offer, terms } = put;
        let work = self.tasks.entry(task.clone()).or_default();
        if let Some(asked) = work.ask(RunAsk::Offer(offer.clone())) {
            return RunGrant::Asked(asked);
        }
        let (epoch, number) = self.begin_run(task, offer, &terms);
        RunGrant::Begun { epoch, number }
    }

    fn begin_run(&mut self, task: &TaskId, offer: AskedOffer, terms: &Terms) -> (Epoch, u64) {
        let work = self.tasks.entry(task.clone()).or_default();
        let epoch = work.grant();
        work.asked += 1;
        work.run = Some(Run {
            epoch,
            holder: terms.replica.clone(),
            due: terms.due(),
            attempt: 1,
            lost: 0,
            handed: false,
            asks: BTreeMap::from([(work.asked, RunAsk::Offer(offer))]),
        });
        self.order.insert((terms.due(), key(task, WorkKind::Run)));
        (epoch, work.asked)
    }

    /// Begins delivery to a configuration, in place of any to another of its id.
    pub(crate) fn put_webhook(
        &mut self,
        task: &TaskId,
        id: &PushNotificationConfigId,
        delivered: Cursor,
        terms: &Terms,
    ) -> Epoch {
        self.remove_webhook(task, id);
        let work = self.tasks.entry(task.clone()).or_default();
        let epoch = work.grant();
        let webhook = Webhook {
            epoch,
            due: terms.due(),
            delivered,
        };
        work.webhooks.insert(id.clone(), webhook);
        self.order
            .insert((terms.due(), key(task, WorkKind::Webhook(id.clone()))));
        epoch
    }

    pub(crate) fn ask(&mut self, task: &TaskId, ask: RunAsk) -> Option<Asked> {
        self.tasks.get_mut(task)?.ask(ask)
    }

    // === leases ===

    pub(crate) fn is_newest_run(&self, task: &TaskId, epoch: Epoch) -> bool {
        let run = self.tasks.get(task).and_then(|work| work.run.as_ref());
        run.is_some_and(|run| run.epoch == epoch)
    }

    pub(crate) fn take(&mut self, terms: &Terms, most: usize) -> Vec<Taken> {
        let due = self.order.iter().take_while(|(due, _)| *due <= terms.now);
        let due: Vec<_> = due.take(most).map(|(_, key)| key.clone()).collect();
        due.into_iter()
            .filter_map(|key| self.take_one(key, terms))
            .collect()
    }

    fn take_one(&mut self, key: WorkKey, terms: &Terms) -> Option<Taken> {
        self.set_due(&key, terms.due());
        let work = self.tasks.get_mut(&key.task)?;
        let epoch = work.grant();
        *work.slot(&key.kind)?.1 = epoch;
        let due = match &key.kind {
            WorkKind::Run => {
                let run = work.run.as_mut()?;
                run.holder = terms.replica.clone();
                run.attempt += 1;
                run.lost += u32::from(!std::mem::take(&mut run.handed));
                DueWork::Run {
                    attempt: run.attempt,
                    lost: run.lost,
                    asks: run
                        .asks
                        .iter()
                        .map(|(number, ask)| (*number, ask.clone()))
                        .collect(),
                    asked: work.asked,
                }
            }
            WorkKind::Webhook(id) => DueWork::Webhook {
                delivered: work.webhooks.get(id)?.delivered,
            },
        };
        Some(Taken {
            lease: Lease { key, epoch },
            work: due,
        })
    }

    pub(crate) fn renew(&mut self, lease: &Lease, due: Timestamp) -> Renewed {
        if !self.is_held(lease) {
            return Renewed::Lost;
        }
        self.set_due(&lease.key, due);
        let asked = self.tasks.get(&lease.key.task).map_or(0, |work| work.asked);
        Renewed::Held {
            asked: if lease.key.kind == WorkKind::Run { asked } else { 0 },
        }
    }

    pub(crate) fn give_back(&mut self, lease: &Lease, due: Timestamp) -> bool {
        let held = self.is_held(lease);
        if held {
            self.set_due(&lease.key, due);
            let work = self.tasks.get_mut(&lease.key.task);
            if let Some(run) = work.and_then(|work| work.run_under(lease)) {
                run.handed = true;
            }
        }
        held
    }

    pub(crate) fn settle(&mut self, lease: &Lease, seen: u64) -> Settled {
        if !self.is_held(lease) {
            return Settled::Lost;
        }
        match &lease.key.kind {
            WorkKind::Run
                if self
                    .tasks
                    .get(&lease.key.task)
                    .is_some_and(|work| work.asked > seen) =>
            {
                return Settled::MoreAsked;
            }
            WorkKind::Run => self.end_run(&lease.key.task),
            WorkKind::Webhook(id) => self.remove_webhook(&lease.key.task, id),
        }
        Settled::Done
    }

    pub(crate) fn note_delivered(&mut self, lease: &Lease, delivered: Cursor, due: Timestamp) -> bool {
        let held = self.give_back(lease, due);
        if let (true, WorkKind::Webhook(id)) = (held, &lease.key.kind)
            && let Some(work) = self.tasks.get_mut(&lease.key.task)
            && let Some(webhook) = work.webhooks.get_mut(id)
        {
            webhook.delivered = delivered;
        }
        held
    }

    fn is_held(&mut self, lease: &Lease) -> bool {
        let work = self.tasks.get_mut(&lease.key.task);
        let slot = work.and_then(|work| work.slot(&lease.key.kind));
        slot.is_some_and(|(_, epoch)| *epoch == lease.epoch)
    }

    fn set_due(&mut self, key: &WorkKey, due: Timestamp) {
        let work = self.tasks.get_mut(&key.task);
        if let Some((slot, _)) = work.and_then(|work| work.slot(&key.kind)) {
            self.order.remove(&(*slot, key.clone()));
            *slot = due;
            self.order.insert((due, key.clone()));
        }
    }

    // === what is asked of a run ===

    pub(crate) fn asks(&mut self, lease: &Lease, after: u64) -> Option<Vec<NumberedAsk>> {
        let run = self.tasks.get_mut(&lease.key.task)?.run_under(lease)?;
        let asks = run.asks.range(after + 1..);
        Some(asks.map(|(number, ask)| (*number, ask.clone())).collect())
    }

    pub(crate) fn answer(&mut self, lease: &Lease, number: u64, answer: RunAnswer, kept: bool) -> bool {
        let Some(work) = self.tasks.get_mut(&lease.key.task) else {
            return false;
        };
        let Some(run) = work.run_under(lease) else {
            return false;
        };
        if !kept {
            run.asks.remove(&number);
        }
        work.answers.insert(number, answer);
        while work.answers.len() as u64 > MOST_ANSWERS {
            work.answers.pop_first();
        }
        true
    }

    pub(crate) fn answer_to(&self, task: &TaskId, number: u64) -> Option<RunAnswer> {
        self.tasks.get(task)?.answers.get(&number).cloned()
    }

    // === removing ===

    /// The task has ended, or its run is done.
    pub(crate) fn end_run(&mut self, task: &TaskId) {
        let run = self.tasks.get_mut(task).and_then(|work| work.run.take());
        if let Some(run) = run {
            self.order.remove(&(run.due, key(task, WorkKind::Run)));
        }
    }

    pub(crate) fn remove_webhook(&mut self, task: &TaskId, id: &PushNotificationConfigId) {
        let work = self.tasks.get_mut(task);
        if let Some(webhook) = work.and_then(|work| work.webhooks.remove(id)) {
            self.order
                .remove(&(webhook.due, key(task, WorkKind::Webhook(id.clone()))));
        }
    }

    /// The task is gone.
    pub(crate) fn forget(&mut self, task: &TaskId) {
        self.end_run(task);
        for (id, webhook) in self.tasks.remove(task).into_iter().flat_map(|work| work.webhooks) {
            self.order
                .remove(&(webhook.due, key(task, WorkKind::Webhook(id))));
        }
    }

    #[cfg(test)]
    pub(crate) fn sizes(&self) -> [usize; 2] {
        [self.tasks.len(), self.order.len()]
    }
}

fn key(task: &TaskId, kind: WorkKind) -> WorkKey {
    WorkKey {
        task: task.clone(),
        kind,
    }
}
