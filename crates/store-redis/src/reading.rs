//! What reads tasks: heads, snapshots, logs.

use std::{collections::HashMap, sync::Arc};

use futures::{StreamExt, TryStreamExt, future, stream};
use gateway_domain::{
    Artifact, ContextId, Cursor, LogEntry, Message, Revision, TaskId, TaskSnapshot,
    ports::{LogRead, StoreError, StoredTask, TaskHead},
};
use redis::{FromRedisValue, ParsingError, Value};
use tokio::time::timeout;

use crate::{
    Inner, keys,
    keys::Bucket,
    link::PATIENCE,
    news::unreadable_news,
    records::{read, read_content, read_entry, read_head, read_pulse, write_pulse},
    scripts,
    snapshots::Snapshot,
};

/// Tasks that are read at once where many are asked for.
const READ_AT_ONCE: usize = 8;

type Bytes = Vec<u8>;

/// A task as scripts show it: head, status message, metadata, the messages of client and agent, chunks of artifacts.
pub(crate) type Shown = (
    Bytes,
    Bytes,
    Bytes,
    Vec<Bytes>,
    Vec<Bytes>,
    HashMap<String, Bytes>,
);

/// What a script makes of a reader who may know the task.
enum Reread {
    AsKnown,
    Shown(Box<Shown>),
    Gone,
}

impl FromRedisValue for Reread {
    fn from_redis_value(value: Value) -> Result<Self, ParsingError> {
        match value {
            Value::Int(1) => Ok(Self::AsKnown),
            Value::Nil => Ok(Self::Gone),
            shown => Shown::from_redis_value(shown).map(|shown| Self::Shown(Box::new(shown))),
        }
    }
}

/// A log entry as Redis shows it: its number, and its fields.
type ShownEntry = (String, HashMap<String, Bytes>);

impl Inner {
    pub(crate) async fn head(&self, id: &TaskId) -> Result<Option<Arc<TaskHead>>, StoreError> {
        let Some(bucket) = self.layout.bucket(id) else {
            return Ok(None);
        };
        let mut command = redis::cmd("HMGET");
        command
            .arg(self.layout.key(bucket, keys::TASK, id.as_str()))
            .arg("head")
            .arg("said");
        let (head, said): (Option<Bytes>, Option<Bytes>) = self.link.ask(bucket.slot(), &command).await?;
        let head = head
            .map(|head| read_head(&head, &said.unwrap_or_default()))
            .transpose()?;
        Ok(head.map(Arc::new))
    }

    pub(crate) async fn read(&self, id: &TaskId) -> Result<Option<StoredTask>, StoreError> {
        let Some(bucket) = self.layout.bucket(id) else {
            return Ok(None);
        };
        let task = self.read_again(bucket, id, false).await?;
        let revision = task.as_ref().map_or(0, |task| task.head.cursor.revision);
        // A subscriber's first event is shown no more than the others are.
        if self.told_of(id).is_some_and(|told| told < revision) {
            return self.read_again(bucket, id, true).await;
        }
        Ok(task)
    }

    /// A task, which Redis shows only if it has moved on since it was read here. With `settled` what Redis then holds is
    /// confirmed.
    async fn read_again(
        &self,
        bucket: Bucket,
        id: &TaskId,
        settled: bool,
    ) -> Result<Option<StoredTask>, StoreError> {
        let known = self.snapshots.get(id);
        let news = known.as_ref().map_or("", |known| known.news.as_str());
        match (self.show(bucket, id, news, settled).await?, known) {
            (Reread::AsKnown, Some(known)) => Ok(Some(known.task.clone())),
            (Reread::Shown(shown), _) => {
                let task = stored(*shown, None)?;
                let news = write_pulse(&task.head.pulse());
                self.snapshots.put(Snapshot::new(news, task.clone()));
                Ok(Some(task))
            }
            (Reread::AsKnown | Reread::Gone, _) => {
                self.snapshots.forget(id);
                Ok(None)
            }
        }
    }

    /// What Redis makes of a reader who knows a task by its news, or by none.
    async fn show(
        &self,
        bucket: Bucket,
        id: &TaskId,
        news: &str,
        settled: bool,
    ) -> Result<Reread, StoreError> {
        let mut script = scripts::READ.key(self.layout.stem(bucket));
        script.arg(id.as_str()).arg(news);
        if settled {
            self.link.read_settled(bucket, &script).await
        } else {
            self.link.read(bucket, &script).await
        }
    }

