//! What the operations need of webhooks: a configuration is checked before anything is stored, keeps its place before
//! it is stored, and is delivered to from the moment that it is.

use async_trait::async_trait;

use super::{Inner, Service};
use crate::{
    Cursor, Error, ErrorKind, Outcome, PushNotificationConfigId, TaskId, TaskPushNotificationConfig,
    error::Violation,
    ports::{ConfigPut, Delivery, Epoch, Terms, Webhooks},
    push::StoredConfig,
};

/// A configuration that is about to be stored, and its place.
pub(super) struct Placed {
    pub(super) config: StoredConfig,
    place: Box<dyn Delivery>,
}

impl Placed {
    /// On what terms its delivery is stored with it.
    pub(super) fn terms(&self) -> Option<Terms> {
        self.place.terms()
    }

    /// How it is stored in a task that may have so many.
    pub(super) fn put(&self, most: usize) -> ConfigPut {
        ConfigPut {
            delivery: self.terms(),
            ..ConfigPut::new(self.config.clone(), most)
        }
    }

    /// To be called once the configuration is stored, with the grant that this came to.
    pub(super) async fn begin(self, after: Cursor, grant: Option<Epoch>) {
        self.place.begin(self.config, after, grant).await;
    }
}

impl Service {
    pub(super) fn check_webhook(
        &self,
        config: &TaskPushNotificationConfig,
        at: &'static str,
    ) -> Result<(), Error> {
        self.0.webhooks.check(config).map_err(|violations| {
            let named = violations.into_iter().map(|violation| Violation {
                field: format!("{at}{}", violation.field).into(),
                ..violation
            });
            Error::invalid_params(named.collect())
        })
    }
}

impl Inner {
    pub(super) fn place(&self, config: StoredConfig) -> Result<Placed, Error> {
        let place = self.webhooks.reserve().ok_or_else(|| {
            let text = "webhooks are delivered to as many receivers as this server can keep up with; come back later";
            Error::new(ErrorKind::ResourceExhausted, text).outcome(Outcome::ConfigLimit)
        })?;
        Ok(Placed { config, place })
    }
}

/// Takes every configuration and delivers nothing.
pub(super) struct Undelivered;

#[async_trait]
impl Webhooks for Undelivered {
    fn check(&self, _: &TaskPushNotificationConfig) -> Result<(), Vec<Violation>> {
        Ok(())
    }

    fn reserve(&self) -> Option<Box<dyn Delivery>> {
        Some(Box::new(Self))
    }

    async fn deleted(&self, _: &TaskId, _: &PushNotificationConfigId) {}
}

#[async_trait]
impl Delivery for Undelivered {
    async fn begin(self: Box<Self>, _: StoredConfig, _: Cursor, _: Option<Epoch>) {}
}
