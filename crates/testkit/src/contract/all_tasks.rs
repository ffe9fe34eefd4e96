//! The agent's view: every task by id.

use gateway_domain::{TaskId, lifecycle::Move};

use super::{Bench, bench::join_pages};
use crate::build::scope;

async fn after(bench: &Bench, id: Option<&TaskId>, most: usize) -> Vec<TaskId> {
    let rows = bench.reader().all(id.cloned(), most).await.unwrap();
    rows.into_iter().map(|stored| stored.task.id).collect()
}

pub async fn all_tasks_come_by_id_whatever_their_scope_state_and_sight(bench: &Bench) {
    let mut created = vec![
        bench.hidden_task(3).await,
        bench.task_in(scope(Some("acme"), None), "context", 2).await,
        bench.task_in(scope(None, Some("ada")), "context", 1).await,
        bench.visible_task(0).await,
    ];
    bench.step(&created[3], Move::Fail, 9).await;
    created.sort();
    assert_eq!(after(bench, None, 10).await, created);
    for stored in bench.reader().all(None, 10).await.unwrap() {
        let read = bench.read(&stored.head.id).await;
        assert_eq!((stored.head, stored.task), (read.head, read.task));
    }
}

pub async fn all_tasks_are_read_on_after_any_id(bench: &Bench) {
    let mut created = Vec::new();
    for _ in 0..9 {
        created.push(bench.hidden_task(0).await);
    }
    created.sort();
    for most in [1, 2, 4, 9, 10] {
        let read = join_pages(most, async |last| after(bench, last, most).await).await;
        assert_eq!(read, created, "{most} a page");
    }
    let gone = created.remove(4);
    bench.writer().discard(&gone).await.unwrap();
    assert_eq!(
        after(bench, Some(&gone), 2).await,
        created[4..6],
        "an id that is gone is still a place"
    );
    assert_eq!(
        after(bench, Some(&TaskId::new("~")), 2).await,
        [],
        "after every id"
    );
}
