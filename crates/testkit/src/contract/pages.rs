//! Pages of ListTasks: joined they are the list, and stay so while tasks come, move and go.

use gateway_domain::{
    TaskId,
    lifecycle::Move,
    page::TaskPosition,
    ports::{ListQuery, Listing},
};

use super::{
    Bench,
    bench::{everything, ids},
};
use crate::build::{moment, scope};

async fn page(bench: &Bench, after: Option<TaskPosition>, most: usize) -> Listing {
    let query = ListQuery {
        after,
        most,
        ..everything(scope(None, None))
    };
    bench.list(query).await
}

fn end(page: &Listing) -> Option<TaskPosition> {
    page.tasks.last().map(|task| TaskPosition {
        timestamp: task.status.timestamp,
        id: task.id.clone(),
    })
}

pub async fn pages_join_to_the_whole_list_even_where_moments_are_equal(bench: &Bench) {
    for number in 0..20 {
        bench.visible_task(number / 6).await;
    }
    let whole = ids(&page(bench, None, 100).await);
    assert_eq!(whole.len(), 20);
    for most in 1..=21 {
        let (mut joined, mut after) = (Vec::new(), None);
        loop {
            let next = page(bench, after, most).await;
            joined.extend(ids(&next));
            assert!(joined.len() <= whole.len(), "{most} a page: {joined:?}");
            if !next.more {
                break;
            }
            after = end(&next);
        }
        assert_eq!(joined, whole, "{most} a page");
    }
}

pub async fn a_page_that_ends_the_list_exactly_says_that_no_more_follows(bench: &Bench) {
    for second in 0..4 {
        bench.visible_task(second).await;
    }
    let first = page(bench, None, 2).await;
    assert_eq!((first.tasks.len(), first.more, first.total), (2, true, 4));
    let last = page(bench, end(&first), 2).await;
    assert_eq!((last.tasks.len(), last.more, last.total), (2, false, 4));
    let beyond = page(bench, end(&last), 2).await;
    assert_eq!((beyond.tasks.len(), beyond.more, beyond.total), (0, false, 4));
}

pub async fn a_position_of_a_task_that_is_gone_is_still_a_place(bench: &Bench) {
    let (old, new) = (bench.visible_task(1).await, bench.visible_task(5).await);
    let between = TaskPosition {
        timestamp: moment(3),
        id: TaskId::new("nobody's"),
    };
    assert_eq!(
        ids(&page(bench, Some(between), 10).await),
        std::slice::from_ref(&old)
    );
    // A task that has moved on leaves its former place as good as it was.
    let former = end(&page(bench, None, 1).await);
    bench.step(&new, Move::Work, 9).await;
    assert_eq!(ids(&page(bench, former, 10).await), [old]);
}

pub async fn what_does_not_move_is_neither_skipped_nor_repeated_while_others_do(bench: &Bench) {
    let (mut still, mut moving) = (Vec::new(), Vec::new());
    for number in 0..24 {
        let id = bench.visible_task(number / 4).await;
        let kind = if number % 2 == 0 { &mut still } else { &mut moving };
        kind.push(id);
    }
    let (mut seen, mut after, mut second) = (Vec::new(), None, 100);
    loop {
        let next = page(bench, after, 3).await;
        seen.extend(ids(&next));
        assert!(seen.len() < 100, "the pages do not end: {seen:?}");
        if !next.more {
            break;
        }
        after = end(&next);
        if let Some(id) = moving.pop() {
            bench.step(&id, Move::Work, second).await;
        }
        bench.visible_task(second).await;
        second += 1;
    }
    seen.retain(|id| still.contains(id));
    seen.sort();
    still.sort();
    assert_eq!(seen, still);
}
