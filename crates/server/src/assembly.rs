//! The gateway before it runs: its settings, and what a test puts in the place of a part.

use std::{sync::Arc, time::SystemTime};

use gateway_config::{ClientListener, Settings};
use gateway_domain::{
    Actor, AgentCard, Binding, Service,
    directory::ExtendedCard,
    ports::{Agent, Clock, Ids},
    principal::{Anonymous, Authenticator},
    work::Keeper,
};
use gateway_edge::document::Document;
use gateway_pipeline::{
    Gateway, Observer, Settings as StackSettings, Versions, limits::StreamPermits, stack,
};
use gateway_push::{Resolver, SystemResolver};
use gateway_rest::openapi;
use gateway_telemetry::{CallObserver, Metrics, list};
use gateway_wire::params::media_type;

use crate::{
    VERSION, admin, bounds, card,
    domain::{self, Cards, Keeping, Worker},
    ids::{RandomIds, SystemClock},
    listeners::{Sockets, StartError},
    observers::Both,
    port::{Parts, port},
    running::{Listening, Running, RunningParts},
    store::Kept,
    webhooks,
};

/// Everything that a gateway is made of. [`Assembly::new`] is what the program runs; the fields are for changing a
/// part before the start.
pub struct Assembly {
    /// The settings.
    pub settings: Settings,
    /// When the card last changed. Clients are told; by default when the program was built.
    pub card_modified: SystemTime,
    /// Has the last word on the card.
    pub amend_card: Box<dyn FnOnce(&mut AgentCard) + Send>,
    /// The card for callers who say who they are. The card has to declare it, too.
    pub extended_card: Option<ExtendedCard>,
    /// An agent in place of the one that the settings name.
    pub agent: Option<Arc<dyn Agent>>,
    /// Finds out who a client is.
    pub client_authenticator: Arc<dyn Authenticator>,
    /// Finds out which agent calls.
    pub agent_authenticator: Arc<dyn Authenticator>,
    /// Watches calls besides the metrics and the log.
    pub observer: Option<Arc<dyn Observer>>,
    /// Looks up the names of webhooks.
    pub resolver: Arc<dyn Resolver>,
    /// Tells the time.
    pub clock: Arc<dyn Clock>,
    /// Makes ids.
    pub ids: Arc<dyn Ids>,
}

impl Assembly {
    /// A gateway as its settings say.
    pub fn new(settings: Settings) -> Self {
        Self {
            settings,
            card_modified: card::built(),
            amend_card: Box::new(|_| {}),
            extended_card: None,
            agent: None,
            client_authenticator: Arc::new(Anonymous(Actor::Client)),
            agent_authenticator: Arc::new(Anonymous(Actor::Agent)),
            observer: None,
            resolver: Arc::new(SystemResolver::default()),
            clock: Arc::new(SystemClock),
            ids: Arc::new(RandomIds),
        }
    }

    /// Listens. When this returns, every listener takes connections.
    ///
    /// # Errors
    /// A socket that is not to be had.
    pub async fn start(self) -> Result<Running, StartError> {
        let sockets = Sockets::bind(&self.settings.listeners).await?;
        let addresses = sockets.addresses();
        let named = self.settings.tenants.iter().flatten();
        let metrics = Metrics::new(named.take(self.settings.telemetry.tenant_labels));
        let metrics = Arc::new(metrics.map_err(StartError::Part)?);

        let worker = match self.agent {
            Some(agent) => Worker::Given(agent),
            None => Worker::of(&self.settings, &self.ids),
        };
        let mut card = card::card(worker.card(), &self.settings, &addresses);
        (self.amend_card)(&mut card);
        let max_age = self.settings.card.max_age;
        let documents = card::documents(&card, self.settings.card.form, self.card_modified, max_age);
        let documents = documents.map_err(StartError::Part)?;
        let openapi = openapi::document().to_string();
        let openapi = Document::new(openapi, media_type::JSON, card::built(), max_age);

        let store = Kept::open(&self.settings).await?;
        let keeping = Keeping {
            store: store.port(),
            page_key: store.page_key(&self.settings).await?,
            keeper: store.keeper(&self.settings, &self.clock, &self.ids),
        };
        let keeper = keeping.keeper.clone();
        let (push, port) = (&self.settings.push, store.port());
        let courier = webhooks::courier(push, port, keeper.clone(), self.resolver, &metrics);
        let extended = self.extended_card.or_else(|| self.settings.card.extended(&card));
        let cards = Cards {
            card: Arc::new(card),
            extended,
        };
        let service = domain::service(
            &self.settings,
            &worker,
            cards,
            keeping,
            Arc::new(courier.clone()),
            self.clock.clone(),
            self.ids,
        );

        watch(&metrics, &store, &worker, &service, keeper.as_ref());

        let edge = bounds::edge(&self.settings.connections);
        let calls = CallObserver::new(metrics.clone(), self.settings.logging.refusals_per_second);
        let ports = Ports {
            stacks: Stacks {
                service: service.clone(),
                permits: StreamPermits::new(
                    self.settings.limits.streams_per_caller,
                    self.settings.limits.streams_per_replica,
                ),
                observer: observer(calls, self.observer),
            },
            grpc: bounds::grpc(&self.settings, &edge),
            clients: self.client_authenticator,
            agents: self.agent_authenticator,
            documents,
            openapi,
        };
        let mut listening = Listening::new(edge, store.clone());
        ports
            .listen(&self.settings.listeners, sockets, &mut listening, metrics)
            .await;
        let parts = RunningParts {
            addresses,
            listening,
            service,
            worker,
            keeper,
            courier,
            store,
            clock: self.clock,
        };
        Ok(parts.run())
    }
}

