//! A lease in the hands of whoever does the work. It is shared; the last who drops it says by that that the work is done
//! here.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicU8, AtomicU64, Ordering},
    },
    time::Duration,
};

use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;

use super::{Parted, Shared};
use crate::ports::{Epoch, Lease};

/// Some work that this replica holds. Cheap to clone.
#[derive(Clone)]
pub struct Held(pub(super) Arc<HeldState>);

pub(super) struct HeldState {
    keeper: Arc<Shared>,
    lease: Lease,
    seen: AtomicU64,
    parting: AtomicU8,
    /// Milliseconds until another replica is to go on.
    pause: AtomicU64,
    lost: CancellationToken,
    /// Held while what is asked of the run is looked at.
    asks: Mutex<()>,
}

/// What becomes of work when nobody here holds it any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Parting {
    /// It is done, and removed from the store.
    Settle = 0,
    /// Another replica is to go on.
    GiveBack = 1,
    /// The store has no more of it.
    Over = 2,
}

impl Held {
    pub(super) fn new(keeper: Arc<Shared>, lease: Lease, seen: u64, lost: CancellationToken) -> Self {
        Self(Arc::new(HeldState {
            keeper,
            lease,
            seen: AtomicU64::new(seen),
            parting: AtomicU8::new(Parting::Settle as u8),
            pause: AtomicU64::new(0),
            lost,
            asks: Mutex::new(()),
        }))
    }

    /// The lease.
    pub fn lease(&self) -> &Lease {
        &self.0.lease
    }

    /// The grant, which every commit for this work carries.
    pub fn epoch(&self) -> Epoch {
        self.0.lease.epoch
    }

    /// Returns when the lease is lost, which it may never be.
    pub async fn lost(&self) {
        self.0.lost.cancelled().await;
    }

    /// Whether the lease is lost.
    pub fn is_lost(&self) -> bool {
        self.0.lost.is_cancelled()
    }

    /// Whether the lease lasts by this process's clock: it may not, and be lost, though nobody has noticed yet.
    pub fn is_valid(&self) -> bool {
        !self.is_lost() && self.0.keeper.is_valid(&self.0.lease)
    }

    /// Whether this replica is about to leave: work that stops now is given back.
    pub fn is_wanted_back(&self) -> bool {
        self.0.keeper.closing.is_cancelled()
    }

    /// Returns when this replica is about to leave.
    pub async fn wanted_back(&self) {
        self.0.keeper.closing.cancelled().await;
    }

    /// The work is not done: when the last has dropped it another replica is to go on.
    pub fn give_back(&self) {
        self.give_back_in(Duration::ZERO);
    }

    /// The same, but some replica is to go on after a pause only. One that leaves gives back without it.
    pub fn give_back_in(&self, pause: Duration) {
        let millis = u64::try_from(pause.as_millis()).unwrap_or(u64::MAX);
        self.0.pause.store(millis, Ordering::Relaxed);
        self.0.parting.store(Parting::GiveBack as u8, Ordering::Relaxed);
    }

    /// The work is done, whatever was said before.
    pub fn is_done(&self) {
        self.0.parting.store(Parting::Settle as u8, Ordering::Relaxed);
    }

    /// The store has no more of it, since its task ended.
    pub fn is_over(&self) {
        self.0.parting.store(Parting::Over as u8, Ordering::Relaxed);
    }

    /// The number of the latest that was asked of the run and that its worker knows of.
    pub fn seen(&self) -> u64 {
        self.0.seen.load(Ordering::Relaxed)
    }

    /// Its worker knows of what was asked up to a number.
    pub fn note_seen(&self, number: u64) {
        self.0.seen.fetch_max(number, Ordering::Relaxed);
    }

    /// Held while what is asked is looked at, so that nothing is looked at twice.
    pub(crate) async fn asks(&self) -> tokio::sync::MutexGuard<'_, ()> {
        self.0.asks.lock().await
    }
}

impl fmt::Debug for Held {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.lease.fmt(f)
    }
}

impl Drop for HeldState {
    fn drop(&mut self) {
        if self.lost.is_cancelled() {
            return;
        }
        let how = match self.parting.load(Ordering::Relaxed) {
            0 => Parting::Settle,
            1 => Parting::GiveBack,
            _ => Parting::Over,
        };
        let pause = Duration::from_millis(self.pause.load(Ordering::Relaxed));
        self.keeper.part(Parted {
            lease: self.lease.clone(),
            seen: self.seen.load(Ordering::Relaxed),
            how,
            pause,
        });
    }
}
