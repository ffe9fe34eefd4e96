//! Page tokens: opaque, and good only for the list, the scope and the filter they were made for.

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use crate::{Error, Operation, Scope, TaskId, Timestamp, request::TaskFilter};

/// The key that seals page tokens; all replicas of a deployment share it.
#[derive(Clone)]
pub struct PageKey(Hmac<Sha256>);

/// Bytes of the seal that a token carries.
const SEAL_BYTES: usize = 16;

/// Where a page of ListTasks begins: after this task, in the list's order.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct TaskPosition {
    /// The task's status timestamp.
    pub timestamp: Timestamp,
    /// Its id, which breaks ties.
    pub id: TaskId,
}

impl PageKey {
    /// Takes a secret of any length.
    pub fn new(secret: &[u8]) -> Self {
        Self(<Hmac<Sha256> as KeyInit>::new_from_slice(secret).expect("HMAC takes a key of any length"))
    }

    /// The token of a position in ListTasks.
    pub fn seal_tasks(&self, scope: &Scope, filter: &TaskFilter, position: &TaskPosition) -> String {
        let text = format!("{}|{}", position.timestamp.millis(), position.id);
        self.seal(&task_list(scope, filter), &text)
    }

    /// The position that a token of ListTasks stands for; nothing for the first page.
    ///
    /// # Errors
    /// InvalidParams where the token is broken, or was made for another list, scope or filter.
    pub fn open_tasks(
        &self,
        scope: &Scope,
        filter: &TaskFilter,
        token: &str,
    ) -> Result<Option<TaskPosition>, Error> {
        if token.is_empty() {
            return Ok(None);
        }
        let text = self.open(&task_list(scope, filter), token)?;
        let (millis, id) = text.split_once('|').ok_or_else(bad_token)?;
        let timestamp = millis
            .parse()
            .ok()
            .and_then(Timestamp::from_millis)
            .ok_or_else(bad_token)?;
        Ok(Some(TaskPosition {
            timestamp,
            id: TaskId::new(id),
        }))
    }

    /// The token of a position in a list by id.
    pub fn seal_id(&self, list: Operation, of: &str, id: &str) -> String {
        self.seal(&id_list(list, of), id)
    }

    /// The id after which a page of a list by id begins; nothing for the first page.
    ///
    /// # Errors
    /// InvalidParams where the token is broken or was made for another list.
    pub fn open_id(&self, list: Operation, of: &str, token: &str) -> Result<Option<String>, Error> {
        if token.is_empty() {
            Ok(None)
        } else {
            self.open(&id_list(list, of), token).map(Some)
        }
    }

    fn seal(&self, list: &str, position: &str) -> String {
        let mut bytes = self.mac(list, position).finalize().into_bytes()[..SEAL_BYTES].to_vec();
        bytes.extend_from_slice(position.as_bytes());
        BASE64_URL_SAFE_NO_PAD.encode(bytes)
    }

    fn open(&self, list: &str, token: &str) -> Result<String, Error> {
        let bytes = BASE64_URL_SAFE_NO_PAD.decode(token).map_err(|_| bad_token())?;
        let (seal, position) = bytes.split_at_checked(SEAL_BYTES).ok_or_else(bad_token)?;
        let position = std::str::from_utf8(position).map_err(|_| bad_token())?;
        self.mac(list, position)
            .verify_truncated_left(seal)
            .map_err(|_| bad_token())?;
        Ok(position.to_owned())
    }

    fn mac(&self, list: &str, position: &str) -> Hmac<Sha256> {
        // The length keeps the two texts apart whatever they hold.
        let mut mac = self.0.clone();
        mac.update(&(list.len() as u64).to_be_bytes());
        mac.update(list.as_bytes());
        mac.update(position.as_bytes());
        mac
    }
}

fn bad_token() -> Error {
    Error::invalid(
        "pageToken",
        "is not a token of this list; begin again without one",
    )
}

/// Debug texts of strings are quoted and escaped, so that no two lists have the same one.
fn task_list(scope: &Scope, filter: &TaskFilter) -> String {
    format!(
        "tasks {scope:?} {:?} {:?} {:?}",
        filter.context_id, filter.status, filter.status_timestamp_after
    )
}

fn id_list(list: Operation, of: &str) -> String {
    format!("{} {of:?}", list.name())
}

#[cfg(test)]
mod tests {
    use super::{PageKey, TaskPosition};
    use crate::{ContextId, Operation, Scope, Subject, TaskId, Tenant, Timestamp, request::TaskFilter};

    fn position() -> TaskPosition {
        TaskPosition {
            timestamp: Timestamp::from_millis(1_700_000_000_123).unwrap(),
            id: TaskId::new("t|1"),
        }
    }

    #[test]
    fn a_token_is_good_for_its_own_list_only() {
        let key = PageKey::new(b"seven");
        let (scope, filter) = (Scope::default(), TaskFilter::default());
        let token = key.seal_tasks(&scope, &filter, &position());
        assert_eq!(key.open_tasks(&scope, &filter, &token).unwrap(), Some(position()));

        let of_tenant = Scope {
            tenant: Some(Tenant::new("acme")),
            owner: None,
        };
        let of_caller = Scope {
            tenant: None,
            owner: Some(Subject::new("b")),
        };
        let of_context = TaskFilter {
            context_id: Some(ContextId::new("c")),
            ..filter.clone()
        };
        assert!(key.open_tasks(&of_tenant, &filter, &token).is_err());
        assert!(key.open_tasks(&of_caller, &filter, &token).is_err());
        assert!(key.open_tasks(&scope, &of_context, &token).is_err());
        assert!(
            PageKey::new(b"eight")
                .open_tasks(&scope, &filter, &token)
                .is_err()
        );
        assert!(key.open_id(Operation::AllTasks, "", &token).is_err());
    }

    #[test]
    fn a_token_with_any_letter_changed_is_refused() {
        let key = PageKey::new(b"seven");
        let (scope, filter) = (Scope::default(), TaskFilter::default());
        let token = key.seal_tasks(&scope, &filter, &position());
        for at in 0..token.len() {
            let mut other = token.clone().into_bytes();
            other[at] = if other[at] == b'A' { b'B' } else { b'A' };
            let other = String::from_utf8(other).unwrap();
            assert!(key.open_tasks(&scope, &filter, &other).is_err(), "{other}");
        }
        for junk in ["zzz", "=", "AAAAAAAAAAAAAAAAAAAAAAAA"] {
            assert!(key.open_tasks(&scope, &filter, junk).is_err(), "{junk}");
        }
    }
}
