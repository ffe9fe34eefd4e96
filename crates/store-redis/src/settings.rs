//! What a store in Redis can be told.

use std::{fmt, time::Duration};

use gateway_domain::ports::StoreError;

use crate::keys::MOST_BUCKETS;

/// Where Redis is, how the deployment's keys are laid out, and the bounds of what is kept.
#[derive(Clone, PartialEq, Eq)]
pub struct Settings {
    /// `redis://HOST:PORT/DATABASE`, or `redis+unix://` with a path. One server, 7.0 or newer.
    pub url: String,
    /// The user of its access lists; nothing for the default one.
    pub user: Option<String>,
    /// The password of the user; nothing where none is asked for.
    pub password: Option<String>,
    /// What the deployment's keys begin with: letters, digits, `-`, `_` and `.`.
    pub prefix: String,
    /// Hash tags that the keys are spread over, 1 to 256. Fixed when the deployment is made.
    pub buckets: u16,
    /// Entries in the log of a task, at least 1.
    pub log_entries: usize,
    /// Bytes in the log of a task. The newest entry is held however large it is.
    pub log_bytes: usize,
    /// Finished tasks of a tenant (or: of all without one).
    pub finished_per_tenant: usize,
    /// How long a finished task is kept where there is room.
    pub finished_kept: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            url: "redis://127.0.0.1:6379".to_owned(),
            user: None,
            password: None,
            prefix: "a2a".to_owned(),
            buckets: 64,
            log_entries: 2_000,
            log_bytes: 8 << 20,
            finished_per_tenant: 200_000,
            finished_kept: Duration::from_secs(24 * 60 * 60),
        }
    }
}

impl Settings {
    /// Says what no deployment can be made with.
    pub(crate) fn check(&self) -> Result<(), StoreError> {
        let of_key = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
        if self.prefix.is_empty() || !self.prefix.bytes().all(of_key) {
            return Err(StoreError::new(
                "the prefix of keys has letters, digits, -, _ and . only",
            ));
        }
        if !(1..=MOST_BUCKETS).contains(&self.buckets) {
            return Err(StoreError::new(format_args!(
                "there are 1 to {MOST_BUCKETS} buckets"
            )));
        }
        Ok(())
    }
}

// The password is a secret, and the URL may hold one.
impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings")
            .field("prefix", &self.prefix)
            .field("buckets", &self.buckets)
            .finish_non_exhaustive()
    }
}
