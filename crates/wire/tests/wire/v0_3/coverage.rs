//! Every message, field and enum value of the package is exercised: the list is that of the facts, and nothing of it may
//! be left over.
//!
//! Inward: for each field of a request, however deep, two requests that differ in nothing else are not read as the same.
//! Outward: each field of an answer is written from some value of the domain.

use std::collections::BTreeSet;

use gateway_domain::{Error, Operation, Request, StreamResponse, TaskState, reply::Sent};
use gateway_wire::{
    operations::TABLE_0_3,
    v0_3::{decode, encode},
};
use proptest::{
    strategy::{Strategy, ValueTree},
    test_runner::TestRunner,
};
use prost::Message;
use prost_reflect::{DynamicMessage, FieldDescriptor, Kind, MapKey, MessageDescriptor, Value};

use crate::{generate, proto_json::descriptor};

type Names = BTreeSet<String>;

fn facts() -> serde_json::Value {
    serde_json::from_str(include_str!("../../../facts/a2a-v0.3.wire.json")).unwrap()
}

/// `Message.field` and `Enum.VALUE` of everything in the facts.
fn all_names() -> Names {
    let facts = facts();
    let messages = facts["messages"].as_object().unwrap().iter();
    let fields = messages.flat_map(|(message, fields)| {
        let fields = fields.as_array().unwrap().iter();
        fields.map(move |field| format!("{message}.{}", field["name"].as_str().unwrap()))
    });
    let enums = facts["enums"].as_object().unwrap().iter();
    let values = enums.flat_map(|(name, values)| {
        let values = values.as_object().unwrap().keys();
        values.map(move |value| format!("{name}.{value}"))
    });
    fields.chain(values).collect()
}

fn full_name(name: &str) -> String {
    format!("a2a.v1.{name}")
}

/// The request message of each operation, by the facts.
fn inputs() -> Vec<(Operation, String)> {
    let facts = facts();
    let methods = &facts["services"]["A2AService"];
    let rows = TABLE_0_3.iter();
    rows.map(|row| {
        let input = methods[row.grpc_method]["input"].as_str().unwrap();
        (row.operation, full_name(input))
    })
    .collect()
}

/// Another value in the place of a sample's.
#[derive(Clone, Copy, PartialEq)]
enum Change {
    Clear,
    Other,
}

/// A request with a sensible value in every field; of a choice `pick` says which, and the field at `change` differs.
struct Sampler<'a> {
    pick: usize,
    change: Option<(&'a [String], Change)>,
}

impl Sampler<'_> {
    fn message(&self, message: &MessageDescriptor, at: &[String]) -> DynamicMessage {
        let mut sample = DynamicMessage::new(message.clone());
        for field in message.fields() {
            if let Some(choice) = field.containing_oneof() {
                let fields: Vec<_> = choice.fields().collect();
                if fields[self.pick % fields.len()] != field {
                    continue;
                }
            }
            let mut below = at.to_vec();
            below.push(field.name().to_owned());
            match self.change {
                Some((path, Change::Clear)) if path == below => continue,
                _ => sample.set_field(&field, self.field(&field, &below)),
            }
        }
        sample
    }

    fn field(&self, field: &FieldDescriptor, at: &[String]) -> Value {
        let other = matches!(self.change, Some((path, Change::Other)) if path == at);
        if field.is_map() {
            // Of free data only.
            let value = self.single(&field_of_entry(field), at, other);
            let key = if other { "other" } else { "key" };
            return Value::Map([(MapKey::String(key.to_owned()), value)].into());
        }
        let value = self.single(field, at, other);
        if field.is_list() {
            let more = other.then(|| value.clone());
            return Value::List([value].into_iter().chain(more).collect());
        }
        value
    }

    fn single(&self, field: &FieldDescriptor, at: &[String], other: bool) -> Value {
        match field.kind() {
            Kind::Message(message) if message.full_name().starts_with("google.") => free(&message, other),
            Kind::Message(message) => Value::Message(self.message(&message, at)),
            Kind::Enum(_) => Value::EnumNumber(if other { 2 } else { 1 }),
            Kind::Bool => Value::Bool(!other),
            Kind::Bytes => Value::Bytes(if other { "more" } else { "some" }.into()),
            Kind::Int32 => Value::I32(if other { 8 } else { 7 }),
            _ => Value::String(text(field) + if other { "x" } else { "" }),
        }
    }
}

