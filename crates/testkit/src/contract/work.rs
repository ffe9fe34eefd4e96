//! Due work: leases, grants and what comes of a holder who is late.

use std::collections::BTreeSet;

use gateway_domain::{
    Cursor, PushNotificationConfigId, TaskId, TaskState, decide,
    decide::NewTask,
    lifecycle::Move,
    ports::{
        Change, CommitError, ConfigPut, Creation, DueWork, Epoch, Granted, Lease, Renewed, RunAsk, RunGrant,
        Settled, Taken, WorkKey, WorkKind,
    },
    request::AgentAction,
};
use tokio::{sync::Barrier, task::JoinSet};

use super::{Bench, bench::chunk};
use crate::build::{LEASE, agent_message, config, moment, new_task, offer, run, terms, user_message};

pub(super) fn lease(task: &TaskId, epoch: Epoch) -> Lease {
    Lease {
        key: WorkKey {
            task: task.clone(),
            kind: WorkKind::Run,
        },
        epoch,
    }
}

fn delivery(task: &TaskId, id: &str, epoch: Epoch) -> Lease {
    Lease {
        key: WorkKey {
            task: task.clone(),
            kind: WorkKind::Webhook(PushNotificationConfigId::new(id)),
        },
        epoch,
    }
}

/// A task whose run is held by replica `one` from the moment 0 on.
pub(super) async fn running(bench: &Bench) -> (TaskId, Lease) {
    let creation = Creation {
        run: Some(run(1, "one", 0)),
        ..bench.creation(new_task(bench.task_id()), 0)
    };
    let id = creation.head.id.clone();
    let granted = bench.writer().create(creation).await.unwrap();
    let Some(RunGrant::Begun { epoch, number: 1 }) = granted.run else {
        panic!("{granted:?}");
    };
    assert_eq!(granted.webhook, None);
    let lease = lease(&id, epoch);
    (id, lease)
}

async fn take(bench: &Bench, replica: &str, second: i64) -> Vec<Taken> {
    bench
        .reader()
        .take_due(&terms(replica, second), 10)
        .await
        .unwrap()
}

/// A step of the task's agent under a grant, decided on the head as it stands.
async fn act_as(
    bench: &Bench,
    id: &TaskId,
    owner: Option<Epoch>,
    action: AgentAction,
) -> Result<Granted, CommitError> {
    let stamp = bench.stamp(1);
    let change = bench
        .change(id, |head, limits| {
            decide::act(head, action.clone(), limits, stamp)
        })
        .await;
    bench.writer().commit(Change { owner, ..change }).await
}

/// A further message that is put for the run.
pub(super) async fn send(bench: &Bench, id: &TaskId, replica: &str, second: i64) -> RunGrant {
    let stamp = bench.stamp(second);
    let message = bench.head(id).await.client_messages + 1;
    let change = bench
        .change(id, |head, limits| {
            decide::take_message(head, user_message("more"), limits, stamp)
        })
        .await;
    let run = Some(run(message, replica, second));
    let granted = bench.writer().commit(Change { run, ..change }).await.unwrap();
    granted.run.unwrap()
}

pub async fn a_run_is_held_by_whoever_begins_it_until_its_lease_runs_out(bench: &Bench) {
    let (id, first) = running(bench).await;
    assert_eq!(take(bench, "two", LEASE - 1).await, []);
    let taken = take(bench, "two", LEASE + 1).await;
    let [taken] = &taken[..] else {
        panic!("{taken:?}");
    };
    assert_eq!(taken.lease.key, first.key);
    assert!(taken.lease.epoch > first.epoch);
    let DueWork::Run {
        attempt,
        lost,
        asks,
        asked,
    } = &taken.work
    else {
        panic!("{taken:?}");
    };
    assert_eq!((*attempt, *lost, *asked), (2, 1, 1));
    assert_eq!(asks[..], [(1, RunAsk::Offer(offer(1)))]);
    assert_eq!(take(bench, "three", LEASE + 2).await, [], "it is held again");
    assert_eq!(
        bench.read(&id).await.head.cursor.revision,
        1,
        "no revision is made by it"
    );
}

pub async fn each_time_that_a_run_is_taken_its_attempt_and_its_grant_are_counted_on(bench: &Bench) {
    let (_, first) = running(bench).await;
    let mut epoch = first.epoch;
    for round in 1..4_u32 {
        let taken = take(bench, "two", i64::from(round) * (LEASE + 1)).await;
        let DueWork::Run { attempt, .. } = taken[0].work else {
            panic!("{taken:?}");
        };
        assert_eq!(attempt, round + 1);
        assert!(taken[0].lease.epoch > epoch);
        epoch = taken[0].lease.epoch;
    }
}

