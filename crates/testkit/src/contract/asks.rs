//! What is asked of a run that another replica holds, and its answers.

use gateway_domain::{
    Error, ErrorKind, Outcome, TaskId,
    json::Object,
    ports::{
        CancelAnswer, DueWork, Lease, MOST_ANSWERS, MOST_ASKED, Renewed, RunAnswer, RunAsk, RunGrant,
        Settled, WorkNews,
    },
};
use tokio::sync::broadcast::Receiver;

use super::{
    Bench,
    work::{lease, running, send},
};
use crate::build::{offer, terms};

/// Everything that is asked after a number, as the holder finds it.
async fn asks(bench: &Bench, lease: &Lease, after: u64) -> Option<Vec<(u64, RunAsk)>> {
    bench.reader().asks(lease, after).await.unwrap()
}

async fn asked(bench: &Bench, id: &TaskId, replica: &str) -> u64 {
    match send(bench, id, replica, 1).await {
        RunGrant::Asked(asked) => {
            assert_eq!(asked.holder.as_str(), "one");
            asked.number
        }
        begun @ RunGrant::Begun { .. } => panic!("{begun:?}"),
    }
}

/// Waits for a hint. Others may come before it.
async fn hear(news: &mut Receiver<WorkNews>, expected: &WorkNews) {
    while news.recv().await.unwrap() != *expected {}
}

pub async fn a_message_for_a_run_that_is_held_is_asked_of_its_holder_in_order(bench: &Bench) {
    let (id, held) = running(bench).await;
    assert_eq!(asked(bench, &id, "two").await, 2);
    assert_eq!(asked(bench, &id, "one").await, 3);
    let all = asks(bench, &held, 0).await.unwrap();
    let expected = [1, 2, 3].map(|number: u64| {
        let message = usize::try_from(number).unwrap();
        (number, RunAsk::Offer(offer(message)))
    });
    assert_eq!(all, expected);
    assert_eq!(asks(bench, &held, 2).await.unwrap(), expected[2..]);
    assert_eq!(asks(bench, &held, 3).await.unwrap(), []);
    let renewed = bench
        .reader()
        .renew(std::slice::from_ref(&held), &terms("one", 1))
        .await;
    assert_eq!(renewed.unwrap(), [Renewed::Held { asked: 3 }]);
}

pub async fn a_run_is_not_settled_while_more_was_asked_than_its_holder_has_seen(bench: &Bench) {
    let (id, held) = running(bench).await;
    let number = asked(bench, &id, "two").await;
    assert_eq!(bench.writer().settle(&held, 1).await.unwrap(), Settled::MoreAsked);
    assert!(asks(bench, &held, 1).await.is_some(), "it is held on");
    assert_eq!(bench.writer().settle(&held, number).await.unwrap(), Settled::Done);
    assert_eq!(asks(bench, &held, 0).await, None);
}

