//! What goes on besides calls: asking Redis whether it is there, looking at tasks whose news may have been missed,
//! ending subscriptions that nobody needs, and removing finished tasks whose time is over.

use std::{
    sync::{Arc, Weak, atomic::Ordering::Relaxed},
    time::Duration,
};

use futures::{StreamExt, stream};
use gateway_domain::{Timestamp, ports::StoreError};
use tokio::{task::JoinHandle, time};

use crate::{Inner, keys::Bucket, scripts, work::parted};

/// How often the keeper looks.
const ROUND: Duration = Duration::from_secs(1);

/// The same while a server does not answer: it may be another one soon.
const ROUND_WITHOUT: Duration = Duration::from_millis(250);

/// Without an answer for so long, the replica is not ready.
const AWAY: Duration = Duration::from_secs(5);

/// Questions about tasks that are under way at once.
const QUESTIONS: usize = 32;

/// Buckets that are swept at once, so that those whose master is away don't keep the others waiting.
const BUCKETS_AT_ONCE: usize = 8;

/// Tasks that one script removes: few enough for calls to get their turn in between.
const SWEPT_AT_ONCE: usize = 64;

/// How many finished tasks have been removed, by the bound that they were over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Retired {
    /// Their tenant had too many.
    pub over_count: u64,
    /// Their time was over.
    pub over_age: u64,
}

/// How many tasks are held.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Held {
    /// Not finished, hidden ones included.
    pub live: usize,
    /// Finished.
    pub finished: usize,
}

/// The running keeper; it ends when this is dropped.
pub(crate) struct Keeper(JoinHandle<()>);

impl Keeper {
    pub(crate) fn of(inner: &Arc<Inner>) -> Self {
        Self(tokio::spawn(keep(Arc::downgrade(inner))))
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        self.0.abort();
    }
}

async fn keep(inner: Weak<Inner>) {
    loop {
        let Some(kept) = inner.upgrade() else {
            return;
        };
        let pause = if kept.look_around().await {
            ROUND
        } else {
            ROUND_WITHOUT
        };
        tokio::select! {
            () = kept.link.changed() => {}
            () = time::sleep(pause) => {}
        }
    }
}

impl Inner {
    /// Says whether every server answers.
    async fn look_around(&self) -> bool {
        // Without it nobody would notice that Redis is back while no calls come.
        let whole = self.link.look_around().await;
        self.snapshots.age();
        // What is missed here is made up for in the next round.
        drop(self.compare_clocks().await);
        drop(self.hear_of_work().await);
        drop(self.look_at_spread().await);
        // What fails here comes up again in a later round: an unsubscribed task stays among those that were left,
        // and a doubt stays.
        stream::iter(self.followers.doubtful())
            .for_each_concurrent(QUESTIONS, |id| async move {
                if self.look_at(&id).await.is_err() {
                    self.followers.doubt(&id);
                }
            })
            .await;
        stream::iter(self.followers.left())
            .for_each_concurrent(QUESTIONS, |(id, followed)| async move {
                drop(self.unsubscribe(&id, &followed).await);
            })
            .await;
        whole
    }

    pub(crate) fn is_ready(&self) -> bool {
        let whole = !self.spread_otherwise.load(Relaxed);
        whole && self.link.away_for().is_none_or(|away| away < AWAY)
    }

    pub(crate) async fn sweep(&self, now: Timestamp) -> Result<usize, StoreError> {
        let sweeping = stream::iter(self.layout.all()).map(|bucket| self.sweep_bucket(bucket, now));
        let (swept, away) = parted(sweeping.buffer_unordered(BUCKETS_AT_ONCE).collect().await);
        let removed = swept.iter().map(|(removed, _)| removed).sum();
        match away {
            // How many there are elsewhere isn't known: what was known of all stands.
            Some(error) => Err(error),
            None => {
                let (live, finished) = swept.iter().fold((0, 0), |(live, finished), (_, held)| {
                    (live + held.live, finished + held.finished)
                });
                self.counts.live.store(live, Relaxed);
                self.counts.finished.store(finished, Relaxed);
                Ok(removed)
            }
        }
    }

    /// How many were removed from a bucket, and what it holds.
    async fn sweep_bucket(&self, bucket: Bucket, now: Timestamp) -> Result<(usize, Held), StoreError> {
        let mut swept = 0;
        loop {
            let (removed, live, finished) = self.sweep_some(bucket, now).await?;
            swept += removed;
            self.counts
                .over_age
                .fetch_add(u64::try_from(removed).unwrap_or_default(), Relaxed);
            if removed < SWEPT_AT_ONCE {
                return Ok((swept, Held { live, finished }));
            }
        }
    }

    async fn sweep_some(&self, bucket: Bucket, now: Timestamp) -> Result<(usize, usize, usize), StoreError> {
        let kept = i64::try_from(self.settings.finished_kept.as_millis()).unwrap_or(i64::MAX);
        let mut script = scripts::SWEEP.key(self.layout.stem(bucket));
        script.arg(now.millis().saturating_sub(kept)).arg(SWEPT_AT_ONCE);
        // Sent twice it would count some tasks once only, and still remove the right ones.
        self.link.write(bucket, &script).await
    }

    pub(crate) fn retired(&self) -> Retired {
        Retired {
            over_count: self.counts.over_count.load(Relaxed),
            over_age: self.counts.over_age.load(Relaxed),
        }
    }

    pub(crate) fn held(&self) -> Held {
        Held {
            live: self.counts.live.load(Relaxed),
            finished: self.counts.finished.load(Relaxed),
        }
    }
}
