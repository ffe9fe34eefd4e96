//! ListTasks: order, sight and what is shown of each task.

use gateway_domain::{TaskState, lifecycle::Move, ports::ListQuery};

use super::{
    Bench,
    bench::{everything, ids},
};
use crate::build::scope;

pub async fn tasks_are_listed_newest_status_first(bench: &Bench) {
    let (second, third, first) = (
        bench.visible_task(20).await,
        bench.visible_task(10).await,
        bench.visible_task(30).await,
    );
    let listing = bench.list(everything(scope(None, None))).await;
    assert_eq!(ids(&listing), [first, second, third]);
    assert_eq!((listing.more, listing.total), (false, 3));
}

pub async fn tasks_of_one_moment_are_listed_by_id_descending(bench: &Bench) {
    let mut created = Vec::new();
    for _ in 0..5 {
        created.push(bench.visible_task(0).await);
    }
    let earlier = bench.visible_task(-1).await;
    created.sort();
    created.reverse();
    created.push(earlier);
    assert_eq!(ids(&bench.list(everything(scope(None, None))).await), created);
}

pub async fn a_status_moves_a_task_to_the_front(bench: &Bench) {
    let (old, new) = (bench.visible_task(1).await, bench.visible_task(2).await);
    bench.step(&old, Move::Work, 3).await;
    let listing = bench.list(everything(scope(None, None))).await;
    assert_eq!(ids(&listing), [old.clone(), new.clone()]);
    assert_eq!(listing.total, 2, "each stands in one place");
    bench.report(&new, "the same state again", 4).await;
    assert_eq!(ids(&bench.list(everything(scope(None, None))).await), [new, old]);
}

pub async fn messages_and_artifacts_do_not_move_a_task(bench: &Bench) {
    let (old, new) = (bench.visible_task(1).await, bench.visible_task(2).await);
    bench.take_message(&old, "more").await;
    bench.append(&old, "a", "text").await;
    assert_eq!(ids(&bench.list(everything(scope(None, None))).await), [new, old]);
}

pub async fn hidden_tasks_are_listed_once_they_are_shown(bench: &Bench) {
    let id = bench.hidden_task(0).await;
    bench.take_message(&id, "more").await;
    let listing = bench.list(everything(scope(None, None))).await;
    assert_eq!((listing.tasks.len(), listing.total), (0, 0));
    let showing = bench.showing(&id, 1).await;
    bench.writer().commit(showing).await.unwrap();
    let listing = bench.list(everything(scope(None, None))).await;
    assert_eq!((ids(&listing), listing.total), (vec![id], 1));
}

pub async fn finished_tasks_are_listed(bench: &Bench) {
    let id = bench.visible_task(0).await;
    bench.step(&id, Move::Reject, 1).await;
    let listing = bench.list(everything(scope(None, None))).await;
    assert_eq!(listing.tasks[0].status.state, TaskState::Rejected);
}

pub async fn a_scope_lists_its_own_tasks_only(bench: &Bench) {
    let names = [None, Some("a"), Some("b")];
    let scopes = names.map(|tenant| names.map(|owner| scope(tenant, owner)));
    let mut created = Vec::new();
    for scope in scopes.iter().flatten() {
        created.push(bench.task_in(scope.clone(), "context", 0).await);
    }
    for (scope, id) in scopes.iter().flatten().zip(created) {
        let listing = bench.list(everything(scope.clone())).await;
        assert_eq!((ids(&listing), listing.total), (vec![id], 1), "{scope:?}");
    }
}

pub async fn a_scope_without_tasks_lists_nothing(bench: &Bench) {
    bench.visible_task(0).await;
    let listing = bench.list(everything(scope(Some("other"), None))).await;
    assert_eq!((listing.tasks.len(), listing.more, listing.total), (0, false, 0));
}

pub async fn history_and_artifacts_are_listed_as_asked(bench: &Bench) {
    let id = bench.visible_task(0).await;
    bench.take_message(&id, "second").await;
    bench.take_message(&id, "third").await;
    bench.append(&id, "a", "text").await;
    for (history_length, texts) in [
        (None, &[][..]),
        (Some(0), &[]),
        (Some(1), &["third"]),
        (Some(2), &["second", "third"]),
        (Some(3), &["begin", "second", "third"]),
        (Some(u32::MAX), &["begin", "second", "third"]),
    ] {
        for include_artifacts in [false, true] {
            let query = ListQuery {
                history_length,
                include_artifacts,
                ..everything(scope(None, None))
            };
            let task = bench.list(query).await.tasks.remove(0);
            let shown: Vec<_> = task
                .history
                .iter()
                .filter_map(|message| message.first_text())
                .collect();
            assert_eq!(shown, texts, "{history_length:?}");
            assert_eq!(task.artifacts.len(), usize::from(include_artifacts));
        }
    }
}