pub async fn of_a_run_the_holders_who_lost_it_are_counted_and_those_who_gave_it_back_are_not(bench: &Bench) {
    let (_, mut lease) = running(bench).await;
    let mut second = 0;
    for (attempt, given_back, expected) in [
        (2, true, 0),
        (3, false, 1),
        (4, true, 1),
        (5, true, 1),
        (6, false, 2),
        (7, false, 3),
    ] {
        second += LEASE + 1;
        if given_back {
            let due = moment(second - 1);
            assert!(bench.writer().give_back(&lease, due).await.unwrap());
        }
        let mut taken = take(bench, "two", second).await;
        let DueWork::Run {
            attempt: made, lost, ..
        } = taken[0].work
        else {
            panic!("{taken:?}");
        };
        assert_eq!((made, lost), (attempt, expected));
        lease = taken.remove(0).lease;
        let renewed = bench
            .writer()
            .renew(std::slice::from_ref(&lease), &terms("two", second))
            .await;
        assert_eq!(renewed.unwrap(), [Renewed::Held { asked: 1 }]);
    }
}

pub async fn a_renewed_lease_is_held_and_one_that_was_taken_is_lost(bench: &Bench) {
    let (id, first) = running(bench).await;
    let renew = async |lease: &Lease, second| {
        let leases = std::slice::from_ref(lease);
        bench.writer().renew(leases, &terms("one", second)).await.unwrap()
    };
    assert_eq!(renew(&first, 5).await, [Renewed::Held { asked: 1 }]);
    assert_eq!(take(bench, "two", 5 + LEASE - 1).await, []);
    let taken = take(bench, "two", 5 + LEASE + 1).await;
    assert_eq!(renew(&first, 17).await, [Renewed::Lost]);
    assert_eq!(renew(&taken[0].lease, 17).await, [Renewed::Held { asked: 1 }]);
    let nobody = lease(&TaskId::new("nobody's"), 1);
    let (both, terms) = ([nobody, taken[0].lease.clone()], terms("two", 18));
    let renewed = bench.writer().renew(&both, &terms).await.unwrap();
    assert_eq!(renewed, [Renewed::Lost, Renewed::Held { asked: 1 }]);
    assert_eq!(bench.read(&id).await.head.id, id);
}

pub async fn a_late_holder_cannot_write_even_on_the_newest_revision(bench: &Bench) {
    let (id, first) = running(bench).await;
    let work = AgentAction::Move(Move::Work, None);
    act_as(bench, &id, Some(first.epoch), work).await.unwrap();
    act_as(bench, &id, Some(first.epoch), chunk("a", "one", true))
        .await
        .unwrap();
    let taken = take(bench, "two", LEASE + 1).await;
    let before = bench.read(&id).await;
    for action in [
        chunk("a", "late", true),
        AgentAction::Move(Move::Complete, Some(agent_message("late"))),
    ] {
        let late = act_as(bench, &id, Some(first.epoch), action).await;
        assert!(matches!(late, Err(CommitError::Superseded)), "{late:?}");
    }
    let after = bench.read(&id).await;
    assert_eq!((after.head, after.task), (before.head, before.task));
    let newest = Some(taken[0].lease.epoch);
    act_as(bench, &id, newest, chunk("a", "two", true)).await.unwrap();
    // Whoever is no run commits as ever.
    act_as(bench, &id, None, chunk("a", "three", true)).await.unwrap();
    assert_eq!(bench.read(&id).await.task.artifacts[0].parts.len(), 3);
}

pub async fn a_late_holder_on_a_revision_that_has_passed_is_told_to_decide_again(bench: &Bench) {
    let (id, first) = running(bench).await;
    let stamp = bench.stamp(1);
    let complete = AgentAction::Move(Move::Complete, None);
    let change = bench
        .change(&id, |head, limits| {
            decide::act(head, complete.clone(), limits, stamp)
        })
        .await;
    take(bench, "two", LEASE + 1).await;
    bench.append(&id, "a", "meanwhile").await;
    let owner = Some(first.epoch);
    let late = bench.writer().commit(Change { owner, ..change }).await;
    assert!(matches!(late, Err(CommitError::Conflict)), "{late:?}");
}

pub async fn the_end_of_a_task_ends_its_run_in_the_same_step(bench: &Bench) {
    for owner in [true, false] {
        let (id, first) = running(bench).await;
        let complete = AgentAction::Move(Move::Complete, None);
        act_as(bench, &id, owner.then_some(first.epoch), complete)
            .await
            .unwrap();
        assert_eq!(take(bench, "two", 10 * LEASE).await, []);
        let (leases, terms) = (std::slice::from_ref(&first), terms("one", 1));
        assert_eq!(
            bench.writer().renew(leases, &terms).await.unwrap(),
            [Renewed::Lost]
        );
        assert_eq!(bench.writer().settle(&first, 1).await.unwrap(), Settled::Lost);
        assert_eq!(bench.read(&id).await.task.status.state, TaskState::Completed);
    }
}

