//! The error table against the facts of the protocol.

use gateway_domain::{Error, ErrorKind};
use gateway_wire::errors::{Edition, GrpcStatus, Row, TABLE, row};
use serde::Deserialize;

#[derive(Deserialize)]
struct Facts {
    errors: Vec<Fact>,
    otherwise_in_1_0_0: Vec<Otherwise>,
}

#[derive(Deserialize)]
struct Otherwise {
    name: String,
    grpc: String,
    http: u16,
}

fn facts() -> Facts {
    serde_json::from_str(include_str!("../../facts/errors.json")).expect("the facts are JSON")
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
    let mut facts: Vec<_> = facts().errors.into_iter().map(in_form).collect();
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

#[test]
fn the_edition_1_0_0_differs_in_the_statuses_that_the_facts_say_and_in_nothing_else() {
    let otherwise = facts().otherwise_in_1_0_0;
    for kind in ErrorKind::ALL {
        let (error, usual) = (Error::new(kind, "text"), row(kind));
        let told = Edition::V1_0_0.row_of(&error);
        let fact = otherwise.iter().find(|fact| fact.name == kind.name());
        assert_eq!(
            told.grpc.name(),
            fact.map_or(usual.grpc.name(), |fact| &*fact.grpc),
            "{kind:?}"
        );
        assert_eq!(told.http, fact.map_or(usual.http, |fact| fact.http), "{kind:?}");
        let rest = |row: &Row| (row.kind, row.jsonrpc, row.jsonrpc_http, row.reason, row.field);
        assert_eq!(rest(told), rest(usual));
        assert!(std::ptr::eq(Edition::default().row_of(&error), usual));
    }
    let known = |fact: &Otherwise| ErrorKind::ALL.iter().any(|kind| kind.name() == fact.name);
    assert!(otherwise.iter().all(known));
}

#[test]
fn version_0_3_differs_in_the_one_error_that_it_does_not_know() {
    for kind in ErrorKind::ALL {
        let (error, usual) = (Error::new(kind, "text"), row(kind));
        let told = Edition::V0_3.row_of(&error);
        let numbers = (told.jsonrpc, told.grpc, told.http, told.reason);
        let expected = match kind {
            ErrorKind::ExtensionSupportRequired => (-32600, GrpcStatus::InvalidArgument, 400, usual.reason),
            _ => (usual.jsonrpc, usual.grpc, usual.http, usual.reason),
        };
        assert_eq!(numbers, expected, "{kind:?}");
    }
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
