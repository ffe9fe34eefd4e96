//! Every route of the table, with and without a tenant, and the paths that are none.

use gateway_domain::{Operation, Version, principal::Actor};
use gateway_wire::operations::{Route, Segment, TABLE, rows};

use super::{Path, Routes, Target};

const ACTORS: [Actor; 2] = [Actor::Client, Actor::Agent];

/// The path of a route with a text in place of each variable.
fn filled(route: &Route, variable: &str) -> String {
    let segments = route.segments().map(|segment| match segment {
        Segment::Literal(literal) => literal,
        Segment::Variable(_) => variable,
    });
    let path = segments.fold(String::new(), |path, segment| path + "/" + segment);
    match route.custom_verb() {
        Some(verb) => path + ":" + verb,
        None => path,
    }
}

/// An operation with its tenant and the first variable, or `Allow`, or nothing.
fn found(actor: Actor, verb: &str, path: &str) -> String {
    match Routes::of(actor).find(verb, path) {
        Target::Operation(found) => {
            let variables = found
                .variables
                .iter()
                .map(|(name, value)| format!(" {name}={value}"));
            let tenant = found.tenant.map(|tenant| format!(" tenant={tenant}"));
            let old = (found.version == Version::V0_3).then(|| " 0.3".to_owned());
            [found.operation.name().to_owned()]
                .into_iter()
                .chain(old)
                .chain(tenant)
                .chain(variables)
                .collect()
        }
        Target::OtherVerbs(_, verbs) => format!("405 {}", verbs.join(",")),
        Target::Nowhere => "404".to_owned(),
    }
}

#[test]
fn every_route_leads_to_its_operation_whatever_the_id() {
    for row in rows() {
        let actor = row.operation.actor();
        for (route, id) in row.routes.iter().flat_map(|route| {
            ["T1", "a%2Fb", "a%3Acancel", "a:b", "tasks", "%", "message"].map(|id| (route, id))
        }) {
            let path = filled(route, id);
            let variables: String = route
                .segments()
                .filter_map(|segment| match segment {
                    Segment::Variable(name) => Some(format!(" {name}={id}")),
                    Segment::Literal(_) => None,
                })
                .collect();
            let mut name = row.operation.name().to_owned();
            if row.version == Version::V0_3 {
                name += " 0.3";
            }
            assert_eq!(
                found(actor, route.verb.name(), &path),
                format!("{name}{variables}"),
                "{path}"
            );

            let behind_tenant = found(actor, route.verb.name(), &format!("/acme{path}"));
            let expected = match actor {
                Actor::Client => format!("{name} tenant=acme{variables}"),
                Actor::Agent => "404".to_owned(),
            };
            assert_eq!(behind_tenant, expected, "/acme{path}");
        }
    }
}

#[test]
fn a_verb_that_a_path_does_not_know_is_told_those_that_it_does() {
    for row in rows() {
        for route in row.routes {
            let path = filled(route, "T1");
            for verb in ["PUT", "PATCH", "HEAD", "OPTIONS", "get", "X"] {
                let found = found(row.operation.actor(), verb, &path);
                let allowed = found.strip_prefix("405 ").unwrap_or_default();
                assert!(
                    allowed.split(',').any(|verb| verb == route.verb.name()),
                    "{verb} {path}: {found}"
                );
            }
        }
    }
}

#[test]
fn the_other_actors_operations_are_nowhere() {
    for row in rows() {
        let other = ACTORS
            .into_iter()
            .find(|actor| *actor != row.operation.actor())
            .unwrap();
        for route in row.routes {
            let path = filled(route, "T1");
            assert_eq!(found(other, route.verb.name(), &path), "404", "{path}");
        }
    }
}

