//! Tasks that an operator takes away.

use std::sync::Arc;

use gateway_domain::{
    ContextId, Cursor, TaskId, Tenant,
    decide::NewTask,
    lifecycle::Move,
    ports::{ConfigPut, CreateError, LogRead, Purge, PurgeStep},
};

use super::{
    Bench,
    bench::everything,
    sends::{claim_of, creation, key},
};
use crate::build::{config, new_task, scope};

/// Every step of a purge, each looking at so many; answers with how many it took, and which were live.
async fn purge(bench: &Bench, what: &Purge, most: usize) -> (usize, Vec<TaskId>) {
    let (mut removed, mut live, mut after) = (0, Vec::new(), None);
    loop {
        let step: PurgeStep = bench.writer().purge(what, after, most).await.unwrap();
        removed += step.removed;
        live.extend(step.live);
        after = step.next;
        if after.is_none() {
            live.sort();
            return (removed, live);
        }
        assert!(removed <= 1_000, "the steps do not end");
    }
}

/// The ids of all tasks that are held.
async fn held(bench: &Bench) -> Vec<TaskId> {
    let tasks = bench.reader().all(None, 1_000).await.unwrap();
    tasks.into_iter().map(|stored| stored.task.id).collect()
}

async fn task(bench: &Bench, tenant: Option<&str>, owner: Option<&str>, context: &str) -> TaskId {
    bench.task_in(scope(tenant, owner), context, 0).await
}

pub async fn a_purged_task_is_gone_for_every_read_and_its_followers(bench: &Bench) {
    let (id, other) = (bench.visible_task(0).await, bench.visible_task(0).await);
    let put = ConfigPut::new(config(&id, "hook"), 10);
    bench.writer().put_config(put).await.unwrap();
    let mut pulse = bench.reader().follow(&id).await.unwrap().unwrap();
    let what = Purge::Task(id.clone());
    assert_eq!(purge(bench, &what, 1).await, (1, vec![id.clone()]));
    assert!(pulse.wait_for(|_| false).await.is_err(), "the channel closes");
    assert!(bench.reader().read(&id).await.unwrap().is_none());
    assert!(matches!(bench.log(&id, Cursor::START, 1).await, LogRead::Gone));
    assert_eq!(bench.reader().configs(&id, None, 10).await.unwrap(), []);
    assert_eq!(bench.reader().all_configs(None, 10).await.unwrap(), []);
    assert_eq!(bench.list(everything(scope(None, None))).await.total, 1);
    assert_eq!(held(bench).await, [other]);
    assert_eq!(purge(bench, &what, 10).await, (0, Vec::new()));
}

pub async fn a_purge_makes_room_for_live_tasks(bench: &Bench) {
    let id = bench.create_within(1, new_task(bench.task_id())).await.unwrap();
    assert_eq!(purge(bench, &Purge::Task(id), 1).await.0, 1);
    bench.create_within(1, new_task(bench.task_id())).await.unwrap();
    let refused = bench.create_within(1, new_task(bench.task_id())).await;
    assert!(matches!(refused, Err(CreateError::LiveLimit)), "{refused:?}");
}

pub async fn the_purge_of_a_context_takes_its_tasks_of_one_tenant_in_any_state(bench: &Bench) {
    let live = task(bench, Some("acme"), Some("ada"), "talk").await;
    let ended = task(bench, Some("acme"), Some("bob"), "talk").await;
    bench.step(&ended, Move::Complete, 1).await;
    let hidden = bench.task_id_in(Some(&Tenant::new("acme")));
    let new = NewTask {
        scope: scope(Some("acme"), None),
        context_id: ContextId::new("talk"),
        hidden: true,
        ..new_task(hidden)
    };
    let hidden = bench.create(new, 0).await;
    let mut others = vec![
        task(bench, Some("acme"), Some("ada"), "another").await,
        task(bench, Some("globex"), Some("ada"), "talk").await,
        task(bench, None, Some("ada"), "talk").await,
    ];
    let what = Purge::Context {
        tenant: Some(Tenant::new("acme")),
        context: ContextId::new("talk"),
    };
    let mut were_live = vec![live, hidden];
    were_live.sort();
    assert_eq!(purge(bench, &what, 2).await, (3, were_live));
    others.sort();
    assert_eq!(held(bench).await, others);
    let left = bench.list(everything(scope(Some("acme"), Some("ada")))).await;
    assert_eq!(left.total, 1);
}

pub async fn the_purge_of_a_tenant_takes_everything_of_it_and_nothing_else(bench: &Bench) {
    for number in 0..10 {
        let owner = ["ada", "bob"][number % 2];
        task(bench, Some("acme"), Some(owner), &format!("context {number}")).await;
    }
    let without = task(bench, None, None, "context 0").await;
    let claimed = |tenant| {
        let of = gateway_domain::repeats::SendKey {
            scope: scope(tenant, None),
            ..key("m")
        };
        let id = bench.task_id_in(of.scope.tenant.as_ref());
        let new = NewTask {
            scope: of.scope.clone(),
            ..new_task(id)
        };
        (of.clone(), creation(bench, new, claim_of(of, "m", 0)))
    };
    let (of_acme, of_acme_task) = claimed(Some("acme"));
    let (of_none, of_none_task) = claimed(None);
    let known = of_none_task.head.id.clone();
    bench.writer().create(of_acme_task).await.unwrap();
    bench.writer().create(of_none_task).await.unwrap();

    let acme = Purge::Tenant(Some(Tenant::new("acme")));
    assert_eq!(purge(bench, &acme, 3).await.0, 11);
    let mut left = vec![without, known.clone()];
    left.sort();
    assert_eq!(held(bench).await, left);
    let first = async |key| {
        let now = crate::build::moment(1);
        bench.reader().first_send(key, now).await.unwrap()
    };
    assert_eq!(first(&of_acme).await, None);
    assert_eq!(first(&of_none).await.unwrap().task, known);
    assert_eq!(purge(bench, &Purge::Tenant(None), 100).await.0, 2);
    assert_eq!(held(bench).await, []);
}

pub async fn a_purge_beside_calls_loses_no_task_that_it_leaves(bench: &Bench) {
    for _ in 0..40 {
        task(bench, Some("acme"), None, "talk").await;
    }
    let making = {
        let bench = bench.clone();
        tokio::spawn(async move {
            let mut made = Vec::new();
            for number in 0..40 {
                let context = format!("another {number}");
                made.push(task(&bench, Some("acme"), None, &context).await);
            }
            made
        })
    };
    let what = Arc::new(Purge::Context {
        tenant: Some(Tenant::new("acme")),
        context: ContextId::new("talk"),
    });
    assert_eq!(purge(bench, &what, 4).await.0, 40);
    let mut made = making.await.unwrap();
    made.sort();
    assert_eq!(held(bench).await, made);
}
