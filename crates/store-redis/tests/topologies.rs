//! The store keeps the contract of stores on a Redis Cluster and through Sentinels, and while masters fail.

use std::sync::{
    Arc, LazyLock,
    atomic::{AtomicUsize, Ordering},
};

use gateway_domain::ports::Store;
use gateway_store_redis::{Mode, RedisStore, Settings};
use gateway_testkit::{
    contract::Bench,
    redis::{Cluster, SentinelDeployment},
    store_contract,
};

/// All cases share the servers, since they take long to start; each has keys of its own.
fn settings(url: String, mode: Mode, log_entries: usize) -> Settings {
    static DEPLOYMENTS: AtomicUsize = AtomicUsize::new(0);
    let number = DEPLOYMENTS.fetch_add(1, Ordering::Relaxed);
    Settings {
        url,
        mode,
        prefix: format!("case-{number}"),
        log_entries,
        ..Settings::default()
    }
}

async fn open(settings: Settings) -> Arc<dyn Store> {
    Arc::new(
        RedisStore::open(settings)
            .await
            .expect("the servers have just answered"),
    )
}

mod on_a_cluster {
    use super::*;

    async fn empty_store(log_entries: usize) -> Bench {
        static SERVERS: LazyLock<Cluster> = LazyLock::new(Cluster::start);
        Bench::new(open(settings(SERVERS.url(), Mode::Cluster, log_entries)).await)
    }

    store_contract!(empty_store);
}

mod through_sentinels {
    use super::*;

    async fn empty_store(log_entries: usize) -> Bench {
        static SERVERS: LazyLock<SentinelDeployment> = LazyLock::new(|| SentinelDeployment::start(1));
        let mode = Mode::Sentinel {
            master: SERVERS.name().to_owned(),
            user: None,
            password: None,
        };
        Bench::new(open(settings(SERVERS.url(), mode, log_entries)).await)
    }

    store_contract!(empty_store);
}