pub async fn a_cancel_is_asked_with_its_metadata_where_there_is_a_run(bench: &Bench) {
    let metadata: Object = serde_json::from_str(r#"{"why": ["changed", null]}"#).unwrap();
    let cancel = RunAsk::Cancel(Some(metadata));
    let idle = bench.visible_task(0).await;
    assert_eq!(bench.writer().ask(&idle, cancel.clone()).await.unwrap(), None);
    let (id, held) = running(bench).await;
    let before = bench.read(&id).await;
    let asked = bench.writer().ask(&id, cancel.clone()).await.unwrap().unwrap();
    assert_eq!((asked.number, asked.holder.as_str()), (2, "one"));
    assert_eq!(asks(bench, &held, 1).await.unwrap(), [(2, cancel)]);
    assert_eq!(bench.read(&id).await.head, before.head, "it makes no revision");
}

pub async fn an_answer_is_found_by_its_number_on_every_replica_and_outlives_the_run(bench: &Bench) {
    let (id, held) = running(bench).await;
    let number = asked(bench, &id, "two").await;
    let reader = bench.reader();
    assert!(reader.answer_to(&id, number).await.unwrap().is_none());
    let refusal = Error::new(ErrorKind::UnsupportedOperation, "not now").outcome(Outcome::TaskTerminal);
    let failed = RunAnswer::Failed(refusal.because("a reason for the operator"));
    assert!(bench.writer().answer(&held, number, failed, false).await.unwrap());
    bench.writer().settle(&held, number).await.unwrap();
    let Some(RunAnswer::Failed(error)) = reader.answer_to(&id, number).await.unwrap() else {
        panic!("it failed");
    };
    assert_eq!(
        (error.kind(), error.message()),
        (ErrorKind::UnsupportedOperation, "not now")
    );
    assert_eq!(error.decided_outcome(), Some(Outcome::TaskTerminal));
    assert!(reader.answer_to(&id, 1).await.unwrap().is_none());
    let nobody = TaskId::new("nobody's");
    assert!(reader.answer_to(&nobody, number).await.unwrap().is_none());
}

pub async fn what_was_answered_for_good_is_asked_no_more_and_what_is_kept_is(bench: &Bench) {
    let (id, held) = running(bench).await;
    let refused = asked(bench, &id, "two").await;
    let taken = asked(bench, &id, "two").await;
    let answer = RunAnswer::Cancel(CancelAnswer::Refused);
    assert!(
        bench
            .writer()
            .answer(&held, refused, answer, false)
            .await
            .unwrap()
    );
    assert!(
        bench
            .writer()
            .answer(&held, taken, RunAnswer::Taken, true)
            .await
            .unwrap()
    );
    bench
        .writer()
        .give_back(&held, crate::build::moment(0))
        .await
        .unwrap();
    let again = bench.reader().take_due(&terms("two", 1), 10).await.unwrap();
    let DueWork::Run { asks, asked, .. } = &again[0].work else {
        panic!("{again:?}");
    };
    let numbers: Vec<_> = asks.iter().map(|(number, _)| *number).collect();
    assert_eq!((numbers, *asked), (vec![1, taken], taken));
}

pub async fn a_late_holder_neither_sees_what_is_asked_nor_answers(bench: &Bench) {
    let (id, held) = running(bench).await;
    let number = asked(bench, &id, "two").await;
    bench
        .writer()
        .give_back(&held, crate::build::moment(0))
        .await
        .unwrap();
    bench.reader().take_due(&terms("two", 1), 10).await.unwrap();
    assert_eq!(asks(bench, &held, 0).await, None);
    let late = bench
        .writer()
        .answer(&held, number, RunAnswer::Taken, false)
        .await;
    assert!(!late.unwrap());
    assert!(bench.reader().answer_to(&id, number).await.unwrap().is_none());
    let nobody = lease(&TaskId::new("nobody's"), 1);
    assert!(
        !bench
            .writer()
            .answer(&nobody, 1, RunAnswer::Taken, false)
            .await
            .unwrap()
    );
}

pub async fn what_is_asked_is_bounded_and_the_first_and_the_latest_stay(bench: &Bench) {
    let (id, held) = running(bench).await;
    let most = u64::try_from(MOST_ASKED).unwrap();
    for number in 2..=most + 5 {
        let asked = bench.writer().ask(&id, RunAsk::Cancel(None)).await.unwrap();
        assert_eq!(asked.unwrap().number, number);
    }
    let numbers: Vec<_> = asks(bench, &held, 0)
        .await
        .unwrap()
        .into_iter()
        .map(|(number, _)| number)
        .collect();
    let expected: Vec<_> = std::iter::once(1).chain(7..=most + 5).collect();
    assert_eq!(numbers, expected);
}

pub async fn answers_are_bounded_and_the_latest_stay(bench: &Bench) {
    let (id, held) = running(bench).await;
    for number in 1..=MOST_ANSWERS + 3 {
        let answer = RunAnswer::Cancel(CancelAnswer::NoRun);
        assert!(bench.writer().answer(&held, number, answer, true).await.unwrap());
    }
    for number in 1..=MOST_ANSWERS + 3 {
        let held = bench.reader().answer_to(&id, number).await.unwrap();
        assert_eq!(held.is_some(), number > 3, "{number}");
    }
}

pub async fn whoever_listens_hears_of_what_is_asked_answered_and_given_back(bench: &Bench) {
    let (mut news, (id, held)) = (bench.reader().work_news(), running(bench).await);
    let number = asked(bench, &id, "two").await;
    hear(&mut news, &WorkNews::Asked(id.clone())).await;
    bench.writer().ask(&id, RunAsk::Cancel(None)).await.unwrap();
    hear(&mut news, &WorkNews::Asked(id.clone())).await;
    bench
        .writer()
        .answer(&held, number, RunAnswer::Taken, true)
        .await
        .unwrap();
    hear(&mut news, &WorkNews::Answered(id.clone())).await;
    bench
        .writer()
        .give_back(&held, crate::build::moment(0))
        .await
        .unwrap();
    hear(&mut news, &WorkNews::Due).await;
}
