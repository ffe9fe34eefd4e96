//! What holds when many write, read and follow at once.

use std::{collections::BTreeSet, sync::Arc};

use gateway_domain::{
    TaskId, TaskState, decide,
    lifecycle::Move,
    page::TaskPosition,
    ports::{CommitError, LogRead, Pulse},
    request::AgentAction,
};
use tokio::{sync::Barrier, task::JoinSet};

use super::{
    Bench,
    bench::{chunk, everything},
};
use crate::build::scope;

/// Runs all of them at once; answers when all are done, in no particular order.
pub(super) async fn at_once<F>(
    runs: impl IntoIterator<Item = F, IntoIter: ExactSizeIterator>,
) -> Vec<F::Output>
where
    F: Future<Output: Send> + Send + 'static,
{
    let runs = runs.into_iter();
    let start = Arc::new(Barrier::new(runs.len()));
    let mut running = JoinSet::new();
    for run in runs {
        let start = start.clone();
        running.spawn(async move {
            start.wait().await;
            run.await
        });
    }
    running.join_all().await
}

pub async fn of_two_commits_on_one_revision_one_is_applied(bench: &Bench) {
    for _ in 0..50 {
        let id = bench.visible_task(0).await;
        // One of them moves the task in the lists, the other only adds to it.
        let (stamp, complete) = (bench.stamp(1), AgentAction::Move(Move::Complete, None));
        let decide =
            |action| move |head: &_, limits: &_| decide::act(head, AgentAction::clone(action), limits, stamp);
        let changes = [
            bench.change(&id, decide(&complete)).await,
            bench.change(&id, decide(&chunk("a", "text", true))).await,
        ];
        let results = at_once(changes.map(|change| {
            let bench = bench.clone();
            async move { bench.writer().commit(change).await }
        }))
        .await;
        let conflict = |result: &_| matches!(result, Err(CommitError::Conflict));
        assert_eq!(
            results.iter().filter(|result| result.is_ok()).count(),
            1,
            "{results:?}"
        );
        assert_eq!(
            results.iter().filter(|result| conflict(result)).count(),
            1,
            "{results:?}"
        );
        assert_eq!(bench.head(&id).await.cursor.revision, 2);
    }
}

pub async fn a_hundred_commits_that_decide_again_take_a_hundred_revisions(bench: &Bench) {
    let id = bench.visible_task(0).await;
    let first = bench.read(&id).await.task;
    let mut made = at_once((0..100).map(|number| {
        let (bench, id) = (bench.clone(), id.clone());
        async move {
            let made = match number % 3 {
                0 => bench.take_message(&id, &format!("message {number}")).await,
                1 => bench.append(&id, "a", &format!("chunk {number}")).await,
                _ => bench.report(&id, &format!("report {number}"), 1).await,
            };
            made.cursor.revision
        }
    }))
    .await;
    made.sort_unstable();
    assert!(made.into_iter().eq(2..=101), "each took a revision of its own");
    let entries = bench.whole_log(&id).await;
    let mut fold = first;
    entries.iter().for_each(|entry| fold.apply(&entry.entry));
    let stored = bench.read(&id).await;
    assert_eq!(stored.task, fold);
    assert_eq!(stored.head.cursor, entries[100].cursor);
    assert_eq!(stored.task.artifacts[0].parts.len(), 33);
}

pub async fn commits_to_different_tasks_do_not_conflict(bench: &Bench) {
    let results = at_once((0..32).map(|number| {
        let bench = bench.clone();
        async move {
            let id = bench.visible_task(0).await;
            let stamp = bench.stamp(1);
            let action = chunk("a", &format!("of {number}"), true);
            let change = bench
                .change(&id, |head, limits| {
                    decide::act(head, action.clone(), limits, stamp)
                })
                .await;
            bench.writer().commit(change).await
        }
    }))
    .await;
    assert!(results.iter().all(Result::is_ok), "{results:?}");
}

