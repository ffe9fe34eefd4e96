//! The lifecycle of a task: one table, which is the whole rule.

use crate::TaskState::{
    self, AuthRequired, Canceled, Completed, Failed, InputRequired, Rejected, Submitted, Working,
};

/// A step from one state to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Move {
    /// Taken by StartWorking.
    Work,
    /// Taken by RequireInput.
    RequireInput,
    /// Taken by RequireAuth.
    RequireAuth,
    /// Taken by CompleteTask.
    Complete,
    /// Taken by FailTask.
    Fail,
    /// Taken by RejectTask.
    Reject,
    /// Taken by CancelTask.
    Cancel,
}

/// Every move with the states it may start from and the one it leads to. A move that is not here does not exist.
pub const MOVES: [(Move, &[TaskState], TaskState); 7] = [
    (Move::Work, &[Submitted, InputRequired, AuthRequired], Working),
    (
        Move::RequireInput,
        &[Submitted, Working, AuthRequired],
        InputRequired,
    ),
    (
        Move::RequireAuth,
        &[Submitted, Working, InputRequired],
        AuthRequired,
    ),
    (
        Move::Complete,
        &[Submitted, Working, InputRequired, AuthRequired],
        Completed,
    ),
    (
        Move::Fail,
        &[Submitted, Working, InputRequired, AuthRequired],
        Failed,
    ),
    (
        Move::Reject,
        &[Submitted, Working, InputRequired, AuthRequired],
        Rejected,
    ),
    (
        Move::Cancel,
        &[Submitted, Working, InputRequired, AuthRequired],
        Canceled,
    ),
];

impl Move {
    /// Where it leads.
    pub fn target(self) -> TaskState {
        self.row().1
    }

    /// Whether it may start from a state.
    pub fn starts_from(self, state: TaskState) -> bool {
        self.row().0.contains(&state)
    }

    /// The move that leads to a state; nothing leads to Submitted.
    pub fn to(state: TaskState) -> Option<Self> {
        MOVES
            .iter()
            .find(|(_, _, target)| *target == state)
            .map(|(step, _, _)| *step)
    }

    fn row(self) -> (&'static [TaskState], TaskState) {
        let (_, from, to) = MOVES[self as usize];
        (from, to)
    }
}

#[cfg(test)]
mod tests {
    use super::{MOVES, Move};
    use crate::TaskState::{
        self, AuthRequired, Canceled, Completed, Failed, InputRequired, Rejected, Submitted, Working,
    };

    /// Written out by hand, row by row from and column by column to, so that the table has something to answer to.
    /// Columns: Submitted, Working, Completed, Failed, Canceled, InputRequired, Rejected, AuthRequired.
    const MAY: [(TaskState, [u8; 8]); 8] = [
        (Submitted, [0, 1, 1, 1, 1, 1, 1, 1]),
        (Working, [0, 0, 1, 1, 1, 1, 1, 1]),
        (Completed, [0, 0, 0, 0, 0, 0, 0, 0]),
        (Failed, [0, 0, 0, 0, 0, 0, 0, 0]),
        (Canceled, [0, 0, 0, 0, 0, 0, 0, 0]),
        (InputRequired, [0, 1, 1, 1, 1, 0, 1, 1]),
        (Rejected, [0, 0, 0, 0, 0, 0, 0, 0]),
        (AuthRequired, [0, 1, 1, 1, 1, 1, 1, 0]),
    ];

    #[test]
    fn all_64_pairs_of_states_move_or_do_not_as_written() {
        for (from, row) in MAY {
            for (to, may) in TaskState::ALL.iter().zip(row) {
                let moves = Move::to(*to).is_some_and(|step| step.starts_from(from));
                assert_eq!(moves, may == 1, "{from:?} to {to:?}");
            }
        }
    }

    #[test]
    fn rows_stand_in_the_order_of_the_moves() {
        for (step, from, to) in MOVES {
            assert_eq!(step.target(), to);
            assert!(
                from.iter()
                    .all(|state| step.starts_from(*state) && !state.is_terminal())
            );
        }
    }
}
