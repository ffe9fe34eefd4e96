//! Sends that are recognised when they are repeated. The defaults are the domain's own.

use gateway_domain::repeats;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::text::{Period, Size};

/// Sends that are recognised when they are repeated.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Repeats {
    /// Whose: a message that comes again with the same id and the same content, from the same caller to the same tenant,
    /// gets the result of the first; with another content it is refused. `named` are callers that say who they are;
    /// for `everybody` those who do not say it count as one.
    pub of: RepeatsOf,
    /// How long a send is remembered. A message that comes again later is a new one.
    #[schemars(extend("x-min" = "1 s", "x-max" = "24 h"))]
    pub window: Period,
    /// Sends that are remembered of a tenant, or of all callers without one; above it the oldest are forgotten early.
    #[schemars(range(min = 1, max = 10_000_000))]
    pub most: usize,
    /// Bytes that they take, direct answers included; above it the oldest are forgotten early.
    #[schemars(extend("x-min" = "1 MiB", "x-max" = "64 GiB"))]
    pub bytes: Size,
}

/// Whose repeated sends are recognised.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RepeatsOf {
    /// Nobody's.
    Nobody,
    /// Those of callers with a name.
    Named,
    /// Everybody's.
    Everybody,
}

impl Default for Repeats {
    fn default() -> Self {
        let repeats = repeats::Repeats::default();
        Self {
            of: match repeats.of {
                repeats::RepeatsOf::Nobody => RepeatsOf::Nobody,
                repeats::RepeatsOf::Named => RepeatsOf::Named,
                repeats::RepeatsOf::Everybody => RepeatsOf::Everybody,
            },
            window: Period(repeats.window),
            most: repeats.most,
            bytes: Size(repeats.bytes),
        }
    }
}

impl From<&Repeats> for repeats::Repeats {
    fn from(typed: &Repeats) -> Self {
        Self {
            of: match typed.of {
                RepeatsOf::Nobody => repeats::RepeatsOf::Nobody,
                RepeatsOf::Named => repeats::RepeatsOf::Named,
                RepeatsOf::Everybody => repeats::RepeatsOf::Everybody,
            },
            window: typed.window.0,
            most: typed.most,
            bytes: typed.bytes.0,
        }
    }
}