    /// A task for somebody who reads all of them, and won't come back for this one.
    async fn read_in_passing(&self, id: &TaskId) -> Result<Option<StoredTask>, StoreError> {
        let Some(bucket) = self.layout.bucket(id) else {
            return Ok(None);
        };
        match self.show(bucket, id, "", false).await? {
            Reread::Shown(shown) => stored(*shown, None).map(Some),
            Reread::AsKnown | Reread::Gone => Ok(None),
        }
    }

    /// Up to where the followers of a task have been told of it, where changes are confirmed before they are shown.
    fn told_of(&self, id: &TaskId) -> Option<Revision> {
        let gated = self.link.is_gated();
        let followed = gated.then(|| self.followers.followed(id)).flatten()?;
        followed.told().map(|told| told.cursor.revision)
    }

    pub(crate) async fn log(&self, id: &TaskId, after: Cursor, most: usize) -> Result<LogRead, StoreError> {
        if let Some(followed) = self.followers.followed(id)
            && let Some(told) = followed.told()
        {
            let recent = timeout(PATIENCE, followed.recent.lock()).await;
            let mut recent = recent.map_err(|_| StoreError::new("other readers still wait for Redis"))?;
            if let Some(entries) = recent.read(after, told.cursor.revision, most) {
                return Ok(LogRead::Entries(entries));
            }
            // Nothing that is not confirmed comes in here, so nothing of it goes out.
            if recent.ends_at_or_before(after.revision) {
                // Under the lock, so that of many readers one asks Redis and the others find what it read.
                let read = self.log_in_redis(id, after, most).await?;
                if let LogRead::Entries(entries) = &read {
                    recent.extend(entries);
                }
                return Ok(read);
            }
        }
        self.log_in_redis(id, after, most).await
    }

    async fn log_in_redis(&self, id: &TaskId, after: Cursor, most: usize) -> Result<LogRead, StoreError> {
        let Some(bucket) = self.layout.bucket(id) else {
            return Ok(LogRead::Gone);
        };
        let mut script = scripts::LOG.key(self.layout.stem(bucket));
        // One at least, so that a gap is seen whatever is asked for.
        script.arg(id.as_str()).arg(after.revision).arg(most.max(1));
        let told = self.told_of(id);
        // Where nobody was told, what is read must be confirmed now.
        let shown = match told {
            Some(_) => self.link.read(bucket, &script).await?,
            None => self.link.read_settled(bucket, &script).await?,
        };
        let shown: Option<(String, String, Vec<ShownEntry>)> = shown;
        let Some((news, context, shown)) = shown else {
            return Ok(LogRead::Gone);
        };
        let newest = read_pulse(&news).ok_or_else(unreadable_news)?.cursor;
        if after == newest {
            return Ok(LogRead::Entries(Vec::new()));
        }
        if after.revision >= newest.revision {
            return Ok(LogRead::Diverged);
        }
        let context = keys::of_context_part(&context);
        let mut entries = Vec::with_capacity(shown.len());
        for entry in shown {
            entries.push(Arc::new(entry_of(id, &context, &entry)?));
        }
        // A gap is seen at its beginning; behind it the log has none.
        Ok(match entries.first() {
            Some(first) if first.follows(after) => {
                entries.retain(|entry| told.is_none_or(|told| entry.cursor.revision <= told));
                entries.truncate(most);
                LogRead::Entries(entries)
            }
            Some(first) if first.cursor.revision == after.revision + 1 => LogRead::Diverged,
            _ => LogRead::Gone,
        })
    }

    pub(crate) async fn all(
        &self,
        after: Option<TaskId>,
        most: usize,
    ) -> Result<Vec<StoredTask>, StoreError> {
        let (mut tasks, mut after) = (Vec::new(), after);
        // Again where some went between their listing and their reading: a short page would be taken for the last.
        while tasks.len() < most {
            let ids = self.ids_after(after.as_ref(), most - tasks.len()).await?;
            let Some(last) = ids.last() else {
                break;
            };
            after = Some(last.clone());
            let read: Vec<_> = stream::iter(ids)
                .map(|id| async move { self.read_in_passing(&id).await })
                .buffered(READ_AT_ONCE)
                .try_collect()
                .await?;
            tasks.extend(read.into_iter().flatten());
        }
        Ok(tasks)
    }

