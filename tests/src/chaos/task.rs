//! One task of a trial: it is begun, watched over every binding, given its chunks by an agent, completed, and read.

use std::{
    collections::BTreeSet,
    sync::Arc,
    time::{Duration, Instant},
};

use gateway_domain::{Binding, Operation};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::{
    Stage, count,
    subscriber::{self, Seen},
};
use crate::{
    client::{Answer, Ask, Drivers},
    samples,
};

/// Everything that is known of a task in the end.
pub(crate) struct History {
    pub(crate) task: String,
    /// Who does the chunks.
    pub(crate) by: By,
    /// Chunks that were acknowledged to the agent, those that were only seen in the task among them where no master fails:
    /// a read may show what no replica of Redis has yet.
    pub(crate) acknowledged: BTreeSet<usize>,
    /// Chunks that may have been given twice, since a first try had no answer.
    pub(crate) unclear: BTreeSet<usize>,
    /// What each subscriber saw.
    pub(crate) seen: Vec<Seen>,
    /// The task as it is read in the end.
    pub(crate) last: Value,
    /// What ended its story too early.
    pub(crate) fault: Option<Fault>,
}

/// Who does the work of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum By {
    /// The trial itself, over the agents' listener of any replica.
    Agent,
    /// The built-in agent in the replica that took the task, or in the one that takes it over.
    BuiltIn,
}

impl By {
    fn of(number: usize) -> Self {
        if number.is_multiple_of(2) {
            Self::Agent
        } else {
            Self::BuiltIn
        }
    }
}

/// The pause after a call that had no answer. What was under way is done or lost by then.
const PAUSE: Duration = Duration::from_millis(300);

/// What ended a task's story too early: something that must not be.
type Fault = String;

pub(crate) async fn run(stage: Arc<Stage>, number: usize) -> History {
    let mut history = History {
        task: context(number),
        by: By::of(number),
        acknowledged: BTreeSet::new(),
        unclear: BTreeSet::new(),
        seen: Vec::new(),
        last: Value::Null,
        fault: None,
    };
    history.fault = live(&stage, number, &mut history).await.err();
    count(&stage.counts.ended);
    history
}

/// A task from its message to its last reader.
async fn live(stage: &Arc<Stage>, number: usize, history: &mut History) -> Result<(), Fault> {
    history.task = begin(stage, number, history.by).await?;
    let task = &history.task;
    count(&stage.counts.begun);
    // Any will do, and the first is soonest there.
    drop(stage.any_task.set(task.clone()));
    let mut subscribers = JoinSet::new();
    for binding in Binding::ALL {
        subscribers.spawn(subscriber::watch(stage.clone(), task.clone(), binding));
    }
    let mut worked = Ok(());
    if history.by == By::Agent {
        let mut work = Work {
            stage,
            task,
            acknowledged: &mut history.acknowledged,
            unclear: &mut history.unclear,
        };
        worked = work.give_all().await;
    }
    history.seen = subscribers.join_all().await;
    history.last = read(stage, task).await?;
    worked
}

fn context(number: usize) -> String {
    format!("chaos-{number}")
}

/// Sends the message. Where that has no answer the task is looked for by its context before it is sent again.
async fn begin(stage: &Stage, number: usize, by: By) -> Result<String, Fault> {
    let context = context(number);
    let Stage { trial, .. } = stage;
    let text = match by {
        By::Agent => "auth".to_owned(),
        By::BuiltIn => {
            let pause = trial.length().as_secs_f64() / trial.chunks as f64;
            format!("chunks {} {pause:.3}", trial.chunks)
        }
    };
    let mut params = samples::at_once(&text);
    params["message"]["contextId"] = json!(context);
    params["message"]["messageId"] = json!(context);
    loop {
        if let Some(sent) = call(stage, &stage.clients, Operation::SendMessage, &params).await? {
            return Ok(id(&sent["task"]));
        }
        let listed = until(stage, Operation::ListTasks, &json!({ "contextId": context })).await?;
        if listed["totalSize"] == 1 {
            return Ok(id(&listed["tasks"][0]));
        }
    }
}

