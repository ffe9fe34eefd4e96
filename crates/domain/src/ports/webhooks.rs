//! The port of webhooks: what delivers, and a place that is kept for a configuration.

use async_trait::async_trait;

use super::{Epoch, Terms};
use crate::{
    Cursor, PushNotificationConfigId, TaskId, TaskPushNotificationConfig, error::Violation,
    push::StoredConfig,
};

/// Delivers what happens to tasks to the receivers that were configured for them (§4.3.3).
#[async_trait]
pub trait Webhooks: Send + Sync {
    /// Whether a configuration can be delivered to: where it points, and what its calls would carry. Asked before
    /// anything is stored.
    ///
    /// # Errors
    /// Every bad field, by its path within the configuration.
    fn check(&self, config: &TaskPushNotificationConfig) -> Result<(), Vec<Violation>>;

    /// Keeps a place for one more configuration; nothing where all are taken.
    fn reserve(&self) -> Option<Box<dyn Delivery>>;

    /// A configuration was deleted: when this returns, nothing is sent to it from here any more. Other replicas ask the
    /// store before each call.
    async fn deleted(&self, task: &TaskId, id: &PushNotificationConfigId);
}

/// A place that was kept for a configuration. Dropped, it is free again.
#[async_trait]
pub trait Delivery: Send {
    /// On what terms the delivery is put into the store, in the very step that stores its configuration, so that another
    /// replica goes on with it where this one ends; nothing where it ends with this process.
    fn terms(&self) -> Option<Terms> {
        None
    }

    /// Delivers every event of the task after a place to a configuration that has just been stored, under the grant that
    /// came of the [`terms`](Self::terms). When this returns, nothing is sent from here any more to one that it replaced.
    async fn begin(self: Box<Self>, config: StoredConfig, after: Cursor, grant: Option<Epoch>);
}
