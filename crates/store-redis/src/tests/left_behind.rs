//! What a store holds: bounded, of the types that the table says, and nothing once its tasks are gone.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use gateway_domain::{
    ContextId, MessageId,
    decide::NewTask,
    ports::{ConfigPut, Creation, Lease, LogRead, RunAnswer, RunAsk, RunGrant, Work, WorkKey, WorkKind},
    repeats::{ContentDigest, Repeats, SendClaim, SendKey},
    request::AgentAction,
};
use gateway_testkit::build::{artifact, config, run, scope, terms};

use super::*;
use crate::{Held, Retired, keys::KINDS};

/// Every key besides the deployment's own.
async fn keys(store: &RedisStore) -> Vec<String> {
    let all: Vec<String> = raw(store, redis::cmd("KEYS").arg("*")).await;
    let own = store.inner.layout.deployment();
    all.into_iter().filter(|key| *key != own).collect()
}

/// Begins a task with its run and the delivery to its configuration, and asks and answers something.
async fn begin(store: &RedisStore, new: NewTask) -> TaskId {
    let id = new.id.clone();
    let creation = Creation {
        run: Some(run(1, "replica", 0)),
        delivery: Some(terms("replica", 0)),
        ..decide::create(new, &Limits::default(), stamp(0)).unwrap()
    };
    let granted = store.create(creation).await.unwrap();
    let Some(RunGrant::Begun { epoch, .. }) = granted.run else {
        panic!("{granted:?}");
    };
    let key = WorkKey {
        task: id.clone(),
        kind: WorkKind::Run,
    };
    let lease = Lease { key, epoch };
    for _ in 0..2 {
        store.ask(&id, RunAsk::Cancel(None)).await.unwrap();
    }
    assert!(store.answer(&lease, 2, RunAnswer::Taken, false).await.unwrap());
    id
}

/// A task with content of every kind.
async fn rich(store: &RedisStore, number: i64) -> TaskId {
    let scope = scope(
        Some(["acme", "globex", "{x}"][usize::try_from(number % 3).unwrap()]),
        Some("ada"),
    );
    let id = store.name_task(TaskId::new(format!("{number}")), origin_in(&scope));
    let new = NewTask {
        context_id: ContextId::new(format!("context {number}")),
        scope,
        hidden: number % 4 == 0,
        config: Some(config(&id, "hook")),
        ..new_task(id)
    };
    let id = begin(store, new).await;
    append(store, &id, "one").await;
    append(store, &id, "two").await;
    for word in ["at it", "still at it"] {
        act(
            store,
            &id,
            AgentAction::ReportProgress(Some(agent_message(word))),
            number,
        )
        .await;
    }
    store
        .put_config(ConfigPut::new(config(&id, "another hook"), 10))
        .await
        .unwrap();
    id
}

/// A claim for a send of nobody in particular, remembered for ten minutes.
fn claim(message: &str, second: i64) -> SendClaim {
    let key = SendKey {
        scope: scope(None, None),
        message: MessageId::new(message),
        task: None,
        context: None,
    };
    let content = ContentDigest::of(&agent_message(message));
    SendClaim::new(key, content, moment(second), &Repeats::default())
}

#[tokio::test]
async fn every_key_is_of_a_kind_in_the_table_and_every_kind_is_used() {
    let Replica {
        store,
        server: _server,
    } = Replica::new(Settings::default()).await;
    for number in 0..6 {
        let id = rich(&store, number).await;
        if number < 3 {
            finish(&store, &id, number).await;
        }
    }
    let claimed = Creation {
        send: Some(Arc::new(claim("m", 0))),
        ..decide::create(fresh(&store, "claimed"), &Limits::default(), stamp(0)).unwrap()
    };
    store.create(claimed).await.unwrap();
    let mut used = BTreeSet::new();
    for key in keys(&store).await {
        let kind = key
            .split("}:")
            .nth(1)
            .and_then(|rest| rest.split(':').next())
            .unwrap();
        let kind = KINDS
            .iter()
            .find(|known| known.name == kind)
            .unwrap_or_else(|| panic!("{key}"));
        let holds: String = raw(&store, redis::cmd("TYPE").arg(&key)).await;
        assert_eq!(holds, kind.holds, "{key}");
        used.insert(kind.name);
    }
    // Fences are written only where something is waited for.
    let kept = KINDS
        .iter()
        .filter(|kind| kind.holds != "channel" && kind.name != crate::keys::FENCE);
    assert_eq!(used, kept.map(|kind| kind.name).collect());
}