    /// Ids after another one in their order, which is the order of buckets first.
    async fn ids_after(&self, after: Option<&TaskId>, most: usize) -> Result<Vec<TaskId>, StoreError> {
        let from = after.map_or_else(|| "-".to_owned(), |after| format!("({after}"));
        let asked = self
            .layout
            .all()
            .map(|bucket| self.members(bucket, keys::TASKS, &from, most));
        let ids = future::try_join_all(asked).await?;
        Ok(ids.into_iter().flatten().take(most).map(TaskId::new).collect())
    }

    /// Members of a sorted set that sorts by them, from one on, at most so many.
    pub(crate) async fn members(
        &self,
        bucket: Bucket,
        kind: &str,
        from: &str,
        most: usize,
    ) -> Result<Vec<String>, StoreError> {
        let mut command = redis::cmd("ZRANGE");
        command
            .arg(self.layout.key(bucket, kind, ""))
            .arg(from)
            .arg("+")
            .arg("BYLEX");
        command.arg("LIMIT").arg(0).arg(most);
        self.link.ask(bucket.slot(), &command).await
    }
}

/// Puts a task together. `messages` are the latest that are wanted; nothing means all.
pub(crate) fn stored(shown: Shown, messages: Option<u32>) -> Result<StoredTask, StoreError> {
    let (head, said, metadata, client, agent, chunks) = shown;
    let head = read_head(&head, &said)?;
    let task = TaskSnapshot {
        id: head.id.clone(),
        context_id: head.context_id.clone(),
        status: head.status.clone(),
        artifacts: artifacts(&head, &chunks)?,
        history: history(&client, &agent)?,
        metadata: read_content("a task's metadata", &metadata)?,
    };
    Ok(StoredTask {
        head: Arc::new(head),
        task: task.with_history(messages),
    })
}

/// The messages of both sides in the order in which they were taken in.
fn history(client: &[Bytes], agent: &[Bytes]) -> Result<Vec<Arc<Message>>, StoreError> {
    let sides = client.iter().chain(agent);
    let mut messages = sides
        .map(|message| numbered_message(message))
        .collect::<Result<Vec<_>, _>>()?;
    // Stable: messages that a task was created with stand in their order.
    messages.sort_by_key(|(revision, _)| *revision);
    Ok(messages.into_iter().map(|(_, message)| message).collect())
}

fn numbered_message(stored: &[u8]) -> Result<(Revision, Arc<Message>), StoreError> {
    const WHAT: &str = "a message";
    let broken = || StoreError::new("the record of a message has no number");
    let end = stored.iter().position(|byte| *byte == b':').ok_or_else(broken)?;
    let number = std::str::from_utf8(&stored[..end]).map_err(|_| broken())?;
    Ok((
        number.parse().map_err(|_| broken())?,
        read(WHAT, &stored[end + 1..])?,
    ))
}

/// The artifacts of a head from their chunks; none where no chunks were asked for.
fn artifacts(head: &TaskHead, chunks: &HashMap<String, Bytes>) -> Result<Vec<Arc<Artifact>>, StoreError> {
    let held = 0..if chunks.is_empty() {
        0
    } else {
        head.artifacts.len()
    };
    held.map(|which| artifact(which, chunks).map(Arc::new)).collect()
}

fn artifact(which: usize, chunks: &HashMap<String, Bytes>) -> Result<Artifact, StoreError> {
    const WHAT: &str = "an artifact";
    let chunk = |number: usize| chunks.get(&format!("{which}.{number}"));
    let first = chunk(1).ok_or_else(|| StoreError::new("a task has an artifact without content"))?;
    let mut artifact: Artifact = read(WHAT, first)?;
    for number in 2.. {
        let Some(next) = chunk(number) else {
            break;
        };
        artifact.append(&read(WHAT, next)?);
    }
    Ok(artifact)
}

fn entry_of(task: &TaskId, context: &ContextId, shown: &ShownEntry) -> Result<LogEntry, StoreError> {
    let (number, fields) = shown;
    let revision = number
        .split('-')
        .next()
        .and_then(|revision| revision.parse().ok());
    let (Some(revision), Some(meta), Some(content)) = (revision, fields.get("m"), fields.get("p")) else {
        return Err(StoreError::new("a log entry is not whole"));
    };
    read_entry(task, context, revision, meta, content)
}
