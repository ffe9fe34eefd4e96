//! Where a run acts: its desk, its pauses, and what is said to it meanwhile.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use gateway_domain::{
    Error, ErrorKind, Message, MessageId, TaskId, TaskSnapshot, TaskState, error::metadata, lifecycle::Move,
    ports::Desk, request::AgentAction,
};
use tokio_util::sync::CancellationToken;

use super::Signals;

/// How often a waiting run looks whether its task was moved on by somebody else: at first, and at last.
const LOOK_FIRST: Duration = Duration::from_millis(50);
const LOOK_LAST: Duration = Duration::from_secs(2);

/// How a turn ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// The task has ended, and the run with it.
    Finished,
    /// The task waits for its client; the run goes on with the next message.
    Waiting,
}

/// Why a turn was not played to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stop {
    /// It was told to.
    Asked,
    /// The task has ended, or is gone; whatever was still to be said is dropped.
    TaskEnded,
    /// The task cannot be reached now. Another run goes on with it later, where there may be one; else it fails. The
    /// cause is for the operator.
    Away(String),
    /// The run cannot go on, and its task fails. The cause is for the operator.
    Broken(String),
}

/// A run's side of its task.
pub struct Stage {
    desk: Arc<dyn Desk>,
    signals: Arc<Signals>,
    draining: CancellationToken,
    counters: Arc<Counters>,
}

impl Stage {
    pub(super) fn new(
        desk: Arc<dyn Desk>,
        signals: Arc<Signals>,
        draining: CancellationToken,
        counters: Arc<Counters>,
    ) -> Self {
        Self {
            desk,
            signals,
            draining,
            counters,
        }
    }

    /// Carries out a command, and lets others run before the next. A move into the state that the task is in already
    /// becomes a report of progress.
    ///
    /// # Errors
    /// Every reason to stop the run.
    pub async fn act(&self, action: AgentAction) -> Result<(), Stop> {
        if self.signals.stop.is_cancelled() {
            return Err(Stop::Asked);
        }
        let again = match &action {
            AgentAction::Move(step, message) => Some((step.target(), message.clone())),
            AgentAction::ReportProgress(_) | AgentAction::UpdateArtifact { .. } => None,
        };
        let result = match (self.desk.act(action).await, again) {
            (Err(error), Some((target, message)))
                if held_state(&error) == Some(target) && !target.is_terminal() =>
            {
                self.desk.act(AgentAction::ReportProgress(message)).await
            }
            (result, _) => result,
        };
        tokio::task::yield_now().await;
        result.map_err(|error| self.stop_for(&error))
    }

    /// The task as it stands.
    ///
    /// # Errors
    /// Every reason to stop the run.
    pub async fn task(&self) -> Result<TaskSnapshot, Stop> {
        self.desk.task().await.map_err(|error| self.stop_for(&error))
    }

    /// Does nothing for a while.
    ///
    /// # Errors
    /// [`Stop::Asked`].
    pub async fn pause(&self, time: Duration) -> Result<(), Stop> {
        if time.is_zero() {
            return Ok(());
        }
        self.wait_for(tokio::time::sleep(time)).await
    }

    /// Waits for something that is no command.
    ///
    /// # Errors
    /// [`Stop::Asked`].
    pub async fn wait_for(&self, what: impl Future<Output = ()>) -> Result<(), Stop> {
        tokio::select! {
            biased;
            () = self.signals.stop.cancelled() => Err(Stop::Asked),
            () = what => Ok(()),
        }
    }

    /// Waits until somebody else has moved the task out of a state. Nothing where a message came first, or the
    /// process is about to end: then the turn ends, and the task waits on without a run.
    ///
    /// # Errors
    /// Every reason to stop the run.
    pub async fn moved_on(&self, from: TaskState) -> Result<Option<TaskState>, Stop> {
        let mut look = LOOK_FIRST;
        loop {
            tokio::select! {
                biased;
                () = self.signals.stop.cancelled() => return Err(Stop::Asked),
                () = self.draining.cancelled() => return Ok(None),
                () = self.signals.news.notified() => return Ok(None),
                () = tokio::time::sleep(look) => {}
            }
            look = LOOK_LAST.min(look * 2);
            match self.task().await?.status.state {
                state if state == from => {}
                state if state.is_terminal() => return Err(Stop::TaskEnded),
                state => return Ok(Some(state)),
            }
        }
    }

    /// Leaves the task to another run, or ends it where there will be none.
    pub(super) async fn give_back(&self, task: &TaskId, cause: &str) {
        if self.desk.give_back() {
            tracing::warn!(%task, cause, "run given back");
        } else {
            self.break_off(task, cause).await;
        }
    }

    /// Fails the task of a run that broke. The store refuses it where the task has ended meanwhile.
    pub(super) async fn break_off(&self, task: &TaskId, cause: &str) {
        tracing::warn!(%task, cause, "run broke off");
        let id = MessageId::new(format!("{task}.broken"));
        let text = Message::agent_text(id, "the agent broke off in the middle of its work");
        if let Err(error) = self.desk.act(AgentAction::Move(Move::Fail, Some(text))).await {
            self.stop_for(&error);
        }
    }

    fn stop_for(&self, error: &Error) -> Stop {
        match error.kind() {
            ErrorKind::TaskNotFound => self.counters.drop_report(error),
            ErrorKind::TaskStateConflict if held_state(error).is_none_or(TaskState::is_terminal) => {
                self.counters.drop_report(error)
            }
            // The desk has failed the task already, with the bound in its text.
            ErrorKind::ResourceExhausted => Stop::TaskEnded,
            kind => {
                let cause = format!("{error} {}", error.cause().unwrap_or_default());
                match kind {
                    ErrorKind::Unavailable => Stop::Away(cause),
                    _ => Stop::Broken(cause),
                }
            }
        }
    }
}

/// The state that a refused command found.
fn held_state(error: &Error) -> Option<TaskState> {
    (error.kind() == ErrorKind::TaskStateConflict)
        .then(|| error.facts().get(metadata::STATE))
        .flatten()
        .and_then(|name| TaskState::from_name(name))
}

/// What is counted over all runs.
#[derive(Default)]
pub(super) struct Counters {
    dropped: AtomicU64,
}

impl Counters {
    pub(super) fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }

    /// Logged ever more rarely, since one agent may send many.
    fn drop_report(&self, error: &Error) -> Stop {
        let dropped = self.dropped.fetch_add(1, Ordering::Relaxed) + 1;
        if dropped.is_power_of_two() {
            tracing::info!(%error, dropped, "late report dropped");
        }
        Stop::TaskEnded
    }
}
