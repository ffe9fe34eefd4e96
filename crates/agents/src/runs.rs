//! The runs of a built-in agent: at most one for a task at a time, each a spawned task that is owned and drained.
//!
//! A run is stopped between two commands, never in the middle of one. It lives in this process only: when that ends,
//! so does the run, and the task stays as it was stored, for another run to go on with.

mod stage;
#[cfg(test)]
mod tests;

pub use stage::{End, Stage, Stop};

use std::{
    collections::{HashMap, VecDeque},
    panic::AssertUnwindSafe,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use futures::FutureExt;
use gateway_domain::{
    TaskId,
    ports::{CancelAnswer, Desk},
};
use tokio::sync::Notify;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use stage::Counters;

/// Turns that wait for the run of their task; beyond it the oldest are forgotten, and stand in the history only.
const MOST_WAITING: usize = 16;

/// What an agent does in a turn: everything between a message and the next moment when the task ends or waits.
pub trait Play<T>: Send + Sync + 'static {
    /// Performs a turn. It is never dropped in the middle: it ends by itself, or by what the stage tells it.
    fn perform(&self, turn: T, stage: &Stage) -> impl Future<Output = Result<End, Stop>> + Send;
}

/// The runs of one agent. `T` is what the agent makes of a message: its turn.
pub struct Runs<T>(Arc<Shared<T>>);

struct Shared<T> {
    /// A run is in here exactly as long as it may still act.
    live: Mutex<Live<T>>,
    tracker: TaskTracker,
    draining: CancellationToken,
    counters: Arc<Counters>,
}

struct Live<T> {
    runs: HashMap<TaskId, Entry<T>>,
    closed: bool,
}

struct Entry<T> {
    waiting: VecDeque<T>,
    signals: Arc<Signals>,
}

/// What is said to a run and by it.
struct Signals {
    stop: CancellationToken,
    ended: CancellationToken,
    news: Notify,
}

/// Runs are not begun any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Closed;

impl<T> Default for Runs<T> {
    fn default() -> Self {
        let live = Live {
            runs: HashMap::new(),
            closed: false,
        };
        Self(Arc::new(Shared {
            live: Mutex::new(live),
            tracker: TaskTracker::new(),
            draining: CancellationToken::new(),
            counters: Arc::default(),
        }))
    }
}

impl<T: Send + 'static> Runs<T> {
    /// Begins a run with a turn, or lets the turn wait for the run that the task has. Messages of a task are taken one
    /// after the other; what still waits when the task ends is dropped.
    ///
    /// # Errors
    /// [`Closed`] once the runs have been drained.
    pub fn take<P: Play<T>>(
        &self,
        task: &TaskId,
        desk: Arc<dyn Desk>,
        turn: T,
        play: Arc<P>,
    ) -> Result<(), Closed> {
        let Some(signals) = self.0.enter(task, turn)? else {
            return Ok(());
        };
        let shared = &self.0;
        let stage = Stage::new(
            desk,
            signals.clone(),
            shared.draining.clone(),
            shared.counters.clone(),
        );
        // Boxed, since the runtime copies a future several times before and after its life.
        let run = Box::pin(run(shared.clone(), task.clone(), signals, stage, play));
        shared.tracker.spawn(run);
        Ok(())
    }

    /// Stops the run of a task between two commands, and answers when it has stopped.
    pub async fn cancel(&self, task: &TaskId) -> CancelAnswer {
        let signals = match self.0.lock().runs.get(task) {
            Some(entry) => entry.signals.clone(),
            None => return CancelAnswer::NoRun,
        };
        signals.stop.cancel();
        signals.ended.cancelled().await;
        CancelAnswer::Agreed
    }

    /// Has the run of a task stop between two commands, and does not wait for it.
    pub fn release(&self, task: &TaskId) {
        if let Some(entry) = self.0.lock().runs.get(task) {
            entry.signals.stop.cancel();
        }
    }

    /// Waits for the runs under way, at most so long; then stops those that are left, and waits for that.
    pub async fn drain(&self, patience: Duration) {
        self.0.draining.cancel();
        self.0.tracker.close();
        // Elapsed or not, what follows is the same.
        drop(tokio::time::timeout(patience, self.0.tracker.wait()).await);
        {
            let mut live = self.0.lock();
            live.closed = true;
            live.runs.values().for_each(|entry| entry.signals.stop.cancel());
        }
        self.0.tracker.wait().await;
    }

    /// How many runs are under way.
    pub fn under_way(&self) -> usize {
        self.0.lock().runs.len()
    }

    /// How many reports came when their task had ended or gone, and were dropped.
    pub fn dropped_reports(&self) -> u64 {
        self.0.counters.dropped()
    }
}

