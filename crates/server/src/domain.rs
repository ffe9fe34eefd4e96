//! The domain with what it needs: a store, an agent, the tenants, a key.

use std::{collections::HashMap, sync::Arc, time::Duration};

use gateway_agents::{
    conformance::{self, Conformance},
    demo::{self, Demo},
};
use gateway_config::{Settings, typed::AgentKind};
use gateway_domain::{
    AgentCard, Service, Tenant,
    directory::{Directory, ExtendedCard, ServedAgent},
    page::PageKey,
    ports::{Agent, Clock, Ids, Store, Webhooks},
    service::Parts,
    work::Keeper,
};

use crate::paths;

/// What does the work.
#[derive(Clone)]
pub(crate) enum Worker {
    /// The built-in demo.
    Demo(Arc<Demo>),
    /// The one for the official compatibility suite.
    Conformance(Arc<Conformance>),
    /// One that the assembly was given.
    Given(Arc<dyn Agent>),
}

impl Worker {
    /// The agent that the settings name.
    pub(crate) fn of(settings: &Settings, ids: &Arc<dyn Ids>) -> Self {
        match settings.agent {
            AgentKind::Demo => Self::Demo(Arc::new(Demo::new(ids.clone()))),
            AgentKind::Conformance => Self::Conformance(Arc::new(Conformance::new(ids.clone()))),
        }
    }

    /// What it says about itself.
    pub(crate) fn card(&self) -> AgentCard {
        // One that was given has no word of its own; it is tried under the demo's.
        match self {
            Self::Demo(_) | Self::Given(_) => demo::card(),
            Self::Conformance(_) => conformance::card(),
        }
    }

    fn port(&self) -> Arc<dyn Agent> {
        match self {
            Self::Demo(demo) => demo.clone(),
            Self::Conformance(conformance) => conformance.clone(),
            Self::Given(agent) => agent.clone(),
        }
    }

    /// Reports that came too late and were dropped.
    pub(crate) fn dropped_reports(&self) -> u64 {
        match self {
            Self::Demo(demo) => demo.dropped_reports(),
            Self::Conformance(conformance) => conformance.dropped_reports(),
            Self::Given(_) => 0,
        }
    }

    /// Ends its runs.
    pub(crate) async fn stop(&self) {
        match self {
            Self::Demo(demo) => demo.drain(Duration::ZERO).await,
            Self::Conformance(conformance) => conformance.drain(Duration::ZERO).await,
            Self::Given(_) => {}
        }
    }
}

/// The cards of the agent as they are offered.
pub(crate) struct Cards {
    pub(crate) card: Arc<AgentCard>,
    pub(crate) extended: Option<ExtendedCard>,
}

/// What is kept, the key that seals the pages of its lists, and the keeper of leases where replicas share it.
pub(crate) struct Keeping {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) page_key: PageKey,
    pub(crate) keeper: Option<Keeper>,
}

/// Puts the domain together.
pub(crate) fn service(
    settings: &Settings,
    worker: &Worker,
    cards: Cards,
    keeping: Keeping,
    webhooks: Arc<dyn Webhooks>,
    clock: Arc<dyn Clock>,
    ids: Arc<dyn Ids>,
) -> Service {
    let agent = Arc::new(ServedAgent {
        card: cards.card,
        extended_card: cards.extended,
        agent: worker.port(),
        media_types: settings.media_types.clone(),
    });
    let parts = Parts {
        store: keeping.store,
        directory: Arc::new(directory(settings, agent)),
        clock,
        ids,
        limits: settings.limits.clone(),
        page_key: keeping.page_key,
    };
    match keeping.keeper {
        Some(keeper) => Service::replicated(parts, webhooks, keeper),
        None => Service::delivering(parts, webhooks),
    }
}

fn directory(settings: &Settings, agent: Arc<ServedAgent>) -> Directory {
    match &settings.tenants {
        Some(names) => {
            let served = |name: &Tenant| (name.clone(), agent.clone());
            let tenants: HashMap<_, _> = names.iter().map(served).collect();
            Directory::listed(agent, tenants)
        }
        None => {
            let reserved = paths::reserved().into_iter().map(str::to_owned).collect();
            Directory::any(agent, settings.limits.unconfigured_tenants, reserved)
        }
    }
}
