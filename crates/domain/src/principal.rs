//! Who calls, and what they can see.

use serde::{Deserialize, Serialize};

use crate::{Error, Subject, Tenant};

/// The two kinds of caller; neither may do what is the other's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Actor {
    /// Sends messages and follows tasks.
    Client,
    /// Does the work.
    Agent,
}

/// Who calls, as the edge's authenticator found out before the body was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Principal {
    /// What kind of caller.
    pub actor: Actor,
    /// Who; nobody in particular where no credentials are asked for.
    pub subject: Option<Subject>,
    /// The tenants that they may name.
    pub tenants: Tenants,
}

/// Which tenants a caller may name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Tenants {
    /// Any that is served, and none at all.
    Any,
    /// Only these, and none at all.
    Only(Vec<Tenant>),
}

impl Principal {
    /// A caller without a name.
    pub fn anonymous(actor: Actor) -> Self {
        Self {
            actor,
            subject: None,
            tenants: Tenants::Any,
        }
    }

    /// A caller with a name.
    pub fn named(actor: Actor, subject: Subject) -> Self {
        Self {
            actor,
            subject: Some(subject),
            tenants: Tenants::Any,
        }
    }

    /// Whether they may name this tenant, or none.
    pub fn may_name(&self, tenant: Option<&Tenant>) -> bool {
        match (&self.tenants, tenant) {
            (Tenants::Any, _) | (_, None) => true,
            (Tenants::Only(tenants), Some(tenant)) => tenants.contains(tenant),
        }
    }
}

/// Turns what a request shows of its sender into a principal. One per listener.
pub trait Authenticator: Send + Sync {
    /// Reads the value of the Authorization header, if there is one.
    ///
    /// # Errors
    /// Unauthenticated, where credentials are demanded and these will not do.
    fn authenticate(&self, authorization: Option<&[u8]>) -> Result<Principal, Error>;
}

/// Everybody is anonymous, whatever they show.
#[derive(Debug, Clone, Copy)]
pub struct Anonymous(pub Actor);

impl Authenticator for Anonymous {
    fn authenticate(&self, _authorization: Option<&[u8]>) -> Result<Principal, Error> {
        Ok(Principal::anonymous(self.0))
    }
}

/// What bounds a client's sight: rows are reached by the tenant and the caller they were stored with, and by
/// nobody else.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize)]
pub struct Scope {
    /// The tenant of the request.
    pub tenant: Option<Tenant>,
    /// The caller, where they have a name.
    pub owner: Option<Subject>,
}
