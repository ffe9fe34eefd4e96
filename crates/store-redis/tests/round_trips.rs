//! What the store asks of Redis, as Redis hears it.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod support;

use std::{
    collections::BTreeMap,
    io::{BufRead, BufReader, Write},
    net::TcpStream,
};

use gateway_domain::{
    Scope,
    ports::{ListQuery, Store},
    request::TaskFilter,
};
use gateway_store_redis::{Durability, Settings};
use gateway_testkit::redis::{SentinelDeployment, Server};
use support::{by_sentinels, chunk, create, open};

/// Hears every command that a server is sent, and tells those of scripts apart.
struct Monitor<'a> {
    server: &'a Server,
    lines: BufReader<TcpStream>,
}

impl<'a> Monitor<'a> {
    fn of(server: &'a Server) -> Self {
        let mut connection = TcpStream::connect(("127.0.0.1", server.port())).unwrap();
        connection.write_all(b"MONITOR\r\n").unwrap();
        let mut lines = BufReader::new(connection);
        lines.read_line(&mut String::new()).unwrap();
        Self { server, lines }
    }

    /// How many commands of each name came from outside since this was asked last, without those that belong to no
    /// call: whether the server is there, what time it has, and what the deployment has agreed on.
    fn counted(&mut self) -> BTreeMap<String, usize> {
        self.server.say("ECHO until-here");
        let mut counted = BTreeMap::new();
        loop {
            let mut line = String::new();
            self.lines.read_line(&mut line).unwrap();
            if line.contains("until-here") {
                return counted;
            }
            let name = line.split('"').nth(1).unwrap_or_default().to_uppercase();
            if !line.contains(" lua]") && !["PING", "TIME", "HGETALL"].contains(&name.as_str()) {
                *counted.entry(name).or_default() += 1;
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_commit_a_read_and_a_page_of_a_list_are_one_round_trip_each() {
    let server = Server::start(&[
        "--port",
        "{port}",
        "--bind",
        "127.0.0.1",
        "--save",
        "",
        "--dir",
        "{folder}",
    ]);
    let settings = Settings {
        url: format!("redis://127.0.0.1:{}", server.port()),
        ..Settings::default()
    };
    let store = open(settings).await;
    let id = create(&store, "task").await;
    let page = || ListQuery {
        scope: Scope {
            tenant: None,
            owner: None,
        },
        filter: TaskFilter::default(),
        after: None,
        most: 10,
        history_length: None,
        include_artifacts: false,
    };
    // Once before it is counted, so that every script is known.
    chunk(&store, &id, "1").await;
    store.read(&id).await.unwrap();
    store.list(page()).await.unwrap();
    let mut monitor = Monitor::of(&server);
    let one_script = |count| BTreeMap::from([("EVALSHA".to_owned(), count)]);
    monitor.counted();
    for _ in 0..20 {
        store.read(&id).await.unwrap();
    }
    assert_eq!(monitor.counted(), one_script(20), "a read");
    for _ in 0..20 {
        store.list(page()).await.unwrap();
    }
    assert_eq!(monitor.counted(), one_script(20), "a page");
    for number in 0..20 {
        chunk(&store, &id, &number.to_string()).await;
    }
    // Each was decided on a head, which a gateway reads before.
    let mut counted = monitor.counted();
    assert_eq!(counted.remove("HMGET"), Some(20), "the heads");
    assert_eq!(counted, one_script(20), "a commit");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_commits_share_one_wait_for_replicas() {
    let mut servers = SentinelDeployment::start(1);
    let settings = Settings {
        durability: Durability::Replica { replicas: 1 },
        ..by_sentinels(&servers)
    };
    let store = open(settings).await;
    let mut tasks = Vec::new();
    for number in 0..50 {
        tasks.push(create(&store, &format!("task-{number}")).await);
    }
    // Once before it is counted, so that the script is known.
    chunk(&store, &tasks[0], "first").await;
    let master = servers.master();
    let mut monitor = Monitor::of(servers.server(master));
    monitor.counted();
    for number in 0..10 {
        let written = tasks.iter().map(|id| {
            let (store, text) = (store.clone(), number.to_string());
            async move { chunk(&store, id, &text).await }
        });
        futures::future::join_all(written).await;
    }
    let counted = monitor.counted();
    assert_eq!(counted["EVALSHA"], 500);
    assert!(
        counted["WAIT"] <= 250,
        "{} waits for 500 commits",
        counted["WAIT"]
    );
    assert!(
        counted["WAIT"] >= 10,
        "none was acknowledged before it was confirmed"
    );
}
