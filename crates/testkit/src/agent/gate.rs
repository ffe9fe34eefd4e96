//! Where a scripted agent stops until the test lets it go on, so that no test has to wait for a time.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

/// A gate that is closed until it is opened, and open from then on.
#[derive(Debug, Clone, Default)]
pub struct Gate(Arc<Signals>);

#[derive(Debug, Default)]
struct Signals {
    reached: CancellationToken,
    opened: CancellationToken,
}

impl Gate {
    /// A closed gate.
    pub fn new() -> Self {
        Self::default()
    }

    /// Lets everybody through.
    pub fn open(&self) {
        self.0.opened.cancel();
    }

    /// Waits until somebody stands before the gate, or has gone through.
    pub async fn reached(&self) {
        self.0.reached.cancelled().await;
    }

    /// Goes through as soon as the gate is open.
    pub async fn pass(&self) {
        self.0.reached.cancel();
        self.0.opened.cancelled().await;
    }
}

impl PartialEq for Gate {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}
