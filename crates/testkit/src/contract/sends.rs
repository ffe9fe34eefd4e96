//! Sends that are remembered with the step that they come from.

use std::{sync::Arc, time::Duration};

use gateway_domain::{
    ContextId, Cursor, MessageId, TaskId, Timestamp,
    decide::{self, NewTask},
    lifecycle::Move,
    ports::{CommitError, CreateError, Creation},
    repeats::{ContentDigest, FirstSend, Repeats, SendClaim, SendKey},
};

use super::{Bench, bench::everything, races::at_once};
use crate::build::{agent_message, config, moment, new_task, scope, user_message};

/// A key of nobody in particular, in the context of [`new_task`].
pub(super) fn key(message: &str) -> SendKey {
    SendKey {
        scope: scope(None, None),
        message: MessageId::new(message),
        task: None,
        context: Some(ContextId::new("context")),
    }
}

/// The key of a message to a task.
fn key_of(message: &str, task: &TaskId) -> SendKey {
    SendKey {
        task: Some(task.clone()),
        ..key(message)
    }
}

/// A claim of a minute, made at a second; what it says is its text.
pub(super) fn claim_of(key: SendKey, text: &str, second: i64) -> SendClaim {
    let repeats = Repeats {
        window: Duration::from_secs(60),
        ..Repeats::default()
    };
    let content = ContentDigest::of(&user_message(text));
    SendClaim::new(key, content, moment(second), &repeats)
}

fn claim(message: &str, second: i64) -> SendClaim {
    claim_of(key(message), message, second)
}

pub(super) fn creation(bench: &Bench, new: NewTask, claim: SendClaim) -> Creation {
    Creation {
        send: Some(Arc::new(claim)),
        ..bench.creation(new, 0)
    }
}

async fn create(bench: &Bench, hidden: bool, claim: SendClaim) -> Result<TaskId, CreateError> {
    let id = bench.task_id_of(claim.key.origin());
    let new = NewTask {
        scope: claim.key.scope.clone(),
        hidden,
        ..new_task(id.clone())
    };
    let created = bench.writer().create(creation(bench, new, claim)).await;
    created.map(|_| id)
}

async fn first(bench: &Bench, key: &SendKey, at: Timestamp) -> Option<FirstSend> {
    bench.reader().first_send(key, at).await.unwrap()
}

/// Commits a further message; answers with the place of its entry.
async fn take(bench: &Bench, id: &TaskId, claim: SendClaim) -> Result<Cursor, CommitError> {
    let claim = Arc::new(claim);
    loop {
        let mut change = bench
            .change(id, |head, limits| {
                decide::take_message(head, user_message("more"), limits, bench.stamp(0))
            })
            .await;
        change.send = Some(claim.clone());
        let cursor = change.head.cursor;
        match bench.writer().commit(change).await {
            Ok(_) => return Ok(cursor),
            Err(CommitError::Conflict) => {}
            Err(other) => return Err(other),
        }
    }
}

pub async fn a_send_is_remembered_with_the_task_that_it_made(bench: &Bench) {
    assert_eq!(first(bench, &key("m"), moment(0)).await, None);
    let id = create(bench, false, claim("m", 0)).await.unwrap();
    let head = bench.head(&id).await;
    let known = first(bench, &key("m"), moment(59)).await.unwrap();
    assert_eq!((known.task, known.cursor), (id, head.cursor));
    assert_eq!(known.content, ContentDigest::of(&user_message("m")));
    assert_eq!((known.answer, known.until), (None, moment(60)));
}

pub async fn a_send_that_is_remembered_makes_no_second_task(bench: &Bench) {
    let id = create(bench, true, claim("m", 0)).await.unwrap();
    let second = bench.task_id();
    let new = NewTask {
        config: Some(config(&second, "hook")),
        ..new_task(second.clone())
    };
    let again = bench.writer().create(creation(bench, new, claim("m", 1))).await;
    let Err(CreateError::Repeated(known)) = again else {
        panic!("{again:?}");
    };
    assert_eq!((known.task, known.until), (id, moment(60)), "the first one's");
    assert_eq!(bench.reader().head(&second).await.unwrap(), None);
    assert_eq!(bench.reader().all_configs(None, 10).await.unwrap(), []);
    assert_eq!(bench.reader().all(None, 10).await.unwrap().len(), 1);
}

