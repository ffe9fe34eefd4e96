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
    /// Chunks that were acknowledged to the agent.
    pub(crate) acknowledged: BTreeSet<usize>,
    /// Chunks that may have been given twice, since a first try had no answer.
    pub(crate) unclear: BTreeSet<usize>,
    /// What each subscriber saw.
    pub(crate) seen: Vec<Seen>,
    /// The task as it is read in the end.
    pub(crate) last: Value,
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

pub(crate) async fn run(stage: Arc<Stage>, number: usize) -> History {
    let by = By::of(number);
    let task = begin(&stage, number, by).await;
    count(&stage.counts.begun);
    let mut subscribers = JoinSet::new();
    for binding in Binding::ALL {
        subscribers.spawn(subscriber::watch(stage.clone(), task.clone(), binding));
    }
    let mut work = Work {
        stage: &stage,
        task: &task,
        acknowledged: BTreeSet::new(),
        unclear: BTreeSet::new(),
    };
    if by == By::Agent {
        work.give_all().await;
    }
    let (acknowledged, unclear) = (work.acknowledged, work.unclear);
    let seen = subscribers.join_all().await;
    let last = read(&stage, &task).await;
    count(&stage.counts.ended);
    History {
        task,
        by,
        acknowledged,
        unclear,
        seen,
        last,
    }
}

/// Sends the message. Where that has no answer the task is looked for by its context before it is sent again.
async fn begin(stage: &Stage, number: usize, by: By) -> String {
    let context = format!("chaos-{number}");
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
        if let Some(sent) = call(&stage.clients, Operation::SendMessage, &params).await {
            return id(&sent["task"]);
        }
        let listed = until(stage, Operation::ListTasks, &json!({ "contextId": context })).await;
        if listed["totalSize"] == 1 {
            return id(&listed["tasks"][0]);
        }
    }
}

fn id(task: &Value) -> String {
    task["id"].as_str().expect("a task has an id").to_owned()
}

struct Work<'a> {
    stage: &'a Stage,
    task: &'a str,
    acknowledged: BTreeSet<usize>,
    unclear: BTreeSet<usize>,
}

impl Work<'_> {
    async fn give_all(&mut self) {
        let trial = &self.stage.trial;
        let pause = trial.length() / u32::try_from(trial.chunks).expect("a few");
        for number in 1..=trial.chunks {
            // Not all tasks at once.
            tokio::time::sleep(pause.mul_f64(0.5 + fastrand::f64())).await;
            self.give(number).await;
        }
        let params = json!({ "id": self.task });
        while call(&self.stage.agents, Operation::CompleteTask, &params)
            .await
            .is_none()
        {
            if read(self.stage, self.task).await["status"]["state"] == "TASK_STATE_COMPLETED" {
                break;
            }
        }
    }

    /// Gives a chunk until it is there.
    async fn give(&mut self, number: usize) {
        let params = json!({
            "id": self.task,
            "artifact": { "artifactId": "chunks", "parts": [{ "text": chunk_text(number, self.stage.trial.chunks) }] },
            "append": true,
            "lastChunk": false,
        });
        while call(&self.stage.agents, Operation::UpdateArtifact, &params)
            .await
            .is_none()
        {
            count(&self.stage.counts.unclear);
            self.unclear.insert(number);
            assert!(
                Instant::now() < self.stage.deadline,
                "chunk {number} of {} is never taken",
                self.task
            );
            if chunks(&read(self.stage, self.task).await["artifacts"][0]).contains(&number) {
                break;
            }
        }
        count(&self.stage.counts.acknowledged);
        self.acknowledged.insert(number);
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

async fn read(stage: &Stage, task: &str) -> Value {
    until(stage, Operation::GetTask, &json!({ "id": task })).await
}

/// Calls until there is an answer.
async fn until(stage: &Stage, operation: Operation, params: &Value) -> Value {
    loop {
        if let Some(json) = call(&stage.clients, operation, params).await {
            return json;
        }
        assert!(
            Instant::now() < stage.deadline,
            "{} is never answered",
            operation.name()
        );
    }
}

/// Calls once, over any binding; nothing, after a pause, where there is no result.
async fn call(drivers: &Drivers, operation: Operation, params: &Value) -> Option<Value> {
    let mut ask = Ask::new(operation, params.clone());
    ask.caller = None;
    let binding = Binding::ALL[fastrand::usize(..3)];
    match drivers.of_binding(binding).call(&ask).await {
        Answer::Reply(reply) => Some(reply.json),
        _ => {
            tokio::time::sleep(PAUSE).await;
            None
        }
    }
}