#[test]
fn odd_paths_lead_where_they_should() {
    for (verb, path, expected) in [
        // Without a tenant wins.
        ("GET", "/tasks/tasks", "GetTask id=tasks"),
        ("POST", "/tasks/tasks", "405 GET"),
        ("GET", "/tasks/extendedAgentCard", "GetTask id=extendedAgentCard"),
        (
            "GET",
            "/tasks/tasks/pushNotificationConfigs",
            "ListTaskPushNotificationConfigs task_id=tasks",
        ),
        ("GET", "/tasks/tasks/T1", "GetTask tenant=tasks id=T1"),
        ("POST", "/tasks/message:send", "SendMessage tenant=tasks"),
        // Several verbs on a path.
        ("PUT", "/tasks/T1/pushNotificationConfigs", "405 POST,GET"),
        ("PUT", "/tasks/T1/pushNotificationConfigs/c", "405 GET,DELETE"),
        ("PUT", "/acme/tasks/T1:subscribe", "405 GET,POST"),
        // A path behind some tenant is a path only if the rest of it is.
        ("DELETE", "/some/other/path", "404"),
        ("GET", "/x/y", "404"),
        ("GET", "/no/such/path", "404"),
        ("DELETE", "/acme/tasks", "405 GET"),
        ("GET", "/acme", "404"),
        ("GET", "/acme/acme/tasks", "404"),
        // Custom verbs.
        ("GET", "/tasks/T1:cancel", "405 POST"),
        ("GET", "/tasks/T1:other", "GetTask id=T1:other"),
        ("POST", "/tasks/a:b:cancel", "CancelTask id=a:b"),
        ("POST", "/tasks/:cancel", "404"),
        ("POST", "/tasks/T1:work", "404"),
        ("POST", "/tasks:cancel", "404"),
        ("POST", "/message:other", "404"),
        ("POST", "/message", "404"),
        ("POST", "/message:cancel", "404"),
        ("GET", "/tasks/T1/pushNotificationConfigs:cancel", "404"),
        // Version 0.3, where there is no list of tasks; its prefix is no tenant.
        ("POST", "/v1/message:send", "SendMessage 0.3"),
        ("POST", "/acme/v1/message:send", "SendMessage 0.3 tenant=acme"),
        ("GET", "/v1/tasks/T1", "GetTask 0.3 name=T1"),
        ("GET", "/v1/tasks", "404"),
        ("GET", "/acme/v1/tasks", "404"),
        ("GET", "/v1/extendedAgentCard", "404"),
        ("GET", "/v1/v1/card", "404"),
        ("POST", "/v1/tasks/T1", "405 GET"),
        ("PUT", "/v1/tasks/T1/pushNotificationConfigs/c", "405 GET,DELETE"),
        (
            "GET",
            "/tasks/v1/tasks/T1/pushNotificationConfigs/c",
            "GetTaskPushNotificationConfig 0.3 tenant=tasks name=T1 name=c",
        ),
        ("GET", "/tasks/v1", "GetTask id=v1"),
        // Paths are taken as they are sent.
        ("GET", "/", "404"),
        ("GET", "", "404"),
        ("GET", "*", "404"),
        ("GET", "//", "404"),
        ("GET", "//tasks", "404"),
        ("GET", "/tasks/", "404"),
        ("GET", "/tasks/T1/", "404"),
        ("GET", "/%74asks/T1", "404"),
        ("GET", "/Tasks/T1", "404"),
        ("POST", "/message%3Asend", "404"),
    ] {
        assert_eq!(found(Actor::Client, verb, path), expected, "{verb} {path}");
    }
}

#[test]
fn no_route_is_so_long_that_a_path_is_cut_before_it_is_compared() {
    let longest = rows()
        .flat_map(|row| row.routes)
        .map(|route| route.segments().count())
        .max();
    // One more for the tenant.
    assert!(longest.unwrap() + 1 < Path::MOST_SEGMENTS);
    let deep = format!("/tasks/T1{}", "/x".repeat(100_000));
    assert_eq!(found(Actor::Client, "GET", &deep), "404");
}

#[test]
fn a_route_without_a_body_belongs_to_an_operation_that_has_all_its_fields_beside_it() {
    use crate::fields::{self, Fields};
    use gateway_domain::ErrorKind;
    use gateway_wire::operations::Verb;
    let bodiless =
        |row: &&gateway_wire::operations::Row| row.routes.iter().any(|route| route.verb != Verb::Post);
    let operations: Vec<Operation> = TABLE.iter().filter(bodiless).map(|row| row.operation).collect();
    for operation in operations {
        let result = fields::request(operation, &Fields::default());
        let kind = result.err().map(|error| error.kind());
        assert!(
            matches!(kind, None | Some(ErrorKind::InvalidParams)),
            "{operation:?} {kind:?}"
        );
    }
}
