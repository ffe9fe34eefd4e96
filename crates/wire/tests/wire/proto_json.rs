//! Canonical JSON, which the domain writes and reads by hand, against ProtoJSON as reflection makes it from the
//! protos: both notations of a value mean the same, in both directions.
//!
//! Numbers in free data are compared by value, since reflection knows doubles only.

use std::fmt::Debug;

use gateway_domain::reply::{AllConfigsPage, AllTasksPage};
use gateway_wire::{encode, pb};
use proptest::{collection::vec, prelude::*};
use prost::Message;
use prost_reflect::{DescriptorPool, DynamicMessage, MessageDescriptor, SerializeOptions};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use crate::generate;

thread_local! {
    static POOL: DescriptorPool = DescriptorPool::decode(pb::DESCRIPTORS).expect("descriptors decode");
}

pub(crate) fn descriptor(name: &str) -> MessageDescriptor {
    POOL.with(|pool| pool.get_message_by_name(name)).expect(name)
}

/// Reads JSON as the proto says.
pub(crate) fn from_proto_json<M: Message + Default>(name: &str, json: &str) -> M {
    let mut reader = serde_json::Deserializer::from_str(json);
    let message = DynamicMessage::deserialize(descriptor(name), &mut reader).expect("the JSON is ProtoJSON");
    message.transcode_to().expect("the message has this type")
}

/// Writes JSON as the proto says.
pub(crate) fn to_proto_json(name: &str, message: &impl Message) -> String {
    let message = DynamicMessage::decode(descriptor(name), message.encode_to_vec().as_slice()).expect(name);
    let mut json = serde_json::Serializer::new(Vec::new());
    message
        .serialize_with_options(&mut json, &SerializeOptions::new())
        .expect("a message has JSON");
    String::from_utf8(json.into_inner()).expect("JSON is UTF-8")
}

/// JSON in which every number is a double.
fn by_value(value: impl Serialize) -> Value {
    fn doubles(value: &mut Value) {
        match value {
            Value::Number(number) => *value = number.as_f64().into(),
            Value::Array(items) => items.iter_mut().for_each(doubles),
            Value::Object(members) => members.values_mut().for_each(doubles),
            _ => {}
        }
    }
    let mut value = serde_json::to_value(value).expect("a value of the domain has JSON");
    doubles(&mut value);
    value
}

/// Both directions for one value of the domain and the message that encodes it.
fn agree<T, M>(name: &str, value: &T, message: &M) -> Result<(), TestCaseError>
where
    T: Serialize + DeserializeOwned,
    M: Message + Default + PartialEq + Debug,
{
    let written = serde_json::to_string(value).expect("a value of the domain has JSON");
    prop_assert_eq!(&from_proto_json::<M>(name, &written), message);
    let json = to_proto_json(name, message);
    let read: T =
        serde_json::from_str(&json).map_err(|error| TestCaseError::fail(format!("{error}: {json}")))?;
    prop_assert_eq!(by_value(read), by_value(value));
    Ok(())
}

proptest! {
    #![proptest_config(generate::cases(64))]

    #[test]
    fn tasks_mean_the_same(task in generate::task()) {
        agree("lf.a2a.v1.Task", &task, &encode::task(&task))?;
    }

    #[test]
    fn events_mean_the_same(event in generate::event()) {
        agree("lf.a2a.v1.StreamResponse", &event, &encode::stream_response(&event))?;
    }

    #[test]
    fn configurations_mean_the_same(config in generate::config()) {
        agree("lf.a2a.v1.TaskPushNotificationConfig", &config, &encode::config(&config))?;
    }

    #[test]
    fn the_views_of_agents_mean_the_same(tasks in vec(generate::task_row(), 0..3), configs in vec(generate::config_row(), 0..3)) {
        let tasks = AllTasksPage { tasks, next_page_token: "next".to_owned() };
        let json = serde_json::to_string(&tasks).unwrap();
        let read: pb::agent::AllTasksResponse = from_proto_json("gateway.agent.v1.AllTasksResponse", &json);
        prop_assert_eq!(read, encode::all_tasks(&tasks));
        let configs = AllConfigsPage { configs, next_page_token: String::new() };
        let json = serde_json::to_string(&configs).unwrap();
        let name = "gateway.agent.v1.AllPushNotificationConfigsResponse";
        let read: pb::agent::AllPushNotificationConfigsResponse = from_proto_json(name, &json);
        prop_assert_eq!(read, encode::all_configs(&configs));
    }

    #[test]
    fn agent_cards_mean_the_same(card in generate::card::card()) {
        agree("lf.a2a.v1.AgentCard", &card, &encode::agent_card(&card))?;
    }
}
