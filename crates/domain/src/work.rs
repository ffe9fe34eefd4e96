//! The keeper of this replica's leases: it renews what is held here, takes what is due, and gives back what this replica
//! lets go of.
//!
//! What the work is, its workers know. The keeper promises them that a lease that is lost is told at once, not that
//! nobody else has begun by then: the store refuses what a late holder writes.

mod held;
mod rounds;

pub use held::Held;

use std::{
    collections::{HashMap, VecDeque},
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use tokio::{
    sync::Notify,
    time::{Instant, timeout},
};
use tokio_util::{
    sync::{CancellationToken, DropGuard},
    task::TaskTracker,
};

use crate::{
    ReplicaId, TaskId,
    ports::{Clock, DueWork, Epoch, Ids, Lease, Store, Terms, WorkKey, WorkKind},
};

use held::{HeldState, Parting};

/// How leases are kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// Who holds them: no other replica, and no former start of this one, has the same name.
    pub replica: ReplicaId,
    /// How long work is held unless its lease is renewed, which it is three times as often.
    pub lease: Duration,
    /// How often is looked for work that is due, roughly.
    pub poll: Duration,
    /// How much is taken at once from each place of the store.
    pub most: usize,
    /// How many holders may lose a run; beyond it its task fails, since it may be what ends them.
    pub losses: u32,
}

impl Settings {
    /// The usual ones for a replica.
    pub fn of(replica: ReplicaId) -> Self {
        Self {
            replica,
            lease: Duration::from_secs(15),
            poll: Duration::from_secs(1),
            most: 64,
            losses: 5,
        }
    }
}

/// Does the work of a kind. None of these waits: whatever takes time goes on elsewhere, and holds on to the lease.
pub trait Worker: Send + Sync {
    /// Does work that another replica left.
    fn take(&self, held: Held, work: DueWork);

    /// Stops some work, since its lease is lost or wanted back. What is written for it afterwards is refused, or done
    /// once more by another replica.
    fn stop(&self, key: &WorkKey);

    /// More was asked of a run than [`Held::seen`] says.
    fn asked(&self, _held: Held) {}

    /// Something that was asked of the run of a task may have been answered; without a task: of any.
    fn answered(&self, _task: Option<&TaskId>) {}
}

/// The keeper. Cheap to clone.
#[derive(Clone)]
pub struct Keeper(Arc<Shared>);

struct Shared {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    ids: Arc<dyn Ids>,
    settings: Settings,
    runs: OnceLock<Arc<dyn Worker>>,
    webhooks: OnceLock<Arc<dyn Worker>>,
    held: Mutex<HashMap<WorkKey, Entry>>,
    /// What nobody here holds any more; as long as the store has not heard of it, it is kept above.
    parted: Mutex<VecDeque<Parted>>,
    parting: Notify,
    /// Something may be due.
    due: Notify,
    /// The last lease has gone.
    emptied: Notify,
    counts: Counts,
    closing: CancellationToken,
    stopped: CancellationToken,
    tasks: TaskTracker,
}

#[derive(Default)]
struct Counts {
    taken: AtomicU64,
    lost: AtomicU64,
    given_up: AtomicU64,
}

/// A lease that this replica has, as far as it knows.
struct Entry {
    epoch: Epoch,
    valid_until: Instant,
    held: Weak<HeldState>,
    lost: CancellationToken,
}

/// A lease whose holders here have all gone.
struct Parted {
    lease: Lease,
    seen: u64,
    how: Parting,
    /// How long nobody is to go on, where it is given back.
    pause: Duration,
}