#[tokio::test]
async fn tasks_that_came_and_went_leave_nothing_behind() {
    let Replica {
        store,
        server: _server,
    } = Replica::new(Settings::default()).await;
    for number in 0..60 {
        let id = rich(&store, number).await;
        if number % 8 == 0 {
            assert!(store.discard(&id).await.unwrap());
        } else {
            finish(&store, &id, number).await;
        }
    }
    assert_eq!(held(&store).await.len(), 52);
    let day = 24 * 60 * 60;
    assert_eq!(
        store.sweep(moment(day)).await.unwrap(),
        0,
        "the first is a day old in a second"
    );
    assert_eq!(
        store.held(),
        Held {
            live: 0,
            finished: 52
        }
    );
    assert_eq!(store.sweep(moment(day + 30)).await.unwrap(), 27);
    assert_eq!(
        store.held(),
        Held {
            live: 0,
            finished: 25
        }
    );
    assert_eq!(store.sweep(moment(day + 100)).await.unwrap(), 25);
    assert_eq!(
        store.retired(),
        Retired {
            over_count: 0,
            over_age: 52
        }
    );
    assert_eq!(keys(&store).await, Vec::<String>::new());
}

#[tokio::test]
async fn a_sweep_takes_as_many_as_there_are_and_no_live_task() {
    let settings = Settings {
        finished_kept: Duration::from_secs(60),
        ..Settings::default()
    };
    let Replica {
        store,
        server: _server,
    } = Replica::new(settings).await;
    let live = create(&store, fresh(&store, "live")).await;
    for number in 0..150 {
        let id = create(&store, fresh(&store, &format!("{number}"))).await;
        finish(&store, &id, 0).await;
    }
    assert_eq!(store.sweep(moment(59)).await.unwrap(), 0);
    assert_eq!(store.sweep(moment(60)).await.unwrap(), 150);
    assert_eq!(held(&store).await, [live]);
    assert_eq!(store.held(), Held { live: 1, finished: 0 });
}

#[tokio::test]
async fn the_oldest_finished_tasks_of_a_tenant_leave_when_it_has_too_many() {
    let settings = Settings {
        finished_per_tenant: 2,
        ..Settings::default()
    };
    let Replica {
        store,
        server: _server,
    } = Replica::new(settings).await;
    for (name, second) in [("late", 30), ("early", 10)] {
        let id = create(&store, fresh(&store, name)).await;
        finish(&store, &id, second).await;
    }
    let acme = scope(Some("acme"), None);
    let other = NewTask {
        scope: acme.clone(),
        ..new_task(store.name_task(TaskId::new("other"), origin_in(&acme)))
    };
    let other = create(&store, other).await;
    finish(&store, &other, 1).await;
    let live = create(&store, fresh(&store, "live")).await;
    let later = create(&store, fresh(&store, "later")).await;
    let mut follower = store.follow(&later).await.unwrap().unwrap();
    finish(&store, &later, 40).await;

    let names: Vec<_> = held(&store).await;
    let late = store.name_task(TaskId::new("late"), Origin::default());
    assert_eq!(
        names.iter().collect::<BTreeSet<_>>(),
        [&late, &other, &live, &later].into()
    );
    assert_eq!(
        store.retired(),
        Retired {
            over_count: 1,
            over_age: 0
        }
    );
    assert!(follower.wait_for(|pulse| pulse.state.is_terminal()).await.is_ok());
}

#[tokio::test]
async fn a_log_drops_its_oldest_entries_over_the_bound_on_bytes_but_never_the_newest() {
    let settings = Settings {
        log_bytes: 5_000,
        ..Settings::default()
    };
    let Replica {
        store,
        server: _server,
    } = Replica::new(settings).await;
    let id = create(&store, fresh(&store, "task")).await;
    for _ in 0..10 {
        append(&store, &id, &"x".repeat(1_000)).await;
    }
    assert!(matches!(
        store.log(&id, Cursor::START, 10).await,
        Ok(LogRead::Gone)
    ));
    assert!(
        matches!(store.log(&id, place(7), 10).await, Ok(LogRead::Entries(entries)) if entries.len() == 4)
    );
    append(&store, &id, &"x".repeat(50_000)).await;
    assert!(matches!(store.log(&id, place(10), 10).await, Ok(LogRead::Gone)));
    assert!(
        matches!(store.log(&id, place(11), 10).await, Ok(LogRead::Entries(entries)) if entries.len() == 1)
    );
}

