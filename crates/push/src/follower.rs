//! One configuration's way through the log of its task: an event at a time, each tried until it is taken or given up.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use gateway_domain::{
    Cursor, SharedEvent, StreamResponse, TaskId,
    ports::{Pulse, StoreError},
    push::StoredConfig,
    tail::{Lost, Tail},
};
use tokio::{
    sync::watch,
    time::{Instant, sleep, timeout},
};

use crate::{
    body::Teller,
    client::{Connection, Failure},
    counts::{Attempt, DeadLetter},
    courier::Shared,
    lease::Holding,
    receiver::Receiver,
};

/// An idle connection is closed after it: the next event may be hours away.
const IDLE: Duration = Duration::from_secs(15);
/// How long is waited for a store that could not be read.
const STORE_PAUSE: Duration = Duration::from_secs(1);
/// Entries are read one by one: whoever waits for a receiver holds no more than the event that it waits with.
const ENTRIES: usize = 1;

pub(crate) struct Follower {
    shared: Arc<Shared>,
    holding: Holding,
    config: StoredConfig,
    task: TaskId,
    receiver: Receiver,
    teller: Teller,
    tail: Tail,
    /// Where it began.
    after: Cursor,
    connection: Option<Connection>,
    /// Whether the log already has a warning about this receiver.
    warned: bool,
}

/// Why a follower ends.
enum End {
    /// There is nothing more to be delivered.
    Done,
    /// What is left is another replica's, or nobody's.
    Left,
}

impl Follower {
    pub(crate) fn new(
        shared: Arc<Shared>,
        config: StoredConfig,
        receiver: Receiver,
        pulse: watch::Receiver<Pulse>,
        after: Cursor,
        holding: Holding,
    ) -> Self {
        let task = config.config.task_id.clone().unwrap_or_default();
        Self {
            teller: Teller::new(shared.store.clone(), &config.config),
            tail: Tail::new(shared.store.clone(), task.clone(), pulse, after, ENTRIES),
            shared,
            holding,
            config,
            task,
            receiver,
            after,
            connection: None,
            warned: false,
        }
    }

    /// Ends with the task's terminal event, with the configuration, or with the task.
    pub(crate) async fn run(mut self) {
        match self.tell_all().await {
            Ok(()) | Err(End::Done) => self.holding.is_done(),
            Err(End::Left) => self.holding.give_back(),
        }
    }

    async fn tell_all(&mut self) -> Result<(), End> {
        if self.tail.is_over() {
            return Ok(());
        }
        while let Err(error) = self.teller.recall(self.after).await {
            self.wait_for_store(&error).await?;
        }
        loop {
            let (event, cursor) = self.next_event().await?;
            self.tell(&event, cursor).await?;
            if event.event().terminal_state().is_some() {
                return Ok(());
            }
        }
    }

    /// The next event that goes out, and its place.
    async fn next_event(&mut self) -> Result<(SharedEvent, Cursor), End> {
        loop {
            let read = tokio::select! {
                biased;
                () = self.holding.wanted_back() => return Err(End::Left),
                read = self.tail.next() => read,
                // What is there is still sent.
                () = self.shared.closing.cancelled() => match self.tail.next_held().await {
                    Ok(Some(entry)) => Ok(entry),
                    Ok(None) | Err(Lost::Store(_)) => return Err(End::Left),
                    Err(lost) => Err(lost),
                },
                () = sleep(IDLE), if self.connection.is_some() => {
                    self.connection = None;
                    continue;
                }
            };
            match read {
                Ok(entry) => {
                    if let Some(event) = &entry.outward {
                        return Ok((event.clone(), entry.cursor));
                    }
                }
                Err(Lost::Behind | Lost::Diverged | Lost::Gone) => match self.bridge_gap().await {
                    Ok(Some(next)) => return Ok(next),
                    Ok(None) => return Err(End::Done),
                    Err(error) => self.wait_for_store(&error).await?,
                },
                Err(Lost::Store(error)) => self.wait_for_store(&error).await?,
            }
        }
    }

