//! Due work: each step is one script in the bucket of its task. Moments are Redis's, whatever a replica's clock says.

use std::{
    collections::{BTreeMap, HashMap},
    hash::{BuildHasher, RandomState},
    sync::{PoisonError, atomic::Ordering::Relaxed},
    time::{Duration, SystemTime},
};

use async_trait::async_trait;
use futures::future;
use gateway_domain::{
    Cursor, PushNotificationConfigId, ReplicaId, TaskId, Timestamp,
    ports::{
        Asked, DueWork, Epoch, Lease, MOST_ANSWERS, MOST_ASKED, NumberedAsk, Renewed, RunAnswer, RunAsk,
        Settled, StoreError, Taken, Terms, Work, WorkKey, WorkKind, WorkNews,
    },
};
use redis::{Script, ScriptInvocation};
use tokio::{sync::broadcast, time::Instant};

use crate::{
    Inner, RedisStore, keys,
    keys::Bucket,
    link::Slot,
    records::work::{read_answer, read_ask, write_answer, write_ask},
    scripts,
};

/// Hints that are held for a listener who is slow; beyond it he is told that he missed some.
pub(crate) const MOST_NEWS: usize = 1_024;

/// Leases that one script renews: few enough for calls to get their turn in between.
const RENEWED_AT_ONCE: usize = 256;

/// Clocks are compared by answers that came at least so fast: the others say little.
const SOON: Duration = Duration::from_millis(250);

type Bytes = Vec<u8>;

/// Work as scripts show it: task, configuration, grant, attempt, holders who lost it, number of the latest that was asked,
/// cursor of the last that was delivered, and what is asked.
type ShownWork = (String, String, Epoch, u32, u32, u64, String, HashMap<u64, Bytes>);

#[async_trait]
impl Work for RedisStore {
    fn work_news(&self) -> broadcast::Receiver<WorkNews> {
        self.inner.work_news.subscribe()
    }

    async fn take_due(&self, terms: &Terms, most: usize) -> Result<Vec<Taken>, StoreError> {
        self.inner.take_due(terms, most).await
    }

    async fn renew(&self, leases: &[Lease], terms: &Terms) -> Result<Vec<Renewed>, StoreError> {
        self.inner.renew(leases, terms).await
    }

    async fn give_back(&self, lease: &Lease, due: Timestamp) -> Result<bool, StoreError> {
        let Some((bucket, mut script)) = self.inner.for_lease(&scripts::GIVE_BACK, lease) else {
            return Ok(false);
        };
        script.arg(self.inner.in_redis_time(due));
        self.inner.link.write(bucket, &script).await
    }

    async fn settle(&self, lease: &Lease, seen: u64) -> Result<Settled, StoreError> {
        let Some((bucket, mut script)) = self.inner.for_lease(&scripts::SETTLE, lease) else {
            return Ok(Settled::Lost);
        };
        script.arg(seen);
        // Sent twice it answers that the lease is lost, which comes to the same.
        let answer: String = self.inner.link.write(bucket, &script).await?;
        Ok(match answer.as_str() {
            "OK" => Settled::Done,
            "MORE" => Settled::MoreAsked,
            _ => Settled::Lost,
        })
    }

    async fn ask(&self, task: &TaskId, ask: RunAsk) -> Result<Option<Asked>, StoreError> {
        let Some(bucket) = self.inner.layout.bucket(task) else {
            return Ok(None);
        };
        let mut script = scripts::ASK.key(self.inner.layout.stem(bucket));
        script.arg(task.as_str()).arg(write_ask(&ask)).arg(MOST_ASKED);
        let asked: Option<(u64, String)> = self.inner.link.write_once(bucket, &script).await?;
        Ok(asked.map(|(number, holder)| Asked {
            number,
            holder: ReplicaId::new(holder),
        }))
    }

    async fn asks(&self, lease: &Lease, after: u64) -> Result<Option<Vec<NumberedAsk>>, StoreError> {
        let task = &lease.key.task;
        let Some(bucket) = self.inner.layout.bucket(task) else {
            return Ok(None);
        };
        let mut script = scripts::ASKS.key(self.inner.layout.stem(bucket));
        script.arg(task.as_str()).arg(lease.epoch);
        let shown: Option<HashMap<u64, Bytes>> = self.inner.link.read(bucket, &script).await?;
        let asks = shown.map(asks_of).transpose()?;
        Ok(asks.map(|asks| asks.into_iter().filter(|(number, _)| *number > after).collect()))
    }

    async fn answer(
        &self,
        lease: &Lease,
        number: u64,
        answer: RunAnswer,
        kept: bool,
    ) -> Result<bool, StoreError> {
        let task = &lease.key.task;
        let Some(bucket) = self.inner.layout.bucket(task) else {
            return Ok(false);
        };
        let mut script = scripts::ANSWER.key(self.inner.layout.stem(bucket));
        script
            .arg(task.as_str())
            .arg(lease.epoch)
            .arg(number)
            .arg(write_answer(&answer))
            .arg(MOST_ANSWERS)
            .arg(u8::from(kept));
        self.inner.link.write(bucket, &script).await
    }

