//! The store in Redis keeps the contract of stores: with one bucket and with many, with tenants that are spread over several,
//! and read through another replica.

use std::{collections::HashMap, sync::Arc};

use gateway_domain::{Tenant, ports::Store};
use gateway_store_redis::{RedisStore, Settings};
use gateway_testkit::{contract::Bench, redis::RedisServer, store_contract};

fn settings(server: &RedisServer, buckets: u16, log_entries: usize) -> Settings {
    Settings {
        url: server.url(),
        buckets,
        log_entries,
        ..Settings::default()
    }
}

async fn open(settings: Settings) -> Arc<dyn Store> {
    Arc::new(RedisStore::open(settings).await.expect("Redis has just answered"))
}

async fn one_replica(buckets: u16, log_entries: usize) -> Bench {
    let server = RedisServer::start();
    let store = open(settings(&server, buckets, log_entries)).await;
    Bench::new(store).keeping(server)
}

mod in_one_bucket {
    use super::*;

    async fn empty_store(log_entries: usize) -> Bench {
        one_replica(1, log_entries).await
    }

    store_contract!(empty_store);
}

mod in_64_buckets {
    use super::*;

    async fn empty_store(log_entries: usize) -> Bench {
        one_replica(64, log_entries).await
    }

    store_contract!(empty_store);
}

mod over_3_of_4_buckets {
    use super::*;

    async fn empty_store(log_entries: usize) -> Bench {
        let server = RedisServer::start();
        let tenants = [None, Some("acme"), Some("globex"), Some("other")];
        let settings = Settings {
            spread: HashMap::from(tenants.map(|tenant| (tenant.map(Tenant::new), 3))),
            ..settings(&server, 4, log_entries)
        };
        let (writer, reader) = (open(settings.clone()).await, open(settings).await);
        Bench::new(writer)
            .in_parts(3)
            .reading_through(reader)
            .keeping(server)
    }

    store_contract!(empty_store);
}

mod through_another_replica {
    use super::*;

    async fn empty_store(log_entries: usize) -> Bench {
        let server = RedisServer::start();
        let writer = open(settings(&server, 64, log_entries)).await;
        let reader = open(settings(&server, 64, log_entries)).await;
        Bench::new(writer).reading_through(reader).keeping(server)
    }

    store_contract!(empty_store);
}