pub async fn a_discarded_task_takes_its_run_along(bench: &Bench) {
    let new = NewTask {
        hidden: true,
        ..new_task(bench.task_id())
    };
    let creation = Creation {
        run: Some(run(1, "one", 0)),
        ..bench.creation(new, 0)
    };
    let id = creation.head.id.clone();
    bench.writer().create(creation).await.unwrap();
    assert!(bench.writer().discard(&id).await.unwrap());
    assert_eq!(take(bench, "two", 10 * LEASE).await, []);
    let ask = bench.writer().ask(&id, RunAsk::Cancel(None)).await;
    assert_eq!(ask.unwrap(), None);
}

pub async fn work_that_is_given_back_is_due_at_its_moment(bench: &Bench) {
    let (_, first) = running(bench).await;
    assert!(bench.writer().give_back(&first, moment(3)).await.unwrap());
    assert_eq!(take(bench, "two", 2).await, []);
    let taken = take(bench, "two", 4).await;
    assert_eq!(taken.len(), 1);
    assert!(
        !bench.writer().give_back(&first, moment(4)).await.unwrap(),
        "it is another's now"
    );
    assert_eq!(take(bench, "three", 5).await, []);
}

pub async fn a_settled_run_is_gone_and_the_next_has_a_later_grant(bench: &Bench) {
    let (id, first) = running(bench).await;
    assert_eq!(bench.writer().settle(&first, 1).await.unwrap(), Settled::Done);
    assert_eq!(bench.writer().settle(&first, 1).await.unwrap(), Settled::Lost);
    assert_eq!(take(bench, "two", 10 * LEASE).await, []);
    let late = act_as(bench, &id, Some(first.epoch), chunk("a", "late", true)).await;
    assert!(matches!(late, Err(CommitError::Superseded)), "{late:?}");
    let RunGrant::Begun { epoch, number: 2 } = send(bench, &id, "two", 1).await else {
        panic!("the task had no run");
    };
    assert!(epoch > first.epoch);
    let taken = take(bench, "three", 10 * LEASE).await;
    let DueWork::Run {
        attempt,
        lost,
        asks,
        asked,
    } = &taken[0].work
    else {
        panic!("{taken:?}");
    };
    assert_eq!(
        (*attempt, *lost, &asks[..], *asked),
        (2, 1, &[(2, RunAsk::Offer(offer(2)))][..], 2)
    );
}

pub async fn at_most_so_much_work_is_taken_the_longest_due_first(bench: &Bench) {
    let mut begun = Vec::new();
    for second in [3, 1, 2] {
        let (id, lease) = running(bench).await;
        bench.writer().give_back(&lease, moment(second)).await.unwrap();
        begun.push((second, id));
    }
    begun.sort();
    for (_, id) in begun {
        let taken = bench.reader().take_due(&terms("two", 4), 1).await.unwrap();
        let tasks: Vec<_> = taken.iter().map(|taken| &taken.lease.key.task).collect();
        assert_eq!(tasks, [&id]);
    }
    assert_eq!(take(bench, "two", 4).await, []);
}

pub async fn of_many_that_take_at_once_one_has_each_piece_of_work(bench: &Bench) {
    const PIECES: usize = 40;
    for _ in 0..PIECES {
        let (_, lease) = running(bench).await;
        bench.writer().give_back(&lease, moment(0)).await.unwrap();
    }
    let mut takers = JoinSet::new();
    let start = std::sync::Arc::new(Barrier::new(8));
    for taker in 0..8 {
        let (bench, start) = (bench.clone(), start.clone());
        takers.spawn(async move {
            start.wait().await;
            let terms = terms(&format!("replica {taker}"), 1);
            let mut taken = Vec::new();
            loop {
                let some = bench.reader().take_due(&terms, 3).await.unwrap();
                if some.is_empty() {
                    return taken;
                }
                taken.extend(some.into_iter().map(|taken| taken.lease.key.task));
            }
        });
    }
    let taken: Vec<_> = takers.join_all().await.into_iter().flatten().collect();
    assert_eq!(taken.len(), PIECES);
    let distinct: BTreeSet<_> = taken.into_iter().collect();
    assert_eq!(distinct.len(), PIECES);
}

