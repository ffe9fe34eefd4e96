//! The conformance agent: it does what the protocol's official compatibility suites (a2aproject/a2a-tck, for 1.0 and for
//! 0.3) expect of the agent behind a server.
//!
//! They tell it by the beginning of a message's id; which begins how stands in [`behaviour`]. It does no real
//! work, and a task of its own waits for input as long as nobody answers.

mod behaviour;

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use gateway_domain::{
    AgentCard, Artifact, ArtifactId, Error, ErrorKind, Message, Outcome, TaskId, TaskSnapshot,
    card::{AgentCapabilities, AgentSkill},
    error::metadata,
    json::Object,
    lifecycle::Move,
    ports::{Agent, AgentFault, Answer, CancelAnswer, Desk, Ids, Offer},
    request::AgentAction,
};

use crate::runs::{End, Play, Runs, Stage, Stop};
use behaviour::{Behaviour, Content, Step};

/// The extension that the suite wants to be required of one message and of no other, since it never declares it.
pub const REQUIRED_EXTENSION: &str = "urn:a2a:tck:required-extension";

/// The agent.
pub struct Conformance {
    runs: Runs<Turn>,
    player: Arc<Player>,
}

impl Conformance {
    /// An agent without runs. The ids are for its messages.
    pub fn new(ids: Arc<dyn Ids>) -> Self {
        Self {
            runs: Runs::default(),
            player: Arc::new(Player(ids)),
        }
    }

    /// Waits for the runs under way, at most so long, then stops those that are left.
    pub async fn drain(&self, patience: Duration) {
        self.runs.drain(patience).await;
    }

    /// How many reports came when their task had ended, and were dropped.
    pub fn dropped_reports(&self) -> u64 {
        self.runs.dropped_reports()
    }
}

/// Its card, with no interfaces yet. Any type is taken: the suite sends one that nobody knows.
pub fn card() -> AgentCard {
    let modes = || ["text/plain", "*/*"].map(str::to_owned).to_vec();
    AgentCard {
        name: "Conformance agent".to_owned(),
        description: "Does what the official compatibility suite of A2A expects of an agent.".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        capabilities: AgentCapabilities {
            streaming: Some(true),
            push_notifications: Some(false),
            ..AgentCapabilities::default()
        },
        default_input_modes: modes(),
        default_output_modes: modes(),
        skills: vec![AgentSkill {
            id: "conformance".to_owned(),
            name: "conformance".to_owned(),
            description: "obeys the beginning of a message's id".to_owned(),
            tags: vec!["conformance".to_owned()],
            ..AgentSkill::default()
        }],
        ..AgentCard::default()
    }
}

#[async_trait]
impl Agent for Conformance {
    fn enforces_extension(&self, uri: &str) -> bool {
        uri == REQUIRED_EXTENSION
    }

    async fn offer(&self, offer: Offer, desk: Arc<dyn Desk>) -> Result<Answer, AgentFault> {
        let steps = match behaviour::of(&offer.message.message_id) {
            Behaviour::Answer(text) => return Ok(Answer::Message(self.player.says(text))),
            Behaviour::RequireExtension(steps) if declares(&offer) => *steps,
            Behaviour::RequireExtension(_) => return Err(AgentFault::Refused(undeclared())),
            Behaviour::Work(steps) => *steps,
        };
        let turn = Turn {
            steps,
            again: offer.attempt > 1,
        };
        match self.runs.take(&offer.task.id, desk, turn, self.player.clone()) {
            Ok(()) => Ok(Answer::Accepted),
            Err(_) => Err(AgentFault::Unreachable("the agent is shutting down".to_owned())),
        }
    }

    async fn cancel(&self, task: &TaskId, _metadata: Option<&Object>) -> CancelAnswer {
        self.runs.cancel(task).await
    }

    fn release(&self, task: &TaskId) {
        self.runs.release(task);
    }
}

fn declares(offer: &Offer) -> bool {
    offer.extensions.iter().any(|uri| uri == REQUIRED_EXTENSION)
}

fn undeclared() -> Error {
    let text = format!("this message needs the extension {REQUIRED_EXTENSION}: declare it in A2A-Extensions");
    Error::new(ErrorKind::ExtensionSupportRequired, text)
        .with_metadata(metadata::REQUIRED_EXTENSIONS, REQUIRED_EXTENSION)
        .outcome(Outcome::ExtensionRequired)
}

/// What a message leads to.
struct Turn {
    steps: &'static [Step],
    /// Whether a former run may have done some of them.
    again: bool,
}

/// Performs steps. The ids are for messages.
struct Player(Arc<dyn Ids>);

impl Play<Turn> for Player {
    async fn perform(&self, turn: Turn, stage: &Stage) -> Result<End, Stop> {
        let Turn { steps, again } = turn;
        let done = if again {
            done_of(steps, &stage.task().await?)
        } else {
            0
        };
        for step in &steps[done..] {
            match step {
                Step::Move(step, text) => {
                    let text = text.map(|text| self.says(text));
                    stage.act(AgentAction::Move(*step, text)).await?;
                }
                Step::Give(content) => stage.act(update(content, false, true)).await?,
                Step::GiveFirst(content) => stage.act(update(content, false, false)).await?,
                Step::GiveLast(content) => stage.act(update(content, true, true)).await?,
                Step::Pause(time) => stage.pause(*time).await?,
            }
        }
        Ok(match steps.last() {
            Some(Step::Move(Move::RequireInput, _)) => End::Waiting,
            _ => End::Finished,
        })
    }
}

/// How many steps a former run has done, as far as the task tells: up to the last that can be seen in it.
fn done_of(steps: &[Step], task: &TaskSnapshot) -> usize {
    let chunks = task.artifacts.first().map_or(0, |artifact| artifact.parts.len());
    if task.status.state.is_terminal() {
        return steps.len();
    }
    let seen = |step: &Step| match step {
        Step::Move(step, _) => step.target() == task.status.state,
        Step::Give(_) | Step::GiveFirst(_) => chunks > 0,
        Step::GiveLast(_) => chunks > 1,
        Step::Pause(_) => false,
    };
    steps.iter().rposition(seen).map_or(0, |last| last + 1)
}

impl Player {
    fn says(&self, text: &str) -> Message {
        Message::agent_text(self.0.message_id(), text)
    }
}

fn update(content: &Content, append: bool, last_chunk: bool) -> AgentAction {
    AgentAction::UpdateArtifact {
        artifact: Artifact {
            artifact_id: ArtifactId::new("result"),
            name: None,
            description: None,
            parts: vec![content.part()],
            metadata: None,
            extensions: Vec::new(),
        },
        append,
        last_chunk,
    }
}

#[cfg(test)]
mod tests;
