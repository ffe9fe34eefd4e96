//! The words of the `kind` notation: each stands here once, for readers and for writers.

use std::borrow::Cow;

use gateway_domain::{Role, TaskState};
use serde::{Deserialize, Deserializer, de};

pub(super) const TASK: &str = "task";
pub(super) const MESSAGE: &str = "message";
pub(super) const STATUS_UPDATE: &str = "status-update";
pub(super) const ARTIFACT_UPDATE: &str = "artifact-update";
pub(super) const TEXT: &str = "text";
pub(super) const FILE: &str = "file";
pub(super) const DATA: &str = "data";

/// The name of a state. `unknown`, which 0.3 has besides, is never sent.
pub(super) fn state(state: TaskState) -> &'static str {
    match state {
        TaskState::Submitted => "submitted",
        TaskState::Working => "working",
        TaskState::Completed => "completed",
        TaskState::Failed => "failed",
        TaskState::Canceled => "canceled",
        TaskState::InputRequired => "input-required",
        TaskState::Rejected => "rejected",
        TaskState::AuthRequired => "auth-required",
    }
}

/// The name of a role. No message goes out before its role is known.
pub(super) fn role(role: Role) -> &'static str {
    match role {
        Role::User => "user",
        Role::Agent | Role::Unspecified => "agent",
    }
}

/// Reads a state.
pub(super) fn read_state<'de, D: Deserializer<'de>>(d: D) -> Result<TaskState, D::Error> {
    let name = Cow::<str>::deserialize(d)?;
    one_of(TaskState::ALL, state, &name)
}

/// Reads a role; `null` is none.
pub(super) fn read_role<'de, D: Deserializer<'de>>(d: D) -> Result<Role, D::Error> {
    match Option::<Cow<'_, str>>::deserialize(d)? {
        None => Ok(Role::Unspecified),
        Some(name) => one_of(&[Role::User, Role::Agent], role, &name),
    }
}

fn one_of<T: Copy, E: de::Error>(all: &[T], name: fn(T) -> &'static str, text: &str) -> Result<T, E> {
    let found = all.iter().find(|value| name(**value) == text);
    found.copied().ok_or_else(|| {
        let names: Vec<_> = all.iter().map(|value| name(*value)).collect();
        E::custom(format_args!(
            "must be {}, not {}",
            names.join(" or "),
            shown(text)
        ))
    })
}

/// A kind that may be left out, since the place says it, but may not say something else.
pub(super) fn read_kind<'de, D: Deserializer<'de>>(d: D, kind: &str) -> Result<(), D::Error> {
    match Option::<Cow<'_, str>>::deserialize(d)? {
        Some(other) if other != kind => {
            let text = format_args!("must be {kind:?}, not {}", shown(&other)).to_string();
            Err(de::Error::custom(text))
        }
        _ => Ok(()),
    }
}

/// What was sent, so far as it is told back.
pub(super) fn shown(text: &str) -> String {
    format!("{:?}", text.chars().take(40).collect::<String>())
}

#[cfg(test)]
mod tests {
    use gateway_domain::{Role, TaskState};
    use serde_json::json;

    use super::{read_role, read_state, role, state};

    #[test]
    fn every_state_and_role_comes_back_by_its_name() {
        for each in TaskState::ALL {
            assert_eq!(read_state(json!(state(*each))).unwrap(), *each);
        }
        for each in [Role::User, Role::Agent] {
            assert_eq!(read_role(json!(role(each))).unwrap(), each);
        }
    }

    #[test]
    fn names_of_version_1_0_and_unknown_states_are_refused() {
        for name in ["unknown", "TASK_STATE_WORKING", "Working", "cancelled", ""] {
            let error = read_state(json!(name)).unwrap_err().to_string();
            assert!(error.starts_with("must be submitted or working or"), "{error}");
        }
        let error = read_role(json!("ROLE_USER")).unwrap_err().to_string();
        assert_eq!(error, "must be user or agent, not \"ROLE_USER\"");
        assert_eq!(read_role(json!(null)).unwrap(), Role::Unspecified);
    }
}
