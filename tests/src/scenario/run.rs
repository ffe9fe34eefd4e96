//! Plays a scenario against a gateway.

use std::{collections::HashMap, time::Duration};

use gateway_domain::{Binding, Operation, Version, principal::Actor};
use gateway_wire::params;
use serde_json::{Map, Value, json};
use tokio::task::JoinHandle;

use super::{Scenario, Step, Transcript, error_kind, matches, operation};
use crate::{
    client::{Answer, Ask, LiveStream, Refusal, Told},
    gateway::Gateway,
    raw::PATIENCE,
};

/// A binding and a version of the protocol. What 0.3 has no operation for is called by 1.0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tongue {
    /// Over what.
    pub binding: Binding,
    /// In whose names and notation.
    pub version: Version,
}

impl Tongue {
    /// `GRPC 0.3`.
    pub fn name(self) -> String {
        format!("{} {}", self.binding.name(), self.version.name())
    }

    pub(super) fn read(text: &str) -> Result<Self, String> {
        let all = Binding::ALL
            .into_iter()
            .flat_map(|binding| [Version::V1_0, Version::V0_3].map(|version| Self { binding, version }));
        let mut all = all.filter(|tongue| tongue.name() == text);
        all.next()
            .ok_or_else(|| format!("{text:?} is no binding and version"))
    }
}

/// What a step is played over.
#[derive(Debug, Clone, Copy)]
pub enum Pick {
    /// Every step over the same.
    One(Tongue),
    /// Each step over the next of the scenario's bindings, and in the next of its versions.
    Turns,
}

/// A scenario that was played as it says.
#[derive(Debug)]
pub struct Played {
    /// What the steps showed.
    pub transcript: Transcript,
    /// Step and replica of each call that came as far as the stack, in the order of the answers.
    pub answered: Vec<(usize, usize)>,
}

/// Plays a scenario from beginning to end.
///
/// # Errors
/// The step and what was wrong with it.
pub async fn run(scenario: &Scenario, gateway: &Gateway, pick: Pick) -> Result<Transcript, String> {
    play(scenario, gateway, pick)
        .await
        .map(|played| played.transcript)
}

/// The same, and which replicas had a part in it.
///
/// # Errors
/// As [`run`].
pub async fn play(scenario: &Scenario, gateway: &Gateway, pick: Pick) -> Result<Played, String> {
    let mut run = Run {
        gateway,
        kept: HashMap::new(),
        streams: HashMap::new(),
        waiting: HashMap::new(),
        transcript: Transcript::default(),
        said: 0,
        number: 0,
        answered: Vec::new(),
    };
    let (bindings, versions) = (scenario.bindings(), scenario.versions());
    for (index, step) in scenario.step.iter().enumerate() {
        let tongue = match (pick, &step.over) {
            (_, Some(over)) => Tongue::read(over)?,
            (Pick::One(tongue), None) => tongue,
            (Pick::Turns, None) => Tongue {
                binding: bindings[index % bindings.len()],
                version: versions[index % versions.len()],
            },
        };
        let spoken = step.speak.as_deref().and_then(Version::parse);
        let tongue = Tongue {
            version: spoken.unwrap_or(tongue.version),
            ..tongue
        };
        run.number = index + 1;
        let played = tokio::time::timeout(PATIENCE * 2, run.step(step, tongue)).await;
        let result = played.unwrap_or_else(|_| Err("nothing happened for too long".to_owned()));
        result.map_err(|why| format!("step {} over {}: {why}", index + 1, tongue.name()))?;
    }
    Ok(Played {
        transcript: run.transcript,
        answered: run.answered,
    })
}

struct Run<'a> {
    gateway: &'a Gateway,
    kept: HashMap<String, String>,
    streams: HashMap<String, LiveStream>,
    waiting: HashMap<String, JoinHandle<Called>>,
    transcript: Transcript,
    said: usize,
    number: usize,
    answered: Vec<(usize, usize)>,
}

/// An answered call.
struct Called {
    request_id: String,
    answer: Answer,
}