impl Keeper {
    /// A keeper that holds nothing yet and takes nothing before it is started.
    pub fn new(store: Arc<dyn Store>, clock: Arc<dyn Clock>, ids: Arc<dyn Ids>, settings: Settings) -> Self {
        Self(Arc::new(Shared {
            store,
            clock,
            ids,
            settings,
            runs: OnceLock::new(),
            webhooks: OnceLock::new(),
            held: Mutex::default(),
            parted: Mutex::default(),
            parting: Notify::new(),
            due: Notify::new(),
            emptied: Notify::new(),
            counts: Counts::default(),
            closing: CancellationToken::new(),
            stopped: CancellationToken::new(),
            tasks: TaskTracker::new(),
        }))
    }

    /// Who does the agent's runs. To be said once, before the start.
    pub fn runs_by(&self, worker: Arc<dyn Worker>) {
        // A second worker would mean two services over one keeper, which nobody makes.
        drop(self.0.runs.set(worker));
    }

    /// Who delivers to webhooks. To be said once, before the start.
    pub fn webhooks_by(&self, worker: Arc<dyn Worker>) {
        drop(self.0.webhooks.set(worker));
    }

    /// Begins to renew and to take.
    pub fn start(&self) {
        rounds::start(&self.0);
    }

    /// The terms on which work is begun here at this moment.
    pub fn terms(&self) -> Terms {
        self.0.terms()
    }

    /// Who this is.
    pub fn replica(&self) -> &ReplicaId {
        &self.0.settings.replica
    }

    /// Holds work that was just granted on [`terms`](Self::terms), of which nothing beyond a number has been asked.
    pub fn hold(&self, lease: Lease, seen: u64) -> Held {
        Shared::hold(&self.0, lease, seen)
    }

    /// The lease of some work, where somebody here holds it.
    pub fn held(&self, key: &WorkKey) -> Option<Held> {
        let held = self.0.lock().get(key).and_then(|entry| entry.held.upgrade());
        held.map(Held)
    }

    /// How many holders may lose a run.
    pub fn losses(&self) -> u32 {
        self.0.settings.losses
    }

    /// How many leases are held.
    pub fn count(&self) -> usize {
        self.0.lock().len()
    }

    /// How much was taken that another replica had left, or this one had lost.
    pub fn taken(&self) -> u64 {
        self.0.counts.taken.load(Ordering::Relaxed)
    }

    /// How many leases were lost.
    pub fn lost(&self) -> u64 {
        self.0.counts.lost.load(Ordering::Relaxed)
    }

    /// How many runs were given up since too many holders had lost them.
    pub fn given_up(&self) -> u64 {
        self.0.counts.given_up.load(Ordering::Relaxed)
    }

    pub(crate) fn note_given_up(&self) {
        self.0.counts.given_up.fetch_add(1, Ordering::Relaxed);
    }

    /// Ends everything at once when it is dropped, as if the process had ended: what is held here runs out.
    pub fn stop_guard(&self) -> DropGuard {
        self.0.stopped.clone().drop_guard()
    }

    /// Takes nothing more, and gives back what is held so that other replicas go on at once. Waits for the work to
    /// stop, at most so long; what has not stopped by then is given back all the same.
    pub async fn drain(&self, patience: Duration) {
        let shared = &self.0;
        shared.closing.cancel();
        let all_stopped = async {
            while shared.stop_all() > 0 {
                // Again and again, since a call that was under way may still begin some.
                drop(timeout(STOP_AGAIN, shared.emptied.notified()).await);
            }
        };
        if timeout(patience, all_stopped).await.is_err() {
            tracing::warn!("work is given back before it has stopped");
            shared.give_back_all().await;
        }
        shared.stopped.cancel();
        shared.tasks.close();
        shared.tasks.wait().await;
    }
}

/// How often work that was told to stop is told again.
const STOP_AGAIN: Duration = Duration::from_millis(20);

impl Shared {
    fn terms(&self) -> Terms {
        Terms {
            replica: self.settings.replica.clone(),
            now: self.clock.now(),
            lease: self.settings.lease,
        }
    }

    fn worker(&self, kind: &WorkKind) -> Option<&Arc<dyn Worker>> {
        match kind {
            WorkKind::Run => self.runs.get(),
            WorkKind::Webhook(_) => self.webhooks.get(),
        }
    }

