//! A subscriber: it follows a task over one binding to its end, and comes back with its cursor whenever the stream breaks
//! off, which it also does by itself now and then.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use gateway_domain::{Binding, Operation};
use serde_json::{Value, json};

use super::{Stage, count, task::chunks};
use crate::client::{Answer, Ask, LiveStream};

/// The extension by which streams are resumed.
const RESUME: &str = "urn:a2a-gateway:resume:v1";

/// One in so many events is the last of its stream by the subscriber's own will.
const LEAVES: u32 = 12;

/// A stream that says nothing for so long is left, as a careful client would.
const SILENCE: Duration = Duration::from_secs(20);

/// What a subscriber saw of a task.
pub(crate) struct Seen {
    pub(crate) binding: Binding,
    /// The task that its stream began with, or started over with, …
    pub(crate) from: Vec<usize>,
    pub(crate) from_revision: u64,
    /// … and each event since: its revision and its chunks, none for a status.
    pub(crate) events: Vec<(u64, Vec<usize>)>,
    /// The state told last.
    pub(crate) state: String,
    /// What must not be.
    pub(crate) faults: Vec<String>,
    cursor: Option<String>,
}

pub(crate) async fn watch(stage: Arc<Stage>, task: String, binding: Binding) -> Seen {
    let mut seen = Seen {
        binding,
        from: Vec::new(),
        from_revision: 0,
        events: Vec::new(),
        state: String::new(),
        faults: Vec::new(),
        cursor: None,
    };
    let client = stage.clients.of_binding(binding);
    while !seen.is_over() {
        if Instant::now() > stage.deadline {
            seen.faults
                .push(format!("no end came; {:?} was told last", seen.state));
            break;
        }
        match client.call(&seen.ask(&task)).await {
            Answer::Stream(stream) => {
                if seen.cursor.is_some() {
                    count(stage.counts.resumed(binding));
                }
                seen.follow(&stage, stream).await;
            }
            Answer::Refusal(refusal) if refusal.is_final() => {
                seen.faults.push(format!("refused: {}", refusal.message));
                break;
            }
            _ => tokio::time::sleep(Duration::from_millis(200)).await,
        }
    }
    seen
}

impl Seen {
    fn ask(&self, task: &str) -> Ask {
        let mut ask = Ask::new(Operation::SubscribeToTask, json!({ "id": task }));
        ask.caller = None;
        ask.extensions = vec![RESUME.to_owned()];
        match &self.cursor {
            Some(cursor) => ask.with("last-event-id", cursor),
            None => ask,
        }
    }

    fn is_over(&self) -> bool {
        ["COMPLETED", "FAILED", "CANCELED", "REJECTED"]
            .iter()
            .any(|end| self.state.ends_with(end))
    }

    async fn follow(&mut self, stage: &Stage, mut stream: LiveStream) {
        while let Ok(Some(Ok(event))) = tokio::time::timeout(SILENCE, stream.next()).await {
            self.take(stage, &event.json);
            if self.is_over() || fastrand::u32(..LEAVES) == 0 {
                return;
            }
        }
    }

    fn take(&mut self, stage: &Stage, event: &Value) {
        let Some((kind, what)) = event.as_object().and_then(|members| members.iter().next()) else {
            return self.faults.push(format!("an empty event: {event}"));
        };
        let ours = &what["metadata"][RESUME];
        let cursor = ours["cursor"].as_str();
        let revision = cursor.and_then(|cursor| cursor.split('-').next()?.parse().ok());
        let (Some(cursor), Some(revision)) = (cursor, revision) else {
            return self.faults.push(format!("an event without a cursor: {event}"));
        };
        self.cursor = Some(cursor.to_owned());
        match kind.as_str() {
            "task" => self.begin(stage, revision, what),
            "statusUpdate" => {
                self.next(revision, Vec::new());
                self.state = text(&what["status"]["state"]);
            }
            _ => {
                let chunks = chunks(&what["artifact"]);
                chunks
                    .iter()
                    .for_each(|_| count(stage.counts.shown(self.binding)));
                self.next(revision, chunks);
            }
        }
    }

    /// A task in place of everything known.
    fn begin(&mut self, stage: &Stage, revision: u64, task: &Value) {
        if self.from_revision > 0 {
            let marked = task["metadata"][RESUME]["startedOver"] == "other-timeline";
            if stage.trial.confirmed || !marked {
                self.faults.push(format!(
                    "started over at revision {revision}: {}",
                    task["metadata"][RESUME]
                ));
            }
            count(&stage.counts.started_over);
        }
        self.from = chunks(&task["artifacts"][0]);
        self.from_revision = revision;
        self.events.clear();
        self.state = text(&task["status"]["state"]);
    }

    /// Each commit is one revision, and each commit of these tasks is an event.
    fn next(&mut self, revision: u64, chunks: Vec<usize>) {
        let last = self
            .events
            .last()
            .map_or(self.from_revision, |(revision, _)| *revision);
        if revision != last + 1 {
            let kind = if revision <= last { "repeated" } else { "left out" };
            self.faults
                .push(format!("revision {revision} after {last}: something was {kind}"));
        }
        self.events.push((revision, chunks));
    }

    /// The chunks that a reader of this stream holds in the end.
    pub(crate) fn chunks(&self) -> Vec<usize> {
        let later = self.events.iter().flat_map(|(_, chunks)| chunks);
        self.from.iter().chain(later).copied().collect()
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