pub async fn a_repeated_send_comes_before_the_live_limit(bench: &Bench) {
    create(bench, false, claim("m", 0)).await.unwrap();
    let full = |claim| Creation {
        live_limit: bench.for_each_part(1),
        ..creation(bench, new_task(bench.task_id()), claim)
    };
    let again = bench.writer().create(full(claim("m", 1))).await;
    assert!(matches!(again, Err(CreateError::Repeated(_))), "{again:?}");
    let another = bench.writer().create(full(claim("another", 1))).await;
    assert!(matches!(another, Err(CreateError::LiveLimit)), "{another:?}");
    assert_eq!(
        first(bench, &key("another"), moment(1)).await,
        None,
        "what stored nothing pins nothing"
    );
}

pub async fn a_send_is_remembered_with_the_entry_that_it_made(bench: &Bench) {
    let id = bench.visible_task(0).await;
    let of_task = key_of("m", &id);
    let cursor = take(bench, &id, claim_of(of_task.clone(), "m", 0)).await.unwrap();
    assert_eq!(cursor.revision, 2);
    let known = first(bench, &of_task, moment(1)).await.unwrap();
    assert_eq!((known.task, known.cursor), (id.clone(), cursor));
    // Others write in between, and the task ends: it is the same send all the same.
    bench.step(&id, Move::Work, 1).await;
    let again = take(bench, &id, claim_of(of_task.clone(), "m", 1)).await;
    assert!(
        matches!(&again, Err(CommitError::Repeated(known)) if known.cursor == cursor),
        "{again:?}"
    );
    assert_eq!(bench.head(&id).await.client_messages, 2);
}

pub async fn a_change_that_conflicts_remembers_no_send(bench: &Bench) {
    let id = bench.visible_task(0).await;
    let mut change = bench
        .change(&id, |head, limits| {
            decide::take_message(head, user_message("late"), limits, bench.stamp(0))
        })
        .await;
    let of_task = key_of("m", &id);
    change.send = Some(Arc::new(claim_of(of_task.clone(), "m", 0)));
    bench.report(&id, "at it", 0).await;
    let refused = bench.writer().commit(change).await;
    assert!(matches!(refused, Err(CommitError::Conflict)), "{refused:?}");
    assert_eq!(first(bench, &of_task, moment(0)).await, None);
}

pub async fn a_send_is_forgotten_when_its_time_is_over(bench: &Bench) {
    let id = create(bench, false, claim("m", 0)).await.unwrap();
    assert!(first(bench, &key("m"), moment(59)).await.is_some());
    assert_eq!(first(bench, &key("m"), moment(60)).await, None);
    let other = create(bench, false, claim("m", 60)).await.unwrap();
    assert_ne!(id, other);
    let known = first(bench, &key("m"), moment(119)).await.unwrap();
    assert_eq!(known.task, other);
}

pub async fn a_discarded_task_takes_its_send_along(bench: &Bench) {
    let id = create(bench, true, claim("m", 0)).await.unwrap();
    assert!(bench.writer().discard(&id).await.unwrap());
    assert_eq!(first(bench, &key("m"), moment(0)).await, None);
    create(bench, true, claim("m", 0)).await.unwrap();
}

pub async fn a_task_that_was_answered_with_a_message_leaves_it_with_its_send(bench: &Bench) {
    let id = create(bench, true, claim("m", 0)).await.unwrap();
    let answer = Arc::new(agent_message("forty-two"));
    assert!(bench.writer().discard_answered(&id, &answer).await.unwrap());
    assert_eq!(bench.reader().head(&id).await.unwrap(), None);
    let known = first(bench, &key("m"), moment(1)).await.unwrap();
    assert_eq!((known.task, known.answer), (id, Some(answer)));
    let again = create(bench, true, claim("m", 1)).await;
    assert!(matches!(again, Err(CreateError::Repeated(_))), "{again:?}");
    // Without a send there is nothing to leave it with.
    let id = bench.hidden_task(0).await;
    let answer = Arc::new(agent_message("forty-three"));
    assert!(bench.writer().discard_answered(&id, &answer).await.unwrap());
    assert!(!bench.writer().discard_answered(&id, &answer).await.unwrap());
}

pub async fn a_visible_task_is_not_discarded_for_an_answer(bench: &Bench) {
    let id = create(bench, true, claim("m", 0)).await.unwrap();
    let showing = bench.showing(&id, 1).await;
    bench.writer().commit(showing).await.unwrap();
    let answer = Arc::new(agent_message("forty-two"));
    assert!(!bench.writer().discard_answered(&id, &answer).await.unwrap());
    let known = first(bench, &key("m"), moment(1)).await.unwrap();
    assert_eq!((known.task, known.answer), (id, None));
}