    fn hold(this: &Arc<Self>, lease: Lease, seen: u64) -> Held {
        let lost = CancellationToken::new();
        let held = Held::new(this.clone(), lease.clone(), seen, lost.clone());
        let entry = Entry {
            epoch: lease.epoch,
            valid_until: Instant::now() + this.settings.lease,
            held: Arc::downgrade(&held.0),
            lost,
        };
        let Some(former) = this.insert(&lease, entry) else {
            return held;
        };
        if let Some(former) = former {
            former.lost.cancel();
            // Its lease ran out unnoticed, and whoever works under it must not be taken for the one who begins now.
            if former.held.strong_count() > 0
                && let Some(worker) = this.worker(&lease.key.kind)
            {
                worker.stop(&lease.key);
            }
        }
        held
    }

    /// Answers with the entry that was there; nothing where that has the newer grant, and this one is lost.
    fn insert(&self, lease: &Lease, entry: Entry) -> Option<Option<Entry>> {
        let mut held = self.lock();
        if held
            .get(&lease.key)
            .is_some_and(|newer| newer.epoch > lease.epoch)
        {
            entry.lost.cancel();
            return None;
        }
        Some(held.insert(lease.key.clone(), entry))
    }

    fn is_valid(&self, lease: &Lease) -> bool {
        let held = self.lock();
        let entry = held.get(&lease.key);
        entry.is_some_and(|entry| entry.epoch == lease.epoch && entry.valid_until > Instant::now())
    }

    /// Nobody here holds it any more.
    fn part(&self, parted: Parted) {
        if let Parting::Over = parted.how {
            self.forget(&parted.lease);
            return;
        }
        let mut queue = self.parted.lock().unwrap_or_else(PoisonError::into_inner);
        queue.push_back(parted);
        drop(queue);
        self.parting.notify_one();
    }

    fn forget(&self, lease: &Lease) -> Option<Entry> {
        let mut held = self.lock();
        let is_this = held
            .get(&lease.key)
            .is_some_and(|entry| entry.epoch == lease.epoch);
        let entry = is_this.then(|| held.remove(&lease.key)).flatten();
        if held.is_empty() {
            self.emptied.notify_one();
        }
        entry
    }

    /// Another replica has it, or the store has not been reached for as long as the lease lasts.
    fn lose(&self, lease: &Lease) {
        let Some(entry) = self.forget(lease) else {
            return;
        };
        if entry.held.strong_count() == 0 {
            // Its work is done: the task has ended elsewhere, or the store was told meanwhile.
            return entry.lost.cancel();
        }
        tracing::info!(task = %lease.key.task, kind = lease.key.kind.name(), "lease lost");
        self.counts.lost.fetch_add(1, Ordering::Relaxed);
        entry.lost.cancel();
        if let Some(worker) = self.worker(&lease.key.kind) {
            worker.stop(&lease.key);
        }
    }

    /// Tells everything that is held to stop; says how much there is.
    fn stop_all(&self) -> usize {
        let keys: Vec<_> = self.lock().keys().cloned().collect();
        for key in &keys {
            if let Some(worker) = self.worker(&key.kind) {
                worker.stop(key);
            }
        }
        keys.len()
    }

    /// Has everything that is held count as lost here.
    fn cut_all(&self) -> Vec<Lease> {
        self.lock().values().for_each(|entry| entry.lost.cancel());
        self.leases()
    }

    fn leases(&self) -> Vec<Lease> {
        let held = self.lock();
        let lease = |(key, entry): (&WorkKey, &Entry)| Lease {
            key: key.clone(),
            epoch: entry.epoch,
        };
        held.iter().map(lease).collect()
    }

    // Nothing can panic while it is held.
    fn lock(&self) -> MutexGuard<'_, HashMap<WorkKey, Entry>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