    async fn answer_to(&self, task: &TaskId, number: u64) -> Result<Option<RunAnswer>, StoreError> {
        let Some(bucket) = self.inner.layout.bucket(task) else {
            return Ok(None);
        };
        let mut command = redis::cmd("HGET");
        command
            .arg(self.inner.layout.key(bucket, keys::ANSWERS, task.as_str()))
            .arg(number);
        let stored: Option<Bytes> = self.inner.link.ask(bucket.slot(), &command).await?;
        stored.map(|stored| read_answer(&stored)).transpose()
    }

    async fn note_delivered(
        &self,
        lease: &Lease,
        delivered: Cursor,
        terms: &Terms,
    ) -> Result<bool, StoreError> {
        let Some((bucket, mut script)) = self.inner.for_lease(&scripts::DELIVER, lease) else {
            return Ok(false);
        };
        script
            .arg(delivered.to_string())
            .arg(self.inner.in_redis_time(terms.due()));
        self.inner.link.write(bucket, &script).await
    }
}

impl Inner {
    async fn take_due(&self, terms: &Terms, most: usize) -> Result<Vec<Taken>, StoreError> {
        let asked = self
            .layout
            .all()
            .map(|bucket| self.take_from(bucket, terms, most));
        // What was taken in one bucket is leased by now: it must not be dropped for another one's master being away.
        let (taken, away) = parted(future::join_all(asked).await);
        if let (true, Some(error)) = (taken.is_empty(), away) {
            return Err(error);
        }
        let read = |shown| match taken_work(shown) {
            Ok(taken) => Some(taken),
            Err(error) => {
                tracing::error!(cause = error.cause, "due work that cannot be read is left");
                None
            }
        };
        Ok(taken.into_iter().flatten().filter_map(read).collect())
    }

    async fn take_from(
        &self,
        bucket: Bucket,
        terms: &Terms,
        most: usize,
    ) -> Result<Vec<ShownWork>, StoreError> {
        let mut script = scripts::TAKE_DUE.key(self.layout.stem(bucket));
        script
            .arg(self.in_redis_time(terms.now))
            .arg(self.in_redis_time(terms.due()))
            .arg(most)
            .arg(terms.replica.as_str())
            .arg(self.salt);
        let taken: Vec<ShownWork> = self.link.write(bucket, &script).await?;
        self.acknowledge(bucket, &taken, terms).await?;
        Ok(taken)
    }

    /// Lets Redis know that what was taken has arrived. What doesn't, since its answer was lost or the taking was not
    /// confirmed, is not counted as lost by its holder.
    async fn acknowledge(
        &self,
        bucket: Bucket,
        taken: &[ShownWork],
        terms: &Terms,
    ) -> Result<(), StoreError> {
        if taken.is_empty() {
            return Ok(());
        }
        let mut script = scripts::RENEW.key(self.layout.stem(bucket));
        script.arg(self.in_redis_time(terms.due()));
        for (task, config, epoch, ..) in taken {
            script.arg(task).arg(config).arg(*epoch);
        }
        // A lease that is gone by now is noticed when its holder renews it.
        let _asked: Vec<i64> = self.link.write(bucket, &script).await?;
        Ok(())
    }

    async fn renew(&self, leases: &[Lease], terms: &Terms) -> Result<Vec<Renewed>, StoreError> {
        let mut places: BTreeMap<Bucket, Vec<usize>> = BTreeMap::new();
        for (place, lease) in leases.iter().enumerate() {
            if let Some(bucket) = self.layout.bucket(&lease.key.task) {
                places.entry(bucket).or_default().push(place);
            }
        }
        // Work that cannot be one of this deployment is nobody's here.
        let mut renewed = vec![Renewed::Lost; leases.len()];
        places
            .values()
            .flatten()
            .for_each(|place| renewed[*place] = Renewed::Unknown);
        let asked = places.iter().flat_map(|(bucket, places)| {
            places
                .chunks(RENEWED_AT_ONCE)
                .map(|places| self.renew_some(*bucket, places, leases, terms))
        });
        let (answers, away) = parted(future::join_all(asked).await);
        if let (true, Some(error)) = (answers.is_empty(), away) {
            return Err(error);
        }
        for (place, answer) in answers.into_iter().flatten() {
            renewed[place] = answer;
        }
        Ok(renewed)
    }

    async fn renew_some(
        &self,
        bucket: Bucket,
        places: &[usize],
        leases: &[Lease],
        terms: &Terms,
    ) -> Result<Vec<(usize, Renewed)>, StoreError> {
        let mut script = scripts::RENEW.key(self.layout.stem(bucket));
        script.arg(self.in_redis_time(terms.due()));
        for place in places {
            add_lease(&mut script, &leases[*place]);
        }
        let asked: Vec<i64> = self.link.write(bucket, &script).await?;
        let renewed = asked.into_iter().map(|asked| match u64::try_from(asked) {
            Ok(asked) => Renewed::Held { asked },
            Err(_) => Renewed::Lost,
        });
        Ok(places.iter().copied().zip(renewed).collect())
    }

