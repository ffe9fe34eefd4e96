//! What a scripted agent does with one message.

use std::time::Duration;

use gateway_domain::{
    Artifact, ArtifactId, Error, Message, MessageId, Part, lifecycle::Move, request::AgentAction,
};

use super::Gate;

/// How an offer is met, and what follows.
#[derive(Debug, Clone)]
pub struct Script {
    pub(super) before: Vec<Step>,
    pub(super) reply: Reply,
    pub(super) run: Vec<Step>,
    pub(super) on_cancel: OnCancel,
}

/// What an offer is answered with.
#[derive(Debug, Clone)]
pub enum Reply {
    /// The task is taken, and its run begins.
    Accept,
    /// A direct message of this text.
    Message(String),
    /// A direct message that says nothing, which is none.
    EmptyMessage,
    /// An error for the client.
    Refuse(Error),
    /// Nothing that the protocol knows.
    OutsideProtocol,
    /// No answer at all.
    Unreachable,
}

/// A step of a script.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// Report something, whether the task allows it or not. A move to the state held becomes a report of progress.
    Act(AgentAction),
    /// Do nothing for a while.
    Pause(Duration),
    /// Do nothing until the test opens the gate.
    Wait(Gate),
    /// Break off; before the answer: never answer.
    Break,
}

/// What is said to a cancel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnCancel {
    /// The run stops.
    Stop,
    /// It refuses.
    Refuse,
    /// It never answers.
    Silence,
    /// It ends the task by another move, and then refuses.
    End(Move),
}

impl Script {
    /// Takes the task and does these steps.
    pub fn accept(run: impl IntoIterator<Item = Step>) -> Self {
        Self {
            before: Vec::new(),
            reply: Reply::Accept,
            run: run.into_iter().collect(),
            on_cancel: OnCancel::Stop,
        }
    }

    /// Answers, and there is no run.
    pub fn answer(reply: Reply) -> Self {
        Self {
            reply,
            ..Self::accept([])
        }
    }

    /// Does these steps before it answers the offer.
    #[must_use]
    pub fn after(mut self, steps: impl IntoIterator<Item = Step>) -> Self {
        self.before = steps.into_iter().collect();
        self
    }

    /// Says this to a cancel.
    #[must_use]
    pub fn on_cancel(mut self, manner: OnCancel) -> Self {
        self.on_cancel = manner;
        self
    }
}

impl Step {
    /// A move without a word.
    pub fn moves(step: Move) -> Self {
        Self::Act(AgentAction::Move(step, None))
    }

    /// A move with a text.
    pub fn says(step: Move, text: &str) -> Self {
        Self::Act(AgentAction::Move(step, Some(said(text))))
    }

    /// A report in the state held.
    pub fn progress(text: &str) -> Self {
        Self::Act(AgentAction::ReportProgress(Some(said(text))))
    }

    /// A chunk of an artifact.
    pub fn chunk(artifact: &str, text: &str, append: bool, last_chunk: bool) -> Self {
        let artifact = Artifact {
            artifact_id: ArtifactId::new(artifact),
            name: None,
            description: None,
            parts: vec![Part::text(text)],
            metadata: None,
            extensions: Vec::new(),
        };
        Self::Act(AgentAction::UpdateArtifact {
            artifact,
            append,
            last_chunk,
        })
    }
}

/// The text is the id as well: a test that looks for one finds the other.
fn said(text: &str) -> Message {
    Message::agent_text(MessageId::new(text), text)
}
