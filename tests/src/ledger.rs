//! What really happened inside, as the gateway's own observer hook tells it: coverage is demanded of this and not
//! of what a test claims to do.

use std::{
    collections::{BTreeSet, HashMap},
    sync::{Arc, Mutex, OnceLock},
};

use gateway_domain::{Binding, ErrorKind, Operation, Outcome};
use gateway_pipeline::{Observer, Record};

/// One answered call.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Seen {
    /// Over which binding.
    pub binding: Binding,
    /// What was asked for, where it is known.
    pub operation: Option<Operation>,
    /// How the command ended, where it was decided.
    pub outcome: Option<Outcome>,
    /// The error, where it was one.
    pub error: Option<ErrorKind>,
}

/// The calls of one gateway, and of all of this process.
#[derive(Debug, Default)]
pub struct Ledger {
    by_request: Mutex<HashMap<String, Seen>>,
}

/// Every kind of answer that any gateway of this process gave.
pub fn everything() -> BTreeSet<Seen> {
    all().lock().unwrap().clone()
}

fn all() -> &'static Mutex<BTreeSet<Seen>> {
    static ALL: OnceLock<Mutex<BTreeSet<Seen>>> = OnceLock::new();
    ALL.get_or_init(Mutex::default)
}

impl Ledger {
    /// An empty one.
    pub fn new() -> Arc<Self> {
        Arc::default()
    }

    /// How the call of a request id was answered, if it came as far as the stack.
    pub fn of(&self, request_id: &str) -> Option<Seen> {
        self.by_request.lock().unwrap().get(request_id).cloned()
    }
}

impl Observer for Ledger {
    fn answered(&self, record: &Record<'_>) {
        let seen = Seen {
            binding: record.binding,
            operation: record.operation,
            outcome: record.outcome,
            error: record.error.map(gateway_domain::Error::kind),
        };
        all().lock().unwrap().insert(seen.clone());
        self.by_request
            .lock()
            .unwrap()
            .insert(record.request_id.to_owned(), seen);
    }
}
