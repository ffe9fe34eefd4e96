//! The details of an error, in the vocabulary of `google.rpc` but of no notation yet; JSON is here, protobuf is
//! the gRPC binding's.

use std::collections::BTreeMap;

use gateway_domain::{
    Error,
    error::{Violation, metadata},
};
use serde_json::{Value, json};

use super::row_of;

/// `google.rpc.ErrorInfo.domain` of every error (§11.6).
pub const DOMAIN: &str = "a2a-protocol.org";

/// One detail.
#[derive(Debug, Clone, PartialEq)]
pub enum Detail {
    /// `google.rpc.ErrorInfo`: which error it is, for machines; its domain is [`DOMAIN`].
    ErrorInfo {
        /// The error in capitals.
        reason: &'static str,
        /// Facts.
        metadata: Vec<(&'static str, String)>,
    },
    /// `google.rpc.BadRequest`: which fields to change.
    BadRequest {
        /// The fields, in camelCase from the root of the request.
        violations: Vec<Violation>,
    },
    /// `google.rpc.RequestInfo`: under which id the operator finds the cause.
    RequestInfo {
        /// The id.
        request_id: String,
    },
}

/// The details of an error: ErrorInfo where its meaning has a reason, BadRequest where fields are at fault,
/// RequestInfo where the cause stays inside.
pub fn details(error: &Error) -> Vec<Detail> {
    let row = row_of(error);
    let info = row.reason.map(|reason| Detail::ErrorInfo {
        reason,
        metadata: error
            .facts()
            .iter()
            .filter(|(key, _)| **key != metadata::REQUEST_ID)
            .map(|(key, fact)| (*key, fact.clone()))
            .collect(),
    });
    let mut violations = error.violations().to_vec();
    if let (true, Some(field)) = (violations.is_empty(), row.field) {
        violations.push(Violation {
            field: field.into(),
            description: error.message().to_owned().into(),
        });
    }
    let bad_request = (!violations.is_empty()).then_some(Detail::BadRequest { violations });
    let request = error
        .facts()
        .get(metadata::REQUEST_ID)
        .map(|request_id| Detail::RequestInfo {
            request_id: request_id.clone(),
        });
    info.into_iter().chain(bad_request).chain(request).collect()
}

impl Detail {
    /// The detail as ProtoJSON writes it inside an `Any`: an object with `@type`.
    pub fn to_json(&self) -> Value {
        match self {
            Self::ErrorInfo { reason, metadata } => {
                let mut info = json!({
                    "@type": "type.googleapis.com/google.rpc.ErrorInfo",
                    "reason": reason,
                    "domain": DOMAIN,
                });
                if !metadata.is_empty() {
                    info["metadata"] = json!(metadata.iter().cloned().collect::<BTreeMap<_, _>>());
                }
                info
            }
            Self::RequestInfo { request_id } => json!({
                "@type": "type.googleapis.com/google.rpc.RequestInfo",
                "requestId": request_id,
            }),
            Self::BadRequest { violations } => json!({
                "@type": "type.googleapis.com/google.rpc.BadRequest",
                "fieldViolations": violations
                    .iter()
                    .map(|violation| json!({ "field": violation.field, "description": violation.description }))
                    .collect::<Vec<_>>(),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use gateway_domain::{Error, ErrorKind, TaskState};
    use serde_json::json;

    use super::{Detail, details};

    fn as_json(error: &Error) -> serde_json::Value {
        details(error).iter().map(Detail::to_json).collect()
    }

    #[test]
    fn a_state_conflict_tells_its_reason_and_the_state_held() {
        let error = Error::task_state_conflict(TaskState::Completed, "the task has ended");
        assert_eq!(
            as_json(&error),
            json!([{
                "@type": "type.googleapis.com/google.rpc.ErrorInfo",
                "reason": "TASK_STATE_CONFLICT",
                "domain": "a2a-protocol.org",
                "metadata": { "state": "TASK_STATE_COMPLETED" },
            }])
        );
    }

    #[test]
    fn invalid_parameters_name_every_field_and_no_reason() {
        let error = Error::invalid("message.role", "is required");
        assert_eq!(
            as_json(&error),
            json!([{
                "@type": "type.googleapis.com/google.rpc.BadRequest",
                "fieldViolations": [{ "field": "message.role", "description": "is required" }],
            }])
        );
    }

    #[test]
    fn a_meaning_with_a_fixed_field_names_it_even_where_the_error_does_not() {
        let error = Error::new(ErrorKind::ContextMismatch, "the task belongs to another context");
        assert_eq!(
            as_json(&error)[0]["fieldViolations"],
            json!([{ "field": "message.contextId", "description": "the task belongs to another context" }])
        );
    }

    #[test]
    fn the_inward_text_is_in_no_detail() {
        let error = Error::unavailable("redis://10.0.0.7 refused").with_metadata("requestId", "r-1");
        let details = as_json(&error);
        assert!(!details.to_string().contains("10.0.0.7"));
        assert_eq!(
            details[1],
            json!({ "@type": "type.googleapis.com/google.rpc.RequestInfo", "requestId": "r-1" })
        );
    }
}