    /// A script that begins with a lease; nothing for a task that cannot be one of this deployment.
    fn for_lease<'a>(&self, script: &'a Script, lease: &Lease) -> Option<(Bucket, ScriptInvocation<'a>)> {
        let bucket = self.layout.bucket(&lease.key.task)?;
        let mut script = script.key(self.layout.stem(bucket));
        add_lease(&mut script, lease);
        Some((bucket, script))
    }

    /// Has Redis tell of due work, over connections that do not yet. What they may have missed is told as missed.
    pub(crate) async fn hear_of_work(&self) -> Result<(), StoreError> {
        let unheard: Vec<_> = {
            let heard = self.work_heard.lock().unwrap_or_else(PoisonError::into_inner);
            let news = self.layout.all().map(|bucket| (self.link.serial(bucket), bucket));
            news.filter(|(now, bucket)| now.is_none() || *now != heard.get(bucket).copied())
                .map(|(_, bucket)| bucket)
                .collect()
        };
        let asked = unheard.into_iter().map(|bucket| async move {
            let mut command = redis::cmd("SSUBSCRIBE");
            command.arg(self.layout.key(bucket, keys::WORK, ""));
            let over = self.link.subscribe(bucket, &command).await?;
            let mut heard = self.work_heard.lock().unwrap_or_else(PoisonError::into_inner);
            heard.insert(bucket, over);
            Ok(())
        });
        let (_, away) = parted(future::join_all(asked).await);
        away.map_or(Ok(()), Err)
    }

    /// Looks how far Redis's clock is from this machine's, so that all replicas mean the same moment.
    pub(crate) async fn compare_clocks(&self) -> Result<(), StoreError> {
        let one_for_all = Slot::of(&self.layout.deployment());
        let asked = Instant::now();
        let (seconds, micros): (i64, i64) = self.link.ask(one_for_all, &redis::cmd("TIME")).await?;
        let waited = asked.elapsed();
        if waited <= SOON {
            let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
            let own = since.unwrap_or_default().saturating_sub(waited / 2).as_millis();
            let theirs = seconds.saturating_mul(1_000).saturating_add(micros / 1_000);
            let ahead = theirs.saturating_sub(i64::try_from(own).unwrap_or_default());
            self.clock_ahead.store(ahead, Relaxed);
        }
        Ok(())
    }

    /// A moment of this machine's as Redis counts it, in milliseconds.
    pub(crate) fn in_redis_time(&self, moment: Timestamp) -> i64 {
        moment.millis().saturating_add(self.clock_ahead.load(Relaxed))
    }
}

/// What buckets answered, and why the first of those that did not answer didn't: they may lie with different masters.
pub(crate) fn parted<T>(answers: Vec<Result<T, StoreError>>) -> (Vec<T>, Option<StoreError>) {
    let (mut whole, mut away) = (Vec::new(), None);
    for answer in answers {
        match answer {
            Ok(answer) => whole.push(answer),
            Err(error) => away = away.or(Some(error)),
        }
    }
    (whole, away)
}

/// 20 bits, as the scripts expect. They tell replicas apart, and protect nothing.
pub(crate) fn draw_salt() -> u32 {
    let drawn = RandomState::new().hash_one(()) & 0xF_FFFF;
    u32::try_from(drawn).unwrap_or_default()
}

fn add_lease(script: &mut ScriptInvocation<'_>, lease: &Lease) {
    let config = match &lease.key.kind {
        WorkKind::Run => "",
        WorkKind::Webhook(id) => id.as_str(),
    };
    script.arg(lease.key.task.as_str()).arg(config).arg(lease.epoch);
}

fn taken_work(
    (task, config, epoch, attempt, lost, asked, delivered, asks): ShownWork,
) -> Result<Taken, StoreError> {
    let (kind, work) = if config.is_empty() {
        let run = DueWork::Run {
            attempt,
            lost,
            asks: asks_of(asks)?,
            asked,
        };
        (WorkKind::Run, run)
    } else {
        let id = PushNotificationConfigId::new(config);
        let delivered = delivered.parse();
        let delivered = delivered.map_err(|_| StoreError::new("the cursor of a delivery is broken"))?;
        (WorkKind::Webhook(id), DueWork::Webhook { delivered })
    };
    let task = TaskId::new(task);
    Ok(Taken {
        lease: Lease {
            key: WorkKey { task, kind },
            epoch,
        },
        work,
    })
}

fn asks_of(shown: HashMap<u64, Bytes>) -> Result<Vec<NumberedAsk>, StoreError> {
    let asks = shown
        .into_iter()
        .map(|(number, ask)| Ok((number, read_ask(&ask)?)));
    let mut asks = asks.collect::<Result<Vec<_>, StoreError>>()?;
    asks.sort_unstable_by_key(|(number, _)| *number);
    Ok(asks)
}
