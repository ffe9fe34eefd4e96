//! A replica that is cut off from Redis, and not from its clients.

use std::{fs, path::PathBuf, time::Duration};

use gateway_domain::{Binding, Operation};
use gateway_testkit::redis::RedisServer;
use gateway_tests::{
    balancer::Kind,
    client::{Answer, Driver},
    cluster::{Cluster, Plan},
    raw::PATIENCE,
    samples,
};
use serde_json::json;
use tempfile::TempDir;
use tokio::{
    io::copy_bidirectional,
    net::{UnixListener, UnixStream},
    task::{JoinHandle, JoinSet},
};

use super::{ask, call};

/// A way to Redis that can be cut.
struct Way {
    to: PathBuf,
    folder: TempDir,
    passing: Option<JoinHandle<()>>,
}

impl Way {
    fn new(redis: &RedisServer) -> Self {
        let url = redis.url();
        let mut this = Self {
            to: url.trim_start_matches("redis+unix://").into(),
            folder: tempfile::tempdir().unwrap(),
            passing: None,
        };
        this.mend();
        this
    }

    fn socket(&self) -> PathBuf {
        self.folder.path().join("way")
    }

    fn url(&self) -> String {
        format!("redis+unix://{}", self.socket().display())
    }

    fn mend(&mut self) {
        let listener = UnixListener::bind(self.socket()).unwrap();
        self.passing = Some(tokio::spawn(pass(listener, self.to.clone())));
    }

    /// Whatever passes it ends, and nothing new gets in.
    fn cut(&mut self) {
        self.passing.take().unwrap().abort();
        fs::remove_file(self.socket()).unwrap();
    }
}

async fn pass(listener: UnixListener, to: PathBuf) {
    let mut passing = JoinSet::new();
    loop {
        let (mut one, _) = listener.accept().await.unwrap();
        let mut other = UnixStream::connect(&to).await.unwrap();
        passing.spawn(async move { copy_bidirectional(&mut one, &mut other).await });
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_replica_that_is_cut_off_from_redis_is_left_out_and_taken_back_when_it_has_it_again() {
    let redis = RedisServer::start();
    let mut way = Way::new(&redis);
    let plan = Plan::behind(Kind::Envoy)
        .on(&redis.url())
        .set_of(0, "STORE__REDIS__URL", &way.url());
    let cluster = Cluster::start(plan);
    let clients: Vec<_> = cluster.clients().all().collect();
    let sent = call(&*clients[0], Operation::SendMessage, samples::message("say it")).await;
    let task = sent["task"]["id"].as_str().unwrap();
    way.cut();

    until_all_are_answered(&*clients[0], task).await;
    let before = cluster.answered().await;
    for number in 0..10 {
        for client in &clients {
            let text = format!("say {number}");
            let sent = call(&**client, Operation::SendMessage, samples::message(&text)).await;
            assert_eq!(sent["task"]["status"]["state"], "TASK_STATE_COMPLETED");
        }
    }
    let [cut_off, others @ ..] = cluster.answered().await;
    assert_eq!(cut_off, before[0], "nobody is sent there");
    assert!(others.iter().sum::<u64>() >= before[1] + before[2] + 10 * Binding::ALL.len() as u64);

    way.mend();
    let taken_back = async {
        while cluster.answered().await[0] == cut_off {
            call(&*clients[0], Operation::GetTask, json!({ "id": task })).await;
        }
    };
    let taken_back = tokio::time::timeout(PATIENCE, taken_back).await;
    taken_back.expect("it is taken back");
}

/// Calls until the balancer knows whom to leave out. Whoever is sent there meanwhile is told to come back.
async fn until_all_are_answered(client: &dyn Driver, task: &str) {
    let answered = async {
        let mut in_a_row = 0;
        while in_a_row < 30 {
            match client.call(&ask(Operation::GetTask, json!({ "id": task }))).await {
                Answer::Reply(_) => in_a_row += 1,
                Answer::Refusal(refusal) => {
                    assert!(refusal.is_passing(), "{refusal:?}");
                    in_a_row = 0;
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
                other => panic!("{other:?}"),
            }
        }
    };
    let answered = tokio::time::timeout(PATIENCE, answered).await;
    answered.expect("the replica is left out");
}
