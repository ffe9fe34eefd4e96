//! Callers that are who they say.

use gateway_domain::{
    Actor, Error, ErrorKind, Principal, Subject,
    ids::id_fault,
    principal::{Authenticator, Tenants},
};

/// Takes the bearer token for the caller's name: `Authorization: Bearer alice` is alice.
#[derive(Debug, Clone)]
pub struct BearerName {
    actor: Actor,
    anonymous: bool,
    tenants: Vec<(Subject, Tenants)>,
}

impl BearerName {
    /// Demands a name of everybody.
    pub fn required(actor: Actor) -> Self {
        Self {
            actor,
            anonymous: false,
            tenants: Vec::new(),
        }
    }

    /// Whoever shows no credentials at all is anonymous; bad ones are refused all the same.
    pub fn optional(actor: Actor) -> Self {
        Self {
            anonymous: true,
            ..Self::required(actor)
        }
    }

    /// Lets a caller name only certain tenants.
    #[must_use]
    pub fn with_tenants(mut self, name: &str, tenants: Tenants) -> Self {
        self.tenants.push((Subject::new(name), tenants));
        self
    }

    fn named(&self, name: &str) -> Principal {
        let subject = Subject::new(name);
        let known = self.tenants.iter().find(|(known, _)| *known == subject);
        let tenants = known.map_or(Tenants::Any, |(_, tenants)| tenants.clone());
        Principal {
            tenants,
            ..Principal::named(self.actor, subject)
        }
    }
}

impl Authenticator for BearerName {
    fn authenticate(&self, authorization: Option<&[u8]>) -> Result<Principal, Error> {
        let Some(header) = authorization else {
            return if self.anonymous {
                Ok(Principal::anonymous(self.actor))
            } else {
                Err(unauthenticated(
                    "credentials are required: Authorization: Bearer NAME",
                ))
            };
        };
        std::str::from_utf8(header)
            .ok()
            .and_then(|header| header.split_once(' '))
            .filter(|(scheme, name)| scheme.eq_ignore_ascii_case("bearer") && id_fault(name).is_none())
            .map(|(_, name)| self.named(name))
            .ok_or_else(|| unauthenticated("the credentials must be Bearer and a name"))
    }
}

fn unauthenticated(text: &'static str) -> Error {
    Error::new(ErrorKind::Unauthenticated, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bearer_token_is_the_name_and_anything_else_is_refused() {
        let strict = BearerName::required(Actor::Client);
        for (header, name) in [
            (Some("Bearer alice"), Some("alice")),
            (Some("bearer alice"), Some("alice")),
            (Some("Basic alice"), None),
            (Some("Bearer "), None),
            (Some("Bearer"), None),
            (None, None),
        ] {
            let principal = strict.authenticate(header.map(str::as_bytes));
            let found = principal.ok().and_then(|principal| principal.subject);
            assert_eq!(found, name.map(Subject::new), "{header:?}");
        }
    }

    #[test]
    fn no_credentials_are_anonymous_where_that_is_allowed_and_bad_ones_never() {
        let lenient = BearerName::optional(Actor::Client);
        assert_eq!(lenient.authenticate(None).unwrap().subject, None);
        assert!(lenient.authenticate(Some(b"Basic x")).is_err());
    }

    #[test]
    fn a_caller_may_be_bound_to_tenants() {
        let acme = gateway_domain::Tenant::new("acme");
        let bound =
            BearerName::required(Actor::Client).with_tenants("bob", Tenants::Only(vec![acme.clone()]));
        let tenants = |header: &[u8]| bound.authenticate(Some(header)).unwrap().tenants;
        assert_eq!(tenants(b"Bearer bob"), Tenants::Only(vec![acme]));
        assert_eq!(tenants(b"Bearer alice"), Tenants::Any);
    }
}
