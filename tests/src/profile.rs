//! Gateways by name: what a test needs to be different from the usual. Scenarios choose one by its name.
//!
//! What an operator can set is set as an operator sets it, by key and value; the rest is put into the assembly.

use std::{collections::BTreeMap, io, net::SocketAddr, sync::Arc};

use async_trait::async_trait;
use gateway_domain::{
    Actor, AgentCard, Error, Principal, Tenant,
    card::{AgentCapabilities, AgentExtension},
    directory::ExtendedCard,
    ports::Clock,
    principal::{Authenticator, Tenants},
    resume,
};
use gateway_pipeline::Observer;
use gateway_server::{Assembly, Resolver, settings};
use gateway_testkit::{agent::Scripted, authenticator::BearerName};

use crate::deployment::Place;

/// What a gateway is started with.
#[derive(Clone)]
pub struct Profile {
    settings: BTreeMap<String, String>,
    /// What the agent can do, as its card says.
    pub capabilities: AgentCapabilities,
    /// Whether there is an extended card.
    pub extended_card: bool,
    /// Who calls on the listener for clients.
    pub clients: Arc<dyn Authenticator>,
    /// Who calls on the listener for agents.
    pub agents: Arc<dyn Authenticator>,
    /// The clock, in place of the system's.
    pub clock: Option<Arc<dyn Clock>>,
}

/// The extension that the profile `extension` requires.
pub const REQUIRED_EXTENSION: &str = "https://ext.example.com/audit/v1";

/// The name of the extended card.
pub const EXTENDED_CARD: &str = "Extended";

