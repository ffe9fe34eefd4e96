//! Filters of ListTasks, each on its own and all of them together against a plain search.

use gateway_domain::{
    ContextId, TaskId, TaskSnapshot, TaskState,
    lifecycle::Move,
    page::TaskPosition,
    ports::{ListQuery, Listing},
    request::TaskFilter,
};

use super::{
    Bench,
    bench::{everything, ids},
};
use crate::build::{moment, scope};

async fn filtered(bench: &Bench, filter: TaskFilter) -> Listing {
    let query = ListQuery {
        filter,
        ..everything(scope(None, None))
    };
    bench.list(query).await
}

pub async fn a_context_a_state_and_both_select_their_tasks(bench: &Bench) {
    let here_working = bench.task_in(scope(None, None), "here", 1).await;
    let here = bench.task_in(scope(None, None), "here", 2).await;
    let there_working = bench.task_in(scope(None, None), "there", 3).await;
    bench.step(&here_working, Move::Work, 4).await;
    bench.step(&there_working, Move::Work, 5).await;
    let (context_id, status) = (Some(ContextId::new("here")), Some(TaskState::Working));
    let of_context = TaskFilter {
        context_id,
        ..TaskFilter::default()
    };
    let of_state = TaskFilter {
        status,
        ..TaskFilter::default()
    };
    let of_both = TaskFilter {
        status,
        ..of_context.clone()
    };
    let elsewhere = TaskFilter {
        context_id: Some(ContextId::new("nowhere")),
        ..of_both.clone()
    };
    for (filter, expected) in [
        (of_context, vec![here_working.clone(), here]),
        (of_state, vec![there_working, here_working.clone()]),
        (of_both, vec![here_working]),
        (elsewhere, vec![]),
    ] {
        let listing = filtered(bench, filter.clone()).await;
        assert_eq!(ids(&listing), expected, "{filter:?}");
        assert_eq!(
            (listing.total, listing.more),
            (expected.len(), false),
            "{filter:?}"
        );
    }
}

pub async fn a_filter_by_time_takes_in_its_moment_and_what_is_later(bench: &Bench) {
    bench.visible_task(1).await;
    let (at, later) = (bench.visible_task(2).await, bench.visible_task(3).await);
    let filter = |second| TaskFilter {
        status_timestamp_after: Some(moment(second)),
        ..TaskFilter::default()
    };
    let listing = filtered(bench, filter(2)).await;
    assert_eq!((ids(&listing), listing.total), (vec![later, at], 2));
    assert_eq!(filtered(bench, filter(4)).await.total, 0);
}

pub async fn a_position_older_than_the_filter_ends_the_list(bench: &Bench) {
    bench.visible_task(5).await;
    let older = TaskPosition {
        timestamp: moment(1),
        id: TaskId::new("nobody's"),
    };
    let filter = TaskFilter {
        status_timestamp_after: Some(moment(3)),
        ..TaskFilter::default()
    };
    let query = ListQuery {
        filter,
        after: Some(older),
        ..everything(scope(None, None))
    };
    let listing = bench.list(query).await;
    assert_eq!((listing.tasks.len(), listing.more, listing.total), (0, false, 1));
}

pub async fn every_filter_on_every_page_size_lists_what_a_plain_search_finds(bench: &Bench) {
    let tasks = scattered(bench).await;
    let contexts = [None, Some("c0"), Some("c1"), Some("none")];
    let states = [
        None,
        Some(TaskState::Submitted),
        Some(TaskState::Working),
        Some(TaskState::Canceled),
    ];
    let moments = [None, Some(0), Some(4), Some(9), Some(10)];
    for (context, status, since) in contexts
        .into_iter()
        .flat_map(|context| states.map(|status| (context, status)))
        .flat_map(|(context, status)| moments.map(|since| (context, status, since)))
    {
        let filter = TaskFilter {
            tenant: None,
            context_id: context.map(ContextId::new),
            status,
            status_timestamp_after: since.map(moment),
        };
        let expected: Vec<TaskId> = tasks
            .iter()
            .filter(|task| matches(task, &filter))
            .map(|task| task.id.clone())
            .collect();
        for most in [1, 3, expected.len().max(1), 100] {
            let found = all_pages(bench, &filter, most, expected.len()).await;
            assert_eq!(found, expected, "{filter:?}, {most} a page");
        }
    }
}

/// Tasks in a few contexts, states and moments, in the order of lists.
async fn scattered(bench: &Bench) -> Vec<TaskSnapshot> {
    let mut tasks = Vec::new();
    for number in 0..36_i64 {
        let context = format!("c{}", number % 3);
        let id = bench.task_in(scope(None, None), &context, number % 7).await;
        if let Some(step) =
            [None, Some(Move::Work), Some(Move::Cancel)][usize::try_from(number % 5 % 3).unwrap()]
        {
            bench.step(&id, step, number % 10).await;
        }
        if number % 4 == 0 && !bench.head(&id).await.status.state.is_terminal() {
            bench.report(&id, "the same state again", number % 8).await;
        }
        tasks.push(bench.read(&id).await.task);
    }
    tasks.sort_by_key(|task| std::cmp::Reverse(position(task)));
    tasks
}

fn position(task: &TaskSnapshot) -> TaskPosition {
    TaskPosition {
        timestamp: task.status.timestamp,
        id: task.id.clone(),
    }
}

fn matches(task: &TaskSnapshot, filter: &TaskFilter) -> bool {
    let context = filter.context_id.as_ref();
    let since = filter.status_timestamp_after;
    context.is_none_or(|context| *context == task.context_id)
        && filter.status.is_none_or(|state| state == task.status.state)
        && since.is_none_or(|since| task.status.timestamp >= since)
}

async fn all_pages(bench: &Bench, filter: &TaskFilter, most: usize, total: usize) -> Vec<TaskId> {
    let (mut found, mut after) = (Vec::new(), None);
    loop {
        let query = ListQuery {
            filter: filter.clone(),
            after,
            most,
            ..everything(scope(None, None))
        };
        let page = bench.list(query).await;
        assert_eq!(page.total, total, "{filter:?}");
        found.extend(ids(&page));
        assert_eq!(page.more, found.len() < total, "{filter:?}, {most} a page");
        if !page.more {
            return found;
        }
        after = page.tasks.last().map(position);
    }
}
