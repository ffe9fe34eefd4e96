//! Runs at a desk that the test holds: what stops them, what waits for them, and what becomes of one that breaks.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use async_trait::async_trait;
use gateway_domain::{
    ContextId, Error, Message, MessageId, TaskId, TaskSnapshot, TaskState, TaskStatus, Timestamp,
    lifecycle::Move,
    ports::{CancelAnswer, Desk},
    request::AgentAction,
};
use tokio::sync::Semaphore;

use super::{Closed, End, MOST_WAITING, Play, Runs, Stage, Stop};

/// Notes what was done, each command as soon as it has a permit.
struct Notes {
    done: Mutex<Vec<AgentAction>>,
    state: Mutex<TaskState>,
    permits: Semaphore,
}

impl Notes {
    fn new(permits: usize) -> Arc<Self> {
        Arc::new(Self {
            done: Mutex::default(),
            state: Mutex::new(TaskState::Submitted),
            permits: Semaphore::new(permits),
        })
    }

    fn done(&self) -> Vec<AgentAction> {
        self.done.lock().unwrap().clone()
    }

    fn moves(&self) -> Vec<Move> {
        let done = self.done();
        done.iter()
            .filter_map(|action| match action {
                AgentAction::Move(step, _) => Some(*step),
                _ => None,
            })
            .collect()
    }
}

#[async_trait]
impl Desk for Notes {
    async fn act(&self, action: AgentAction) -> Result<(), Error> {
        self.permits.acquire().await.unwrap().forget();
        let mut state = self.state.lock().unwrap();
        if let AgentAction::Move(step, _) = &action {
            if !step.starts_from(*state) {
                return Err(Error::task_state_conflict(*state, "no such move"));
            }
            *state = step.target();
        }
        self.done.lock().unwrap().push(action);
        Ok(())
    }

    async fn task(&self) -> Result<TaskSnapshot, Error> {
        Ok(TaskSnapshot {
            id: task(),
            context_id: ContextId::new("c"),
            status: TaskStatus {
                state: *self.state.lock().unwrap(),
                message: None,
                timestamp: Timestamp::from_millis(0).unwrap(),
            },
            artifacts: Vec::new(),
            history: Vec::new(),
            metadata: None,
        })
    }
}

fn task() -> TaskId {
    TaskId::new("t")
}

/// Plays what its turn says.
#[derive(Clone)]
enum Turn {
    Do(Vec<Move>),
    Say(usize),
    Pause,
    Panic,
    Break,
}

struct Player;

impl Play<Turn> for Player {
    async fn perform(&self, turn: Turn, stage: &Stage) -> Result<End, Stop> {
        match turn {
            Turn::Do(moves) => {
                for step in moves {
                    stage.act(AgentAction::Move(step, None)).await?;
                }
                Ok(End::Waiting)
            }
            Turn::Say(number) => {
                let id = MessageId::new(number.to_string());
                let text = Message::agent_text(id, number.to_string());
                stage.act(AgentAction::ReportProgress(Some(text))).await?;
                Ok(End::Waiting)
            }
            Turn::Pause => {
                stage.pause(Duration::from_secs(60)).await?;
                stage.act(AgentAction::Move(Move::Complete, None)).await?;
                Ok(End::Finished)
            }
            Turn::Panic => panic!("told to"),
            Turn::Break => Err(Stop::Broken("told to".to_owned())),
        }
    }
}

fn take(runs: &Runs<Turn>, desk: &Arc<Notes>, turn: Turn) {
    runs.take(&task(), desk.clone(), turn, Arc::new(Player)).unwrap();
}