impl Profile {
    /// The profile of a name.
    ///
    /// # Panics
    /// Where there is none.
    pub fn named(name: &str) -> Self {
        let mut profile = Self::plain();
        match name {
            "plain" => {}
            "bare" => profile.capabilities = AgentCapabilities::default(),
            "declined" => profile.capabilities.extended_agent_card = Some(false),
            "promised" => profile.extended_card = false,
            "open" => profile.clients = Arc::new(BearerName::optional(Actor::Client)),
            "extension" => profile.capabilities.extensions = extensions(),
            "text" => return profile.set("agent.media_types", r#"["text/plain"]"#),
            "small" => return profile.small(),
            "short-log" => return profile.set("store.log_entries", "8"),
            "window" => return profile.set("limits.accept_window", r#""100 ms""#),
            "repeats" => return profile.set("repeats.of", r#""named""#),
            "tenants" => return profile.with_tenants(),
            "confused" => profile.confuse(),
            _ => panic!("no profile {name}"),
        }
        profile
    }

    /// Every capability, an extended card, callers by the name in their token, and waits that suit a test.
    pub fn plain() -> Self {
        let profile = Self {
            settings: BTreeMap::new(),
            capabilities: AgentCapabilities {
                streaming: Some(true),
                push_notifications: Some(true),
                extensions: vec![resume::extension()],
                extended_agent_card: Some(true),
            },
            extended_card: true,
            clients: Arc::new(BearerName::required(Actor::Client)),
            agents: Arc::new(BearerName::required(Actor::Agent)),
            clock: None,
        };
        profile
            .set("listeners.client.address", r#""127.0.0.1:0""#)
            .set("listeners.agent.address", r#""127.0.0.1:0""#)
            .set("listeners.admin.address", r#""off""#)
            .set("agent.media_types", r#""any""#)
            // Tests use the same ids for their messages again and again.
            .set("repeats.of", r#""nobody""#)
            .set("limits.cancel_wait", r#""2 s""#)
            .set("connections.drain", r#""5 s""#)
    }

    /// The same with a setting changed; the value as TOML writes it.
    #[must_use]
    pub fn set(mut self, key: &str, value: &str) -> Self {
        self.settings.insert(key.to_owned(), value.to_owned());
        self
    }

    /// The same as a replica at a place.
    pub(crate) fn at(self, place: &Place) -> Self {
        self.set(
            "listeners.client.address",
            &format!("{:?}", place.client.to_string()),
        )
        .set(
            "listeners.agent.address",
            &format!("{:?}", place.agent.to_string()),
        )
        .set(
            "listeners.admin.address",
            &format!("{:?}", place.admin.to_string()),
        )
    }

    /// The same with its tasks in Redis, under a prefix of its own.
    #[must_use]
    pub fn in_redis(self, url: &str, prefix: &str) -> Self {
        self.set("store.kind", r#""redis""#)
            .set("store.redis.url", &format!("{url:?}"))
            .set("store.redis.prefix", &format!("{prefix:?}"))
    }

    /// Puts the gateway together.
    pub(crate) fn assemble(self, agent: Arc<Scripted>, ledger: Arc<dyn Observer>) -> Assembly {
        let lines = self
            .settings
            .iter()
            .map(|(key, value)| format!("{key} = {value}\n"));
        let settings =
            settings::parse(&lines.collect::<String>()).unwrap_or_else(|faults| panic!("{faults}"));
        let mut assembly = Assembly::new(settings);
        assembly.agent = Some(agent);
        assembly.observer = Some(ledger);
        assembly.resolver = Arc::new(NoNames);
        assembly.client_authenticator = self.clients;
        assembly.agent_authenticator = self.agents;
        if let Some(clock) = self.clock {
            assembly.clock = clock;
        }
        let capabilities = self.capabilities;
        assembly.extended_card = self.extended_card.then(|| extended_card(capabilities.clone()));
        assembly.amend_card = Box::new(move |card| card.capabilities = capabilities);
        assembly
    }

    fn confuse(&mut self) {
        self.clients = Arc::new(Confused(BearerName::required(Actor::Client), Actor::Agent));
        self.agents = Arc::new(Confused(BearerName::required(Actor::Agent), Actor::Client));
    }

    fn with_tenants(mut self) -> Self {
        let only = Tenants::Only(vec![Tenant::new("acme")]);
        self.clients = Arc::new(BearerName::required(Actor::Client).with_tenants("bound", only));
        self.set("tenants.names", r#"["acme", "globex"]"#)
    }

    /// Bounds that a few calls reach.
    fn small(self) -> Self {
        self.set("limits.parts_per_message", "2")
            .set("limits.history_messages", "3")
            .set("limits.artifacts_per_task", "1")
            .set("limits.push_configs_per_task", "1")
            .set("limits.live_tasks_per_tenant", "2")
            .set("limits.streams_per_caller", "1")
    }
}

fn extended_card(capabilities: AgentCapabilities) -> ExtendedCard {
    let card = AgentCard {
        name: EXTENDED_CARD.to_owned(),
        description: "For callers with a name.".to_owned(),
        version: "1".to_owned(),
        capabilities,
        ..AgentCard::default()
    };
    ExtendedCard {
        card: Arc::new(card),
        open: false,
    }
}

/// Knows no name: what a test makes up is nobody's, and nobody is asked about it.
struct NoNames;

#[async_trait]
impl Resolver for NoNames {
    async fn resolve(&self, _: &str, _: u16) -> io::Result<Vec<SocketAddr>> {
        Err(io::Error::other("no test asks the network"))
    }
}

/// Takes a certain name for a caller of the other side, as a listener would that both can reach.
struct Confused(BearerName, Actor);

/// The name.
pub const OTHER_SIDE: &str = "other-side";

impl Authenticator for Confused {
    fn authenticate(&self, authorization: Option<&[u8]>) -> Result<Principal, Error> {
        let principal = self.0.authenticate(authorization)?;
        let other = principal
            .subject
            .as_ref()
            .is_some_and(|subject| subject.as_str() == OTHER_SIDE);
        let actor = if other { self.1 } else { principal.actor };
        Ok(Principal { actor, ..principal })
    }
}

fn extensions() -> Vec<AgentExtension> {
    let extension = |uri: &str, required| AgentExtension {
        uri: uri.to_owned(),
        required,
        ..AgentExtension::default()
    };
    vec![
        extension(REQUIRED_EXTENSION, true),
        extension("https://ext.example.com/optional", false),
    ]
}
