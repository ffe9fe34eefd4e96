//! The agent's commands and views, and the desk at which a run invokes them.

use std::sync::Arc;

use async_trait::async_trait;

use super::{Answered, Inner, Service, configs::cut_page};
use crate::{
    Error, ErrorKind, Operation, Outcome, PushNotificationConfigRow, TaskId, TaskSnapshot, TaskState, decide,
    ports::{Desk, Epoch, StoredTask},
    push::StoredConfig,
    reply::{AllConfigsPage, AllTasksPage, Body, ConfigRow, ConfigState, TaskRow},
    request::{AgentAction, AgentCommand, PageRequest, check_action},
    work::Held,
};

impl Service {
    pub(super) async fn agent_command(&self, command: AgentCommand) -> Answered {
        let outcome = match command.action {
            AgentAction::UpdateArtifact { .. } => Outcome::Updated,
            AgentAction::Move(..) | AgentAction::ReportProgress(_) => Outcome::Moved,
        };
        self.0.act(&command.id, None, &command.action).await?;
        let StoredTask { task, .. } = self.0.read(&command.id).await?;
        Ok((outcome, Body::Task(task)))
    }

    pub(super) async fn all_tasks(&self, page: PageRequest) -> Answered {
        let (list, key) = (Operation::AllTasks, &self.0.parts.page_key);
        let after = key.open_id(list, "", &page.page_token)?.map(TaskId::new);
        let most = page.rows();
        let mut rows = self.0.store().all(after, most + 1).await?;
        let next_page_token = cut_page(&mut rows, most)
            .map(|row| key.seal_id(list, "", row.head.id.as_str()))
            .unwrap_or_default();
        let tasks = rows.into_iter().map(task_row).collect();
        Ok((
            Outcome::Listed,
            Body::AllTasks(AllTasksPage {
                tasks,
                next_page_token,
            }),
        ))
    }

    pub(super) async fn all_configs(&self, page: PageRequest) -> Answered {
        let (list, key) = (Operation::AllPushNotificationConfigs, &self.0.parts.page_key);
        let after = key
            .open_id(list, "", &page.page_token)?
            .map(PushNotificationConfigRow::new);
        let most = page.rows();
        let mut rows = self.0.store().all_configs(after, most + 1).await?;
        let next_page_token = cut_page(&mut rows, most)
            .map(|row| key.seal_id(list, "", row.row.as_str()))
            .unwrap_or_default();
        let configs = rows.into_iter().map(config_row).collect();
        Ok((
            Outcome::Listed,
            Body::AllConfigs(AllConfigsPage {
                configs,
                next_page_token,
            }),
        ))
    }
}

fn task_row(StoredTask { head, task }: StoredTask) -> TaskRow {
    TaskRow {
        id: task.id,
        context_id: task.context_id,
        tenant: head.scope.tenant.clone(),
        state: task.status.state,
        status_message: task.status.message,
        status_timestamp: task.status.timestamp,
        artifacts: task.artifacts,
        history: task.history,
        metadata: task.metadata,
    }
}

fn config_row(StoredConfig { row, config }: StoredConfig) -> ConfigRow {
    ConfigRow {
        row,
        config_id: config.id.unwrap_or_default(),
        state: ConfigState::Active,
        task_id: config.task_id.unwrap_or_default(),
        tenant: config.tenant,
        url: config.url,
        token: config.token,
        authentication: config.authentication,
    }
}

impl Inner {
    /// Carries out an agent command. A task that is still hidden is shown first: an agent that acts on it has taken
    /// it as task work.
    async fn act(&self, id: &TaskId, owner: Option<Epoch>, action: &AgentAction) -> Result<TaskState, Error> {
        self.check_action_parts(action)?;
        let mut head = self.head(id).await?;
        if head.hidden {
            self.show(id).await?;
            head = self.head(id).await?;
        }
        let decide = |head: &_| decide::act(head, action.clone(), self.limits(), self.stamp());
        let (head, _) = self.commit_from(head, owner, decide).await?;
        Ok(head.status.state)
    }

    fn check_action_parts(&self, action: &AgentAction) -> Result<(), Error> {
        match action {
            AgentAction::Move(_, Some(message)) | AgentAction::ReportProgress(Some(message)) => {
                self.check_parts("statusMessage.parts", message.parts.len())
            }
            AgentAction::UpdateArtifact { artifact, .. } => {
                self.check_parts("artifact.parts", artifact.parts.len())
            }
            AgentAction::Move(_, None) | AgentAction::ReportProgress(None) => Ok(()),
        }
    }
}

/// The desk of one task's run.
pub(super) struct TaskDesk {
    inner: Arc<Inner>,
    task: TaskId,
    /// The run's, where it is under one.
    held: Option<Held>,
}

impl TaskDesk {
    pub(super) fn new(service: &Service, task: TaskId, held: Option<Held>) -> Self {
        Self {
            inner: service.0.clone(),
            task,
            held,
        }
    }
}

#[async_trait]
impl Desk for TaskDesk {
    /// A run that reaches a bound of its task cannot go on: the task fails, saying so.
    async fn act(&self, action: AgentAction) -> Result<(), Error> {
        check_action(&action)?;
        let owner = self.held.as_ref().map(Held::epoch);
        match self.inner.act(&self.task, owner, &action).await {
            Ok(state) => {
                if let Some(held) = self.held.as_ref().filter(|_| state.is_terminal()) {
                    held.is_over();
                }
                Ok(())
            }
            Err(error) => {
                if error.kind() == ErrorKind::ResourceExhausted {
                    self.inner.fail_or_log(&self.task, owner, error.message()).await;
                }
                Err(error)
            }
        }
    }

    async fn task(&self) -> Result<TaskSnapshot, Error> {
        self.inner.read(&self.task).await.map(|stored| stored.task)
    }

    fn give_back(&self) -> bool {
        self.held.as_ref().map(Held::give_back).is_some()
    }
}
