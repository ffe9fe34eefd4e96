//! The compiled protos against the facts of the protocol, and the operation table against the compiled protos.
//!
//! Descriptors are rendered in the form of the facts and compared as a whole, so that nothing is missing and nothing
//! is there besides.

use std::collections::BTreeSet;

use gateway_domain::{Operation, Version};
use gateway_wire::{operations, pb};
use prost_reflect::{
    Cardinality, DescriptorPool, DynamicMessage, FieldDescriptor, Kind, MethodDescriptor, Value as Reflected,
};
use serde_json::{Map, Value, json};

/// The packages of the two versions, with what the protocol says of them.
const PACKAGES: [(&str, &str); 2] = [
    ("lf.a2a.v1", include_str!("../../facts/a2a-v1.0.wire.json")),
    ("a2a.v1", include_str!("../../facts/a2a-v0.3.wire.json")),
];

fn pool() -> DescriptorPool {
    DescriptorPool::decode(pb::DESCRIPTORS).expect("descriptors decode")
}

#[test]
fn every_message_and_field_is_as_the_facts_say() {
    let pool = pool();
    for (package, facts) in PACKAGES {
        let compiled: Map<String, Value> = pool
            .all_messages()
            .filter(|message| message.package_name() == package && !message.is_map_entry())
            .map(|message| {
                (
                    message.name().to_owned(),
                    message.fields().map(|field| field_facts(&field)).collect(),
                )
            })
            .collect();
        assert_same(facts, "messages", &compiled);
    }
}

#[test]
fn every_enum_value_is_as_the_facts_say() {
    for (package, facts) in PACKAGES {
        let compiled: Map<String, Value> = pool()
            .all_enums()
            .filter(|kind| kind.package_name() == package)
            .map(|kind| {
                let values: Map<_, _> = kind
                    .values()
                    .map(|value| (value.name().to_owned(), json!(value.number())))
                    .collect();
                (kind.name().to_owned(), values.into())
            })
            .collect();
        assert_same(facts, "enums", &compiled);
    }
}

#[test]
fn every_method_and_route_is_as_the_facts_say() {
    for (package, facts) in PACKAGES {
        let compiled: Map<String, Value> = pool()
            .services()
            .filter(|service| service.package_name() == package)
            .map(|service| {
                let methods: Map<_, _> = service
                    .methods()
                    .map(|method| (method.name().to_owned(), method_facts(&method)))
                    .collect();
                (service.name().to_owned(), methods.into())
            })
            .collect();
        assert_same(facts, "services", &compiled);
    }
}

#[test]
fn the_operation_table_names_every_method_and_route_of_the_protos() {
    let pool = pool();
    let mut named = BTreeSet::new();
    for row in operations::rows() {
        let service = pool
            .get_service_by_name(row.grpc_service)
            .expect(row.grpc_service);
        let method = service
            .methods()
            .find(|method| method.name() == row.grpc_method)
            .expect(row.grpc_method);
        if row.version == Version::V1_0 {
            assert_eq!(row.grpc_method, row.operation.name());
        }
        assert_eq!(
            row.grpc_path(),
            format!("/{}/{}", service.full_name(), method.name())
        );
        assert_eq!(
            method.is_server_streaming(),
            row.operation.is_streaming(),
            "{}",
            method.name()
        );
        assert_eq!(
            declared_routes(&method),
            expected_routes(row),
            "{}",
            method.name()
        );
        named.insert(method.full_name().to_owned());
    }
    let declared: BTreeSet<_> = pool
        .services()
        .flat_map(|service| {
            service
                .methods()
                .map(|method| method.full_name().to_owned())
                .collect::<Vec<_>>()
        })
        .collect();
    assert_eq!(named, declared);
}

#[test]
fn a_path_variable_is_a_field_of_its_request() {
    let pool = pool();
    for row in operations::rows() {
        let service = pool
            .get_service_by_name(row.grpc_service)
            .expect(row.grpc_service);
        let method = service
            .methods()
            .find(|method| method.name() == row.grpc_method)
            .expect(row.grpc_method);
        for segment in row.routes.iter().flat_map(|route| route.segments()) {
            if let operations::Segment::Variable(variable) = segment {
                assert!(
                    method.input().get_field_by_name(variable).is_some(),
                    "{}: {variable}",
                    method.name()
                );
            }
        }
    }
}

#[test]
fn error_details_can_be_read_by_reflection() {
    for name in [
        "google.rpc.Status",
        "google.rpc.ErrorInfo",
        "google.rpc.BadRequest",
    ] {
        assert!(pool().get_message_by_name(name).is_some(), "{name}");
    }
}

fn assert_same(facts: &str, section: &str, compiled: &Map<String, Value>) {
    let facts: Value = serde_json::from_str(facts).expect("the facts are JSON");
    let expected = facts[section]
        .as_object()
        .expect("a section of the facts is an object");
    let names = |map: &Map<String, Value>| map.keys().cloned().collect::<BTreeSet<_>>();
    assert_eq!(names(compiled), names(expected));
    for (name, compiled) in compiled {
        assert_eq!(*compiled, expected[name], "{name}");
    }
}

