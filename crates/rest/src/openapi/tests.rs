//! The description against the tables that it is made from.

use std::collections::BTreeSet;

use gateway_domain::principal::Actor;
use gateway_wire::operations::{TABLE, Verb};
use serde_json::{Value, json};

use super::document;
use crate::routes::{Routes, Target};

/// Path, verb and description of each operation in the document.
fn operations(document: &Value) -> Vec<(String, String, Value)> {
    let paths = document["paths"].as_object().unwrap();
    let all = paths.iter().flat_map(|(path, verbs)| {
        let verbs = verbs.as_object().unwrap().iter();
        verbs.map(|(verb, operation)| (path.clone(), verb.to_ascii_uppercase(), operation.clone()))
    });
    all.collect()
}

#[test]
fn every_route_of_clients_is_described_without_and_with_a_tenant() {
    let rows = || TABLE.iter().filter(|row| row.operation.actor() == Actor::Client);
    let routes: usize = rows().map(|row| row.routes.len()).sum();
    let document = document();
    let operations = operations(&document);
    assert_eq!(operations.len(), 2 * routes);
    let ids: BTreeSet<_> = operations
        .iter()
        .map(|(_, _, operation)| operation["operationId"].to_string())
        .collect();
    assert_eq!(ids.len(), operations.len());
}

#[test]
fn what_is_described_is_what_is_routed() {
    let routes = Routes::of(Actor::Client);
    for (path, verb, operation) in operations(&document()) {
        let path = path.replace(['{', '}'], "");
        let Target::Operation(found) = routes.find(&verb, &path) else {
            panic!("{verb} {path} leads nowhere")
        };
        assert_eq!(operation["tags"], json!([found.operation.name()]));
        assert_eq!(found.tenant, path.starts_with("/tenant/").then_some("tenant"));
        assert_eq!(operation.get("requestBody").is_some(), found.verb == Verb::Post);
    }
}

#[test]
fn every_variable_of_a_path_is_a_parameter_and_no_field_stands_in_two_places() {
    for (path, verb, operation) in operations(&document()) {
        let parameters = operation["parameters"].as_array().unwrap();
        let of = |place: &str| {
            let found = parameters.iter().filter(|parameter| parameter["in"] == place);
            let names = found.map(|parameter| parameter["name"].as_str().unwrap().to_owned());
            names.collect::<BTreeSet<_>>()
        };
        let in_template: BTreeSet<_> = path
            .split('{')
            .skip(1)
            .map(|rest| rest.split('}').next().unwrap().to_owned())
            .collect();
        assert_eq!(of("path"), in_template, "{verb} {path}");
        let body = &operation["requestBody"]["content"]["application/json"]["schema"]["properties"];
        let in_body = body
            .as_object()
            .into_iter()
            .flatten()
            .map(|(name, _)| name.clone())
            .collect();
        assert!(of("path").is_disjoint(&of("query")), "{verb} {path}");
        assert!(of("path").is_disjoint(&in_body), "{verb} {path}");
    }
}

#[test]
fn whatever_the_document_points_to_is_in_it() {
    let document = document();
    let text = document.to_string();
    for pointer in text.split("\"$ref\":\"").skip(1) {
        let pointer = pointer.split('"').next().unwrap();
        let place = pointer.strip_prefix('#').unwrap();
        assert!(document.pointer(place).is_some(), "{pointer}");
    }
    assert!(text.contains("\"$ref\""));
}

#[test]
fn a_body_that_may_not_come_has_no_refusal_for_bodies() {
    let document = document();
    let refusals = |path: &str, verb: &str| document["paths"][path][verb]["responses"].clone();
    for status in ["413", "415"] {
        assert!(refusals("/message:send", "post").get(status).is_some());
        assert!(refusals("/tasks/{id}", "get").get(status).is_none());
    }
    assert!(refusals("/tasks/{id}", "get").get("404").is_some());
}
