//! Commits one after another: what they change, and what they refuse.

use gateway_domain::{
    TaskState, decide,
    lifecycle::Move,
    ports::{CommitError, LogRead, StoredTask},
    request::AgentAction,
};

use super::{
    Bench,
    bench::{chunk, everything},
};
use crate::build::{agent_message, moment, new_task, scope};

pub async fn a_commit_is_seen_by_every_read_that_follows(bench: &Bench) {
    let id = bench.visible_task(0).await;
    let begun = bench.head(&id).await.cursor;
    let made = bench.step(&id, Move::Work, 5).await;

    assert_eq!(*bench.head(&id).await, made);
    let StoredTask { head, task } = bench.read(&id).await;
    assert_eq!(*head, made);
    assert_eq!(task.status, made.status);
    assert_eq!(task.status.state, TaskState::Working);
    assert_eq!(task.status.timestamp, moment(5));
    let LogRead::Entries(entries) = bench.log(&id, begun, 10).await else {
        panic!("the log is held");
    };
    assert_eq!(entries.len(), 1);
    assert_eq!(entries[0].cursor, made.cursor);
    let listed = bench.list(everything(scope(None, None))).await.tasks;
    assert_eq!(listed[0].status, made.status);
    let all = bench.reader().all(None, 10).await.unwrap();
    assert_eq!((&*all[0].head, &all[0].task), (&made, &task));
}

pub async fn a_commit_on_a_revision_that_has_passed_conflicts_and_changes_nothing(bench: &Bench) {
    let id = bench.visible_task(0).await;
    let stamp = bench.stamp(1);
    let complete = AgentAction::Move(Move::Complete, Some(agent_message("late")));
    let late = bench
        .change(&id, |head, limits| {
            decide::act(head, complete.clone(), limits, stamp)
        })
        .await;
    let meanwhile = bench.append(&id, "a", "meanwhile").await;
    let before = bench.read(&id).await;

    let refused = bench.writer().commit(late).await;

    assert!(matches!(refused, Err(CommitError::Conflict)), "{refused:?}");
    let after = bench.read(&id).await;
    assert_eq!((after.head, after.task), (before.head, before.task));
    assert!(
        matches!(bench.log(&id, meanwhile.cursor, 10).await, LogRead::Entries(entries) if entries.is_empty())
    );
    let listed = bench.list(everything(scope(None, None))).await.tasks;
    assert_eq!(listed[0].status.state, TaskState::Submitted);
}

pub async fn a_commit_that_runs_ahead_conflicts(bench: &Bench) {
    let id = bench.visible_task(0).await;
    let stamp = bench.stamp(1);
    let mut ahead = (*bench.head(&id).await).clone();
    ahead.cursor.revision += 1;
    let change = decide::act(
        &ahead,
        chunk("a", "too early", true),
        &gateway_domain::Limits::default(),
        stamp,
    );
    let refused = bench.writer().commit(change.unwrap()).await;
    assert!(matches!(refused, Err(CommitError::Conflict)), "{refused:?}");
    assert_eq!(bench.head(&id).await.cursor.revision, 1);
}

pub async fn a_commit_to_a_task_that_is_not_there_says_so(bench: &Bench) {
    for action in [
        chunk("a", "text", true),
        AgentAction::Move(Move::Work, Some(agent_message("at it"))),
    ] {
        let stamp = bench.stamp(1);
        let never_stored = bench.creation(new_task(bench.task_id()), 0).head;
        let change = decide::act(&never_stored, action, &gateway_domain::Limits::default(), stamp);
        let refused = bench.writer().commit(change.unwrap()).await;
        assert!(matches!(refused, Err(CommitError::Gone)), "{refused:?}");
    }
}

pub async fn a_snapshot_in_hand_stays_as_it_was_read(bench: &Bench) {
    let id = bench.visible_task(0).await;
    bench.append(&id, "a", "one").await;
    let held = bench.read(&id).await;
    let copy = held.task.clone();
    let text = serde_json::to_string(&held.task).unwrap();

    bench.append(&id, "a", "two").await;
    bench.append(&id, "b", "three").await;
    bench.take_message(&id, "more").await;
    bench.step(&id, Move::Complete, 1).await;

    assert_eq!(held.task, copy);
    assert_eq!(serde_json::to_string(&held.task).unwrap(), text);
    let now = bench.read(&id).await;
    assert_eq!(
        now.task.artifacts[0].parts.len(),
        2,
        "the task itself has moved on"
    );
}

pub async fn a_task_is_the_fold_of_its_log(bench: &Bench) {
    let id = bench.hidden_task(0).await;
    let mut fold = bench.read(&id).await.task;
    bench.take_message(&id, "first more").await;
    let showing = bench.showing(&id, 1).await;
    bench.writer().commit(showing).await.unwrap();
    bench.step(&id, Move::Work, 2).await;
    bench.append(&id, "a", "one").await;
    bench.append(&id, "b", "two").await;
    bench.append(&id, "a", "three").await;
    bench.report(&id, "halfway", 3).await;
    bench.act(&id, chunk("b", "instead of two", false), 3).await;
    bench.step(&id, Move::RequireInput, 4).await;
    bench.take_message(&id, "second more").await;
    let made = bench.step(&id, Move::Complete, 5).await;

    let entries = bench.whole_log(&id).await;
    let revisions = entries.iter().map(|entry| entry.cursor.revision);
    assert!(revisions.eq(1..=made.cursor.revision), "one entry a revision");
    entries.iter().for_each(|entry| fold.apply(&entry.entry));
    assert_eq!(bench.read(&id).await.task, fold);
    let texts = |index: usize| fold.artifacts[index].parts.len();
    assert_eq!((texts(0), texts(1)), (2, 1));
}

pub async fn a_repeated_state_takes_the_new_message_and_moment(bench: &Bench) {
    let id = bench.visible_task(0).await;
    bench.step(&id, Move::Work, 1).await;
    let made = bench.report(&id, "halfway", 2).await;
    let task = bench.read(&id).await.task;
    assert_eq!(
        (task.status.state, task.status.timestamp),
        (TaskState::Working, moment(2))
    );
    assert_eq!(
        task.status.message.as_ref().and_then(|word| word.first_text()),
        Some("halfway")
    );
    assert_eq!(made.status_revision, 3);
    let said: Vec<_> = task
        .history
        .iter()
        .filter_map(|message| message.first_text())
        .collect();
    assert_eq!(
        said,
        ["begin", "moved"],
        "the former word has moved into the history"
    );
}
