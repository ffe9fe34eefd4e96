//! Read-your-writes: whatever a command changed is seen by the next read, over whichever binding and view, at whichever
//! replica it arrives. Commands, views, bindings and replicas are drawn at random; clients go through the balancer.

use std::collections::BTreeSet;

use gateway_domain::{Binding, Operation};
use gateway_tests::{
    balancer::Kind,
    client::Drivers,
    cluster::{Cluster, Plan},
    samples,
};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::call;

/// Callers at once, each with tasks of its own.
const WRITERS: usize = 20;
/// A task takes so many commands; then comes the next one, so that histories and logs stay short.
const PER_TASK: usize = 50;

#[tokio::test(flavor = "multi_thread")]
async fn a_command_is_seen_by_the_next_read_on_every_view_behind_nginx() {
    pairs(Kind::Nginx, 600).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_is_seen_by_the_next_read_on_every_view_behind_envoy() {
    pairs(Kind::Envoy, 600).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_is_seen_by_the_next_read_on_every_view_of_a_spread_tenant() {
    let spread = Plan::behind(Kind::Nginx).set("STORE__REDIS__SPREAD", "[{ parts = 5 }]");
    pairs_on(spread, 600).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "takes minutes"]
async fn ten_thousand_commands_are_each_seen_by_the_next_read_on_every_view() {
    for kind in Kind::ALL {
        pairs(kind, 10_000).await;
    }
}

/// So many pairs of a command and a read.
async fn pairs(kind: Kind, count: usize) {
    println!("behind {}", kind.name());
    pairs_on(Plan::behind(kind), count).await;
}

async fn pairs_on(plan: Plan, count: usize) {
    // The webhooks lead nowhere, and nobody waits for them.
    let plan = plan
        .set("PUSH__ALLOWED_RANGES", r#"["127.0.0.0/8"]"#)
        .set("PUSH__ATTEMPTS", "1");
    let cluster = Cluster::start(plan);
    let mut writers = JoinSet::new();
    for number in 0..WRITERS {
        let (clients, agents) = (cluster.clients(), cluster.agents());
        writers.spawn(async move {
            let mut writer = Writer::new(clients, agents, number);
            for pair in 0..count / WRITERS {
                writer.command(pair).await;
                writer.read().await;
            }
            writer.seen
        });
    }
    let seen: BTreeSet<_> = writers.join_all().await.into_iter().flatten().collect();
    assert_eq!(seen.len(), View::ALL.len() * Binding::ALL.len(), "{seen:?}");
    let answered = cluster.answered().await;
    println!("{count} pairs; calls by replica: {answered:?}");
    assert!(answered.iter().all(|calls| *calls > 0), "{answered:?}");
}

/// Where a change can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum View {
    Task,
    Tasks,
    TasksByState,
    Configs,
    Config,
    AllTasks,
    AllConfigs,
}

impl View {
    const ALL: [Self; 7] = [
        Self::Task,
        Self::Tasks,
        Self::TasksByState,
        Self::Configs,
        Self::Config,
        Self::AllTasks,
        Self::AllConfigs,
    ];
}

/// A caller, the agent of its task, and what both must see.
struct Writer {
    clients: Drivers,
    agents: Drivers,
    /// The context of its tasks.
    context: String,
    task: String,
    state: &'static str,
    /// The text of the status, by the number of the command.
    status: String,
    chunks: usize,
    configs: BTreeSet<String>,
    /// Views that were read over each binding.
    seen: BTreeSet<(View, Binding)>,
}

impl Writer {
    fn new(clients: Drivers, agents: Drivers, number: usize) -> Self {
        Self {
            clients,
            agents,
            context: format!("of-{number}"),
            task: String::new(),
            state: "",
            status: String::new(),
            chunks: 0,
            configs: BTreeSet::new(),
            seen: BTreeSet::new(),
        }
    }

    async fn command(&mut self, pair: usize) {
        if pair.is_multiple_of(PER_TASK) {
            return self.begin().await;
        }
        match fastrand::u8(..8) {
            0 | 1 => self.progress(pair).await,
            2 | 3 => self.append().await,
            4 => self.turn(pair).await,
            5 | 6 => self.configure().await,
            _ => self.forget().await,
        }
    }

    async fn begin(&mut self) {
        if !self.task.is_empty() {
            // So that each task also ends, and the new one is the only one of its context that has not.
            self.client(Operation::CancelTask, json!({ "id": self.task }))
                .await;
        }
        // The built-in agent begins with it and then says nothing more, so that all further commands are this test's.
        let mut params = samples::at_once("work 3600");
        params["message"]["contextId"] = json!(self.context);
        let sent = self.client(Operation::SendMessage, params).await;
        self.task = sent["task"]["id"].as_str().unwrap().to_owned();
        self.state = "TASK_STATE_WORKING";
        let begun = async {
            loop {
                let task = self.client(Operation::GetTask, json!({ "id": self.task })).await;
                if task["status"]["state"] == self.state {
                    return text(&task["status"]["message"]);
                }
                tokio::time::sleep(std::time::Duration::from_millis(5)).await;
            }
        };
        self.status = begun.await;
        self.chunks = 0;
        self.configs.clear();
    }

    async fn progress(&mut self, pair: usize) {
        self.report(Operation::ReportProgress, pair).await;
    }

    /// To another state.
    async fn turn(&mut self, pair: usize) {
        let (operation, state) = if self.state == "TASK_STATE_WORKING" {
            (Operation::RequireInput, "TASK_STATE_INPUT_REQUIRED")
        } else {
            (Operation::StartWorking, "TASK_STATE_WORKING")
        };
        self.report(operation, pair).await;
        self.state = state;
    }

    async fn report(&mut self, operation: Operation, pair: usize) {
        self.status = format!("command {pair}");
        let message =
            json!({ "messageId": self.status, "role": "ROLE_AGENT", "parts": [{ "text": self.status }] });
        self.agent(operation, json!({ "id": self.task, "statusMessage": message }))
            .await;
    }

    async fn append(&mut self) {
        self.chunks += 1;
        let artifact = json!({ "artifactId": "a", "parts": [{ "text": self.chunks.to_string() }] });
        let params = json!({ "id": self.task, "artifact": artifact, "append": true, "lastChunk": false });
        self.agent(Operation::UpdateArtifact, params).await;
    }

    async fn configure(&mut self) {
        let id = format!("config-{}", fastrand::u8(..8));
        let url = "http://127.0.0.1:1024/nobody";
        let params = json!({ "taskId": self.task, "id": id, "url": url });
        self.client(Operation::CreateTaskPushNotificationConfig, params)
            .await;
        self.configs.insert(id);
    }

    async fn forget(&mut self) {
        let id = self.configs.pop_first().unwrap_or_else(|| "none".to_owned());
        let params = json!({ "taskId": self.task, "id": id });
        self.client(Operation::DeleteTaskPushNotificationConfig, params)
            .await;
    }

    async fn read(&mut self) {
        let view = View::ALL[fastrand::usize(..View::ALL.len())];
        let task = &self.task;
        let binding = match view {
            View::Task => {
                let (binding, task) = self.get(Operation::GetTask, json!({ "id": task })).await;
                self.check(
                    view,
                    binding,
                    &task["status"]["state"],
                    &task["status"]["message"],
                    &task,
                );
                binding
            }
            View::Tasks => {
                let params = json!({ "contextId": self.context, "includeArtifacts": true, "pageSize": 100 });
                let (binding, list) = self.get(Operation::ListTasks, params).await;
                let mut rows = list["tasks"].as_array().into_iter().flatten();
                let task = rows.find(|row| row["id"] == **task).expect("a row of the task");
                self.check(
                    view,
                    binding,
                    &task["status"]["state"],
                    &task["status"]["message"],
                    task,
                );
                binding
            }
            View::TasksByState => {
                let params =
                    json!({ "contextId": self.context, "status": self.state, "includeArtifacts": true });
                let (binding, list) = self.get(Operation::ListTasks, params).await;
                assert_eq!(list["totalSize"], 1, "{list}");
                let task = &list["tasks"][0];
                self.check(
                    view,
                    binding,
                    &task["status"]["state"],
                    &task["status"]["message"],
                    task,
                );
                binding
            }
            View::Configs => {
                let params = json!({ "taskId": task });
                let (binding, list) = self.get(Operation::ListTaskPushNotificationConfigs, params).await;
                let ids = list["configs"]
                    .as_array()
                    .into_iter()
                    .flatten()
                    .map(|config| text_of(&config["id"]));
                assert_eq!(
                    ids.collect::<BTreeSet<_>>(),
                    self.configs,
                    "over {}",
                    binding.name()
                );
                binding
            }
            View::Config => self.config().await,
            View::AllTasks => {
                let (binding, rows) = self.rows(Operation::AllTasks, "tasks").await;
                let row = rows
                    .iter()
                    .find(|row| row["id"] == **task)
                    .expect("a row of the task");
                self.check(view, binding, &row["state"], &row["statusMessage"], row);
                binding
            }
            View::AllConfigs => {
                let (binding, rows) = self.rows(Operation::AllPushNotificationConfigs, "configs").await;
                let own = rows.iter().filter(|row| row["taskId"] == **task);
                let ids: BTreeSet<_> = own.map(|row| text_of(&row["configId"])).collect();
                assert_eq!(ids, self.configs, "over {}", binding.name());
                binding
            }
        };
        self.seen.insert((view, binding));
    }

    fn check(&self, view: View, binding: Binding, state: &Value, message: &Value, task: &Value) {
        let chunks = task["artifacts"][0]["parts"].as_array().map_or(0, Vec::len);
        assert_eq!(
            (&text_of(&task["id"]), &*text_of(state), text(message), chunks),
            (&self.task, self.state, self.status.clone(), self.chunks),
            "{view:?} over {}",
            binding.name()
        );
    }

    /// A configuration that is there, or one that is not.
    async fn config(&self) -> Binding {
        let id = format!("config-{}", fastrand::u8(..8));
        let binding = any();
        let ask = super::ask(
            Operation::GetTaskPushNotificationConfig,
            json!({ "taskId": self.task, "id": id }),
        );
        let found = match self.clients.of_binding(binding).call(&ask).await {
            gateway_tests::client::Answer::Reply(reply) => {
                assert_eq!(reply.json["id"], *id);
                true
            }
            gateway_tests::client::Answer::Refusal(refusal) => {
                refusal.assert(gateway_domain::ErrorKind::TaskNotFound);
                false
            }
            other => panic!("{other:?}"),
        };
        assert_eq!(found, self.configs.contains(&id), "{id} over {}", binding.name());
        binding
    }

    /// Every row of an agent's view, page by page.
    async fn rows(&self, operation: Operation, member: &str) -> (Binding, Vec<Value>) {
        let binding = any();
        let agent = self.agents.of_binding(binding);
        let (mut rows, mut token) = (Vec::new(), String::new());
        loop {
            let page = call(&*agent, operation, json!({ "pageSize": 100, "pageToken": token })).await;
            rows.extend(page[member].as_array().into_iter().flatten().cloned());
            token = page["nextPageToken"].as_str().unwrap_or_default().to_owned();
            if token.is_empty() {
                return (binding, rows);
            }
        }
    }

    async fn client(&self, operation: Operation, params: Value) -> Value {
        self.get(operation, params).await.1
    }

    async fn get(&self, operation: Operation, params: Value) -> (Binding, Value) {
        let binding = any();
        (
            binding,
            call(&*self.clients.of_binding(binding), operation, params).await,
        )
    }

    async fn agent(&self, operation: Operation, params: Value) {
        call(&*self.agents.of_binding(any()), operation, params).await;
    }
}

fn any() -> Binding {
    Binding::ALL[fastrand::usize(..Binding::ALL.len())]
}

/// The first text of a message; nothing of none.
fn text(message: &Value) -> String {
    text_of(&message["parts"][0]["text"])
}

fn text_of(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