fn observer(calls: CallObserver, further: Option<Arc<dyn Observer>>) -> Arc<dyn Observer> {
    match further {
        Some(further) => Arc::new(Both(Arc::new(calls), further)),
        None => Arc::new(calls),
    }
}

/// Has the metrics read what is counted elsewhere.
fn watch(metrics: &Metrics, store: &Kept, worker: &Worker, service: &Service, keeper: Option<&Keeper>) {
    store.watch(metrics);
    let service = service.clone();
    metrics.watch(&list::STREAMS_RESUMED, move || service.resumed());
    if let Some(keeper) = keeper {
        let number = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
        let own = keeper.clone();
        metrics.watch(&list::LEASES, move || vec![("", number(own.count()))]);
        let own = keeper.clone();
        metrics.watch(&list::LEASES_TAKEN, move || vec![("", own.taken())]);
        let own = keeper.clone();
        metrics.watch(&list::LEASES_LOST, move || vec![("", own.lost())]);
        let own = keeper.clone();
        metrics.watch(&list::RUNS_GIVEN_UP, move || vec![("", own.given_up())]);
    }
    let worker = worker.clone();
    metrics.watch(&list::DROPPED_REPORTS, move || {
        vec![("", worker.dropped_reports())]
    });
    metrics.watch(&list::BUILD, || vec![(VERSION, 1)]);
}

/// What the stacks of all listeners share.
struct Stacks {
    service: Service,
    permits: Arc<StreamPermits>,
    observer: Arc<dyn Observer>,
}

impl Stacks {
    fn stack(&self, versions: Versions) -> Gateway {
        let settings = StackSettings {
            versions,
            permits: self.permits.clone(),
        };
        stack(&self.service, settings, self.observer.clone())
    }
}

/// What the ports are made of.
struct Ports {
    stacks: Stacks,
    grpc: gateway_grpc::Settings,
    clients: Arc<dyn Authenticator>,
    agents: Arc<dyn Authenticator>,
    /// The card, by the paths where it is read.
    documents: Vec<(&'static str, Document)>,
    openapi: Document,
}

impl Ports {
    async fn listen(
        &self,
        listeners: &gateway_config::Listeners,
        sockets: Sockets,
        listening: &mut Listening,
        metrics: Arc<Metrics>,
    ) {
        let own = [
            (&listeners.grpc, sockets.grpc, Binding::Grpc),
            (&listeners.jsonrpc, sockets.jsonrpc, Binding::JsonRpc),
            (&listeners.rest, sockets.rest, Binding::HttpJson),
        ];
        let shared: Vec<_> = Binding::ALL
            .into_iter()
            .filter(|binding| listeners.own(*binding).is_none())
            .collect();
        if let (Some(listener), Some(socket)) = (&listeners.client, sockets.client) {
            let (service, health) = port(self.client(listener, &shared), &shared).await;
            listening.serve(socket, service, health);
        }
        for (listener, socket, binding) in own {
            if let (Some(listener), Some(socket)) = (listener, socket) {
                let (service, health) = port(self.client(listener, &[binding]), &[binding]).await;
                listening.serve(socket, service, health);
            }
        }
        if let Some(socket) = sockets.agent {
            let (service, health) = port(self.agent(), &Binding::ALL).await;
            listening.serve(socket, service, health);
        }
        if let Some(socket) = sockets.admin {
            listening.serve_operators(
                socket,
                admin::service(listening.readiness(), metrics, self.stacks.service.clone()),
            );
        }
    }

    fn client(&self, listener: &ClientListener, bindings: &[Binding]) -> Parts {
        let mut documents = self.documents.clone();
        if bindings.contains(&Binding::HttpJson) {
            documents.push((openapi::PATH, self.openapi.clone()));
        }
        Parts {
            gateway: self.stacks.stack(Versions {
                served: listener.versions.clone(),
                assumed: listener.assumed_version,
            }),
            actor: Actor::Client,
            authenticator: self.clients.clone(),
            edge: self.grpc.edge.clone(),
            grpc: self.grpc.clone(),
            documents,
        }
    }

    fn agent(&self) -> Parts {
        Parts {
            // The agent side is ours and has one version, whatever is asked for.
            gateway: self.stacks.stack(Versions::default()),
            actor: Actor::Agent,
            authenticator: self.agents.clone(),
            edge: self.grpc.edge.clone(),
            grpc: self.grpc.clone(),
            documents: Vec::new(),
        }
    }
}
