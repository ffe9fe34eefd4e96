//! How the demo agent performs its commands.
//!
//! A task that waits for an answer has no run: what the next message means is read from the task as it is stored, so
//! it can be answered after the process that asked has gone.

use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};

use gateway_domain::{
    Artifact, ArtifactId, Content, Message, MessageId, Part, Role, TaskSnapshot, TaskState,
    lifecycle::Move,
    ports::{Ids, Offer},
    request::AgentAction,
};

use super::command::{self, Command};
use crate::runs::{End, Play, Stage, Stop};

/// What the agent makes of a message.
#[derive(Debug)]
pub(super) enum Turn {
    /// It begins a task: obey it, or reject the task with a text that says why.
    First(Arc<Message>, Result<Command, String>),
    /// It goes on with one; what it means depends on how the task stands when its turn comes.
    Further(Arc<Message>),
}

impl Turn {
    pub(super) fn of(offer: Offer) -> Self {
        if offer.follow_up {
            Self::Further(offer.message)
        } else {
            let command = command_of(&offer.message);
            Self::First(offer.message, command)
        }
    }
}

fn command_of(message: &Message) -> Result<Command, String> {
    command::read(message.first_text().unwrap_or_default())
}

/// What all runs share.
pub(super) struct Script {
    ids: Arc<dyn Ids>,
    artifact: ArtifactId,
}

impl Play<Turn> for Script {
    async fn perform(&self, turn: Turn, stage: &Stage) -> Result<End, Stop> {
        match turn {
            Turn::First(message, Ok(command)) => self.obey(command, &message, stage).await,
            Turn::First(_, Err(refusal)) => self.end(stage, Move::Reject, Some(&refusal)).await,
            Turn::Further(message) => self.go_on(&message, stage).await,
        }
    }
}

impl Script {
    pub(super) fn new(ids: Arc<dyn Ids>) -> Self {
        let artifact = ArtifactId::new("result");
        Self { ids, artifact }
    }

    pub(super) fn message_id(&self) -> MessageId {
        self.ids.message_id()
    }

    async fn obey(&self, command: Command, message: &Message, stage: &Stage) -> Result<End, Stop> {
        match command {
            Command::Echo => {
                self.begin(stage).await?;
                self.give(stage, echo(message)).await?;
            }
            Command::Say(text) => self.give(stage, vec![Part::text(text)]).await?,
            // Answered before there is a run; one that comes here began as a task already.
            Command::Direct => {}
            Command::Work(time) => {
                self.begin(stage).await?;
                stage.pause(time).await?;
                self.give(stage, vec![Part::text("the work is done")]).await?;
            }
            Command::Quiet(time) => stage.pause(time).await?,
            Command::Chunks { count, pause } => {
                self.begin(stage).await?;
                let text = |number| format!("chunk {number} of {count}\n");
                self.give_chunks(stage, count, pause, text).await?;
            }
            Command::Burst(count) => self.burst(stage, count).await?,
            Command::Ask(of) => return self.ask(stage, 1, of).await,
            Command::Auth => return self.ask_for_credentials(stage).await,
            Command::Fail => return self.end(stage, Move::Fail, Some("failed, as told")).await,
            Command::Crash => {
                self.begin(stage).await?;
                return Err(Stop::Broken("told to crash".to_owned()));
            }
            Command::Late => return self.report_late(stage).await,
            Command::NoTime => {
                self.begin(stage).await?;
                let text = self.says("the gateway tells the time of this");
                stage.act(AgentAction::ReportProgress(Some(text))).await?;
            }
            Command::Bench { hold, chunks, size } => {
                self.begin(stage).await?;
                stage.pause(hold).await?;
                let body = "x".repeat(usize::try_from(size).unwrap_or_default());
                let text = |_| format!("{}{body}", stamp());
                self.give_chunks(stage, chunks, Duration::ZERO, text).await?;
            }
        }
        self.end(stage, Move::Complete, None).await
    }

    /// A further message answers a task that waits. One that nobody has begun to work on obeys its first message.
    async fn go_on(&self, message: &Message, stage: &Stage) -> Result<End, Stop> {
        let task = stage.task().await?;
        let first = task.history.first().map_or(message, |first| first);
        match command_of(first) {
            _ if task.status.state.is_terminal() => Ok(End::Finished),
            Ok(command) if task.status.state == TaskState::Submitted => {
                self.obey(command, first, stage).await
            }
            Ok(Command::Ask(of)) if answers(&task) < of => self.ask(stage, answers(&task) + 1, of).await,
            _ => self.finish(stage, message.parts.clone()).await,
        }
    }

