//! The gateway while it runs, and how it ends: it says that it wants no more calls, ends its streams, finishes what
//! runs, leaves.

use std::{sync::Arc, time::Duration};

use gateway_domain::{Service, ports::Clock, work::Keeper};
use gateway_edge::listen;
use gateway_grpc::Health;
use gateway_push::Courier;
use tokio::{net::TcpListener, task::JoinSet, time};
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::{Addresses, admin::Readiness, domain::Worker, port::Answers, store::Kept};

/// How often finished tasks whose time is over are removed.
const SWEEP: Duration = Duration::from_secs(10);

/// The share of the drain that blocking sends are given to end by themselves; after it they answer with the task as
/// it stands, while there is still time to send that answer.
const WAITS_SHARE: f32 = 0.8;

/// How long offers and runs may take to end once nobody can hear of them any more.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// A gateway that runs. Dropping it ends everything at once.
pub struct Running {
    addresses: Addresses,
    listening: Listening,
    service: Service,
    worker: Worker,
    keeper: Option<Keeper>,
    courier: Courier,
    /// Deliveries and the keeper's rounds are tasks of their own.
    _stops: (DropGuard, Option<DropGuard>),
}

/// What a running gateway is made of.
pub(crate) struct RunningParts {
    pub(crate) addresses: Addresses,
    pub(crate) listening: Listening,
    pub(crate) service: Service,
    pub(crate) worker: Worker,
    /// Where there may be other replicas.
    pub(crate) keeper: Option<Keeper>,
    pub(crate) courier: Courier,
    pub(crate) store: Kept,
    pub(crate) clock: Arc<dyn Clock>,
}

impl RunningParts {
    /// Begins what goes on besides calls, and says that calls are wanted.
    pub(crate) fn run(mut self) -> Running {
        if let Some(keeper) = &self.keeper {
            keeper.start();
        }
        self.listening.operators.spawn(sweep(self.store, self.clock));
        self.listening.readiness.set(true);
        Running {
            _stops: (
                self.courier.stop_guard(),
                self.keeper.as_ref().map(Keeper::stop_guard),
            ),
            addresses: self.addresses,
            listening: self.listening,
            service: self.service,
            worker: self.worker,
            keeper: self.keeper,
            courier: self.courier,
        }
    }
}

impl Running {
    /// Where it listens.
    pub fn addresses(&self) -> &Addresses {
        &self.addresses
    }

    /// Ends it in order; returns when all is done, at the latest a moment after the time that is set for draining.
    pub async fn drain(mut self) {
        let began = time::Instant::now();
        let listening = &mut self.listening;
        // First of all, so that balancers turn elsewhere before a client is told to.
        listening.readiness.set(false);
        for health in &listening.healths {
            health.drain().await;
        }
        // Streams would hold their connections for ever; they end with an error that says where to go on.
        self.service.end_streams();
        listening.stop.cancel();
        let wait = listening.edge.drain.mul_f32(WAITS_SHARE);
        let answered = async { while listening.callers.join_next().await.is_some() {} };
        tokio::pin!(answered);
        if time::timeout(wait, &mut answered).await.is_err() {
            self.service.end_waits();
            answered.await;
        }
        // Other replicas go on with what runs and is delivered here, and whoever still waits for it can ask them.
        if let Some(keeper) = &self.keeper {
            keeper.drain(LAST_WORDS).await;
        }
        let rest = async {
            self.worker.stop().await;
            self.service.drain().await;
        };
        if time::timeout(LAST_WORDS, rest).await.is_err() {
            tracing::warn!("leaving before every offer to the agent was answered");
        }
        // What the last words were is delivered as well, here where there are no others.
        let left = listening.edge.drain.saturating_sub(began.elapsed());
        self.courier.drain(left.max(LAST_WORDS)).await;
        // Last, so that operators can watch the drain.
        listening.operators.shutdown().await;
    }
}

async fn sweep(store: Kept, clock: Arc<dyn Clock>) {
    let mut ticks = time::interval(SWEEP);
    loop {
        ticks.tick().await;
        store.sweep(clock.now()).await;
    }
}

/// The listeners, each a task that is owned here.
pub(crate) struct Listening {
    edge: Arc<gateway_edge::Settings>,
    readiness: Arc<Readiness>,
    stop: CancellationToken,
    healths: Vec<Health>,
    callers: JoinSet<()>,
    operators: JoinSet<()>,
}

impl Listening {
    pub(crate) fn new(edge: Arc<gateway_edge::Settings>, store: Kept) -> Self {
        Self {
            edge,
            readiness: Arc::new(Readiness::of(store)),
            stop: CancellationToken::new(),
            healths: Vec::new(),
            callers: JoinSet::new(),
            operators: JoinSet::new(),
        }
    }

    pub(crate) fn readiness(&self) -> Arc<Readiness> {
        self.readiness.clone()
    }

    /// Serves clients or agents.
    pub(crate) fn serve(&mut self, socket: TcpListener, service: impl Answers, health: Option<Health>) {
        let (edge, stop) = (self.edge.clone(), self.stop.clone());
        self.callers.spawn(listen::serve(socket, service, edge, stop));
        self.healths.extend(health);
    }

    /// Serves operators, to the very end.
    pub(crate) fn serve_operators(&mut self, socket: TcpListener, service: impl Answers) {
        let never = CancellationToken::new();
        self.operators
            .spawn(listen::serve(socket, service, self.edge.clone(), never));
    }
}