    /// The task as it stands, in place of what the log no longer holds, or no longer holds so; nothing where the task is gone.
    async fn bridge_gap(&mut self) -> Result<Option<(SharedEvent, Cursor)>, StoreError> {
        let Some(stored) = self.shared.store.read(&self.task).await? else {
            return Ok(None);
        };
        self.shared.counts.gap();
        let cursor = stored.head.cursor;
        self.tail.go_on_after(cursor);
        let task = StreamResponse::Task(Arc::new(stored.task));
        Ok(Some((SharedEvent::new(task), cursor)))
    }

    /// Tells the receiver of an event, if it is told of such ones, and notes that.
    async fn tell(&mut self, event: &SharedEvent, cursor: Cursor) -> Result<(), End> {
        let body = loop {
            match self.teller.body(event).await {
                Ok(body) => break body,
                Err(error) => self.wait_for_store(&error).await?,
            }
        };
        let Some(body) = body else {
            return Ok(());
        };
        self.deliver(&body).await?;
        self.note(cursor).await
    }

    /// The next event waits for it: whoever goes on from here must not begin before what was sent last.
    async fn note(&self, cursor: Cursor) -> Result<(), End> {
        loop {
            match self.holding.note(cursor).await {
                Ok(true) => return Ok(()),
                Ok(false) => return Err(End::Left),
                Err(error) => self.wait_for_store(&error).await?,
            }
        }
    }

    /// Tries an event until it is taken or given up.
    async fn deliver(&mut self, body: &Bytes) -> Result<(), End> {
        let began = Instant::now();
        for failed in 1.. {
            self.require_config().await?;
            let posted = self
                .shared
                .client
                .post(&self.receiver, body, &mut self.connection);
            let Err(failure) = posted.await else {
                self.shared.counts.attempt(Attempt::Delivered);
                return Ok(());
            };
            self.shared.counts.attempt(failure.attempt());
            let pause = || {
                let retries = &self.shared.retries;
                retries.pause(failed, began.elapsed(), failure.asked_pause(), fastrand::f64())
            };
            let pause = match failure.is_final() {
                Some(reason) => Err(reason),
                None => pause().ok_or(DeadLetter::Exhausted),
            };
            match pause {
                Ok(pause) => self.wait_to_retry(&failure, pause).await?,
                Err(reason) => {
                    self.give_up(&failure, reason);
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// The store is asked before every call: whatever stopped others from telling of a deletion, nothing is sent after
    /// it. Nor where this process stood still for so long that another replica may have gone on.
    async fn require_config(&self) -> Result<(), End> {
        let id = self.config.config.id.clone().unwrap_or_default();
        loop {
            match self.shared.store.config(&self.task, &id).await {
                Ok(Some(stored)) if stored.row == self.config.row => {
                    return if self.holding.is_valid() {
                        Ok(())
                    } else {
                        Err(End::Left)
                    };
                }
                Ok(_) => return Err(End::Done),
                Err(error) => self.wait_for_store(&error).await?,
            }
        }
    }

    async fn wait_to_retry(&self, failure: &Failure, pause: Duration) -> Result<(), End> {
        tracing::debug!(
            task = %self.task,
            row = %self.config.row,
            host = %self.receiver.target.host,
            %failure,
            pause_ms = u64::try_from(pause.as_millis()).unwrap_or(u64::MAX),
            "webhook call failed"
        );
        let _counted = self.shared.retrying.enter();
        self.wait(pause).await
    }

    async fn wait_for_store(&self, error: &StoreError) -> Result<(), End> {
        tracing::debug!(task = %self.task, row = %self.config.row, cause = error.cause, "webhook waits for the store");
        self.wait(STORE_PAUSE).await
    }

    async fn wait(&self, pause: Duration) -> Result<(), End> {
        timeout(pause, self.holding.closing())
            .await
            .map_or(Ok(()), |()| Err(End::Left))
    }

    /// Only the first event that a receiver loses is worth a warning; the metrics count the others.
    fn give_up(&mut self, failure: &Failure, reason: DeadLetter) {
        self.shared.counts.dead_letter(reason);
        let (task, row, host) = (&self.task, &self.config.row, &self.receiver.target.host);
        if self.warned {
            tracing::debug!(%task, %row, %host, %failure, "webhook event given up");
        } else {
            tracing::warn!(%task, %row, %host, %failure, "webhook event given up; further ones are not warned of");
        }
        self.warned = true;
    }
}
