//! Taking tasks away at an operator's word, with every trace: their followers and deliveries end, and so do the runs
//! that this process has.

use futures::future::join_all;
use tokio::time::timeout;

use super::Service;
use crate::{
    Error, TaskId, Tenant,
    ports::{Purge, PurgeStep},
};

/// Tasks that one step looks at: few enough for calls to get their turn in between.
const AT_ONCE: usize = 64;

/// How often all is gone through again for what came meanwhile.
const MOST_PASSES: usize = 10;

/// What a purge did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Purged {
    /// How many tasks it took.
    pub tasks: usize,
    /// Whether none was left at its end; where clients go on sending, there may always be more.
    pub complete: bool,
}

impl Service {
    /// Takes tasks away, in steps between which calls go on.
    ///
    /// # Errors
    /// Unavailable where the store cannot be reached; what was taken until then is gone.
    pub async fn purge(&self, purge: &Purge) -> Result<Purged, Error> {
        let agent_of = match purge {
            Purge::Task(id) => self
                .0
                .store()
                .head(id)
                .await?
                .and_then(|head| head.scope.tenant.clone()),
            Purge::Context { tenant, .. } | Purge::Tenant(tenant) => tenant.clone(),
        };
        let mut purged = Purged::default();
        for _ in 0..MOST_PASSES {
            let taken = self.purge_once(purge, agent_of.as_ref()).await?;
            purged.tasks += taken;
            if taken == 0 || matches!(purge, Purge::Task(_)) {
                purged.complete = true;
                break;
            }
        }
        Ok(purged)
    }

    async fn purge_once(&self, purge: &Purge, agent_of: Option<&Tenant>) -> Result<usize, Error> {
        let (mut taken, mut after) = (0, None);
        loop {
            let PurgeStep { removed, live, next } = self.0.store().purge(purge, after, AT_ONCE).await?;
            taken += removed;
            self.stop_runs(&live, agent_of).await;
            after = next;
            if after.is_none() {
                return Ok(taken);
            }
        }
    }

    /// What a run still reports finds no task; but it need not go on until then.
    async fn stop_runs(&self, tasks: &[TaskId], tenant: Option<&Tenant>) {
        let Some(served) = self.directory().find(tenant).filter(|_| !tasks.is_empty()) else {
            return;
        };
        let asked = tasks.iter().map(|task| served.agent.cancel(task, None));
        if timeout(self.limits().cancel_wait, join_all(asked)).await.is_err() {
            tracing::info!("the agent is silent on the end of runs whose tasks were purged");
        }
    }
}
