//! What the keeper does again and again, each in a task of its own: renewing, taking, parting, listening.

use std::{
    sync::{Arc, PoisonError, atomic::Ordering},
    time::Duration,
};

use futures::{StreamExt, stream};
use tokio::{
    sync::broadcast::{self, error::RecvError},
    time::{Instant, sleep, timeout},
};

use super::{Held, Parted, Parting, Shared};
use crate::{
    Timestamp,
    ports::{DueWork, Lease, Renewed, Settled, Taken, WorkKey, WorkKind, WorkNews},
};

/// Leases that are let go of at once.
const PARTING_AT_ONCE: usize = 32;

/// How long is waited where the store could not be told that work is done.
const STORE_PAUSE: Duration = Duration::from_secs(1);

pub(super) fn start(shared: &Arc<Shared>) {
    // Before anything is held, so that no hint about it is missed.
    let news = shared.store.work_news();
    let own = |round| {
        let stopped = shared.stopped.clone();
        shared.tasks.spawn(async move {
            stopped.run_until_cancelled(round).await;
        })
    };
    own(Box::pin(renew(shared.clone())) as futures::future::BoxFuture<'static, ()>);
    own(Box::pin(take(shared.clone())));
    own(Box::pin(part(shared.clone())));
    own(Box::pin(listen(shared.clone(), news)));
}

/// Three times as often as leases last; where the store is away, as often again as it takes to notice soon.
async fn renew(shared: Arc<Shared>) {
    let lease = shared.settings.lease;
    let mut pause = lease / 3;
    loop {
        sleep(pause).await;
        pause = match shared.renew_all().await {
            true => lease / 3,
            false => lease / 15,
        };
        shared.lose_expired();
    }
}

/// A little more or less often than told, so that replicas do not all look at once.
async fn take(shared: Arc<Shared>) {
    let closing = shared.closing.clone();
    let taking = async {
        loop {
            while shared.take_some().await {}
            let jitter = f64::from(shared.ids.mark()) / f64::from(u32::MAX);
            let pause = shared.settings.poll.mul_f64(0.8 + 0.4 * jitter);
            drop(timeout(pause, shared.due.notified()).await);
            if let Some(runs) = shared.runs.get() {
                runs.answered(None);
            }
        }
    };
    closing.run_until_cancelled(taking).await;
}

async fn part(shared: Arc<Shared>) {
    loop {
        shared.parting.notified().await;
        loop {
            let parted: Vec<_> = {
                let mut queue = shared.parted.lock().unwrap_or_else(PoisonError::into_inner);
                queue.drain(..).collect()
            };
            if parted.is_empty() {
                break;
            }
            let shared = &shared;
            stream::iter(parted)
                .for_each_concurrent(PARTING_AT_ONCE, |parted| shared.part_with(parted))
                .await;
        }
    }
}

async fn listen(shared: Arc<Shared>, mut news: broadcast::Receiver<WorkNews>) {
    loop {
        match news.recv().await {
            Ok(WorkNews::Asked(task)) => shared.pass_on(WorkKey {
                task,
                kind: WorkKind::Run,
            }),
            Ok(WorkNews::Answered(task)) => {
                if let Some(runs) = shared.runs.get() {
                    runs.answered(Some(&task));
                }
            }
            // What was asked meanwhile is found when its lease is renewed.
            Ok(WorkNews::Due | WorkNews::Missed) | Err(RecvError::Lagged(_)) => shared.due.notify_one(),
            Err(RecvError::Closed) => return,
        }
    }
}

impl Shared {
    /// Says whether the whole store answered.
    async fn renew_all(&self) -> bool {
        let leases = self.leases();
        if leases.is_empty() {
            return true;
        }
        let (asked, terms) = (Instant::now(), self.terms());
        let renewed = match self.store.renew(&leases, &terms).await {
            Ok(renewed) => renewed,
            Err(error) => {
                tracing::warn!(leases = leases.len(), cause = error.cause, "leases not renewed");
                return false;
            }
        };
        let mut whole = true;
        for (lease, renewed) in leases.iter().zip(renewed) {
            match renewed {
                Renewed::Held { asked: latest } => self.prolong(lease, asked + self.settings.lease, latest),
                Renewed::Lost => self.lose(lease),
                Renewed::Unknown => whole = false,
            }
        }
        whole
    }

    fn prolong(&self, lease: &Lease, until: Instant, latest: u64) {
        let held = {
            let mut all = self.lock();
            let Some(entry) = all.get_mut(&lease.key).filter(|entry| entry.epoch == lease.epoch) else {
                return;
            };
            entry.valid_until = until;
            entry.held.upgrade()
        };
        if let Some(held) = held.map(Held).filter(|held| held.seen() < latest)
            && let Some(worker) = self.worker(&lease.key.kind)
        {
            worker.asked(held);
        }
    }

    fn lose_expired(&self) {
        let now = Instant::now();
        let expired: Vec<_> = {
            let held = self.lock();
            let expired = held.iter().filter(|(_, entry)| entry.valid_until <= now);
            expired
                .map(|(key, entry)| Lease {
                    key: key.clone(),
                    epoch: entry.epoch,
                })
                .collect()
        };
        expired.iter().for_each(|lease| self.lose(lease));
    }

    /// Says whether there may be more.
    async fn take_some(self: &Arc<Self>) -> bool {
        let most = self.settings.most;
        match self.store.take_due(&self.terms(), most).await {
            Ok(taken) => {
                let more = taken.len() >= most;
                for taken in taken {
                    self.take_on(taken);
                }
                more
            }
            Err(error) => {
                tracing::debug!(cause = error.cause, "due work not looked for");
                false
            }
        }
    }

    fn take_on(self: &Arc<Self>, Taken { lease, work }: Taken) {
        let Some(worker) = self.worker(&lease.key.kind).cloned() else {
            // Nobody here does such work. Its lease runs out.
            return;
        };
        tracing::debug!(task = %lease.key.task, kind = lease.key.kind.name(), "work taken");
        self.counts.taken.fetch_add(1, Ordering::Relaxed);
        let seen = match &work {
            DueWork::Run { asked, .. } => *asked,
            DueWork::Webhook { .. } => 0,
        };
        worker.take(Self::hold(self, lease, seen), work);
    }

    /// Somebody asked something of a run. Where this replica has let go of it, parting finds out.
    pub(super) fn pass_on(&self, key: WorkKey) {
        let held = self.lock().get(&key).and_then(|entry| entry.held.upgrade());
        if let (Some(held), Some(worker)) = (held, self.worker(&key.kind)) {
            worker.asked(Held(held));
        }
    }

    async fn part_with(self: &Arc<Self>, parted: Parted) {
        let closing = self.closing.is_cancelled();
        let Parted {
            lease,
            seen,
            how,
            pause,
        } = parted;
        if closing || how == Parting::GiveBack {
            let pause = if closing { Duration::ZERO } else { pause };
            return self.give_back(&lease, self.after(pause)).await;
        }
        loop {
            match self.store.settle(&lease, seen).await {
                Ok(Settled::Done | Settled::Lost) => {
                    self.forget(&lease);
                    return;
                }
                Ok(Settled::MoreAsked) => {
                    if let Some(worker) = self.worker(&lease.key.kind).cloned() {
                        worker.asked(Self::hold(self, lease, seen));
                    }
                    return;
                }
                Err(error) => {
                    tracing::debug!(task = %lease.key.task, cause = error.cause, "work not settled");
                }
            }
            sleep(STORE_PAUSE).await;
            let known = self.leases().contains(&lease);
            if !known {
                return;
            }
        }
    }

    fn after(&self, pause: Duration) -> Timestamp {
        let (now, millis) = (self.clock.now(), i64::try_from(pause.as_millis()));
        let after = now.millis().saturating_add(millis.unwrap_or(i64::MAX));
        Timestamp::from_millis(after).unwrap_or(now)
    }

    async fn give_back(&self, lease: &Lease, due: Timestamp) {
        if let Err(error) = self.store.give_back(lease, due).await {
            // It runs out by itself.
            tracing::info!(task = %lease.key.task, cause = error.cause, "work not given back");
        }
        self.forget(lease);
    }

    pub(super) async fn give_back_all(&self) {
        // First, so that nothing is done here any more when another replica goes on.
        let (leases, now) = (self.cut_all(), self.clock.now());
        stream::iter(leases)
            .for_each_concurrent(PARTING_AT_ONCE, |lease| async move {
                self.give_back(&lease, now).await;
            })
            .await;
    }
}