    async fn finish(&self, stage: &Stage, parts: Vec<Part>) -> Result<End, Stop> {
        self.begin(stage).await?;
        self.give(stage, parts).await?;
        self.end(stage, Move::Complete, None).await
    }

    async fn ask(&self, stage: &Stage, number: u64, of: u64) -> Result<End, Stop> {
        let question = self.says(&format!("question {number} of {of}: what is your answer?"));
        stage
            .act(AgentAction::Move(Move::RequireInput, Some(question)))
            .await?;
        Ok(End::Waiting)
    }

    /// Goes on by itself once somebody has moved the task on; a message does it as well.
    async fn ask_for_credentials(&self, stage: &Stage) -> Result<End, Stop> {
        let text = self.says("the agent needs credentials, which it gets by another way");
        stage
            .act(AgentAction::Move(Move::RequireAuth, Some(text)))
            .await?;
        match stage.moved_on(TaskState::AuthRequired).await? {
            None => Ok(End::Waiting),
            Some(_) => self.finish(stage, vec![Part::text("authorized")]).await,
        }
    }

    /// The updates are numbered, and the first is the move to Working.
    async fn burst(&self, stage: &Stage, count: u64) -> Result<(), Stop> {
        for number in 1..=count {
            let text = Some(self.says(&format!("update {number} of {count}")));
            let action = if number == 1 {
                AgentAction::Move(Move::Work, text)
            } else {
                AgentAction::ReportProgress(text)
            };
            stage.act(action).await?;
        }
        Ok(())
    }

    /// What comes after the end is for the gateway to refuse; each refusal is tried for.
    async fn report_late(&self, stage: &Stage) -> Result<End, Stop> {
        self.end(stage, Move::Complete, None).await?;
        let working = stage.act(AgentAction::Move(Move::Work, None)).await;
        let artifact = self.give(stage, vec![Part::text("too late")]).await;
        working.and(artifact).map(|()| End::Finished)
    }

    async fn begin(&self, stage: &Stage) -> Result<(), Stop> {
        stage.act(AgentAction::Move(Move::Work, None)).await
    }

    async fn end(&self, stage: &Stage, step: Move, text: Option<&str>) -> Result<End, Stop> {
        let text = text.map(|text| self.says(text));
        stage.act(AgentAction::Move(step, text)).await?;
        Ok(End::Finished)
    }

    async fn give(&self, stage: &Stage, parts: Vec<Part>) -> Result<(), Stop> {
        stage.act(self.update(parts, false, true)).await
    }

    async fn give_chunks(
        &self,
        stage: &Stage,
        count: u64,
        pause: Duration,
        text: impl Fn(u64) -> String,
    ) -> Result<(), Stop> {
        for number in 1..=count {
            if number > 1 {
                stage.pause(pause).await?;
            }
            let parts = vec![Part::text(text(number))];
            stage.act(self.update(parts, number > 1, number == count)).await?;
        }
        Ok(())
    }

    fn update(&self, parts: Vec<Part>, append: bool, last_chunk: bool) -> AgentAction {
        let artifact = Artifact {
            artifact_id: self.artifact.clone(),
            name: None,
            description: None,
            parts,
            metadata: None,
            extensions: Vec::new(),
        };
        AgentAction::UpdateArtifact {
            artifact,
            append,
            last_chunk,
        }
    }

    fn says(&self, text: &str) -> Message {
        Message::agent_text(self.ids.message_id(), text)
    }
}

/// The messages of the client after its first.
fn answers(task: &TaskSnapshot) -> u64 {
    let said = task.history.iter().filter(|message| message.role == Role::User);
    said.skip(1).count() as u64
}

/// The parts of a message, with the time in front of its first text.
fn echo(message: &Message) -> Vec<Part> {
    let mut parts = message.parts.clone();
    let first = parts.iter_mut().find_map(|part| match &mut part.content {
        Some(Content::Text(text)) => Some(text),
        _ => None,
    });
    if let Some(text) = first {
        text.insert_str(0, &stamp());
    }
    parts
}

/// When an update was made, in microseconds since the Unix epoch, as load generators read it: `t=…;`.
fn stamp() -> String {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    // In 64 bits, since numbers of 128 take ten times as long to print, and each chunk of a stream has one.
    let micros = u64::try_from(since.unwrap_or_default().as_micros()).unwrap_or(u64::MAX);
    format!("t={micros};")
}
