//! Which agent serves which tenant.

use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, Mutex, PoisonError},
};

use crate::{AgentCard, Error, ErrorKind, Message, Outcome, Part, TaskId, Tenant, ports::Agent};

/// An agent, its cards, and what it takes.
pub struct ServedAgent {
    /// What everybody may read about it.
    pub card: Arc<AgentCard>,
    /// What fewer callers may read about it.
    pub extended_card: Option<ExtendedCard>,
    /// The agent itself.
    pub agent: Arc<dyn Agent>,
    /// Which media types it takes.
    pub media_types: MediaTypes,
}

/// A card that says more, to fewer (§3.1.11).
#[derive(Debug, Clone)]
pub struct ExtendedCard {
    /// What it says.
    pub card: Arc<AgentCard>,
    /// Whether callers without a name may read it too, against §13.3.
    pub open: bool,
}

/// Which media types of parts an agent takes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum MediaTypes {
    /// All; nothing is checked.
    Any,
    /// Those of its card's default and skill input modes.
    #[default]
    OfCard,
    /// These; `*/*` and `text/*` are understood.
    Only(Vec<String>),
}

impl ServedAgent {
    /// Checks every part of a message.
    ///
    /// # Errors
    /// ContentTypeNotSupported naming the first part that the agent does not take.
    pub fn check_media_types(&self, message: &Message) -> Result<(), Error> {
        let refused = message.parts.iter().position(|part| !self.takes(part));
        match refused {
            None => Ok(()),
            Some(index) => {
                let part = &message.parts[index];
                let text = format!(
                    "message.parts[{index}] is {}, which the agent does not take",
                    part.effective_media_type().unwrap_or("of no known type")
                );
                Err(Error::new(ErrorKind::ContentTypeNotSupported, text)
                    .outcome(Outcome::ContentTypeNotSupported))
            }
        }
    }

    fn takes(&self, part: &Part) -> bool {
        // Bytes and addresses without a type are accepted: nobody can tell what they are.
        let Some(media_type) = part.effective_media_type() else {
            return true;
        };
        match &self.media_types {
            MediaTypes::Any => true,
            MediaTypes::OfCard => self.card.input_modes().any(|mode| matches(mode, media_type)),
            MediaTypes::Only(modes) => modes.iter().any(|mode| matches(mode, media_type)),
        }
    }
}

/// Whether a media type falls under a mode; parameters do not count, nor does case.
fn matches(mode: &str, media_type: &str) -> bool {
    let essence = |text: &str| {
        text.split(';')
            .next()
            .unwrap_or_default()
            .trim()
            .to_ascii_lowercase()
    };
    let (mode, media_type) = (essence(mode), essence(media_type));
    match mode.strip_suffix("/*") {
        Some("*") => true,
        Some(main) => media_type.split('/').next() == Some(main),
        None => mode == media_type,
    }
}

/// The tenants that are served and by whom.
pub struct Directory {
    default: Arc<ServedAgent>,
    tenants: Tenants,
    reserved: Vec<String>,
}

enum Tenants {
    Listed(HashMap<Tenant, Arc<ServedAgent>>),
    /// Everybody is served by the default agent, up to a number of tenants that have begun a task.
    Any {
        most: usize,
        begun: Mutex<HashSet<Tenant>>,
    },
}

impl Directory {
    /// Serves every tenant by one agent, up to a number of tenants. Reserved names collide with paths.
    pub fn any(default: Arc<ServedAgent>, most: usize, reserved: Vec<String>) -> Self {
        Self {
            default,
            tenants: Tenants::Any {
                most,
                begun: Mutex::default(),
            },
            reserved,
        }
    }

    /// Serves these tenants, and calls without a tenant by the default agent.
    pub fn listed(default: Arc<ServedAgent>, tenants: HashMap<Tenant, Arc<ServedAgent>>) -> Self {
        Self {
            default,
            tenants: Tenants::Listed(tenants),
            reserved: Vec::new(),
        }
    }

    /// The agent of calls without a tenant.
    pub fn default_agent(&self) -> &Arc<ServedAgent> {
        &self.default
    }

    /// The agent of a tenant, or nothing where the tenant is not served.
    pub fn find(&self, tenant: Option<&Tenant>) -> Option<Arc<ServedAgent>> {
        let Some(tenant) = tenant else {
            return Some(self.default.clone());
        };
        match &self.tenants {
            Tenants::Listed(tenants) => tenants.get(tenant).cloned(),
            Tenants::Any { .. } => (!self.is_reserved(tenant)).then(|| self.default.clone()),
        }
    }

    /// Notes that a tenant is about to begin a task. Only this counts against the number of tenants that nobody
    /// configured: reading with made-up names must not use it up.
    ///
    /// # Errors
    /// TenantNotServed where that number is reached.
    pub fn note_begun(&self, tenant: Option<&Tenant>) -> Result<(), Error> {
        let (Some(tenant), Tenants::Any { most, begun }) = (tenant, &self.tenants) else {
            return Ok(());
        };
        let mut begun = begun.lock().unwrap_or_else(PoisonError::into_inner);
        if begun.contains(tenant) {
            return Ok(());
        }
        if begun.len() >= *most {
            return Err(tenant_not_served());
        }
        begun.insert(tenant.clone());
        Ok(())
    }

    /// Has every agent stop its run of a task, where it has one, without an end.
    pub fn release(&self, task: &TaskId) {
        self.default.agent.release(task);
        if let Tenants::Listed(tenants) = &self.tenants {
            tenants
                .values()
                .filter(|served| !Arc::ptr_eq(served, &self.default))
                .for_each(|served| served.agent.release(task));
        }
    }

    fn is_reserved(&self, tenant: &Tenant) -> bool {
        self.reserved.iter().any(|name| name == tenant.as_str())
    }
}

/// The answer to a tenant that is not served, or not this caller's: as if nothing were there.
pub fn tenant_not_served() -> Error {
    Error::new(ErrorKind::TenantNotServed, "no such tenant is served here").at("tenant")
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn media_types_match_by_wildcard_and_without_parameters() {
        for (mode, media_type, taken) in [
            ("text/plain", "text/plain", true),
            ("text/plain", "TEXT/Plain; charset=utf-8", true),
            ("text/*", "text/html", true),
            ("*/*", "image/png", true),
            ("text/*", "image/png", false),
            ("text/plain", "text/html", false),
        ] {
            assert_eq!(matches(mode, media_type), taken, "{mode} {media_type}");
        }
    }
}