impl Run<'_> {
    async fn step(&mut self, step: &Step, tongue: Tongue) -> Result<(), String> {
        if let Some(name) = &step.call {
            return self.call(step, operation(name)?, tongue).await;
        }
        if let Some(name) = &step.join {
            let called = self.waiting.remove(name).ok_or("no such call is waiting")?;
            let called = called.await.map_err(|error| error.to_string())?;
            return self.answered(step, called).await;
        }
        if let Some(name) = &step.read {
            let stream = self.streams.remove(name).ok_or("no such stream is open")?;
            return self.read(step, stream).await;
        }
        let name = step.close.as_deref().unwrap_or_default();
        self.streams
            .remove(name)
            .map(drop)
            .ok_or_else(|| "no such stream is open".to_owned())
    }

    async fn call(&mut self, step: &Step, operation: Operation, tongue: Tongue) -> Result<(), String> {
        let ask = self.ask(step, operation, tongue.version)?;
        let driver = match operation.actor() {
            Actor::Client => self.gateway.client(tongue.binding),
            Actor::Agent => self.gateway.agent(tongue.binding),
        };
        if let Some(name) = &step.background {
            let call = async move {
                Called {
                    request_id: request_id(&ask),
                    answer: driver.call(&ask).await,
                }
            };
            self.waiting.insert(name.clone(), tokio::spawn(call));
            return Ok(());
        }
        loop {
            let called = Called {
                request_id: request_id(&ask),
                answer: driver.call(&ask).await,
            };
            let replica = self.gateway.ledger().replica_of(&called.request_id);
            self.answered
                .extend(replica.map(|replica| (self.number, replica)));
            let pattern = step.expect.as_deref().map(|text| self.json(text)).transpose()?;
            if let (true, Answer::Reply(reply), Some(pattern)) = (step.until, &called.answer, &pattern)
                && matches(pattern, &reply.json).is_err()
            {
                tokio::time::sleep(Duration::from_millis(5)).await;
                continue;
            }
            return self.answered(step, called).await;
        }
    }

    fn ask(&mut self, step: &Step, operation: Operation, version: Version) -> Result<Ask, String> {
        let mut params = json!({});
        if let Some(text) = &step.say {
            self.said += 1;
            let id = format!("said-{}", self.said);
            params =
                json!({ "message": { "messageId": id, "role": "ROLE_USER", "parts": [{ "text": text }] } });
        }
        if let Some(task) = &step.task {
            params["message"]["taskId"] = json!(self.text(task)?);
        }
        if let Some(text) = &step.params {
            merge(&mut params, self.json(text)?);
        }
        let or = |said: &Option<String>, usual: &str| match said.as_deref() {
            Some("") => None,
            Some(said) => Some(said.to_owned()),
            None => Some(usual.to_owned()),
        };
        let mut ask = Ask::new(operation, params).speaking(version);
        ask.caller = or(&step.by, "A");
        ask.version = or(&step.version, ask.names.name());
        ask.extensions.clone_from(&step.extensions);
        ask.tenant.clone_from(&step.tenant);
        if let Some(cursor) = &step.cursor {
            ask = ask.with(params::LAST_EVENT_ID.header, &self.text(cursor)?);
        }
        Ok(ask.with("x-request-id", &self.gateway.next_request_id()))
    }

    async fn answered(&mut self, step: &Step, called: Called) -> Result<(), String> {
        if let Some(expected) = &step.outcome {
            let decided = self
                .gateway
                .ledger()
                .of(&called.request_id)
                .and_then(|seen| seen.outcome);
            let decided = decided.map(gateway_domain::Outcome::name);
            if decided != Some(expected) {
                return Err(format!(
                    "{expected} was expected, not {decided:?}: {:?}",
                    called.answer
                ));
            }
        }
        match called.answer {
            Answer::Refusal(refusal) => self.refused(step, &refusal),
            Answer::Reply(reply) => {
                let active = active(&reply.headers);
                check_active(step, &active)?;
                self.replied(step, &reply.json)
            }
            Answer::Stream(stream) => {
                let active = active(&stream.headers);
                check_active(step, &active)?;
                self.read(step, stream).await
            }
        }
    }

    fn refused(&mut self, step: &Step, refusal: &Refusal) -> Result<(), String> {
        let expected = step.error.as_deref();
        let expected = expected.ok_or_else(|| format!("an error was not expected: {refusal:?}"))?;
        refusal.check(error_kind(expected)?)?;
        // Fields have other names in 0.3, and over HTTP+JSON none at all.
        let names = refusal.names;
        if let Some(expected) = step.fields.as_ref().filter(|_| names == Version::V1_0) {
            let (mut expected, mut held): (Vec<&str>, _) =
                (expected.iter().map(String::as_str).collect(), refusal.fields());
            expected.sort_unstable();
            held.sort_unstable();
            if expected != held {
                return Err(format!("the fields {expected:?} were expected, not {held:?}"));
            }
        }
        let facts = step
            .facts
            .iter()
            .filter(|_| !matches!(refusal.told, Told::Text { .. }));
        for (name, fact) in facts {
            let held = refusal.metadata.get(name).map_or(Value::Null, |held| json!(held));
            matches(&json!(self.text(fact)?), &held).map_err(|why| format!("metadata.{name}: {why}"))?;
        }
        self.transcript.refused(refusal);
        Ok(())
    }

    fn replied(&mut self, step: &Step, json: &Value) -> Result<(), String> {
        if let Some(error) = &step.error {
            return Err(format!("{error} was expected, not {json}"));
        }
        if !step.events.is_empty() {
            return Err(format!("events were expected, not {json}"));
        }
        if let Some(pattern) = &step.expect {
            matches(&self.json(pattern)?, json)?;
        }
        self.keep(step, json)?;
        self.transcript.shown(json);
        Ok(())
    }

    /// Reads the stated events, then up to the end or not, as the step says.
    async fn read(&mut self, step: &Step, mut stream: LiveStream) -> Result<(), String> {
        if step.expect.is_some() {
            return Err("a reply was expected, not a stream".to_owned());
        }
        for (index, pattern) in step.events.iter().enumerate() {
            let json = match stream.next().await {
                Some(Ok(event)) => event.json,
                Some(Err(refusal)) => return Err(format!("event {} is {refusal:?}", index + 1)),
                None => return Err(format!("the stream ended before event {}", index + 1)),
            };
            matches(&self.json(pattern)?, &json)
                .map_err(|why| format!("event {}: {why} in {json}", index + 1))?;
            if index == 0 {
                self.keep(step, &json)?;
            }
            self.transcript.shown(&json);
        }
        if let Some(name) = &step.open {
            self.streams.insert(name.clone(), stream);
            return Ok(());
        }
        match stream.next().await {
            None if step.error.is_none() => Ok(()),
            None => Err("the stream ended without the error".to_owned()),
            Some(Ok(event)) => Err(format!("an event too many: {}", event.json)),
            Some(Err(refusal)) => self.refused(step, &refusal),
        }
    }

    fn keep(&mut self, step: &Step, json: &Value) -> Result<(), String> {
        for (name, path) in &step.keep {
            let pointer = format!("/{}", path.replace('.', "/"));
            let text = json.pointer(&pointer).and_then(Value::as_str);
            let text = text.ok_or_else(|| format!("no text at {path} in {json}"))?;
            self.kept.insert(name.clone(), text.to_owned());
        }
        Ok(())
    }

    /// The text with what was kept put in.
    fn text(&self, text: &str) -> Result<String, String> {
        let mut text = text.to_owned();
        while let Some(begin) = text.find("${") {
            let end = text[begin..].find('}').ok_or("an open ${")? + begin;
            let name = &text[begin + 2..end];
            let kept = self
                .kept
                .get(name)
                .ok_or_else(|| format!("nothing was kept as {name}"))?;
            text = format!("{}{kept}{}", &text[..begin], &text[end + 1..]);
        }
        Ok(text)
    }

    fn json(&self, text: &str) -> Result<Value, String> {
        let text = self.text(text)?;
        serde_json::from_str(&text).map_err(|error| format!("{error} in {text}"))
    }
}

fn request_id(ask: &Ask) -> String {
    let found = ask.headers.iter().find(|(name, _)| name == "x-request-id");
    found.map(|(_, id)| id.clone()).unwrap_or_default()
}

/// The extensions told to be active.
fn active(headers: &http::HeaderMap) -> Vec<String> {
    let names = [params::EXTENSIONS, params::EXTENSIONS_0_3].map(|parameter| parameter.header);
    names
        .into_iter()
        .flat_map(|name| headers.get_all(name))
        .flat_map(|value| value.to_str().unwrap_or_default().split(','))
        .map(|uri| uri.trim().to_owned())
        .collect()
}

fn check_active(step: &Step, active: &[String]) -> Result<(), String> {
    match &step.active {
        Some(expected) if expected != active => Err(format!(
            "the extensions {expected:?} were to be active, not {active:?}"
        )),
        _ => Ok(()),
    }
}

/// Puts the members of one object into another, deeply.
fn merge(into: &mut Value, from: Value) {
    match (into, from) {
        (Value::Object(into), Value::Object(from)) => {
            for (name, value) in from {
                merge(
                    into.entry(name).or_insert_with(|| Value::Object(Map::new())),
                    value,
                );
            }
        }
        (into, from) => *into = from,
    }
}
