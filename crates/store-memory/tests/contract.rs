//! The store in memory keeps the contract of stores.

use std::sync::Arc;

use gateway_store_memory::{MemoryStore, Settings};
use gateway_testkit::{contract::Bench, store_contract};

async fn empty_store(log_entries: usize) -> Bench {
    let settings = Settings {
        log_entries,
        ..Settings::default()
    };
    Bench::new(Arc::new(MemoryStore::new(settings)))
}

store_contract!(empty_store);