pub async fn a_task_is_either_shown_or_discarded(bench: &Bench) {
    for _ in 0..50 {
        let id = bench.hidden_task(0).await;
        let showing = bench.showing(&id, 1).await;
        let results = at_once([None, Some(showing)].map(|showing| {
            let (bench, id) = (bench.clone(), id.clone());
            async move {
                match showing {
                    None => bench.writer().discard(&id).await.unwrap(),
                    Some(change) => bench.writer().commit(change).await.is_ok(),
                }
            }
        }))
        .await;
        assert_eq!(
            results.iter().filter(|won| **won).count(),
            1,
            "exactly one of them wins"
        );
        let head = bench.reader().head(&id).await.unwrap();
        let listed = bench.list(everything(scope(None, None))).await;
        let is_listed = listed.tasks.iter().any(|task| task.id == id);
        assert_eq!(
            head.is_some_and(|head| !head.hidden),
            is_listed,
            "shown and listed go together"
        );
    }
}

pub async fn what_a_follower_is_told_can_be_read(bench: &Bench) {
    let id = bench.visible_task(0).await;
    let mut pulse = bench.reader().follow(&id).await.unwrap().unwrap();
    let reader = {
        let (bench, id) = (bench.clone(), id.clone());
        tokio::spawn(async move {
            let mut at = pulse.borrow().cursor;
            while at.revision < 101 {
                let news = |pulse: &Pulse| pulse.cursor.revision > at.revision;
                let told = *pulse.wait_for(news).await.unwrap();
                let head = bench.head(&id).await;
                assert!(head.cursor.revision >= told.cursor.revision, "read what was told");
                let LogRead::Entries(entries) = bench.log(&id, at, 1_000).await else {
                    panic!("the log is held");
                };
                assert!(entries.iter().any(|entry| entry.cursor == told.cursor));
                at = entries.last().unwrap().cursor;
            }
        })
    };
    let appends = at_once((0..10).map(|_| {
        let (bench, id) = (bench.clone(), id.clone());
        async move {
            for _ in 0..10 {
                bench.append(&id, "a", "chunk").await;
            }
        }
    }));
    appends.await;
    reader.await.unwrap();
}

pub async fn a_follower_never_hears_of_less_than_before_and_ends_at_the_last_commit(bench: &Bench) {
    const WRITERS: u64 = 8;
    const COMMITS: u64 = 50;
    let id = bench.visible_task(0).await;
    let runs = (0..WRITERS + 2).map(|number| {
        let (bench, id) = (bench.clone(), id.clone());
        async move {
            if number < WRITERS {
                for _ in 0..COMMITS {
                    bench.append(&id, "a", "chunk").await;
                }
                return;
            }
            let mut follower = bench.reader().follow(&id).await.unwrap().unwrap();
            let mut heard = 0;
            while heard < 1 + WRITERS * COMMITS {
                let told = follower.borrow_and_update().cursor.revision;
                assert!(told >= heard, "{told} after {heard}");
                heard = told;
                if heard < 1 + WRITERS * COMMITS {
                    follower.changed().await.unwrap();
                }
            }
        }
    });
    at_once(runs.collect::<Vec<_>>()).await;
}

pub async fn a_page_is_in_order_while_its_tasks_move(bench: &Bench) {
    let mut tasks: Vec<TaskId> = Vec::new();
    for second in 0..16 {
        tasks.push(bench.visible_task(second).await);
    }
    let known: BTreeSet<_> = tasks.iter().cloned().collect();
    let movers = tasks.chunks(4).enumerate().map(|(number, tasks)| {
        let (bench, tasks) = (bench.clone(), tasks.to_vec());
        tokio::spawn(async move {
            for round in 1..=20 {
                for id in &tasks {
                    bench
                        .report(id, "on", 100 * round + i64::try_from(number).unwrap())
                        .await;
                }
            }
        })
    });
    let movers: Vec<_> = movers.collect();
    while !movers.iter().all(tokio::task::JoinHandle::is_finished) {
        let listing = bench.list(everything(scope(None, None))).await;
        let places: Vec<TaskPosition> = listing
            .tasks
            .iter()
            .map(|task| TaskPosition {
                timestamp: task.status.timestamp,
                id: task.id.clone(),
            })
            .collect();
        assert!(places.is_sorted_by(|one, next| one > next), "{places:?}");
        let listed: BTreeSet<_> = places.into_iter().map(|place| place.id).collect();
        assert_eq!(listed, known, "each task stands in one place at any moment");
        assert!(
            listing
                .tasks
                .iter()
                .all(|task| task.status.state == TaskState::Submitted)
        );
        tokio::task::yield_now().await;
    }
    for mover in movers {
        mover.await.unwrap();
    }
}
