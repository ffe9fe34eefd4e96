//! The four operations on push-notification configurations (§3.1.7 to §3.1.10).

use super::{Answered, Context, Inner, Service};
use crate::{
    Error, ErrorKind, Operation, Outcome, TaskId, TaskPushNotificationConfig, Tenant, Version,
    ports::{ConfigPut, Epoch, PutConfigError},
    push::StoredConfig,
    reply::{Body, ConfigPage},
    request::{ConfigKey, CreateConfig, GetConfig, ListConfigs},
};

impl Service {
    pub(super) async fn create_config(&self, context: &Context, request: CreateConfig) -> Answered {
        context.require_push()?;
        self.check_webhook(&request.config, "")?;
        let scope = context.scope(request.tenant.as_ref());
        let head = self.0.reach(&request.task_id, &scope).await.map_err(not_found)?;
        let outcome = if request.config.id.is_some() {
            Outcome::Created
        } else {
            Outcome::Assigned
        };
        let stored = self
            .0
            .stored_config(request.config, &request.task_id, request.tenant.as_ref());
        let config = stored.config.clone();
        let placed = self.0.place(stored)?;
        let put = placed.put(self.0.limits().push_configs_per_task);
        let grant = self.0.put_config(put).await?;
        placed.begin(head.cursor, grant).await;
        Ok((outcome, Body::Config(config)))
    }

    pub(super) async fn get_config(&self, context: &Context, request: GetConfig) -> Answered {
        context.require_push()?;
        self.0
            .reach(&request.task_id, &context.scope(request.tenant.as_ref()))
            .await
            .map_err(not_found)?;
        let found = match &request.id {
            Some(id) => self.0.store().config(&request.task_id, id).await?,
            None => self.0.store().configs(&request.task_id, None, 1).await?.pop(),
        };
        match found {
            Some(stored) => Ok((Outcome::Found, Body::Config(stored.config))),
            None => {
                let text = "the task has no push notification configuration of this id";
                Err(Error::new(ErrorKind::TaskNotFound, text).outcome(Outcome::ConfigNotFound))
            }
        }
    }

    pub(super) async fn list_configs(&self, context: &Context, request: ListConfigs) -> Answered {
        context.require_push()?;
        self.0
            .reach(&request.task_id, &context.scope(request.tenant.as_ref()))
            .await?;
        let list = Operation::ListTaskPushNotificationConfigs;
        let most = request.page.rows();
        let of = match request.version {
            Version::V1_0 => request.task_id.as_str(),
            Version::V0_3 => &format!("{most} of {}", request.task_id),
        };
        let key = &self.0.parts.page_key;
        let after = key
            .open_id(list, of, &request.page.page_token)?
            .map(crate::PushNotificationConfigId::new);
        let mut rows = self
            .0
            .store()
            .configs(&request.task_id, after, most.saturating_add(1))
            .await?;
        let next_page_token = cut_page(&mut rows, most)
            .and_then(|last| last.config.id.as_ref())
            .map(|id| key.seal_id(list, of, id.as_str()))
            .unwrap_or_default();
        let configs = rows.into_iter().map(|row| row.config).collect();
        Ok((
            Outcome::Listed,
            Body::Configs(ConfigPage {
                configs,
                next_page_token,
            }),
        ))
    }

    pub(super) async fn delete_config(&self, context: &Context, request: ConfigKey) -> Answered {
        context.require_push()?;
        self.0
            .reach(&request.task_id, &context.scope(request.tenant.as_ref()))
            .await
            .map_err(not_found)?;
        // Whether there was one makes no difference to the answer (§3.1.10).
        self.0
            .store()
            .delete_config(&request.task_id, &request.id)
            .await?;
        self.0.webhooks.deleted(&request.task_id, &request.id).await;
        Ok((Outcome::Deleted, Body::Deleted))
    }
}

/// These operations have one outcome for a task that is not there and one that is somebody else's.
fn not_found(error: Error) -> Error {
    if error.kind() == ErrorKind::TaskNotFound {
        error.outcome(Outcome::TaskNotFound)
    } else {
        error
    }
}

/// Cuts what was read, one row more than a page has, to the page. Its last row, where another page follows.
pub(super) fn cut_page<T>(rows: &mut Vec<T>, most: usize) -> Option<&T> {
    let more = rows.len() > most;
    rows.truncate(most);
    rows.last().filter(|_| more)
}

impl Inner {
    /// A configuration as it is stored: with its task, its tenant and an id, made here where none was given.
    pub(super) fn stored_config(
        &self,
        config: TaskPushNotificationConfig,
        task: &TaskId,
        tenant: Option<&Tenant>,
    ) -> StoredConfig {
        let ids = &self.parts.ids;
        let id = config.id.clone().unwrap_or_else(|| ids.config_id());
        let config = TaskPushNotificationConfig {
            tenant: tenant.cloned(),
            id: Some(id),
            task_id: Some(task.clone()),
            ..config
        };
        StoredConfig {
            row: ids.config_row(),
            config,
        }
    }

    async fn put_config(&self, put: ConfigPut) -> Result<Option<Epoch>, Error> {
        let stored = self.store().put_config(put).await;
        stored.map_err(|error| match error {
            PutConfigError::Limit => self.config_limit(),
            PutConfigError::NoTask => Error::task_not_found(),
            PutConfigError::Store(error) => error.into(),
        })
    }

    pub(super) fn config_limit(&self) -> Error {
        let most = self.limits().push_configs_per_task;
        let text = format!("a task holds at most {most} push notification configurations");
        Error::new(ErrorKind::ResourceExhausted, text).outcome(Outcome::ConfigLimit)
    }
}