/// A field in the form of the facts, where only what holds is written.
fn field_facts(field: &FieldDescriptor) -> Value {
    let mut facts = json!({
        "number": field.number(), "name": field.name(), "json": field.json_name(), "type": type_name(field),
    });
    let proto = field.field_descriptor_proto();
    let oneof = field.containing_oneof().filter(|_| !proto.proto3_optional());
    if let Some(oneof) = oneof {
        facts["oneof"] = oneof.name().into();
    }
    let deprecated = proto.options.as_ref().is_some_and(|options| options.deprecated());
    let flags = [
        ("optional", proto.proto3_optional()),
        (
            "repeated",
            field.cardinality() == Cardinality::Repeated && !field.is_map(),
        ),
        ("required", is_required(field)),
        ("deprecated", deprecated),
    ];
    for (flag, _) in flags.into_iter().filter(|(_, holds)| *holds) {
        facts[flag] = true.into();
    }
    facts
}

fn type_name(field: &FieldDescriptor) -> String {
    match field.kind() {
        Kind::Message(entry) if field.is_map() => {
            let value = entry.map_entry_value_field();
            format!(
                "map<{}, {}>",
                type_name(&entry.map_entry_key_field()),
                type_name(&value)
            )
        }
        Kind::Message(message) => short(message.full_name()),
        Kind::Enum(kind) => short(kind.full_name()),
        scalar => format!("{scalar:?}").to_lowercase(),
    }
}

fn short(full_name: &str) -> String {
    let ours = PACKAGES.into_iter().find_map(|(package, _)| {
        let name = full_name.strip_prefix(package)?;
        name.strip_prefix('.')
    });
    ours.unwrap_or(full_name).to_owned()
}

fn is_required(field: &FieldDescriptor) -> bool {
    const REQUIRED: i32 = 2;
    let behavior = extension(field.parent_pool(), "google.api.field_behavior");
    match field.options().get_extension(&behavior).as_list() {
        Some(list) => list.contains(&Reflected::EnumNumber(REQUIRED)),
        None => false,
    }
}

fn method_facts(method: &MethodDescriptor) -> Value {
    let http: Vec<_> = http_rules(method)
        .into_iter()
        .map(|(verb, path, body)| match body.as_str() {
            "" => json!({ "verb": verb, "path": path }),
            body => json!({ "verb": verb, "path": path, "body": body }),
        })
        .collect();
    json!({
        "input": short(method.input().full_name()),
        "output": short(method.output().full_name()),
        "server_streaming": method.is_server_streaming(),
        "http": http,
    })
}

/// Verb, path, and which field is the body; the rule itself and then its additional bindings.
fn http_rules(method: &MethodDescriptor) -> Vec<(String, String, String)> {
    let extension = extension(method.parent_pool(), "google.api.http");
    let options = method.options();
    let rule = options
        .get_extension(&extension)
        .as_message()
        .expect("a rule is a message")
        .clone();
    let more = rule
        .get_field_by_name("additional_bindings")
        .expect("a rule has additional bindings");
    let more = more.as_list().expect("additional bindings are a list").to_vec();
    let more = more
        .into_iter()
        .map(|rule| rule.as_message().expect("a rule is a message").clone());
    [rule]
        .into_iter()
        .chain(more)
        .map(|rule| http_rule(&rule))
        .collect()
}

fn http_rule(rule: &DynamicMessage) -> (String, String, String) {
    let text = |name: &str| {
        let value = rule.get_field_by_name(name).expect(name);
        value.as_str().expect("a text").to_owned()
    };
    let verb = ["get", "post", "delete", "put", "patch"]
        .into_iter()
        .find(|verb| rule.has_field_by_name(verb))
        .expect("a rule has a verb");
    (verb.to_uppercase(), text(verb), text("body"))
}

fn extension(pool: &DescriptorPool, name: &str) -> prost_reflect::ExtensionDescriptor {
    pool.get_extension_by_name(name).expect(name)
}

fn declared_routes(method: &MethodDescriptor) -> BTreeSet<(String, String)> {
    http_rules(method)
        .into_iter()
        .map(|(verb, path, _)| (verb, path))
        .collect()
}

/// The table's routes, with those behind the tenant, without the one that only the specification's text has.
fn expected_routes(row: &operations::Row) -> BTreeSet<(String, String)> {
    let for_clients = Operation::CLIENT.contains(&row.operation);
    let prefixes = if for_clients {
        vec!["", operations::TENANT_PREFIX]
    } else {
        vec![""]
    };
    let mut routes = BTreeSet::new();
    for route in row.routes {
        let (verb, path) = (route.verb.name().to_owned(), route.path.to_owned());
        let only_in_the_text = verb == "POST" && path.ends_with(":subscribe");
        if !only_in_the_text {
            routes.extend(
                prefixes
                    .iter()
                    .map(|prefix| (verb.clone(), format!("{prefix}{path}"))),
            );
        }
    }
    routes
}
