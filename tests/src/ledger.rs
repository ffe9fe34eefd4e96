//! What really happened inside, as the gateway's own observer hook tells it: coverage is demanded of this and not
//! of what a test claims to do.

use std::{
    collections::{BTreeSet, HashMap},
    sync::{Arc, Mutex, OnceLock},
};

use gateway_domain::{Binding, ErrorKind, Operation, Outcome, principal::Actor};
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

/// The calls of one gateway, whichever of its replicas answered them, and of all of this process.
#[derive(Debug, Default)]
pub struct Ledger {
    by_request: Mutex<HashMap<String, (usize, Seen)>>,
    last: Mutex<Last>,
}

/// Who answered last.
#[derive(Debug, Default, Clone, Copy)]
struct Last {
    /// Anybody.
    replica: usize,
    /// A client.
    of_client: usize,
}

/// Tells a ledger of one replica's calls.
struct OfReplica(Arc<Ledger>, usize);

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
        Some(self.by_request.lock().unwrap().get(request_id)?.1.clone())
    }

    /// By which replica it was answered, counted from 0.
    pub fn replica_of(&self, request_id: &str) -> Option<usize> {
        Some(self.by_request.lock().unwrap().get(request_id)?.0)
    }

    /// The replica, of so many, that an agent's call should go to so that it is not the one that answered last, nor the
    /// one that a client's call goes to next.
    pub(crate) fn aside(&self, count: usize) -> usize {
        let last = *self.last.lock().unwrap();
        let before_next = (last.of_client + count - 1) % count;
        if last.replica == before_next {
            last.of_client
        } else {
            before_next
        }
    }

    /// What tells it of the calls of a replica.
    pub(crate) fn observer(self: &Arc<Self>, replica: usize) -> Arc<dyn Observer> {
        Arc::new(OfReplica(self.clone(), replica))
    }
}

impl Observer for OfReplica {
    fn answered(&self, record: &Record<'_>) {
        let seen = Seen {
            binding: record.binding,
            operation: record.operation,
            outcome: record.outcome,
            error: record.error.map(gateway_domain::Error::kind),
        };
        all().lock().unwrap().insert(seen.clone());
        let Self(ledger, replica) = self;
        let mut by_request = ledger.by_request.lock().unwrap();
        by_request.insert(record.request_id.to_owned(), (*replica, seen));
        let mut last = ledger.last.lock().unwrap();
        last.replica = *replica;
        if record
            .operation
            .is_none_or(|operation| operation.actor() == Actor::Client)
        {
            last.of_client = *replica;
        }
    }
}