impl<T> Shared<T> {
    fn lock(&self) -> MutexGuard<'_, Live<T>> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts a turn into the queue of its task. Hands back the signals of a run that has to be begun for it: also where
    /// one is there that was told to stop, which takes no further turn.
    fn enter(&self, task: &TaskId, turn: T) -> Result<Option<Arc<Signals>>, Closed> {
        let mut live = self.lock();
        if live.closed {
            return Err(Closed);
        }
        let going_on = |entry: &&mut Entry<T>| !entry.signals.stop.is_cancelled();
        if let Some(entry) = live.runs.get_mut(task).filter(going_on) {
            if entry.waiting.len() == MOST_WAITING {
                entry.waiting.pop_front();
            }
            entry.waiting.push_back(turn);
            entry.signals.news.notify_one();
            return Ok(None);
        }
        let signals = Arc::new(Signals {
            stop: CancellationToken::new(),
            ended: CancellationToken::new(),
            news: Notify::new(),
        });
        let entry = Entry {
            waiting: VecDeque::from([turn]),
            signals: signals.clone(),
        };
        live.runs.insert(task.clone(), entry);
        Ok(Some(signals))
    }

    /// The next turn of a run. Where there is none the run is over: looking and leaving are one step, so that no turn
    /// comes in between and is lost.
    fn next(&self, task: &TaskId, own: &Arc<Signals>) -> Option<T> {
        let mut live = self.lock();
        let turn = live
            .runs
            .get_mut(task)
            .filter(|entry| Arc::ptr_eq(&entry.signals, own))
            .and_then(|entry| entry.waiting.pop_front());
        if turn.is_none() {
            remove(&mut live, task, own);
        }
        turn
    }

    fn leave(&self, task: &TaskId, own: &Arc<Signals>) {
        remove(&mut self.lock(), task, own);
    }
}

/// Removes a run, unless another has its place already.
fn remove<T>(live: &mut Live<T>, task: &TaskId, own: &Arc<Signals>) {
    if live
        .runs
        .get(task)
        .is_some_and(|entry| Arc::ptr_eq(&entry.signals, own))
    {
        live.runs.remove(task);
    }
    own.ended.cancel();
}

/// One turn after the other, until the task ends or waits with nothing to be taken. A run that breaks, by a panic as
/// well, never leaves its task as if somebody were at it.
async fn run<T, P: Play<T>>(
    shared: Arc<Shared<T>>,
    task: TaskId,
    own: Arc<Signals>,
    stage: Stage,
    play: Arc<P>,
) {
    while let Some(turn) = shared.next(&task, &own) {
        let played = AssertUnwindSafe(play.perform(turn, &stage)).catch_unwind().await;
        match played {
            Ok(Ok(End::Waiting)) => {}
            Ok(Ok(End::Finished) | Err(Stop::Asked | Stop::TaskEnded)) => return shared.leave(&task, &own),
            Ok(Err(Stop::Away(cause))) => {
                stage.give_back(&task, &cause).await;
                return shared.leave(&task, &own);
            }
            Ok(Err(Stop::Broken(cause))) => {
                stage.break_off(&task, &cause).await;
                return shared.leave(&task, &own);
            }
            Err(_) => {
                stage.break_off(&task, "the run panicked").await;
                return shared.leave(&task, &own);
            }
        }
    }
}