#[tokio::test]
async fn a_replaced_artifact_leaves_none_of_its_chunks() {
    let Replica {
        store,
        server: _server,
    } = Replica::new(Settings::default()).await;
    let id = create(&store, fresh(&store, "task")).await;
    for _ in 0..20 {
        append(&store, &id, "chunk").await;
    }
    let whole = AgentAction::UpdateArtifact {
        artifact: artifact("a", "whole"),
        append: false,
        last_chunk: false,
    };
    act(&store, &id, whole, 0).await;
    append(&store, &id, "and more").await;
    let bucket = store.inner.layout.bucket(&id).unwrap();
    let parts = store.inner.layout.key(bucket, crate::keys::PARTS, id.as_str());
    let mut fields: Vec<String> = raw(&store, redis::cmd("HKEYS").arg(parts)).await;
    fields.sort();
    assert_eq!(fields, ["0", "0.1", "0.2"]);
    let task = store.read(&id).await.unwrap().unwrap().task;
    let texts: Vec<_> = task.artifacts[0]
        .parts
        .iter()
        .map(|part| format!("{part:?}"))
        .collect();
    assert!(
        texts.len() == 2 && texts[0].contains("whole") && texts[1].contains("and more"),
        "{texts:?}"
    );
}

#[tokio::test]
async fn a_task_that_redis_dropped_by_itself_does_not_stop_the_sweep_of_others() {
    let Replica {
        store,
        server: _server,
    } = Replica::new(Settings::default()).await;
    let dropped = create(&store, fresh(&store, "dropped")).await;
    let kept = create(&store, fresh(&store, "kept")).await;
    for id in [&dropped, &kept] {
        finish(&store, id, 0).await;
    }
    let bucket = store.inner.layout.bucket(&dropped).unwrap();
    let key = store
        .inner
        .layout
        .key(bucket, crate::keys::TASK, dropped.as_str());
    let gone: i64 = raw(&store, redis::cmd("DEL").arg(key)).await;
    assert_eq!(gone, 1);
    store.sweep(moment(1_000_000)).await.unwrap();
    assert!(store.head(&kept).await.unwrap().is_none());
    assert_eq!(store.held(), Held { live: 0, finished: 0 });
}

#[tokio::test]
async fn what_is_remembered_of_sends_is_bounded_and_expires_with_the_newest_of_them() {
    let Replica {
        store,
        server: _server,
    } = Replica::new(Settings::default()).await;
    let bucket = store.inner.layout.bucket_for(Origin::default());
    let sent = store.inner.layout.key(bucket, crate::keys::SENT, "-");
    let until = store.inner.layout.key(bucket, crate::keys::SENT_UNTIL, "-");
    for number in 0..40 {
        let send = SendClaim {
            most: 10,
            ..claim(&format!("m{number}"), number)
        };
        let hidden = NewTask {
            hidden: number % 2 == 0,
            ..fresh(&store, &number.to_string())
        };
        let id = hidden.id.clone();
        let creation = Creation {
            send: Some(Arc::new(send)),
            ..decide::create(hidden, &Limits::default(), stamp(number)).unwrap()
        };
        store.create(creation).await.unwrap();
        if number % 4 == 0 {
            let answer = Arc::new(agent_message("an answer"));
            assert!(store.discard_answered(&id, &answer).await.unwrap());
        } else if number % 2 == 0 {
            assert!(store.discard(&id).await.unwrap());
        }
    }
    let fields: Vec<(String, String)> = raw(&store, redis::cmd("HGETALL").arg(&sent)).await;
    let (counts, records): (Vec<_>, Vec<_>) = fields.into_iter().partition(|(field, _)| field.is_empty());
    assert_eq!(records.len(), 10);
    let bytes: usize = records
        .iter()
        .map(|(field, record)| field.len() + record.len())
        .sum();
    assert_eq!(
        counts[0].1,
        bytes.to_string(),
        "the bytes are counted as they are"
    );
    let ordered: usize = raw(&store, redis::cmd("ZCARD").arg(&until)).await;
    assert_eq!(ordered, 10);
    for key in [&sent, &until] {
        let left: i64 = raw(&store, redis::cmd("PTTL").arg(key)).await;
        assert!((500_000..=600_000).contains(&left), "{left}");
    }
    for number in 0..40 {
        let forgotten = store.forget_send(&claim(&format!("m{number}"), 0).key).await;
        forgotten.unwrap();
    }
    let left: usize = raw(&store, redis::cmd("EXISTS").arg(&sent).arg(&until)).await;
    assert_eq!(left, 0);
}