pub async fn a_configuration_brings_its_delivery_from_the_revision_that_it_was_stored_at(bench: &Bench) {
    let id = bench.task_id();
    let creation = Creation {
        delivery: Some(terms("one", 0)),
        run: Some(run(1, "one", 0)),
        ..bench.creation(
            NewTask {
                config: Some(config(&id, "with the task")),
                ..new_task(id.clone())
            },
            0,
        )
    };
    let created = bench.writer().create(creation).await.unwrap();
    let mut grants = vec![created.webhook.unwrap()];
    let put_later = |name: &str| ConfigPut {
        delivery: Some(terms("one", 0)),
        ..ConfigPut::new(config(&id, name), 10)
    };
    bench.append(&id, "a", "one").await;
    let at_later = bench.head(&id).await.cursor;
    let later = bench.writer().put_config(put_later("later")).await.unwrap();
    grants.push(later.unwrap());
    let stamp = bench.stamp(1);
    let change = bench
        .change(&id, |head, limits| {
            decide::take_message(head, user_message("more"), limits, stamp)
        })
        .await;
    let at_message = change.head.cursor;
    let config = Some(put_later("with a message"));
    let committed = bench.writer().commit(Change { config, ..change }).await.unwrap();
    grants.push(committed.webhook.unwrap());
    grants.sort_unstable();
    grants.dedup();
    assert_eq!(grants.len(), 3, "each has a grant of its own");

    let mut taken = Vec::new();
    for Taken { lease, work } in take(bench, "two", LEASE + 1).await {
        match (lease.key.kind, work) {
            (WorkKind::Webhook(config), DueWork::Webhook { delivered }) => {
                taken.push((config.as_str().to_owned(), delivered));
            }
            (WorkKind::Run, DueWork::Run { .. }) => {}
            other => panic!("{other:?}"),
        }
    }
    taken.sort_by(|one, other| one.0.cmp(&other.0));
    let begin = Cursor::START;
    let expected = [
        ("later", at_later),
        ("with a message", at_message),
        ("with the task", begin),
    ];
    assert_eq!(
        taken,
        expected.map(|(config, cursor)| (config.to_owned(), cursor))
    );
}

pub async fn a_delivery_goes_on_where_its_last_holder_stopped_also_after_the_tasks_end(bench: &Bench) {
    let id = bench.visible_task(0).await;
    let put = ConfigPut {
        delivery: Some(terms("one", 0)),
        ..ConfigPut::new(config(&id, "hook"), 10)
    };
    let epoch = bench.writer().put_config(put).await.unwrap().unwrap();
    let first = delivery(&id, "hook", epoch);
    bench.step(&id, Move::Complete, 1).await;
    let delivered = bench.head(&id).await.cursor;
    let noted = bench
        .writer()
        .note_delivered(&first, delivered, &terms("one", 5))
        .await;
    assert!(noted.unwrap());
    assert_eq!(
        take(bench, "two", 5 + LEASE - 1).await,
        [],
        "that renews the lease"
    );
    let taken = take(bench, "two", 5 + LEASE + 1).await;
    assert_eq!(taken[0].work, DueWork::Webhook { delivered });
    let late = bench
        .writer()
        .note_delivered(&first, delivered, &terms("one", 16))
        .await;
    assert!(!late.unwrap());
    let newest = &taken[0].lease;
    let renewed = bench
        .writer()
        .renew(std::slice::from_ref(newest), &terms("two", 17))
        .await;
    assert_eq!(renewed.unwrap(), [Renewed::Held { asked: 0 }]);
    assert_eq!(bench.writer().settle(newest, 0).await.unwrap(), Settled::Done);
    assert_eq!(take(bench, "three", 10 * LEASE).await, []);
    assert_eq!(bench.reader().configs(&id, None, 10).await.unwrap().len(), 1);
}

pub async fn a_deleted_and_a_replaced_configuration_lose_their_delivery(bench: &Bench) {
    let id = bench.visible_task(0).await;
    let put = |name: &str, second| ConfigPut {
        delivery: Some(terms("one", second)),
        ..ConfigPut::new(config(&id, name), 10)
    };
    let mut leases = Vec::new();
    for name in ["deleted", "replaced", "replaced without"] {
        let epoch = bench.writer().put_config(put(name, 0)).await.unwrap().unwrap();
        leases.push(delivery(&id, name, epoch));
    }
    bench.append(&id, "a", "one").await;
    let gone = PushNotificationConfigId::new("deleted");
    assert!(bench.writer().delete_config(&id, &gone).await.unwrap());
    let epoch = bench
        .writer()
        .put_config(put("replaced", 1))
        .await
        .unwrap()
        .unwrap();
    let plain = ConfigPut::new(config(&id, "replaced without"), 10);
    assert_eq!(bench.writer().put_config(plain).await.unwrap(), None);

    let renewed = bench.writer().renew(&leases, &terms("one", 2)).await.unwrap();
    assert_eq!(renewed, [Renewed::Lost; 3]);
    let taken = take(bench, "two", LEASE + 2).await;
    assert_eq!(taken.len(), 1);
    let delivered = bench.head(&id).await.cursor;
    assert_eq!(taken[0].work, DueWork::Webhook { delivered });
    assert!(taken[0].lease.epoch > epoch);
}