fn id(task: &Value) -> String {
    task["id"].as_str().expect("a task has an id").to_owned()
}

/// What an agent does for a task.
struct Work<'a> {
    stage: &'a Stage,
    task: &'a str,
    acknowledged: &'a mut BTreeSet<usize>,
    unclear: &'a mut BTreeSet<usize>,
}

impl Work<'_> {
    /// Gives all chunks, and completes the task when nothing can take that back any more.
    async fn give_all(&mut self) -> Result<(), Fault> {
        let trial = &self.stage.trial;
        let pause = trial.length() / u32::try_from(trial.chunks).expect("a few");
        for number in 1..=trial.chunks {
            // Not all tasks at once.
            tokio::time::sleep(pause.mul_f64(0.5 + fastrand::f64())).await;
            self.give(number).await?;
        }
        let mut over = self.stage.faults_over.subscribe();
        let over = over.wait_for(|over| *over);
        drop(tokio::time::timeout_at(self.stage.deadline.into(), over).await);
        self.complete().await
    }

    /// Completes the task, once, as often as it takes.
    async fn complete(&self) -> Result<(), Fault> {
        let params = json!({ "id": self.task });
        loop {
            let completed = call(self.stage, &self.stage.agents, Operation::CompleteTask, &params).await;
            // A refusal may come of a first try that had no answer.
            if matches!(completed, Ok(Some(_)))
                || read(self.stage, self.task).await?["status"]["state"] == "TASK_STATE_COMPLETED"
            {
                return Ok(());
            }
            completed?;
        }
    }

    /// Gives a chunk until it is there.
    async fn give(&mut self, number: usize) -> Result<(), Fault> {
        let params = json!({
            "id": self.task,
            "artifact": { "artifactId": "chunks", "parts": [{ "text": chunk_text(number, self.stage.trial.chunks) }] },
            "append": true,
            "lastChunk": false,
        });
        while call(self.stage, &self.stage.agents, Operation::UpdateArtifact, &params)
            .await?
            .is_none()
        {
            count(&self.stage.counts.unclear);
            self.unclear.insert(number);
            if chunks(&read(self.stage, self.task).await?["artifacts"][0]).contains(&number) {
                if self.stage.trial.failovers > 0 {
                    return Ok(());
                }
                break;
            }
        }
        count(&self.stage.counts.acknowledged);
        self.acknowledged.insert(number);
        Ok(())
    }
}

/// As the demo agent writes it.
fn chunk_text(number: usize, of: usize) -> String {
    format!("chunk {number} of {of}\n")
}

/// The numbers of an artifact's chunks.
pub(crate) fn chunks(artifact: &Value) -> Vec<usize> {
    let parts = artifact["parts"].as_array().into_iter().flatten();
    parts
        .filter_map(|part| part["text"].as_str()?.split(' ').nth(1)?.parse().ok())
        .collect()
}

async fn read(stage: &Stage, task: &str) -> Result<Value, Fault> {
    until(stage, Operation::GetTask, &json!({ "id": task })).await
}

/// Calls until there is an answer.
async fn until(stage: &Stage, operation: Operation, params: &Value) -> Result<Value, Fault> {
    loop {
        if let Some(json) = call(stage, &stage.clients, operation, params).await? {
            return Ok(json);
        }
    }
}

/// Calls once, over any binding; nothing, after a pause, where there is no result and another try may have one.
async fn call(
    stage: &Stage,
    drivers: &Drivers,
    operation: Operation,
    params: &Value,
) -> Result<Option<Value>, Fault> {
    let mut ask = Ask::new(operation, params.clone());
    ask.caller = None;
    let binding = Binding::ALL[fastrand::usize(..3)];
    match drivers.of_binding(binding).call(&ask).await {
        Answer::Reply(reply) => return Ok(Some(reply.json)),
        Answer::Refusal(refusal) if refusal.is_final() => {
            return Err(format!("{} was refused: {}", operation.name(), refusal.message));
        }
        _ => tokio::time::sleep(PAUSE).await,
    }
    if Instant::now() < stage.deadline {
        Ok(None)
    } else {
        Err(format!("{} is never answered", operation.name()))
    }
}
