//! What a call looks like, and what becomes of each answer.

use gateway_domain::{AuthenticationInfo, lifecycle::Move};
use gateway_testkit::receiver::{Answer, Receiver};
use http::{Method, Version};

use super::support::{Bench, quick, with_long_pauses};
use crate::{Attempt, DeadLetter};

fn bearer(scheme: &str, credentials: Option<&str>) -> Option<AuthenticationInfo> {
    Some(AuthenticationInfo {
        schemes: Vec::new(),
        scheme: scheme.to_owned(),
        credentials: credentials.map(str::to_owned),
    })
}

#[tokio::test]
async fn a_call_is_a_post_of_one_stream_response_in_the_media_type_of_a2a() {
    let (hook, bench) = (Receiver::willing().await, Bench::new(quick()).await);
    let url = format!("{}/deep?query=1&b=%20#part", hook.url());
    bench.configure(bench.plain("hook", &url)).await;
    bench.step(Move::RequireInput).await;
    let call = hook.calls(1).await.remove(0);
    assert_eq!(
        (call.method.clone(), call.version),
        (Method::POST, Version::HTTP_11)
    );
    assert_eq!(call.target, "/hook/deep?query=1&b=%20");
    assert_eq!(call.header("content-type"), Some("application/a2a+json"));
    assert_eq!(call.header("host"), Some(hook.address.to_string().as_str()));
    assert_eq!(call.header("transfer-encoding"), None);
    let members: Vec<_> = call.body.as_object().unwrap().keys().collect();
    assert_eq!(members, ["statusUpdate"]);
    assert_eq!(call.body["statusUpdate"]["taskId"], "task");
    assert_eq!(
        call.body["statusUpdate"]["status"]["state"],
        "TASK_STATE_INPUT_REQUIRED"
    );
}

#[tokio::test]
async fn credentials_and_token_are_sent_as_given_and_half_of_them_not_at_all() {
    let bench = Bench::new(quick()).await;
    for (number, (token, authentication, header, authorization)) in [
        (
            Some("opaque-1"),
            bearer("bearer", Some("cred-1")),
            Some("opaque-1"),
            Some("bearer cred-1"),
        ),
        (Some("opaque-1"), bearer("bearer", None), Some("opaque-1"), None),
        (None, bearer("Basic", Some("dTpw")), None, Some("Basic dTpw")),
        (Some("opaque-1"), None, Some("opaque-1"), None),
        (None, None, None, None),
    ]
    .into_iter()
    .enumerate()
    {
        let hook = Receiver::new(|_| Answer::Status(204)).await;
        let mut config = bench.plain(&format!("hook {number}"), &hook.url());
        config.config.token = token.map(str::to_owned);
        config.config.authentication = authentication;
        bench.configure(config).await;
        bench.chunk("news").await;
        let call = hook.calls(1).await.remove(0);
        assert_eq!(call.header("x-a2a-notification-token"), header, "{number}");
        assert_eq!(call.header("authorization"), authorization, "{number}");
    }
}

#[tokio::test]
async fn a_refusal_is_final_for_its_event_and_the_next_one_is_sent() {
    let (hook, bench) = (
        Receiver::new(|number| Answer::Status(if number == 0 { 404 } else { 200 })).await,
        Bench::new(with_long_pauses()).await,
    );
    bench.call("hook", &hook).await;
    bench.chunk("refused").await;
    bench.chunk("taken").await;
    bench.step(Move::Complete).await;
    bench.nobody_is_followed().await;
    assert_eq!(hook.news(), ["refused", "taken", "TASK_STATE_COMPLETED"]);
    let counts = bench.courier.counts();
    assert_eq!(counts.of_dead_letter(DeadLetter::Refused), 1);
    assert_eq!(counts.of_attempt(Attempt::Delivered), 2);
}

#[tokio::test]
async fn what_may_pass_is_repeated_whatever_its_kind() {
    for answer in [
        Answer::Status(408),
        Answer::Status(425),
        Answer::Status(429),
        Answer::Status(500),
        Answer::Status(503),
        Answer::Drop,
    ] {
        let first = answer.clone();
        let hook = Receiver::new(move |number| {
            if number < 2 {
                first.clone()
            } else {
                Answer::Status(200)
            }
        })
        .await;
        let bench = Bench::new(quick()).await;
        bench.call("hook", &hook).await;
        bench.step(Move::Complete).await;
        bench.nobody_is_followed().await;
        assert_eq!(hook.news(), ["TASK_STATE_COMPLETED"; 3], "{answer:?}");
        let counts = bench.courier.counts();
        assert_eq!(counts.of_attempt(Attempt::Delivered), 1, "{answer:?}");
        assert_eq!(
            counts
                .dead_letters()
                .iter()
                .map(|(_, number)| number)
                .sum::<u64>(),
            0
        );
    }
}

#[tokio::test]
async fn an_event_that_failed_too_often_is_given_up_and_the_next_one_is_sent() {
    let hook = Receiver::new(|number| Answer::Status(if number < 4 { 503 } else { 200 })).await;
    let bench = Bench::new(quick()).await;
    bench.call("hook", &hook).await;
    bench.chunk("lost").await;
    bench.step(Move::Complete).await;
    bench.nobody_is_followed().await;
    assert_eq!(
        hook.news(),
        ["lost", "lost", "lost", "lost", "TASK_STATE_COMPLETED"]
    );
    assert_eq!(bench.courier.counts().of_dead_letter(DeadLetter::Exhausted), 1);
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let elsewhere = Receiver::willing().await;
    let to = elsewhere.url();
    let hook = Receiver::new(move |_| Answer::Redirect(to.clone())).await;
    let bench = Bench::new(quick()).await;
    bench.call("hook", &hook).await;
    bench.step(Move::Complete).await;
    bench.nobody_is_followed().await;
    assert_eq!((hook.so_far().len(), elsewhere.so_far().len()), (1, 0));
    assert_eq!(bench.courier.counts().of_dead_letter(DeadLetter::Refused), 1);
}

#[tokio::test]
async fn events_share_a_connection_until_the_receiver_closes_it() {
    let hook = Receiver::new(|number| {
        if number == 1 {
            Answer::Close
        } else {
            Answer::Status(200)
        }
    })
    .await;
    let bench = Bench::new(quick()).await;
    bench.call("hook", &hook).await;
    for (number, text) in ["one", "two", "three", "four"].into_iter().enumerate() {
        bench.chunk(text).await;
        hook.calls(number + 1).await;
    }
    let connections: Vec<_> = hook.so_far().iter().map(|call| call.connection).collect();
    assert_eq!(connections, [0, 0, 1, 1]);
    assert_eq!(hook.news(), ["one", "two", "three", "four"]);
}

#[tokio::test]
async fn an_answer_without_end_is_not_read_to_its_end() {
    let hook = Receiver::new(|_| Answer::Endless).await;
    let bench = Bench::new(quick()).await;
    bench.call("hook", &hook).await;
    bench.chunk("one").await;
    bench.step(Move::Complete).await;
    bench.nobody_is_followed().await;
    assert_eq!(hook.news(), ["one", "TASK_STATE_COMPLETED"]);
    assert_eq!(bench.courier.counts().of_attempt(Attempt::Delivered), 2);
}
