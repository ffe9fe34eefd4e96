//! Sends that are remembered for the case that they are repeated. Of each tenant the oldest leave when their time is
//! over, or when there are too many of them, or they take too many bytes.

use std::{
    collections::{HashMap, VecDeque},
    sync::Arc,
};

use gateway_domain::{
    Message, MessageId, Subject, TaskId, Tenant, Timestamp,
    ports::TaskHead,
    repeats::{FirstSend, SendClaim, SendKey},
};

#[derive(Debug, Default)]
pub(crate) struct Sends {
    /// A tenant of which nothing is remembered is not here.
    tenants: HashMap<Option<Tenant>, OfTenant>,
    /// By which key a hidden task's send is remembered. It leaves with the task, or when that is shown.
    hidden: HashMap<TaskId, SendKey>,
    /// Tells apart what was remembered under one key one after the other.
    drawn: u64,
}

#[derive(Debug, Default)]
struct OfTenant {
    sends: HashMap<(Option<Subject>, MessageId), Held>,
    /// The first to leave first. What was forgotten meanwhile is still here, and leaves in its turn.
    order: VecDeque<(Timestamp, SendKey, u64)>,
    bytes: usize,
}

#[derive(Debug)]
struct Held {
    first: FirstSend,
    number: u64,
}

impl Sends {
    /// What is remembered at a moment.
    pub(crate) fn first(&self, key: &SendKey, now: Timestamp) -> Option<&FirstSend> {
        let held = self.tenants.get(&key.scope.tenant)?.sends.get(&place(key))?;
        Some(&held.first).filter(|first| first.until > now)
    }

    /// Remembers the send that made an entry of a task.
    pub(crate) fn remember(&mut self, claim: &SendClaim, head: &TaskHead) {
        self.drawn += 1;
        let (key, number) = (claim.key.clone(), self.drawn);
        if head.hidden {
            self.hidden.insert(head.id.clone(), key.clone());
        }
        let first = FirstSend {
            content: claim.content,
            task: head.id.clone(),
            cursor: head.cursor,
            answer: None,
            until: claim.until,
        };
        let tenant = self.tenants.entry(key.scope.tenant.clone()).or_default();
        tenant.forget(&key);
        tenant.bytes += first.weight(&key);
        tenant.sends.insert(place(&key), Held { first, number });
        tenant.order.push_back((claim.until, key, number));
        tenant.make_room(claim);
    }

    /// Adds the answer to the send that made a task.
    pub(crate) fn answer(&mut self, task: &TaskId, answer: &Arc<Message>) {
        let Some(key) = self.hidden.remove(task) else {
            return;
        };
        let tenant = self.tenants.get_mut(&key.scope.tenant);
        let Some((tenant, at)) = tenant.map(|tenant| (tenant, place(&key))) else {
            return;
        };
        if let Some(held) = tenant.sends.get_mut(&at).filter(|held| held.first.task == *task) {
            tenant.bytes += answer.weight();
            held.first.answer = Some(answer.clone());
        }
    }

    /// Forgets the send that made a task which clients never saw.
    pub(crate) fn forget_task(&mut self, task: &TaskId) {
        if let Some(key) = self.hidden.remove(task) {
            self.forget(&key);
        }
    }

    /// A task is hidden no more: its send will not be forgotten with it.
    pub(crate) fn shown(&mut self, task: &TaskId) {
        // Most gateways remember no sends, and need not look for any.
        if !self.hidden.is_empty() {
            self.hidden.remove(task);
        }
    }

    pub(crate) fn forget(&mut self, key: &SendKey) {
        if let Some(tenant) = self.tenants.get_mut(&key.scope.tenant) {
            tenant.forget(key);
            self.tidy(key);
        }
    }

    pub(crate) fn forget_tenant(&mut self, tenant: &Option<Tenant>) {
        self.tenants.remove(tenant);
        self.hidden.retain(|_, key| key.scope.tenant != *tenant);
    }

    /// Forgets the sends whose time is over.
    pub(crate) fn sweep(&mut self, now: Timestamp) {
        self.tenants.retain(|_, tenant| {
            tenant.drop_while(|tenant| tenant.order.front().is_some_and(|(until, ..)| *until <= now));
            !tenant.order.is_empty()
        });
    }

    fn tidy(&mut self, key: &SendKey) {
        let empty = |tenant: &OfTenant| tenant.sends.is_empty();
        if self.tenants.get(&key.scope.tenant).is_some_and(empty) {
            self.tenants.remove(&key.scope.tenant);
        }
    }

    #[cfg(test)]
    pub(crate) fn sizes(&self) -> [usize; 2] {
        [self.tenants.len(), self.hidden.len()]
    }
}

impl OfTenant {
    /// Lets the oldest go until there is room. The newest stays unless it is more than everything may take.
    fn make_room(&mut self, claim: &SendClaim) {
        self.drop_while(|tenant| {
            let oldest = tenant.order.front();
            oldest.is_some_and(|(until, ..)| *until <= claim.now)
                || tenant.order.len() > claim.most
                || tenant.bytes > claim.bytes
        });
    }

    fn drop_while(&mut self, over: impl Fn(&Self) -> bool) {
        while over(self)
            && let Some((_, key, number)) = self.order.pop_front()
        {
            let current = self.sends.get(&place(&key));
            if current.is_some_and(|held| held.number == number) {
                self.forget(&key);
            }
        }
    }

    fn forget(&mut self, key: &SendKey) {
        if let Some(held) = self.sends.remove(&place(key)) {
            self.bytes -= held.first.weight(key);
        }
    }
}

fn place(key: &SendKey) -> (Option<Subject>, MessageId) {
    (key.scope.owner.clone(), key.message.clone())
}
