//! The time and fresh ids, from the system.

use std::{
    hash::{BuildHasher, RandomState},
    time::{SystemTime, UNIX_EPOCH},
};

use gateway_domain::{
    ContextId, MessageId, PushNotificationConfigId, PushNotificationConfigRow, ReplicaId, TaskId, Timestamp,
    ports::{Clock, Ids},
};
use uuid::Uuid;

/// The system's clock.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let millis = i64::try_from(since.as_millis()).unwrap_or(i64::MAX);
        Timestamp::from_millis(millis).expect("the system's clock stands between the years 1970 and 9999")
    }
}

/// UUIDs of version 7: they sort by the time they were made at, which keeps the store's lists in order.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RandomIds;

impl Ids for RandomIds {
    fn task_id(&self) -> TaskId {
        TaskId::new(text())
    }
    fn context_id(&self) -> ContextId {
        ContextId::new(text())
    }
    fn message_id(&self) -> MessageId {
        MessageId::new(text())
    }
    fn config_id(&self) -> PushNotificationConfigId {
        PushNotificationConfigId::new(text())
    }
    fn config_row(&self) -> PushNotificationConfigRow {
        PushNotificationConfigRow::new(text())
    }
    /// It tells two timelines of a log apart and protects nothing. Each entry needs one, so it must not cost a call
    /// to the system.
    #[allow(
        clippy::cast_possible_truncation,
        reason = "any half is as random as the other"
    )]
    fn mark(&self) -> u32 {
        RandomState::new().hash_one(()) as u32
    }
}

/// Another name at each start: what a former process held is not this one's.
pub(crate) fn replica() -> ReplicaId {
    ReplicaId::new(text())
}

fn text() -> std::sync::Arc<str> {
    let mut buffer = Uuid::encode_buffer();
    let text: &str = Uuid::now_v7().hyphenated().encode_lower(&mut buffer);
    text.into()
}

/// A key that nobody can guess. Each id has 32 random bits at least, besides its time and count.
pub(crate) fn random_key() -> Vec<u8> {
    (0..8).flat_map(|_| Uuid::now_v7().into_bytes()).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use gateway_domain::ports::Ids;

    use super::{RandomIds, random_key};

    #[test]
    fn ids_are_fresh_and_in_order() {
        let ids: Vec<_> = (0..1000).map(|_| RandomIds.task_id()).collect();
        assert!(ids.windows(2).all(|pair| pair[0] < pair[1]));
        let marks: HashSet<_> = (0..1000).map(|_| RandomIds.mark()).collect();
        assert!(marks.len() > 990, "{} different marks of 1000", marks.len());
        assert_ne!(random_key(), random_key());
    }
}
