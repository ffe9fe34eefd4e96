//! The error table against the facts of the protocol.

use gateway_wire::errors::{GrpcStatus, TABLE};
use serde::Deserialize;

#[derive(Deserialize)]
struct Facts {
    errors: Vec<Fact>,
}

#[derive(Deserialize)]
struct Fact {
    name: String,
    jsonrpc: i32,
    grpc: String,
    http: u16,
    jsonrpc_http: Option<u16>,
    reason: Option<String>,
    violation: Option<String>,
}

#[test]
fn every_error_has_the_codes_that_the_facts_say_and_there_is_no_other() {
    let facts: Facts =
        serde_json::from_str(include_str!("../../facts/errors.json")).expect("the facts are JSON");
    let mut facts: Vec<_> = facts.errors.into_iter().map(in_form).collect();
    let mut table: Vec<_> = TABLE
        .iter()
        .map(|row| {
            let reason = row.reason.map(str::to_owned);
            let field = row.field.map(str::to_owned);
            let name = row.kind.name().to_owned();
            (
                name,
                row.jsonrpc,
                row.grpc.name().to_owned(),
                row.http,
                row.jsonrpc_http,
                reason,
                field,
            )
        })
        .collect();
    facts.sort();
    table.sort();
    assert_eq!(table, facts);
}

type Form = (String, i32, String, u16, u16, Option<String>, Option<String>);

fn in_form(fact: Fact) -> Form {
    let field = fact.violation.filter(|field| field != "each bad field");
    (
        fact.name,
        fact.jsonrpc,
        fact.grpc,
        fact.http,
        fact.jsonrpc_http.unwrap_or(200),
        fact.reason,
        field,
    )
}

#[test]
fn status_names_and_numbers_are_those_of_grpc() {
    for (status, code, name) in [
        (GrpcStatus::InvalidArgument, 3, "INVALID_ARGUMENT"),
        (GrpcStatus::DeadlineExceeded, 4, "DEADLINE_EXCEEDED"),
        (GrpcStatus::NotFound, 5, "NOT_FOUND"),
        (GrpcStatus::PermissionDenied, 7, "PERMISSION_DENIED"),
        (GrpcStatus::ResourceExhausted, 8, "RESOURCE_EXHAUSTED"),
        (GrpcStatus::FailedPrecondition, 9, "FAILED_PRECONDITION"),
        (GrpcStatus::Unimplemented, 12, "UNIMPLEMENTED"),
        (GrpcStatus::Internal, 13, "INTERNAL"),
        (GrpcStatus::Unavailable, 14, "UNAVAILABLE"),
        (GrpcStatus::Unauthenticated, 16, "UNAUTHENTICATED"),
    ] {
        assert_eq!((status.code(), status.name()), (code, name));
    }
}
