//! Push-notification configurations: by task and id, and all of them by row.

use futures::{StreamExt, TryStreamExt, future, stream};
use gateway_domain::{
    PushNotificationConfigId, PushNotificationConfigRow, TaskId,
    ports::{ConfigPut, Epoch, PutConfigError, StoreError},
    push::StoredConfig,
};

use crate::{
    Inner, keys,
    records::{read_config, write_config},
    scripts,
};

/// Configurations that are read at once where many are asked for.
const READ_AT_ONCE: usize = 32;

impl Inner {
    pub(crate) async fn put_config(&self, put: ConfigPut) -> Result<Option<Epoch>, PutConfigError> {
        let ConfigPut {
            config,
            most,
            delivery,
        } = put;
        let task = config.config.task_id.clone().unwrap_or_default();
        let Some(bucket) = self.layout.bucket(&task) else {
            return Err(PutConfigError::NoTask);
        };
        let id = config.config.id.clone().unwrap_or_default();
        let mut script = scripts::PUT_CONFIG.key(self.layout.stem(bucket));
        script
            .arg(task.as_str())
            .arg(id.as_str())
            .arg(write_config(&config))
            .arg(most);
        self.add_delivery(&mut script, delivery.as_ref());
        let answer: (String, Epoch) = self
            .link
            .write(bucket, &script)
            .await
            .map_err(PutConfigError::Store)?;
        let (answer, epoch) = answer;
        match answer.as_str() {
            "OK" => Ok(Some(epoch).filter(|epoch| *epoch > 0)),
            "LIMIT" => Err(PutConfigError::Limit),
            _ => Err(PutConfigError::NoTask),
        }
    }

    pub(crate) async fn config(
        &self,
        task: &TaskId,
        id: &PushNotificationConfigId,
    ) -> Result<Option<StoredConfig>, StoreError> {
        let Some(bucket) = self.layout.bucket(task) else {
            return Ok(None);
        };
        let mut command = redis::cmd("HGET");
        command
            .arg(self.layout.key(bucket, keys::HOOKS, task.as_str()))
            .arg(id.as_str());
        let stored: Option<Vec<u8>> = self.link.ask(bucket.slot(), &command).await?;
        stored.map(|stored| read_config(&stored)).transpose()
    }

    pub(crate) async fn configs(
        &self,
        task: &TaskId,
        after: Option<PushNotificationConfigId>,
        most: usize,
    ) -> Result<Vec<StoredConfig>, StoreError> {
        let Some(bucket) = self.layout.bucket(task) else {
            return Ok(Vec::new());
        };
        // All of a task's: they are few, by the limit that each was put within.
        let mut command = redis::cmd("HVALS");
        command.arg(self.layout.key(bucket, keys::HOOKS, task.as_str()));
        let stored: Vec<Vec<u8>> = self.link.ask(bucket.slot(), &command).await?;
        let configs = stored.iter().map(|stored| read_config(stored));
        let mut configs = configs.collect::<Result<Vec<_>, _>>()?;
        configs.retain(|config| config.config.id > after);
        configs.sort_by(|one, other| one.config.id.cmp(&other.config.id));
        configs.truncate(most);
        Ok(configs)
    }

    pub(crate) async fn delete_config(
        &self,
        task: &TaskId,
        id: &PushNotificationConfigId,
    ) -> Result<bool, StoreError> {
        let Some(bucket) = self.layout.bucket(task) else {
            return Ok(false);
        };
        let mut script = scripts::DELETE_CONFIG.key(self.layout.stem(bucket));
        script.arg(task.as_str()).arg(id.as_str());
        self.link.write_once(bucket, &script).await
    }

    pub(crate) async fn all_configs(
        &self,
        after: Option<PushNotificationConfigRow>,
        most: usize,
    ) -> Result<Vec<StoredConfig>, StoreError> {
        let (mut configs, mut after) = (Vec::new(), after);
        // Again where some went between their listing and their reading: a short page would be taken for the last.
        while configs.len() < most {
            let rows = self.rows_after(after.as_ref(), most - configs.len()).await?;
            let Some((last, ..)) = rows.last() else {
                break;
            };
            after = Some(last.clone());
            let read: Vec<_> = stream::iter(rows)
                .map(|(row, task, id)| async move {
                    let read = self.config(&task, &id).await?;
                    // One that was replaced meanwhile has a later row, and comes at its place. Here it would have the
                    // next page begin behind it, and leave out what lies between.
                    Ok::<_, StoreError>(read.filter(|config| config.row == row))
                })
                .buffered(READ_AT_ONCE)
                .try_collect()
                .await?;
            configs.extend(read.into_iter().flatten());
        }
        Ok(configs)
    }

    /// Where configurations are whose rows come after another one, in their order.
    async fn rows_after(
        &self,
        after: Option<&PushNotificationConfigRow>,
        most: usize,
    ) -> Result<Vec<(PushNotificationConfigRow, TaskId, PushNotificationConfigId)>, StoreError> {
        let from = after.map_or_else(
            || "-".to_owned(),
            |after| format!("({}", keys::after_row(after.as_str())),
        );
        let asked = self
            .layout
            .all()
            .map(|bucket| self.members(bucket, keys::ROWS, &from, most));
        let members = future::try_join_all(asked).await?;
        let members = members
            .iter()
            .flatten()
            .filter_map(|member| keys::of_row_member(member));
        let mut rows: Vec<_> = members.collect();
        rows.sort();
        rows.truncate(most);
        Ok(rows)
    }
}
