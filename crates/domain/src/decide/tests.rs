//! Tables and properties of the rules.

use std::sync::Arc;

use proptest::prelude::*;

use super::{NewTask, Stamp, act, cancel, create, show, take_message};
use crate::{
    Artifact, ArtifactId, ContextId, Entry, ErrorKind, Limits, Message, MessageId, Outcome, Part, Role,
    Scope, TaskId, TaskSnapshot, TaskState, Timestamp,
    lifecycle::{MOVES, Move},
    ports::{Change, TaskHead},
    request::AgentAction,
};

fn stamp(at: i64) -> Stamp {
    Stamp {
        now: Timestamp::from_millis(1_700_000_000_000 + at).unwrap(),
        mark: u32::try_from(at).unwrap(),
    }
}

fn message(id: &str, role: Role) -> Message {
    let mut message = Message::agent_text(MessageId::new(id), format!("text of {id}"));
    message.role = role;
    message
}

fn artifact(id: &str, text: &str) -> Artifact {
    Artifact {
        artifact_id: ArtifactId::new(id),
        name: None,
        description: None,
        parts: vec![Part::text(text)],
        metadata: None,
        extensions: Vec::new(),
    }
}

/// A task as a store would keep it: the head that was decided, and the fold of the log.
struct Kept {
    head: TaskHead,
    task: TaskSnapshot,
}

impl Kept {
    fn new(limits: &Limits) -> Self {
        let new = NewTask {
            id: TaskId::new("t"),
            context_id: ContextId::new("c"),
            scope: Scope::default(),
            message: message("m-0", Role::User),
            hidden: true,
            config: None,
        };
        let creation = create(new, limits, stamp(0)).unwrap();
        Self {
            task: TaskSnapshot::clone(&creation.task),
            head: creation.head,
        }
    }

    fn in_state(state: TaskState) -> Self {
        let mut kept = Self::new(&Limits::default());
        if let Some(step) = Move::to(state) {
            let action = AgentAction::Move(step, Some(message("before", Role::Agent)));
            let change = match step {
                Move::Cancel => cancel(
                    &kept.head,
                    message("before", Role::Agent),
                    &Limits::default(),
                    stamp(1),
                ),
                _ => act(&kept.head, action, &Limits::default(), stamp(1)),
            };
            kept.take(change.unwrap());
        }
        assert_eq!(kept.head.status.state, state);
        kept
    }

    fn take(&mut self, change: Change) {
        self.task.apply(&change.entry.entry);
        self.head = change.head;
    }
}

const AGENT_MOVES: [Move; 6] = [
    Move::Work,
    Move::RequireInput,
    Move::RequireAuth,
    Move::Complete,
    Move::Fail,
    Move::Reject,
];

#[test]
fn a_move_outside_the_table_is_a_conflict_that_carries_the_state_held() {
    for state in TaskState::ALL {
        for step in AGENT_MOVES {
            let kept = Kept::in_state(*state);
            let decided = act(
                &kept.head,
                AgentAction::Move(step, None),
                &Limits::default(),
                stamp(2),
            );
            match decided {
                Ok(change) => {
                    assert!(step.starts_from(*state), "{step:?} from {state:?}");
                    assert_eq!(change.head.status.state, step.target());
                }
                Err(error) => {
                    assert!(!step.starts_from(*state), "{step:?} from {state:?}");
                    assert_eq!(error.kind(), ErrorKind::TaskStateConflict);
                    assert_eq!(error.decided_outcome(), Some(Outcome::WrongState));
                    assert_eq!(error.facts()["state"], state.name());
                }
            }
        }
    }
}

#[test]
fn cancel_takes_every_live_task_and_no_other() {
    for state in TaskState::ALL {
        let kept = Kept::in_state(*state);
        let decided = cancel(
            &kept.head,
            message("c", Role::Agent),
            &Limits::default(),
            stamp(2),
        );
        match decided {
            Ok(change) => {
                assert!(!state.is_terminal());
                assert_eq!(change.head.status.state, TaskState::Canceled);
            }
            Err(error) => {
                assert!(state.is_terminal());
                assert_eq!(error.kind(), ErrorKind::TaskNotCancelable);
            }
        }
    }
}

#[test]
fn progress_is_reported_in_every_live_state_and_moves_nothing() {
    for state in TaskState::ALL {
        let mut kept = Kept::in_state(*state);
        let report = AgentAction::ReportProgress(Some(message("p", Role::Agent)));
        match act(&kept.head, report, &Limits::default(), stamp(9)) {
            Ok(change) => {
                assert!(!state.is_terminal());
                kept.take(change);
                assert_eq!(kept.task.status.state, *state);
                assert_eq!(kept.task.status.timestamp, stamp(9).now);
                assert_eq!(
                    kept.task.status.message.as_ref().unwrap().message_id.as_str(),
                    "p"
                );
            }
            Err(error) => {
                assert!(state.is_terminal());
                assert_eq!(error.kind(), ErrorKind::TaskStateConflict);
            }
        }
    }
}

