//! An agent that does exactly what it is told, the forbidden included.
//!
//! A test tells it by [`Scripted::expect`] or, over the wire, by a message whose text begins with `script ` (see
//! [`text`]). Everything else it leaves to the demo agent. It remembers what it was offered as long as it lives.

pub mod gate;
pub mod script;
pub mod text;

pub use gate::Gate;
pub use script::{OnCancel, Reply, Script, Step};

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use async_trait::async_trait;
use gateway_agents::{
    demo::Demo,
    runs::{End, Play, Runs, Stage, Stop},
};
use gateway_domain::{
    ContextId, Error, ErrorKind, Message, TaskId,
    json::Object,
    ports::{Agent, AgentFault, Answer, CancelAnswer, Desk, Ids, Offer},
    request::AgentAction,
};

/// A context whose id begins so is not taken.
pub const REFUSED_CONTEXT: &str = "refused";

/// How long it takes to stop where it reports an end instead.
const STOPPING: Duration = Duration::from_millis(300);

/// The scripted agent.
pub struct Scripted {
    demo: Demo,
    ids: Arc<dyn Ids>,
    runs: Runs<Vec<Step>>,
    player: Arc<Player>,
    memory: Mutex<Memory>,
}

#[derive(Default)]
struct Memory {
    expected: VecDeque<Script>,
    offers: Vec<Offer>,
    cancels: usize,
    on_cancel: HashMap<TaskId, (OnCancel, Arc<dyn Desk>)>,
}

impl Scripted {
    /// An agent without expectations. The ids are for its messages.
    pub fn new(ids: Arc<dyn Ids>) -> Self {
        Self {
            demo: Demo::new(ids.clone()),
            ids,
            runs: Runs::default(),
            player: Arc::default(),
            memory: Mutex::default(),
        }
    }

    /// The next offer that nobody has a script for yet is met with this one, whatever its text.
    pub fn expect(&self, script: Script) {
        self.memory().expected.push_back(script);
    }

    /// Every offer so far, the demo agent's too.
    pub fn offers(&self) -> Vec<Offer> {
        self.memory().offers.clone()
    }

    /// How often it was asked to cancel.
    pub fn cancels(&self) -> usize {
        self.memory().cancels
    }

    /// How many reports were dropped since their task had ended.
    pub fn dropped_reports(&self) -> u64 {
        self.runs.dropped_reports() + self.demo.dropped_reports()
    }

    /// What the gateway said to reports that it refused while their task was live.
    pub fn faults(&self) -> Vec<String> {
        lock(&self.player.faults).clone()
    }

    /// How many runs are under way.
    pub fn runs_under_way(&self) -> usize {
        self.runs.under_way() + self.demo.runs_under_way()
    }

    /// Waits for the runs under way, at most so long, then stops those that are left.
    pub async fn drain(&self, patience: Duration) {
        tokio::join!(self.runs.drain(patience), self.demo.drain(patience));
    }

    fn memory(&self) -> MutexGuard<'_, Memory> {
        lock(&self.memory)
    }

    fn script_for(&self, offer: &Offer) -> Option<Result<Script, String>> {
        let expected = self.memory().expected.pop_front();
        expected
            .map(Ok)
            .or_else(|| text::read(offer.message.first_text()?))
    }

    async fn reply(&self, script: Script, task: &TaskId, desk: Arc<dyn Desk>) -> Result<Answer, AgentFault> {
        for step in script.before {
            before(step, &*desk).await;
        }
        match script.reply {
            Reply::Accept => {
                let taken = self.runs.take(task, desk, script.run, self.player.clone());
                taken.map_err(|_| AgentFault::Unreachable("the agent is shutting down".to_owned()))?;
                Ok(Answer::Accepted)
            }
            Reply::Message(text) => Ok(Answer::Message(Message::agent_text(self.ids.message_id(), text))),
            Reply::EmptyMessage => {
                let mut message = Message::agent_text(self.ids.message_id(), "");
                message.parts.clear();
                Ok(Answer::Message(message))
            }
            Reply::Refuse(error) => Err(AgentFault::Refused(error)),
            Reply::OutsideProtocol => Err(AgentFault::OutsideProtocol("told to answer nonsense".to_owned())),
            Reply::Unreachable => Err(AgentFault::Unreachable("told not to be there".to_owned())),
        }
    }
}

#[async_trait]
impl Agent for Scripted {
    async fn accepts_context(&self, context: &ContextId) -> bool {
        !context.as_str().starts_with(REFUSED_CONTEXT)
    }

    async fn offer(&self, offer: Offer, desk: Arc<dyn Desk>) -> Result<Answer, AgentFault> {
        self.memory().offers.push(offer.clone());
        let script = match self.script_for(&offer) {
            None => return self.demo.offer(offer, desk).await,
            Some(Ok(script)) => script,
            Some(Err(fault)) => {
                return Err(AgentFault::Refused(Error::new(ErrorKind::InvalidParams, fault)));
            }
        };
        let task = offer.task.id;
        if script.on_cancel != OnCancel::Stop {
            let manner = (script.on_cancel, desk.clone());
            self.memory().on_cancel.insert(task.clone(), manner);
        }
        self.reply(script, &task, desk).await
    }

    async fn cancel(&self, task: &TaskId, metadata: Option<&Object>) -> CancelAnswer {
        let manner = {
            let mut memory = self.memory();
            memory.cancels += 1;
            memory.on_cancel.get(task).cloned()
        };
        match manner {
            None => match self.runs.cancel(task).await {
                CancelAnswer::NoRun => self.demo.cancel(task, metadata).await,
                answer => answer,
            },
            Some((OnCancel::Stop | OnCancel::Refuse, _)) => CancelAnswer::Refused,
            Some((OnCancel::Silence, _)) => std::future::pending().await,
            Some((OnCancel::End(step), desk)) => {
                tokio::time::sleep(STOPPING).await;
                self.runs.cancel(task).await;
                // Where the task has ended already, that end stands.
                drop(desk.act(AgentAction::Move(step, None)).await);
                CancelAnswer::Refused
            }
        }
    }

    fn release(&self, task: &TaskId) {
        self.runs.release(task);
        self.demo.release(task);
    }
}

/// What is done before the answer has no run to stop it.
async fn before(step: Step, desk: &dyn Desk) {
    match step {
        // A refusal is for the test to find in the task.
        Step::Act(action) => drop(desk.act(action).await),
        Step::Pause(time) => tokio::time::sleep(time).await,
        Step::Wait(gate) => gate.pass().await,
        Step::Break => std::future::pending().await,
    }
}

#[derive(Default)]
struct Player {
    faults: Mutex<Vec<String>>,
}

impl Play<Vec<Step>> for Player {
    /// Plays every step, also those that come after the task's end.
    async fn perform(&self, steps: Vec<Step>, stage: &Stage) -> Result<End, Stop> {
        for step in steps {
            let result = match step {
                Step::Act(action) => stage.act(action).await,
                Step::Pause(time) => stage.pause(time).await,
                Step::Wait(gate) => stage.wait_for(gate.pass()).await,
                Step::Break => return Err(Stop::Broken("told to break".to_owned())),
            };
            match result {
                Ok(()) | Err(Stop::TaskEnded) => {}
                Err(stop @ (Stop::Asked | Stop::Away(_))) => return Err(stop),
                Err(Stop::Broken(fault)) => lock(&self.faults).push(fault),
            }
        }
        Ok(End::Waiting)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
