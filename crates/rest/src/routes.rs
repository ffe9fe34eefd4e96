//! Which operation a verb and a path mean, by the operation table.
//!
//! Paths are matched as they were sent: a slash or a colon inside an id stands percent-encoded. Variables are handed
//! on undecoded.

use gateway_domain::{Operation, Version, principal::Actor};
use gateway_wire::operations::{self, PATH_0_3, Route, Row, Segment, Verb};

/// The routes of a listener.
pub(crate) struct Routes(Vec<Pattern>);

/// What a request points at.
#[derive(Debug, PartialEq)]
pub(crate) enum Target<'p> {
    /// An operation.
    Operation(Match<'p>),
    /// A path that exists in a version, but for these verbs only.
    OtherVerbs(Version, Verbs),
    /// No path of ours.
    Nowhere,
}

/// Names of HTTP methods, each once.
pub(crate) type Verbs = Vec<&'static str>;

/// An operation, with what stands in the path.
#[derive(Debug, PartialEq)]
pub(crate) struct Match<'p> {
    pub(crate) operation: Operation,
    /// The version that has this path.
    pub(crate) version: Version,
    /// Says where the other parameters stand.
    pub(crate) verb: Verb,
    pub(crate) tenant: Option<&'p str>,
    /// Fields of the request by their names in the proto.
    pub(crate) variables: Vec<(&'static str, &'p str)>,
}

impl Routes {
    /// The routes of the listener for `actor`.
    pub(crate) fn of(actor: Actor) -> Self {
        let rows = operations::rows_of(actor);
        let patterns = rows.flat_map(|row| row.routes.iter().map(move |route| Pattern::new(row, route)));
        Self(patterns.collect())
    }

    /// What a request points at. Paths without a tenant win over those with one: `/tasks/tasks` is a task.
    pub(crate) fn find<'p>(&self, verb: &str, path: &'p str) -> Target<'p> {
        let Some(path) = Path::read(path) else {
            return Target::Nowhere;
        };
        match self.among(verb, &path, None) {
            Target::Nowhere => match path.behind_tenant() {
                Some((tenant, path)) => self.among(verb, &path, Some(tenant)),
                None => Target::Nowhere,
            },
            target => target,
        }
    }

    fn among<'p>(&self, verb: &str, path: &Path<'p>, tenant: Option<&'p str>) -> Target<'p> {
        let mut others = Verbs::new();
        let mut version = Version::default();
        for pattern in &self.0 {
            if tenant.is_some() && pattern.operation.actor() != Actor::Client {
                continue;
            }
            let Some(variables) = pattern.matches(path) else {
                continue;
            };
            if pattern.verb.name() == verb {
                return Target::Operation(Match {
                    operation: pattern.operation,
                    version: pattern.version,
                    verb: pattern.verb,
                    tenant,
                    variables,
                });
            }
            // No path is of two versions: those of 0.3 begin with a name that no tenant has.
            version = pattern.version;
            if !others.contains(&pattern.verb.name()) {
                others.push(pattern.verb.name());
            }
        }
        if others.is_empty() {
            Target::Nowhere
        } else {
            Target::OtherVerbs(version, others)
        }
    }
}

/// A route, taken apart once.
struct Pattern {
    operation: Operation,
    version: Version,
    verb: Verb,
    segments: Vec<Segment>,
    custom_verb: Option<&'static str>,
}

impl Pattern {
    fn new(row: &Row, route: &Route) -> Self {
        Self {
            operation: row.operation,
            version: row.version,
            verb: route.verb,
            segments: route.segments().collect(),
            custom_verb: route.custom_verb(),
        }
    }

    /// The variables, if the path has this form.
    fn matches<'p>(&self, path: &Path<'p>) -> Option<Vec<(&'static str, &'p str)>> {
        if self.segments.len() != path.segments.len() || self.custom_verb != path.custom_verb {
            return None;
        }
        let mut variables = Vec::new();
        for (pattern, text) in self.segments.iter().zip(&path.segments) {
            match pattern {
                Segment::Literal(literal) if literal == text => {}
                Segment::Variable(name) if !text.is_empty() => variables.push((*name, *text)),
                _ => return None,
            }
        }
        Some(variables)
    }
}

/// A path, taken apart.
struct Path<'p> {
    segments: Vec<&'p str>,
    custom_verb: Option<&'p str>,
}

impl<'p> Path<'p> {
    /// More segments than any route has, so that a path of a thousand slashes costs no more.
    const MOST_SEGMENTS: usize = 8;

    fn read(path: &'p str) -> Option<Self> {
        let segments = path.strip_prefix('/')?.split('/').take(Self::MOST_SEGMENTS);
        let mut segments: Vec<_> = segments.collect();
        let last = segments.last_mut()?;
        // A colon ends the segment only before a verb of the table; otherwise it belongs to an id.
        let custom_verb = match last.rsplit_once(':') {
            Some((segment, verb)) if is_custom_verb(verb) => {
                *last = segment;
                Some(verb)
            }
            _ => None,
        };
        Some(Self {
            segments,
            custom_verb,
        })
    }

    /// The first segment, and the path that is left without it. What paths of 0.3 begin with is no tenant.
    fn behind_tenant(&self) -> Option<(&'p str, Self)> {
        let (tenant, segments) = self.segments.split_first()?;
        (!tenant.is_empty() && *tenant != PATH_0_3 && !segments.is_empty()).then(|| {
            let path = Self {
                segments: segments.to_vec(),
                custom_verb: self.custom_verb,
            };
            (*tenant, path)
        })
    }
}

/// Whether any listener knows it, so that an agent's verb on the clients' listener is no part of an id.
fn is_custom_verb(text: &str) -> bool {
    operations::rows()
        .flat_map(|row| row.routes)
        .any(|route| route.custom_verb() == Some(text))
}

#[cfg(test)]
mod tests;