fn field_of_entry(field: &FieldDescriptor) -> FieldDescriptor {
    match field.kind() {
        Kind::Message(entry) => entry.map_entry_value_field(),
        kind => panic!("{kind:?} is no entry"),
    }
}

/// Free data: an object of one member.
fn free(message: &MessageDescriptor, other: bool) -> Value {
    let name = if other { "other" } else { "key" };
    let object = gateway_wire::encode::object(&serde_json::from_str(&format!(r#"{{"{name}": 1}}"#)).unwrap());
    let object = DynamicMessage::decode(message.clone(), object.encode_to_vec().as_slice()).unwrap();
    Value::Message(object)
}

/// A text that makes sense in its place.
fn text(field: &FieldDescriptor) -> String {
    let message = field.parent_message().name().to_owned();
    match (message.as_str(), field.name()) {
        ("TaskPushNotificationConfig", "name") => "tasks/t/pushNotificationConfigs/c",
        (request, "name") if request.contains("PushNotificationConfigRequest") => {
            "tasks/t/pushNotificationConfigs/c"
        }
        ("FilePart", "name") => "name.txt",
        (_, "name" | "parent") => "tasks/t",
        ("PushNotificationConfig", "id") | (_, "config_id") => "c",
        _ => "text",
    }
    .to_owned()
}

/// Every field below a message, by its path.
fn paths(message: &MessageDescriptor, at: &[String]) -> Vec<(Vec<String>, FieldDescriptor)> {
    let mut all = Vec::new();
    for field in message.fields() {
        let mut below = at.to_vec();
        below.push(field.name().to_owned());
        all.push((below.clone(), field.clone()));
        if let Kind::Message(inner) = field.kind()
            && !inner.full_name().starts_with("google.")
        {
            all.extend(paths(&inner, &below));
        }
    }
    all
}

fn read(operation: Operation, message: &DynamicMessage) -> Result<Request, String> {
    let read: Result<Request, Error> = decode::request(operation, &message.encode_to_vec());
    read.map_err(|error| error.message().to_owned())
}

fn name(field: &FieldDescriptor) -> String {
    format!("{}.{}", field.parent_message().name(), field.name())
}

/// The fields of requests that make a difference.
fn read_inward() -> Names {
    let mut names = Names::new();
    for (operation, input) in inputs() {
        let input = descriptor(&input);
        for (path, field) in paths(&input, &[]) {
            let differs = (0..6).any(|pick| {
                let sample = |change| Sampler { pick, change }.message(&input, &[]);
                let usual = read(operation, &sample(None));
                [Change::Clear, Change::Other]
                    .into_iter()
                    .any(|change| read(operation, &sample(Some((&path, change)))) != usual)
            });
            assert!(differs, "{operation:?} reads {path:?} as if it were not there");
            names.insert(name(&field));
        }
    }
    names
}

#[test]
fn a_sample_request_of_each_operation_is_valid() {
    for (operation, input) in inputs() {
        for pick in 0..6 {
            let sample = Sampler { pick, change: None }.message(&descriptor(&input), &[]);
            read(operation, &sample).unwrap();
        }
    }
}

/// Notes what is set in a message, however deep.
fn note(message: &DynamicMessage, names: &mut Names) {
    for (field, value) in message.fields() {
        if field.parent_message().full_name().starts_with("google.") || field.parent_message().is_map_entry()
        {
            continue;
        }
        names.insert(name(&field));
        note_value(&field, value, names);
    }
}

fn note_value(field: &FieldDescriptor, value: &Value, names: &mut Names) {
    match (value, field.kind()) {
        (Value::Message(message), _) => note(message, names),
        (Value::List(items), _) => items.iter().for_each(|item| note_value(field, item, names)),
        (Value::Map(members), _) => members
            .values()
            .for_each(|member| note_value(field, member, names)),
        (Value::EnumNumber(number), Kind::Enum(kind)) => {
            let value = kind.get_value(*number).unwrap();
            names.insert(format!("{}.{}", kind.name(), value.name()));
        }
        _ => {}
    }
}

/// What is written from generated values of the domain.
fn written_outward() -> Names {
    let mut names = Names::new();
    let mut runner = TestRunner::deterministic();
    let mut see = |name: &str, message: &dyn Fn() -> Vec<u8>| {
        let message = DynamicMessage::decode(descriptor(&full_name(name)), message().as_slice()).unwrap();
        note(&message, &mut names);
    };
    for _ in 0..400 {
        let event = generate::event().new_tree(&mut runner).unwrap().current();
        see("StreamResponse", &|| encode::event(&event));
        let sent = match &event {
            StreamResponse::Task(task) => Some(Sent::Task(task.as_ref().clone())),
            StreamResponse::Message(message) => Some(Sent::Message(message.clone())),
            _ => None,
        };
        if let Some(sent) = sent {
            see("SendMessageResponse", &|| encode::sent(&sent).encode_to_vec());
        }
        let mut card = generate::card::card().new_tree(&mut runner).unwrap().current();
        card.supported_interfaces[0].protocol_version = "0.3".to_owned();
        see("AgentCard", &|| encode::agent_card(&card).encode_to_vec());
        let config = generate::config().new_tree(&mut runner).unwrap().current();
        let page = gateway_domain::reply::ConfigPage {
            configs: vec![config],
            next_page_token: "more".to_owned(),
        };
        see("ListTaskPushNotificationConfigResponse", &|| {
            encode::configs(&page).encode_to_vec()
        });
    }
    names
}

/// Values that are refused, or never sent, where nothing else can become of them.
fn unspecified() -> Names {
    let task = |state| {
        decode::task(gateway_wire::pb::v0_3::Task {
            status: Some(gateway_wire::pb::v0_3::TaskStatus {
                state,
                timestamp: Some(prost_types::Timestamp::default()),
                ..Default::default()
            }),
            ..Default::default()
        })
    };
    assert_eq!(task(0).unwrap_err().violations()[0].field, "status.state");
    for state in TaskState::ALL {
        assert_eq!(task(state.number()).unwrap().status.state, *state);
    }
    assert!(task(9).is_err());
    let (operation, input) = &inputs()[0];
    let send = descriptor(input);
    let mut sample = Sampler {
        pick: 0,
        change: None,
    }
    .message(&send, &[]);
    let role = |sample: &mut DynamicMessage, number| {
        let message = sample.get_field_by_name_mut("request").unwrap();
        let message = message.as_message_mut().unwrap();
        message.set_field_by_name("role", Value::EnumNumber(number));
    };
    for (number, refused) in [(0, true), (1, false), (2, true), (3, true)] {
        role(&mut sample, number);
        assert_eq!(read(*operation, &sample).is_err(), refused, "{number}");
    }
    ["TaskState.TASK_STATE_UNSPECIFIED", "Role.ROLE_UNSPECIFIED"]
        .map(str::to_owned)
        .into()
}

#[test]
fn every_message_field_and_enum_value_of_the_facts_is_exercised() {
    let exercised: Names = [read_inward(), written_outward(), unspecified()]
        .into_iter()
        .flatten()
        .collect();
    let all = all_names();
    let left: Vec<_> = all.difference(&exercised).collect();
    assert!(left.is_empty(), "{left:?}");
    assert!(exercised.is_subset(&all));
}
