//! What replicas of one deployment share, and what keeps two deployments on one server apart.

use super::*;

#[tokio::test]
async fn replicas_agree_on_a_value_that_the_first_one_brings() {
    let Replica { store, server } = Replica::new(Settings::default()).await;
    let other = open(&server, Settings::default()).await;
    assert_eq!(
        store.agree("page-key", b"first\0\xff").await.unwrap(),
        b"first\0\xff"
    );
    assert_eq!(other.agree("page-key", b"second").await.unwrap(), b"first\0\xff");
}

#[tokio::test]
async fn a_deployment_cannot_be_opened_with_another_number_of_buckets() {
    let Replica {
        store: _store,
        server,
    } = Replica::new(Settings::default()).await;
    let wrong = Settings {
        url: server.url(),
        buckets: 32,
        ..Settings::default()
    };
    let refused = RedisStore::open(wrong).await.err().unwrap();
    assert!(
        refused.cause.contains("made with 64 buckets"),
        "{}",
        refused.cause
    );
}

#[tokio::test]
async fn settings_that_no_deployment_can_have_are_refused_before_anything_is_asked() {
    let nowhere = || Settings {
        url: "redis+unix:///nowhere".to_owned(),
        ..Settings::default()
    };
    for (settings, says) in [
        (
            Settings {
                prefix: String::new(),
                ..nowhere()
            },
            "prefix",
        ),
        (
            Settings {
                prefix: "a{b}".to_owned(),
                ..nowhere()
            },
            "prefix",
        ),
        (
            Settings {
                buckets: 0,
                ..nowhere()
            },
            "buckets",
        ),
        (
            Settings {
                buckets: 257,
                ..nowhere()
            },
            "buckets",
        ),
        (
            Settings {
                user: Some("gateway".to_owned()),
                ..nowhere()
            },
            "secrets.redis_password",
        ),
        (
            Settings {
                url: "amqp://host".to_owned(),
                ..nowhere()
            },
            "URL",
        ),
    ] {
        let refused = RedisStore::open(settings).await.err().unwrap();
        assert!(refused.cause.contains(says), "{}", refused.cause);
    }
}

#[tokio::test]
async fn deployments_of_different_prefixes_do_not_see_each_other() {
    let Replica { store, server } = Replica::new(Settings::default()).await;
    let other = Settings {
        prefix: "other".to_owned(),
        buckets: 8,
        ..Settings::default()
    };
    let other = open(&server, other).await;
    let id = create(&store, fresh(&store, "task")).await;
    assert_eq!(held(&other).await, []);
    assert!(other.head(&id).await.unwrap().is_none());
    assert_eq!(held(&store).await, [id]);
}

#[tokio::test]
async fn a_task_that_was_not_named_for_its_tenant_is_refused() {
    let Replica {
        store,
        server: _server,
    } = Replica::new(Settings::default()).await;
    let creation = decide::create(new_task(TaskId::new("plain")), &Limits::default(), stamp(0)).unwrap();
    let refused = store.create(creation).await;
    assert!(refused.is_err(), "its bucket could not be found again");
    assert_eq!(held(&store).await, []);
}

#[tokio::test]
async fn a_user_with_the_rights_that_the_example_names_can_do_everything_and_a_wrong_password_nothing() {
    let example = include_str!("../../../../deploy/redis.toml");
    let rights = example
        .lines()
        .find_map(|line| line.strip_prefix("#   ACL SETUSER gateway on >PASSWORD "));
    let server = RedisServer::start();
    let made = server.say(&format!("ACL SETUSER gateway on >secret {}", rights.unwrap()));
    assert_eq!(made, "+OK\r\n");
    let user = |password: &str| Settings {
        url: server.url(),
        user: Some("gateway".to_owned()),
        password: Some(password.to_owned()),
        ..Settings::default()
    };
    let store = RedisStore::open(user("secret")).await.unwrap();
    let id = create(&store, fresh(&store, "task")).await;
    let mut follower = store.follow(&id).await.unwrap().unwrap();
    append(&store, &id, "text").await;
    finish(&store, &id, 1).await;
    follower
        .wait_for(|pulse| pulse.state.is_terminal())
        .await
        .unwrap();
    assert_eq!(store.sweep(moment(1_000_000)).await.unwrap(), 1);
    assert_eq!(held(&store).await, []);
    let refused = RedisStore::open(user("guess")).await.err().unwrap();
    assert!(!refused.cause.contains("guess"), "{}", refused.cause);
}
