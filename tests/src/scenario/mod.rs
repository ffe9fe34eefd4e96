//! Scenarios: what callers do and what must come of it, as data in `scenarios/*.toml`, once for all bindings and
//! versions. They are written in the words of 1.0; see [`Tongue`] for how they are played in 0.3.

mod pattern;
mod run;
mod transcript;

use std::{collections::BTreeMap, path::Path};

use gateway_domain::{Binding, ErrorKind, Operation, Outcome, Version};
use serde::Deserialize;

pub use pattern::matches;
pub use run::{Pick, Played, Tongue, play, run};
pub use transcript::Transcript;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    scenario: Vec<Scenario>,
}

/// One scenario.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// Situation and outcome, as a test is named.
    pub name: String,
    /// The gateway that it plays on, by the name of a [`Profile`](crate::profile::Profile).
    #[serde(default = "plain")]
    pub profile: String,
    /// The bindings that it plays over, where not all can carry it.
    pub bindings: Option<Vec<String>>,
    /// The versions that it plays in, where not both can carry it: 0.3 says less, and means other things in places.
    pub versions: Option<Vec<String>>,
    /// Why not all.
    pub because: Option<String>,
    /// Whether bindings may differ in what is not stated: where a race decides which state is seen first.
    #[serde(default)]
    pub varies: bool,
    /// What happens.
    pub step: Vec<Step>,
}

/// One step: a call, or something with what earlier steps left open. JSON stands in it as text, so that it can be
/// read against the specification; `${NAME}` in it is what an earlier step kept.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Step {
    /// The operation to call.
    pub call: Option<String>,
    /// Shorthand for a message of this text among the parameters.
    pub say: Option<String>,
    /// Into which task.
    pub task: Option<String>,
    /// The parameters, or those beside the shorthand's.
    pub params: Option<String>,
    /// The version that this step is spoken in, where the other cannot say it.
    pub speak: Option<String>,
    /// Over which binding and in which version, such as `GRPC 0.3`, whatever the rest of the scenario is played over.
    pub over: Option<String>,
    /// Who calls; the empty text is nobody. A where nothing is said.
    pub by: Option<String>,
    /// The version sent; the empty text sends none. 1.0 where nothing is said.
    pub version: Option<String>,
    /// The extensions declared.
    pub extensions: Vec<String>,
    /// The cursor after which a stream is to go on.
    pub cursor: Option<String>,
    /// The tenant named.
    pub tenant: Option<String>,
    /// Leaves the call waiting under this name, for a later `join`.
    pub background: Option<String>,
    /// Leaves the stream open under this name, for later steps, once the stated events were read.
    pub open: Option<String>,
    /// Repeats the call until its reply is the one expected.
    pub until: bool,

    /// Takes the answer of the call left waiting under this name.
    pub join: Option<String>,
    /// Reads on in the stream of this name; up to its end, unless `open` names it again.
    pub read: Option<String>,
    /// Leaves the stream of this name.
    pub close: Option<String>,

    /// The outcome that the domain must have decided.
    pub outcome: Option<String>,
    /// The error that must be told.
    pub error: Option<String>,
    /// The bad fields that it must name, all of them, in any order.
    pub fields: Option<Vec<String>>,
    /// What its metadata must hold.
    pub facts: BTreeMap<String, String>,
    /// The pattern of the reply.
    pub expect: Option<String>,
    /// The patterns of the events.
    pub events: Vec<String>,
    /// The extensions that must be told to be active.
    pub active: Option<Vec<String>>,
    /// What to keep: a name, and where in the reply (or in the first event) its value stands, such as `task.id`.
    pub keep: BTreeMap<String, String>,
}

fn plain() -> String {
    "plain".to_owned()
}

/// Every scenario, by file name and place.
///
/// # Panics
/// Where a file is not what is described here.
pub fn all() -> Vec<Scenario> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios");
    let mut paths: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    let mut scenarios = Vec::new();
    for path in paths {
        let text = std::fs::read_to_string(&path).unwrap();
        let file: File = toml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        scenarios.extend(file.scenario);
    }
    scenarios.iter().for_each(Scenario::check);
    scenarios
}

impl Scenario {
    /// The bindings that it plays over.
    pub fn bindings(&self) -> Vec<Binding> {
        let all = Binding::ALL.into_iter();
        match &self.bindings {
            None => all.collect(),
            Some(names) => all
                .filter(|binding| names.iter().any(|name| name == binding.name()))
                .collect(),
        }
    }

    /// The versions that it plays in, 1.0 first.
    pub fn versions(&self) -> Vec<Version> {
        let all = [Version::V1_0, Version::V0_3].into_iter();
        match &self.versions {
            None => all.collect(),
            Some(names) => all
                .filter(|version| names.iter().any(|name| name == version.name()))
                .collect(),
        }
    }

    /// Each binding in each version that it plays over, 1.0 first.
    pub fn tongues(&self) -> Vec<Tongue> {
        let bindings = self.bindings();
        let over = |version| bindings.iter().map(move |&binding| Tongue { binding, version });
        self.versions().into_iter().flat_map(over).collect()
    }

    fn check(&self) {
        let name = &self.name;
        assert_eq!(
            self.bindings.is_some() || self.versions.is_some(),
            self.because.is_some(),
            "{name}: say why not every binding or version"
        );
        assert!(!self.bindings().is_empty(), "{name}: no such binding");
        assert!(!self.versions().is_empty(), "{name}: no such version");
        for (index, step) in self.step.iter().enumerate() {
            if let Err(why) = step.check() {
                panic!("{name}, step {}: {why}", index + 1);
            }
        }
    }
}

impl Step {
    fn check(&self) -> Result<(), String> {
        let deeds = [&self.call, &self.join, &self.read, &self.close];
        if deeds.iter().filter(|deed| deed.is_some()).count() != 1 {
            return Err("exactly one of call, join, read, close".to_owned());
        }
        if let Some(name) = &self.call {
            operation(name)?;
        }
        if let Some(over) = &self.over {
            Tongue::read(over)?;
        }
        if let Some(version) = &self.speak {
            Version::parse(version).ok_or_else(|| format!("{version} is no version"))?;
        }
        if let Some(name) = &self.outcome {
            outcome(name)?;
        }
        if let Some(name) = &self.error {
            error_kind(name)?;
        }
        if self.until && self.expect.is_none() {
            return Err("until needs a reply to expect".to_owned());
        }
        if self.error.is_none() && (self.fields.is_some() || !self.facts.is_empty()) {
            return Err("fields and facts belong to an error".to_owned());
        }
        let expects = self.outcome.is_some()
            || self.error.is_some()
            || self.expect.is_some()
            || !self.events.is_empty();
        if !expects && self.background.is_none() && self.close.is_none() {
            return Err("a step that expects nothing cannot fail".to_owned());
        }
        Ok(())
    }
}

fn operation(name: &str) -> Result<Operation, String> {
    let found = Operation::all().find(|operation| operation.name() == name);
    found.ok_or_else(|| format!("no operation {name}"))
}

fn outcome(name: &str) -> Result<Outcome, String> {
    let found = Operation::all()
        .flat_map(Outcome::of)
        .find(|outcome| outcome.name() == name);
    found.copied().ok_or_else(|| format!("no outcome {name}"))
}

fn error_kind(name: &str) -> Result<ErrorKind, String> {
    let found = ErrorKind::ALL.into_iter().find(|kind| kind.name() == name);
    found.ok_or_else(|| format!("no error {name}"))
}