/// Lets every task run until it waits for something.
async fn settle() {
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_run_is_stopped_between_two_commands_and_never_within_one() {
    let (runs, desk) = (Runs::default(), Notes::new(0));
    take(&runs, &desk, Turn::Do(vec![Move::Work, Move::Complete]));
    settle().await;
    let canceled = async {
        settle().await;
        assert_eq!(desk.moves(), [], "the command under way is waited for");
        desk.permits.add_permits(2);
    };
    let task = task();
    let (answer, ()) = tokio::join!(runs.cancel(&task), canceled);
    assert_eq!(answer, CancelAnswer::Agreed);
    assert_eq!(desk.moves(), [Move::Work]);
    assert_eq!(runs.under_way(), 0);
}

#[tokio::test]
async fn a_pause_ends_when_the_run_is_stopped() {
    let (runs, desk) = (Runs::default(), Notes::new(9));
    take(&runs, &desk, Turn::Pause);
    settle().await;
    assert_eq!(runs.cancel(&task()).await, CancelAnswer::Agreed);
    assert_eq!(desk.moves(), []);
}

#[tokio::test]
async fn a_task_without_a_run_has_none_to_cancel() {
    let runs = Runs::<Turn>::default();
    assert_eq!(runs.cancel(&task()).await, CancelAnswer::NoRun);
}

#[tokio::test]
async fn turns_of_one_task_are_played_one_after_the_other() {
    let (runs, desk) = (Runs::default(), Notes::new(0));
    take(&runs, &desk, Turn::Do(vec![Move::Work, Move::RequireInput]));
    take(&runs, &desk, Turn::Do(vec![Move::Work, Move::RequireAuth]));
    assert_eq!(runs.under_way(), 1);
    desk.permits.add_permits(9);
    settle().await;
    assert_eq!(
        desk.moves(),
        [Move::Work, Move::RequireInput, Move::Work, Move::RequireAuth]
    );
    assert_eq!(runs.under_way(), 0);
}

#[tokio::test]
async fn what_waits_is_bounded_and_the_oldest_goes_first() {
    let (runs, desk) = (Runs::default(), Notes::new(0));
    take(&runs, &desk, Turn::Do(vec![Move::Work]));
    settle().await;
    (0..MOST_WAITING + 3).for_each(|number| take(&runs, &desk, Turn::Say(number)));
    desk.permits.add_permits(99);
    settle().await;
    let said: Vec<_> = desk.done()[1..]
        .iter()
        .map(|action| match action {
            AgentAction::ReportProgress(Some(message)) => message.message_id.as_str().to_owned(),
            other => panic!("{other:?}"),
        })
        .collect();
    let expected: Vec<_> = (3..MOST_WAITING + 3).map(|number| number.to_string()).collect();
    assert_eq!(said, expected);
}

#[tokio::test]
async fn a_run_that_breaks_or_panics_fails_its_task() {
    for turn in [Turn::Break, Turn::Panic] {
        let (runs, desk) = (Runs::default(), Notes::new(9));
        take(&runs, &desk, turn);
        settle().await;
        assert_eq!(desk.moves(), [Move::Fail]);
        assert_eq!(runs.under_way(), 0);
    }
}

#[tokio::test]
async fn a_run_that_breaks_after_the_end_changes_nothing() {
    let (runs, desk) = (Runs::default(), Notes::new(9));
    take(&runs, &desk, Turn::Do(vec![Move::Complete]));
    take(&runs, &desk, Turn::Break);
    settle().await;
    assert_eq!(desk.moves(), [Move::Complete]);
    assert_eq!(runs.dropped_reports(), 1);
}

#[tokio::test]
async fn a_move_to_the_state_held_is_progress_and_one_after_the_end_is_dropped() {
    let (runs, desk) = (Runs::default(), Notes::new(9));
    take(
        &runs,
        &desk,
        Turn::Do(vec![Move::Work, Move::Work, Move::Complete, Move::Complete]),
    );
    settle().await;
    let reported = AgentAction::ReportProgress(None);
    assert_eq!(desk.done()[1], reported);
    assert_eq!(desk.moves(), [Move::Work, Move::Complete]);
    assert_eq!(runs.dropped_reports(), 1);
}

#[tokio::test(start_paused = true)]
async fn draining_waits_for_as_long_as_told_and_then_stops_what_is_left() {
    for (patience, ends) in [(61, vec![Move::Complete]), (1, vec![])] {
        let (runs, desk) = (Runs::default(), Notes::new(9));
        take(&runs, &desk, Turn::Pause);
        runs.drain(Duration::from_secs(patience)).await;
        assert_eq!(desk.moves(), ends);
        assert_eq!(runs.under_way(), 0);
        let refused = runs.take(&task(), desk, Turn::Pause, Arc::new(Player));
        assert_eq!(refused, Err(Closed));
    }
}