#[test]
fn a_move_without_a_message_clears_the_stored_one_into_the_history() {
    let mut kept = Kept::in_state(TaskState::InputRequired);
    kept.take(
        act(
            &kept.head,
            AgentAction::Move(Move::Work, None),
            &Limits::default(),
            stamp(2),
        )
        .unwrap(),
    );
    assert_eq!(kept.task.status.message, None);
    let ids: Vec<_> = kept
        .task
        .history
        .iter()
        .map(|message| message.message_id.as_str())
        .collect();
    assert_eq!(ids, ["m-0", "before"]);
}

#[test]
fn chunks_of_one_artifact_become_one_and_a_replacement_keeps_its_place() {
    let mut kept = Kept::new(&Limits::default());
    let steps = [
        ("a", "Hello", false),
        ("a", " world", true),
        ("b", "x", false),
        ("a", "new", false),
    ];
    for (at, (id, text, append)) in steps.into_iter().enumerate() {
        let action = AgentAction::UpdateArtifact {
            artifact: artifact(id, text),
            append,
            last_chunk: false,
        };
        let change = act(
            &kept.head,
            action,
            &Limits::default(),
            stamp(i64::try_from(at).unwrap()),
        )
        .unwrap();
        kept.take(change);
        if at == 1 {
            assert_eq!(
                kept.task.artifacts[0].parts,
                [Part::text("Hello"), Part::text(" world")]
            );
        }
    }
    let ids: Vec<_> = kept
        .task
        .artifacts
        .iter()
        .map(|artifact| artifact.artifact_id.as_str())
        .collect();
    assert_eq!(ids, ["a", "b"]);
    assert_eq!(kept.task.artifacts[0].parts, [Part::text("new")]);
}

#[test]
fn after_the_last_chunk_an_append_is_refused_and_a_replacement_opens_it_again() {
    let limits = Limits::default();
    let mut kept = Kept::new(&limits);
    let update = |append, last_chunk| AgentAction::UpdateArtifact {
        artifact: artifact("a", "x"),
        append,
        last_chunk,
    };
    kept.take(act(&kept.head, update(true, true), &limits, stamp(1)).unwrap());
    let error = act(&kept.head, update(true, false), &limits, stamp(2)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TaskStateConflict);
    assert_eq!(error.decided_outcome(), Some(Outcome::ArtifactClosed));
    kept.take(act(&kept.head, update(false, false), &limits, stamp(3)).unwrap());
    kept.take(act(&kept.head, update(true, false), &limits, stamp(4)).unwrap());
    assert_eq!(kept.task.artifacts[0].parts.len(), 2);
}

#[test]
fn each_bound_holds_at_its_edge() {
    let mut kept = Kept::new(&Limits::default());
    let update = |id: &str| AgentAction::UpdateArtifact {
        artifact: artifact(id, "x"),
        append: false,
        last_chunk: false,
    };
    let two = Limits {
        artifacts_per_task: 2,
        ..Limits::default()
    };
    kept.take(act(&kept.head, update("a"), &two, stamp(1)).unwrap());
    kept.take(act(&kept.head, update("b"), &two, stamp(2)).unwrap());
    kept.take(act(&kept.head, update("b"), &two, stamp(3)).unwrap());
    assert_eq!(
        act(&kept.head, update("c"), &two, stamp(4)).unwrap_err().kind(),
        ErrorKind::ResourceExhausted
    );

    let further = message("m-1", Role::User);
    let exact = Limits {
        stored_bytes_per_task: kept.head.stored_bytes() + further.weight(),
        ..Limits::default()
    };
    let less = Limits {
        stored_bytes_per_task: exact.stored_bytes_per_task - 1,
        ..Limits::default()
    };
    assert!(take_message(&kept.head, further.clone(), &exact, stamp(5)).is_ok());
    let error = take_message(&kept.head, further.clone(), &less, stamp(5)).unwrap_err();
    assert_eq!(error.decided_outcome(), Some(Outcome::HistoryLimit));

    let messages = |history_messages| Limits {
        history_messages,
        ..Limits::default()
    };
    assert!(take_message(&kept.head, further.clone(), &messages(2), stamp(5)).is_ok());
    assert!(take_message(&kept.head, further, &messages(1), stamp(5)).is_err());
}

