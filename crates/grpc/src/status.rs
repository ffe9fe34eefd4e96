//! Errors as gRPC statuses: code, text and details of `google.rpc` (§10.6).
//!
//! A status travels in a header block, and many clients take no more than 8 KiB of those: what is too long is cut,
//! and says so.

use gateway_domain::{Error, error::Violation};
use gateway_edge::{Face, Response};
use gateway_wire::errors::{self, DOMAIN, Detail, Edition};
use http::request::Parts;
use tonic::{Code, Status};
use tonic_types::{
    BadRequest, ErrorDetail, ErrorInfo, FieldViolation, RequestInfo, RetryInfo, StatusExt as _,
};

/// Bytes of a status's text. It is sent twice, once with up to three characters a byte.
const TEXT_BYTES: usize = 768;
/// Bytes of the bad fields that are listed.
const FIELD_BYTES: usize = 2_048;

/// An error as a status.
pub(crate) fn to_status(error: &Error, edition: Edition) -> Status {
    let code = Code::from_i32(edition.row_of(error).grpc.code());
    let text = cut(error.message(), TEXT_BYTES);
    let mut details: Vec<_> = errors::details(error).into_iter().map(to_detail).collect();
    details.extend(error.retry_delay().map(|wait| RetryInfo::new(Some(wait)).into()));
    if details.is_empty() {
        return Status::new(code, text);
    }
    Status::with_error_details_vec(code, text, details)
}

fn to_detail(detail: Detail) -> ErrorDetail {
    match detail {
        Detail::ErrorInfo { reason, metadata } => {
            let metadata = metadata.into_iter().map(|(key, fact)| (key.to_owned(), fact));
            ErrorInfo::new(
                reason,
                DOMAIN,
                metadata.collect::<std::collections::HashMap<_, _>>(),
            )
            .into()
        }
        Detail::BadRequest { violations } => BadRequest::new(fields(&violations)).into(),
        Detail::RequestInfo { request_id } => RequestInfo::new(request_id, "").into(),
    }
}

/// As many bad fields as there is room for, and how many more there are.
fn fields(violations: &[Violation]) -> Vec<FieldViolation> {
    let mut room = FIELD_BYTES;
    let listed = violations.iter().map_while(|violation| {
        // Tags and lengths take some bytes as well.
        room = room.checked_sub(violation.field.len() + violation.description.len() + 16)?;
        Some(FieldViolation::new(
            violation.field.clone(),
            violation.description.clone(),
        ))
    });
    let mut listed: Vec<_> = listed.collect();
    let more = violations.len() - listed.len();
    if more > 0 {
        listed.push(FieldViolation::new(
            "",
            format!("{more} more, for which there is no room here"),
        ));
    }
    listed
}

/// The text, or its beginning and an ellipsis.
fn cut(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    let end = text.floor_char_boundary(most - '…'.len_utf8());
    format!("{}…", &text[..end])
}

/// Refusals of the edge in this binding's form: a response that is nothing but a status. They are told alike in every
/// edition.
#[derive(Debug, Clone, Copy)]
pub struct GrpcFace;

impl Face for GrpcFace {
    fn refuse(&self, _parts: &Parts, error: &Error) -> Response {
        to_status(error, Edition::default()).into_http()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use gateway_domain::{Error, ErrorKind, TaskState, error::Violation};
    use gateway_wire::errors::TABLE;
    use http::HeaderMap;
    use tonic::Status;
    use tonic_types::{ErrorDetail, StatusExt as _};

    use super::{Edition, cut};

    fn to_status(error: &Error) -> Status {
        super::to_status(error, Edition::default())
    }

    fn header_bytes(status: &Status) -> usize {
        let mut headers = HeaderMap::new();
        status.add_header(&mut headers).unwrap();
        headers
            .iter()
            .map(|(name, value)| name.as_str().len() + value.len() + 32)
            .sum()
    }

    #[test]
    fn every_meaning_has_its_code_and_reason() {
        for row in &TABLE {
            let status = to_status(&Error::new(row.kind, "text"));
            assert_eq!(status.code() as i32, row.grpc.code(), "{:?}", row.kind);
            assert_eq!(status.message(), "text");
            let info = status.get_details_error_info();
            assert_eq!(info.as_ref().map(|info| info.reason.as_str()), row.reason);
            assert!(info.is_none_or(|info| info.domain == "a2a-protocol.org"));
        }
    }

    #[test]
    fn the_edition_chooses_the_code() {
        let error = Error::new(ErrorKind::VersionNotSupported, "text");
        let code = |edition| super::to_status(&error, edition).code();
        assert_eq!(code(Edition::V1_0_1), tonic::Code::FailedPrecondition);
        assert_eq!(code(Edition::V1_0_0), tonic::Code::Unimplemented);
    }

    #[test]
    fn facts_fields_and_delay_stand_in_the_details() {
        let error = Error::task_state_conflict(TaskState::Completed, "the task has ended");
        let info = to_status(&error).get_details_error_info().unwrap();
        assert_eq!(info.metadata["state"], "TASK_STATE_COMPLETED");

        let fields = to_status(&Error::invalid("message.role", "is required"))
            .get_details_bad_request()
            .unwrap()
            .field_violations;
        assert_eq!(fields.len(), 1);
        assert_eq!(fields[0].field, "message.role");
        assert_eq!(fields[0].description, "is required");

        let error = Error::unavailable("store away").with_metadata("requestId", "r-1");
        let status = to_status(&error.retry_after(Duration::from_millis(1_500)));
        let wait = status.get_details_retry_info().unwrap().retry_delay;
        assert_eq!(wait, Some(Duration::from_millis(1_500)));
        assert_eq!(status.get_details_request_info().unwrap().request_id, "r-1");
        assert!(!format!("{status:?}").contains("store away"));
    }

    #[test]
    fn a_status_without_details_is_sent_without_any() {
        let status = to_status(&Error::new(ErrorKind::MethodNotFound, "no such method"));
        assert!(status.details().is_empty());
    }

    #[test]
    fn a_status_fits_into_the_headers_that_clients_take_and_says_what_it_left_out() {
        let violations = |field: &str| {
            (0..100)
                .map(|at| Violation {
                    field: format!("message.parts[{at}].{field}").into(),
                    description: "must hold exactly one of text, raw, url and data".into(),
                })
                .collect::<Vec<_>>()
        };
        for field in ["metadata", &"ü".repeat(1_000)] {
            let status = to_status(&Error::invalid_params(violations(field)));
            assert!(header_bytes(&status) < 8 << 10, "{} bytes", header_bytes(&status));
            assert!(status.message().ends_with('…'));
            let details = status.get_error_details_vec();
            let [ErrorDetail::BadRequest(fields)] = details.as_slice() else {
                panic!("{details:?}");
            };
            let (last, listed) = fields.field_violations.split_last().unwrap();
            assert_eq!(
                last.description,
                format!("{} more, for which there is no room here", 100 - listed.len())
            );
        }
    }

    #[test]
    fn a_text_is_cut_between_characters() {
        assert_eq!(cut("short", 5), "short");
        assert_eq!(cut("längere", 6), "lä…");
        assert_eq!(cut("ällig", 4), "…");
    }
}
