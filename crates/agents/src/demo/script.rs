//! How the demo agent performs its commands.
//!
//! A task that waits for an answer has no run: what the next message means is read from the task as it is stored, so
//! it can be answered after the process that asked has gone. In the same way a run that is taken over goes on from what
//! the task holds.

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
pub(super) struct Turn {
    what: What,
    /// Whether a former run may have done some of it.
    again: bool,
}

#[derive(Debug)]
enum What {
    /// It begins a task: obey it, or reject the task with a text that says why.
    First(Arc<Message>, Result<Command, String>),
    /// It goes on with one; what it means depends on how the task stands when its turn comes.
    Further(Arc<Message>),
}

impl Turn {
    pub(super) fn of(offer: Offer) -> Self {
        let what = if offer.follow_up {
            What::Further(offer.message)
        } else {
            let command = command_of(&offer.message);
            What::First(offer.message, command)
        };
        let again = offer.attempt > 1;
        Self { what, again }
    }

    /// Whether it is answered without a task.
    pub(super) fn is_direct(&self) -> bool {
        matches!(self.what, What::First(_, Ok(Command::Direct)))
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
        let done = if turn.again {
            Done::by(&stage.task().await?)
        } else {
            Done::default()
        };
        match turn.what {
            _ if done.ended => Ok(End::Finished),
            What::First(message, Ok(command)) => self.obey(command, &message, done, stage).await,
            What::First(_, Err(refusal)) => self.end(stage, Move::Reject, Some(&refusal)).await,
            What::Further(message) => self.go_on(&message, done, stage).await,
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

    async fn obey(
        &self,
        command: Command,
        message: &Message,
        done: Done,
        stage: &Stage,
    ) -> Result<End, Stop> {
        match command {
            Command::Echo => {
                self.begin(&done, stage).await?;
                self.give(&done, stage, echo(message)).await?;
            }
            Command::Say(text) => self.give(&done, stage, vec![Part::text(text)]).await?,
            // Answered before there is a run; one that comes here began as a task already.
            Command::Direct => {}
            Command::Work(time) => {
                self.begin(&done, stage).await?;
                stage.pause(done.rest(time)).await?;
                self.give(&done, stage, vec![Part::text("the work is done")])
                    .await?;
            }
            Command::Quiet(time) => stage.pause(done.rest(time)).await?,
            Command::Chunks { count, pause } => {
                self.begin(&done, stage).await?;
                let text = |number| format!("chunk {number} of {count}\n");
                self.give_chunks(&done, stage, count, pause, text).await?;
            }
            Command::Burst(count) => self.burst(&done, stage, count).await?,
            Command::Ask(_) if done.waits => return Ok(End::Waiting),
            Command::Ask(of) => return self.ask(stage, 1, of).await,
            Command::Auth => return self.ask_for_credentials(&done, stage).await,
            Command::Fail => return self.end(stage, Move::Fail, Some("failed, as told")).await,
            Command::Crash => {
                self.begin(&done, stage).await?;
                return Err(Stop::Broken("told to crash".to_owned()));
            }
            Command::Late => return self.report_late(stage).await,
            Command::NoTime => {
                self.begin(&done, stage).await?;
                let text = self.says("the gateway tells the time of this");
                stage.act(AgentAction::ReportProgress(Some(text))).await?;
            }
            Command::Bench { hold, chunks, size } => {
                self.begin(&done, stage).await?;
                stage
                    .pause(if done.chunks > 0 {
                        Duration::ZERO
                    } else {
                        done.rest(hold)
                    })
                    .await?;
                let body = "x".repeat(usize::try_from(size).unwrap_or_default());
                let text = |_| format!("{}{body}", stamp());
                self.give_chunks(&done, stage, chunks, Duration::ZERO, text)
                    .await?;
            }
        }
        self.end(stage, Move::Complete, None).await
    }

    /// A further message answers a task that waits. One that nobody has begun to work on obeys its first message.
    async fn go_on(&self, message: &Message, done: Done, stage: &Stage) -> Result<End, Stop> {
        let task = stage.task().await?;
        let first = task.history.first().map_or(message, |first| first);
        match command_of(first) {
            _ if task.status.state.is_terminal() => Ok(End::Finished),
            Ok(command) if task.status.state == TaskState::Submitted => {
                self.obey(command, first, done, stage).await
            }
            Ok(Command::Ask(of)) if answers(&task) < of => {
                let number = answers(&task) + 1;
                if done.said == question(number, of) {
                    return Ok(End::Waiting);
                }
                self.ask(stage, number, of).await
            }
            _ => self.finish(&done, stage, message.parts.clone()).await,
        }
    }

    async fn finish(&self, done: &Done, stage: &Stage, parts: Vec<Part>) -> Result<End, Stop> {
        self.begin(done, stage).await?;
        self.give(done, stage, parts).await?;
        self.end(stage, Move::Complete, None).await
    }

    async fn ask(&self, stage: &Stage, number: u64, of: u64) -> Result<End, Stop> {
        let question = self.says(&question(number, of));
        stage
            .act(AgentAction::Move(Move::RequireInput, Some(question)))
            .await?;
        Ok(End::Waiting)
    }

    /// Goes on by itself once somebody has moved the task on; a message does it as well.
    async fn ask_for_credentials(&self, done: &Done, stage: &Stage) -> Result<End, Stop> {
        if !done.begun && !done.waits {
            let text = self.says("the agent needs credentials, which it gets by another way");
            stage
                .act(AgentAction::Move(Move::RequireAuth, Some(text)))
                .await?;
        }
        if !done.begun && stage.moved_on(TaskState::AuthRequired).await?.is_none() {
            return Ok(End::Waiting);
        }
        self.finish(done, stage, vec![Part::text("authorized")]).await
    }

    /// The updates are numbered, and the first is the move to Working.
    async fn burst(&self, done: &Done, stage: &Stage, count: u64) -> Result<(), Stop> {
        for number in done.updates + 1..=count {
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
        let artifact = self
            .give(&Done::default(), stage, vec![Part::text("too late")])
            .await;
        working.and(artifact).map(|()| End::Finished)
    }

    async fn begin(&self, done: &Done, stage: &Stage) -> Result<(), Stop> {
        if done.begun {
            return Ok(());
        }
        stage.act(AgentAction::Move(Move::Work, None)).await
    }

    async fn end(&self, stage: &Stage, step: Move, text: Option<&str>) -> Result<End, Stop> {
        let text = text.map(|text| self.says(text));
        stage.act(AgentAction::Move(step, text)).await?;
        Ok(End::Finished)
    }

    async fn give(&self, done: &Done, stage: &Stage, parts: Vec<Part>) -> Result<(), Stop> {
        if done.chunks > 0 {
            return Ok(());
        }
        stage.act(self.update(parts, false, true)).await
    }

    async fn give_chunks(
        &self,
        done: &Done,
        stage: &Stage,
        count: u64,
        pause: Duration,
        text: impl Fn(u64) -> String,
    ) -> Result<(), Stop> {
        for number in done.chunks + 1..=count {
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

/// What a former run has done of a turn, as far as the task tells. Nothing, for a turn that is played for the first time.
#[derive(Debug, Default)]
struct Done {
    /// The task has ended.
    ended: bool,
    /// The task was moved to Working.
    begun: bool,
    /// The task waits for somebody.
    waits: bool,
    /// Parts of the artifact.
    chunks: u64,
    /// Numbered updates.
    updates: u64,
    /// What the agent said last.
    said: String,
    /// How long ago the status was made.
    since: Duration,
}

impl Done {
    fn by(task: &TaskSnapshot) -> Self {
        let status = &task.status;
        let said = status.message.as_ref().and_then(|message| message.first_text());
        let chunks = task.artifacts.first().map_or(0, |artifact| artifact.parts.len());
        let now = SystemTime::now()
            .duration_since(SystemTime::UNIX_EPOCH)
            .unwrap_or_default();
        let then = Duration::from_millis(u64::try_from(status.timestamp.millis()).unwrap_or_default());
        Self {
            ended: status.state.is_terminal(),
            begun: status.state == TaskState::Working,
            waits: status.state.is_interrupted(),
            chunks: u64::try_from(chunks).unwrap_or(u64::MAX),
            updates: said.and_then(update_number).unwrap_or_default(),
            said: said.unwrap_or_default().to_owned(),
            since: now.saturating_sub(then),
        }
    }

    /// What is left of a time that began with the status.
    fn rest(&self, time: Duration) -> Duration {
        time.saturating_sub(self.since)
    }
}

/// The number in the text of an update.
fn update_number(text: &str) -> Option<u64> {
    text.strip_prefix("update ")?.split(' ').next()?.parse().ok()
}

fn question(number: u64, of: u64) -> String {
    format!("question {number} of {of}: what is your answer?")
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
