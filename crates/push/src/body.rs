//! What a receiver is told of an event, in the version in which its configuration was registered.
//!
//! By 1.0 the event itself. By 0.3 the task: at each change of its status and at the last chunk of each artifact, other
//! chunks would be too often for so much. It has the status of that event; artifacts and history are those that it has
//! when it is told, which what comes later may have added to.

use std::sync::Arc;

use bytes::Bytes;
use gateway_domain::{
    Cursor, SharedEvent, StreamResponse, TaskId, TaskPushNotificationConfig, TaskStatus, Version,
    ports::{LogRead, Store, StoreError},
};
use gateway_wire::{notation, v0_3::kind};

/// Entries that are read at a time where a receiver's past is looked at.
const ENTRIES: usize = 64;

pub(crate) struct Teller {
    store: Arc<dyn Store>,
    task: TaskId,
    version: Version,
    /// How the task stands as far as the receiver knows.
    status: Option<TaskStatus>,
}

impl Teller {
    pub(crate) fn new(store: Arc<dyn Store>, config: &TaskPushNotificationConfig) -> Self {
        Self {
            store,
            task: config.task_id.clone().unwrap_or_default(),
            version: config.version,
            status: None,
        }
    }

    /// Finds out how the task stood at a place from which it is told on. Where the log no longer says, the receiver is
    /// told of the task as it stands until the status changes.
    ///
    /// # Errors
    /// The log could not be read.
    pub(crate) async fn recall(&mut self, place: Cursor) -> Result<(), StoreError> {
        let mut at = Cursor::START;
        while self.version == Version::V0_3 && at.revision < place.revision {
            let LogRead::Entries(entries) = self.store.log(&self.task, at, ENTRIES).await? else {
                return Ok(());
            };
            let Some(last) = entries.last() else {
                return Ok(());
            };
            at = last.cursor;
            let before = entries
                .iter()
                .filter(|entry| entry.cursor.revision <= place.revision);
            for event in before.filter_map(|entry| entry.outward.as_ref()) {
                match event.event() {
                    StreamResponse::Task(task) => self.status = Some(task.status.clone()),
                    StreamResponse::StatusUpdate(update) => self.status = Some(update.status.clone()),
                    StreamResponse::ArtifactUpdate(_) | StreamResponse::Message(_) => {}
                }
            }
        }
        Ok(())
    }

    /// The body of the call that tells of an event; nothing where none does.
    ///
    /// # Errors
    /// The task could not be read.
    pub(crate) async fn body(&mut self, event: &SharedEvent) -> Result<Option<Bytes>, StoreError> {
        match (self.version, event.event()) {
            (Version::V1_0, _) => Ok(Some(event.encoded(notation::JSON, encode))),
            (Version::V0_3, StreamResponse::Task(task)) => {
                self.status = Some(task.status.clone());
                Ok(Some(event.encoded(notation::KIND, kind::event)))
            }
            (Version::V0_3, StreamResponse::StatusUpdate(update)) => {
                self.status = Some(update.status.clone());
                self.whole().await
            }
            (Version::V0_3, StreamResponse::ArtifactUpdate(update)) if update.last_chunk => {
                self.whole().await
            }
            (Version::V0_3, StreamResponse::ArtifactUpdate(_) | StreamResponse::Message(_)) => Ok(None),
        }
    }

    /// The task with the status that the receiver is told of; nothing where the task is gone.
    async fn whole(&self) -> Result<Option<Bytes>, StoreError> {
        let Some(mut stored) = self.store.read(&self.task).await? else {
            return Ok(None);
        };
        if let Some(status) = &self.status {
            stored.task.status = status.clone();
        }
        Ok(Some(kind::task(&stored.task)))
    }
}

fn encode(event: &StreamResponse) -> Bytes {
    // Maps with keys that are no texts, the one thing that could fail, are nowhere in an event.
    serde_json::to_vec(event).unwrap_or_default().into()
}
