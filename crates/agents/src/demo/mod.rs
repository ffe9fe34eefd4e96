//! The demo agent: it obeys the text of the first message of a task.
//!
//! What it knows stands in [`skills`]. Whatever is no command is echoed.
//! Further messages are answers, never commands. It does no real work, keeps nothing but the runs under way, and
//! promises nothing about the texts of its status messages.

mod card;
mod command;
mod script;

pub use card::{card, skills};

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use gateway_domain::{
    Message, TaskId,
    json::Object,
    ports::{Agent, AgentFault, Answer, CancelAnswer, Desk, Ids, Offer},
};

use crate::runs::Runs;
use script::{Script, Turn};

/// The agent that takes every message and does what it says.
pub struct Demo {
    runs: Runs<Turn>,
    script: Arc<Script>,
}

impl Demo {
    /// An agent without runs. The ids are for its messages.
    pub fn new(ids: Arc<dyn Ids>) -> Self {
        Self {
            runs: Runs::default(),
            script: Arc::new(Script::new(ids)),
        }
    }

    /// Waits for the runs under way, at most so long, then stops those that are left.
    pub async fn drain(&self, patience: Duration) {
        self.runs.drain(patience).await;
    }

    /// How many runs are under way. A task that waits for an answer has none.
    pub fn runs_under_way(&self) -> usize {
        self.runs.under_way()
    }

    /// How many reports came when their task had ended, and were dropped.
    pub fn dropped_reports(&self) -> u64 {
        self.runs.dropped_reports()
    }
}

#[async_trait]
impl Agent for Demo {
    async fn offer(&self, offer: Offer, desk: Arc<dyn Desk>) -> Result<Answer, AgentFault> {
        let task = offer.task.id.clone();
        let turn = Turn::of(offer);
        if turn.is_direct() {
            let id = self.script.message_id();
            return Ok(Answer::Message(Message::agent_text(id, "a direct answer")));
        }
        match self.runs.take(&task, desk, turn, self.script.clone()) {
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
