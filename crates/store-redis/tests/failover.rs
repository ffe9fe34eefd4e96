//! Masters fail: what the store then does, by the durability that it was set to. Servers are killed and hung for real.

mod support;

use std::{sync::Arc, time::Duration};

use gateway_domain::{
    ReplicaId, TaskId,
    ports::{CommitError, Lease, Renewed, Store, Terms, Work},
};
use gateway_store_redis::{Durability, RedisStore, Settings};
use gateway_testkit::{
    build::moment,
    redis::{Cluster, SentinelDeployment},
};
use support::{
    BUCKET, begin_leased, by_sentinels, chunk, create, has_all, numbers, of_cluster, open, try_chunk,
};
use tokio::time::{Instant, sleep, timeout};

/// Far beyond what a failover takes.
const PATIENCE: Duration = Duration::from_secs(60);

const REPLICA: Durability = Durability::Replica { replicas: 1 };

/// Chunks of a task, one after the other, the servers being left to `fail` in between.
async fn write_while<T: Send + 'static>(
    store: &Arc<RedisStore>,
    id: &TaskId,
    count: u32,
    fail: impl FnOnce() -> T + Send + 'static,
) -> T {
    for number in 1..=count / 3 {
        chunk(store, id, &number.to_string()).await;
    }
    let failing = tokio::task::spawn_blocking(fail);
    for number in count / 3 + 1..=count {
        chunk(store, id, &number.to_string()).await;
    }
    failing.await.expect("the servers fail as they should")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_replicas_confirmed_outlives_a_master_that_sentinels_replace() {
    let mut servers = SentinelDeployment::start(1);
    let settings = Settings {
        durability: REPLICA,
        ..by_sentinels(&servers)
    };
    let (store, other) = (open(settings.clone()).await, open(settings).await);
    let id = create(&store, "task").await;
    let mut follower = other.follow(&id).await.unwrap().unwrap();
    // The dead one comes back as a replica, or nothing could be confirmed any more.
    let fail = move || {
        let dead = servers.kill_master();
        servers.bring_back(dead);
        servers
    };
    let servers = write_while(&store, &id, 60, fail).await;
    let held = numbers(&other, &id).await;
    assert!(has_all(&held, 60), "{held:?}");
    // What was told on another replica is what is held, over new connections as well.
    let head = other.head(&id).await.unwrap().unwrap();
    let told = follower.wait_for(|pulse| pulse.cursor == head.cursor);
    timeout(PATIENCE, told).await.unwrap().unwrap();
    assert_eq!((store.set_back(), other.set_back()), (0, 0));
    drop(servers);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_replicas_confirmed_outlives_a_master_of_a_cluster() {
    let mut servers = Cluster::start();
    let settings = Settings {
        durability: REPLICA,
        ..of_cluster(&servers)
    };
    let (store, other) = (open(settings.clone()).await, open(settings).await);
    let id = create(&store, "task").await;
    let mut follower = other.follow(&id).await.unwrap().unwrap();
    let fail = move || {
        let dead = servers.kill_master_of(&format!("{BUCKET}x"));
        servers.bring_back(dead);
        servers
    };
    let servers = write_while(&store, &id, 60, fail).await;
    let held = numbers(&other, &id).await;
    assert!(has_all(&held, 60), "{held:?}");
    let head = other.head(&id).await.unwrap().unwrap();
    let told = follower.wait_for(|pulse| pulse.cursor == head.cursor);
    timeout(PATIENCE, told).await.unwrap().unwrap();
    assert_eq!((store.set_back(), other.set_back()), (0, 0));
    drop(servers);
}

/// A master on its own, which dies with what it did alone.
async fn lose_what_the_replica_has_not(servers: &mut SentinelDeployment, alone: impl Future<Output = ()>) {
    let master = servers.part_master();
    alone.await;
    servers.kill_parted(master);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_failover_lost_is_noticed_and_counted_and_its_followers_begin_again() {
    let mut servers = SentinelDeployment::start(1);
    let store = open(by_sentinels(&servers)).await;
    let id = create(&store, "task").await;
    chunk(&store, &id, "1").await;
    servers.wait_until_whole();
    let follower = store.follow(&id).await.unwrap().unwrap();
    lose_what_the_replica_has_not(&mut servers, async {
        for number in 2..=5 {
            chunk(&store, &id, &number.to_string()).await;
        }
    })
    .await;
    assert_eq!(
        follower.borrow().cursor.revision,
        6,
        "it was told of what is lost"
    );
    let noticed = async {
        while store.set_back() == 0 {
            sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(PATIENCE, noticed).await.expect("the loss is noticed");
    assert!(follower.has_changed().is_err(), "its reader begins again");
    let held = numbers(&store, &id).await;
    assert!(held.len() < 5, "{held:?}");
    let again = store.follow(&id).await.unwrap().unwrap();
    assert_eq!(
        again.borrow().cursor,
        store.head(&id).await.unwrap().unwrap().cursor
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_timeline_that_has_got_further_than_the_lost_one_is_still_another_one() {
    let mut servers = SentinelDeployment::start(1);
    let (store, other) = (
        open(by_sentinels(&servers)).await,
        open(by_sentinels(&servers)).await,
    );
    let id = create(&store, "task").await;
    servers.wait_until_whole();
    let follower = store.follow(&id).await.unwrap().unwrap();
    lose_what_the_replica_has_not(&mut servers, async { chunk(&store, &id, "1").await }).await;
    // Somebody else is quicker to go on from what is left.
    for number in 1..=9 {
        chunk(&other, &id, &number.to_string()).await;
    }
    let noticed = async {
        while store.set_back() == 0 {
            sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(PATIENCE, noticed).await.expect("the loss is noticed");
    assert!(follower.has_changed().is_err());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_no_replica_has_is_not_acknowledged_and_not_shown_until_one_has_it() {
    let mut servers = SentinelDeployment::start(1);
    let settings = Settings {
        durability: REPLICA,
        ..by_sentinels(&servers)
    };
    let (store, other) = (open(settings.clone()).await, open(settings).await);
    let id = create(&store, "task").await;
    let followers = [store.follow(&id).await, other.follow(&id).await];
    let mut followers = followers.map(|follower| follower.unwrap().unwrap());
    let replica = 1 - servers.master();
    servers.server(replica).hang();
    let begun = Instant::now();
    let refused = try_chunk(&store, &id, "1").await;
    let Err(CommitError::Store(error)) = refused else {
        panic!("{refused:?}");
    };
    // On a machine that is busy the call's own bound may come first.
    let says = ["not confirmed", "did not answer within"];
    assert!(
        says.iter().any(|says| error.cause.contains(says)),
        "{}",
        error.cause
    );
    assert!(begun.elapsed() < Duration::from_secs(6), "{:?}", begun.elapsed());
    for follower in &mut followers {
        assert_eq!(
            follower.borrow().cursor.revision,
            1,
            "nobody is shown what is not confirmed"
        );
    }
    servers.server(replica).go_on();
    for follower in &mut followers {
        let told = follower.wait_for(|pulse| pulse.cursor.revision == 2);
        timeout(PATIENCE, told).await.expect("now it is").unwrap();
    }
    chunk(&store, &id, "2").await;
    assert_eq!(numbers(&other, &id).await, [1, 2]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_master_that_hung_and_was_replaced_is_not_written_to_when_it_wakes() {
    let mut servers = SentinelDeployment::start(1);
    let settings = Settings {
        durability: REPLICA,
        ..by_sentinels(&servers)
    };
    let store = open(settings).await;
    let id = create(&store, "task").await;
    let fail = move || {
        let hung = servers.master();
        servers.server(hung).hang();
        servers.wait_for_another(hung);
        servers.server(hung).go_on();
        servers.wait_until_whole();
        servers
    };
    let servers = write_while(&store, &id, 40, fail).await;
    let held = numbers(&store, &id).await;
    assert!(has_all(&held, 40), "{held:?}");
    drop(servers);
}

#[tokio::test]
async fn a_durability_that_the_server_can_never_confirm_stops_the_start() {
    let server = gateway_testkit::redis::RedisServer::start();
    let refused = RedisStore::open(Settings {
        url: server.url(),
        durability: Durability::Disk,
        ..Settings::default()
    })
    .await;
    let cause = refused.err().expect("the server keeps nothing on its disk").cause;
    assert!(cause.contains("appendonly"), "{cause}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_disk_confirmed_outlives_a_server_that_is_killed_or_the_server_cannot_confirm_it_at_all() {
    let mut server = gateway_testkit::redis::Server::start(&[
        "--port",
        "{port}",
        "--bind",
        "127.0.0.1",
        "--save",
        "",
        "--dir",
        "{folder}",
        "--appendonly",
        "yes",
        "--appendfsync",
        "everysec",
    ]);
    let settings = Settings {
        url: format!("redis://127.0.0.1:{}", server.port()),
        durability: Durability::Disk,
        ..Settings::default()
    };
    let store = match RedisStore::open(settings).await {
        Ok(store) => Arc::new(store),
        Err(refused) => {
            // Before 7.2 a server cannot wait for its file, and nothing may be promised.
            let told = server.say("INFO server");
            assert!(told.contains("redis_version:7.0"), "{told}");
            assert!(refused.cause.contains("Redis 7.2"), "{}", refused.cause);
            return;
        }
    };
    let id = create(&store, "task").await;
    for number in 1..=20 {
        chunk(&store, &id, &number.to_string()).await;
    }
    server.kill();
    assert!(try_chunk(&store, &id, "lost").await.is_err());
    server.restart();
    let held = numbers(&store, &id).await;
    assert!(has_all(&held, 20), "{held:?}");
}

/// A run of a tenant's that is leased from a moment on, and the server that has it.
async fn begin_run(store: &RedisStore, servers: &Cluster, tenant: &str, from: i64) -> (usize, Lease) {
    let lease = begin_leased(store, tenant, terms(from)).await;
    let id = lease.key.task.as_str();
    let (bucket, _) = id.split_once('-').expect("an id says its bucket");
    (servers.master_of(&format!("a2a:{{{bucket}}}:x")), lease)
}

fn terms(second: i64) -> Terms {
    Terms {
        replica: ReplicaId::new("one"),
        now: moment(second),
        lease: Duration::from_secs(10),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn work_is_taken_and_held_wherever_a_master_answers() {
    let mut servers = Cluster::start();
    let store = open(of_cluster(&servers)).await;
    let (mut held, mut due) = (Vec::new(), Vec::new());
    for tenant in ["one", "two", "three", "four", "five", "six", "seven", "eight"] {
        held.push(begin_run(&store, &servers, &format!("{tenant}-held"), 100).await);
        due.push(begin_run(&store, &servers, &format!("{tenant}-due"), 0).await);
    }
    let away = held[0].0;
    let reached = |(master, _): &&(usize, Lease)| *master != away;
    let (held_there, due_there) = (
        held.iter().filter(reached).count(),
        due.iter().filter(reached).count(),
    );
    assert!(held_there > 0 && due_there > 0, "the tenants lie with one master");
    // With its replica, so that nobody stands in.
    servers.server(away).hang();
    servers.server(servers.replica_of(away)).hang();
    let leases: Vec<_> = held.iter().map(|(_, lease)| lease.clone()).collect();
    let now = terms(105);
    let (renewed, taken) = tokio::join!(store.renew(&leases, &now), store.take_due(&now, 100));
    let expected = held.iter().map(|(master, _)| match *master == away {
        true => Renewed::Unknown,
        false => Renewed::Held { asked: 1 },
    });
    assert_eq!(renewed.unwrap(), expected.collect::<Vec<_>>());
    assert_eq!(taken.unwrap().len(), due_there);
}