#[test]
fn the_order_of_decision_is_terminal_then_context_then_history() {
    let none = Limits {
        history_messages: 0,
        ..Limits::default()
    };
    let mut elsewhere = message("m-1", Role::User);
    elsewhere.context_id = Some(ContextId::new("other"));
    let outcome = |kept: &Kept, message: Message| {
        take_message(&kept.head, message, &none, stamp(2))
            .unwrap_err()
            .decided_outcome()
            .unwrap()
    };
    let done = Kept::in_state(TaskState::Completed);
    assert_eq!(outcome(&done, elsewhere.clone()), Outcome::TaskTerminal);
    let live = Kept::in_state(TaskState::Working);
    assert_eq!(outcome(&live, elsewhere), Outcome::ContextMismatch);
    assert_eq!(outcome(&live, message("m-1", Role::User)), Outcome::HistoryLimit);
}

#[test]
fn a_full_history_makes_room_for_the_agent_by_its_own_oldest_message() {
    let limits = Limits {
        history_messages: 3,
        ..Limits::default()
    };
    let mut kept = Kept::new(&limits);
    for at in 0..6 {
        let report = AgentAction::ReportProgress(Some(message(&format!("p-{at}"), Role::Agent)));
        kept.take(act(&kept.head, report, &limits, stamp(at)).unwrap());
    }
    let ids: Vec<_> = kept
        .task
        .history
        .iter()
        .map(|message| message.message_id.as_str())
        .collect();
    assert_eq!(ids, ["m-0", "p-3", "p-4"]);
    assert_eq!(kept.task.status.message.unwrap().message_id.as_str(), "p-5");
}

#[test]
fn a_task_is_shown_once() {
    let kept = Kept::new(&Limits::default());
    let shown = show(&kept.head, Arc::new(kept.task.clone()), stamp(1)).unwrap();
    assert!(matches!(shown.entry.entry, Entry::Shown(_)));
    assert!(show(&shown.head, Arc::new(kept.task), stamp(2)).is_none());
}

#[derive(Debug, Clone)]
enum Command {
    Act(AgentAction),
    Cancel,
    Say,
}

fn commands() -> impl Strategy<Value = Vec<Command>> {
    let said = || proptest::option::of(Just(message("s", Role::Agent)));
    let action = prop_oneof![
        (proptest::sample::select(AGENT_MOVES.to_vec()), said())
            .prop_map(|(step, m)| AgentAction::Move(step, m)),
        said().prop_map(AgentAction::ReportProgress),
        ("[ab]", "[a-z]{0,5}", any::<bool>(), any::<bool>()).prop_map(|(id, text, append, last_chunk)| {
            AgentAction::UpdateArtifact {
                artifact: artifact(&id, &text),
                append,
                last_chunk,
            }
        }),
    ];
    let command =
        prop_oneof![8 => action.prop_map(Command::Act), 1 => Just(Command::Cancel), 2 => Just(Command::Say)];
    proptest::collection::vec(command, 0..40)
}

proptest! {
    /// No move outside the table, one revision a commit, a snapshot is the fold of the log, the head agrees with it.
    #[test]
    fn whatever_is_asked_for_the_rules_hold(commands in commands()) {
        let limits = Limits { history_messages: 6, artifacts_per_task: 2, ..Limits::default() };
        let mut kept = Kept::new(&limits);
        for (at, command) in commands.into_iter().enumerate() {
            // By the clocks of several replicas: some are behind.
            let stamp = stamp(i64::try_from(at ^ 3).unwrap());
            let before = kept.head.clone();
            let decided = match command {
                Command::Act(action) => act(&kept.head, action, &limits, stamp),
                Command::Cancel => cancel(&kept.head, message("c", Role::Agent), &limits, stamp),
                Command::Say => take_message(&kept.head, message("u", Role::User), &limits, stamp),
            };
            let Ok(change) = decided else { continue };
            prop_assert!(!before.status.state.is_terminal(), "a terminal task changed");
            prop_assert_eq!(change.entry.cursor.revision, before.cursor.revision + 1);
            prop_assert_eq!(change.entry.cursor, change.head.cursor);
            prop_assert!(change.head.status.timestamp >= before.status.timestamp, "a task moved back in lists");
            let (from, to) = (before.status.state, change.head.status.state);
            prop_assert!(from == to || MOVES.iter().any(|(_, sources, target)| sources.contains(&from) && *target == to));
            kept.take(change);
            prop_assert_eq!(&kept.task.status, &kept.head.status);
            prop_assert!(kept.task.history.len() <= limits.history_messages);
            prop_assert_eq!(kept.task.history.len(), kept.head.history_messages());
            let held: Vec<_> = kept.task.artifacts.iter().map(|artifact| &artifact.artifact_id).collect();
            let indexed: Vec<_> = kept.head.artifacts.iter().map(|artifact| &artifact.id).collect();
            prop_assert_eq!(held, indexed);
            prop_assert!(kept.head.cursor.revision > before.cursor.revision);
        }
    }
}