pub async fn a_forgotten_send_can_come_again(bench: &Bench) {
    bench.writer().forget_send(&key("m")).await.unwrap();
    create(bench, false, claim("m", 0)).await.unwrap();
    bench.writer().forget_send(&key("m")).await.unwrap();
    assert_eq!(first(bench, &key("m"), moment(0)).await, None);
    create(bench, false, claim("m", 0)).await.unwrap();
    let listed = bench.list(everything(scope(None, None))).await;
    assert_eq!(listed.total, 2);
}

pub async fn senders_and_tenants_do_not_share_their_sends(bench: &Bench) {
    let places = [None, Some("acme"), Some("globex")];
    let scopes = places.iter().flat_map(|tenant| {
        [None, Some("ada"), Some("1=a")]
            .iter()
            .map(|owner| scope(*tenant, *owner))
    });
    let mut made = Vec::new();
    for scope in scopes {
        for message in ["m", ":m", "3=ada:m"] {
            let key = SendKey {
                scope: scope.clone(),
                ..key(message)
            };
            let id = create(bench, false, claim_of(key.clone(), message, 0))
                .await
                .unwrap();
            made.push((key, id));
        }
    }
    for (key, id) in made {
        assert_eq!(first(bench, &key, moment(1)).await.unwrap().task, id, "{key:?}");
    }
}

pub async fn the_oldest_sends_of_a_tenant_are_forgotten_when_there_are_too_many(bench: &Bench) {
    let narrow = |number: i64| SendClaim {
        most: bench.for_each_part(3),
        ..claim(&number.to_string(), number)
    };
    for number in 0..5 {
        create(bench, false, narrow(number)).await.unwrap();
    }
    let mut known = Vec::new();
    for number in 0..5 {
        let known_now = first(bench, &key(&number.to_string()), moment(5)).await;
        known.push(known_now.is_some());
    }
    assert_eq!(known, [false, false, true, true, true]);
}

pub async fn the_oldest_sends_of_a_tenant_are_forgotten_when_they_take_too_many_bytes(bench: &Bench) {
    let narrow = |number: i64| SendClaim {
        bytes: bench.for_each_part(20_000),
        ..claim(&number.to_string(), number)
    };
    let answer = Arc::new(agent_message(&"x".repeat(7_000)));
    for number in 0..5 {
        let id = create(bench, true, narrow(number)).await.unwrap();
        assert!(bench.writer().discard_answered(&id, &answer).await.unwrap());
    }
    let last = create(bench, true, narrow(5)).await.unwrap();
    let held = async |number: i64| {
        let first = first(bench, &key(&number.to_string()), moment(6)).await;
        first.is_some()
    };
    assert_eq!((held(0).await, held(1).await), (false, false));
    assert!(held(4).await);
    assert_eq!(first(bench, &key("5"), moment(6)).await.unwrap().task, last);
}

pub async fn of_50_equal_sends_at_once_exactly_one_makes_a_task(bench: &Bench) {
    // Of no context: nothing else but their message says that they belong together.
    let claim = claim_of(
        SendKey {
            context: None,
            ..key("m")
        },
        "m",
        0,
    );
    let sends = (0..50).map(|_| {
        let (bench, claim) = (bench.clone(), claim.clone());
        async move { create(&bench, true, claim).await }
    });
    let (mut made, mut told) = (Vec::new(), Vec::new());
    for sent in at_once(sends.collect::<Vec<_>>()).await {
        match sent {
            Ok(id) => made.push(id),
            Err(CreateError::Repeated(first)) => told.push(first.task),
            Err(other) => panic!("{other:?}"),
        }
    }
    assert_eq!((made.len(), told.len()), (1, 49));
    assert!(told.iter().all(|task| *task == made[0]));
    assert_eq!(bench.reader().all(None, 10).await.unwrap().len(), 1);
}

pub async fn of_50_equal_messages_at_once_exactly_one_goes_into_the_task(bench: &Bench) {
    let id = bench.visible_task(0).await;
    let sends = (0..50).map(|_| {
        let (bench, id) = (bench.clone(), id.clone());
        async move { take(&bench, &id, claim_of(key_of("m", &id), "m", 0)).await }
    });
    let mut made = Vec::new();
    for sent in at_once(sends.collect::<Vec<_>>()).await {
        match sent {
            Ok(cursor) => made.push(cursor),
            Err(CommitError::Repeated(_)) => {}
            Err(other) => panic!("{other:?}"),
        }
    }
    assert_eq!(made.len(), 1);
    let head = bench.head(&id).await;
    assert_eq!((head.client_messages, head.cursor), (2, made[0]));
}
