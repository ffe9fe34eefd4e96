//! The package `a2a.v1`: what 0.3 can say comes back from it as it was, and its JSON, which is written and read by hand,
//! means the same as its protobuf.

mod coverage;

use std::sync::Arc;

use gateway_domain::{
    Error, Message, Operation, Request, StreamResponse, Version,
    json::Object,
    reply::{Body, ConfigPage, Sent},
    request::Scalar,
};
use gateway_wire::{
    pb::v0_3 as pb,
    v0_3::{decode, encode, json},
};
use proptest::{collection::vec, prelude::*};
use prost::Message as _;

use crate::{
    generate,
    kind::sayable,
    proto_json::{from_proto_json, to_proto_json},
};

/// What is left of an event after a journey: in this package messages refer to no other tasks.
fn left_of(event: &StreamResponse) -> StreamResponse {
    let alone = |message: &Message| Message {
        reference_task_ids: Vec::new(),
        ..message.clone()
    };
    let mut event = sayable(event);
    match &mut event {
        StreamResponse::Message(message) => *message = Arc::new(alone(message)),
        StreamResponse::Task(task) => {
            let task = Arc::make_mut(task);
            let said = task.status.message.iter_mut().chain(&mut task.history);
            said.for_each(|message| *message = Arc::new(alone(message)));
        }
        StreamResponse::StatusUpdate(update) => {
            let said = Arc::make_mut(update).status.message.iter_mut();
            said.for_each(|message| *message = Arc::new(alone(message)));
        }
        StreamResponse::ArtifactUpdate(_) => {}
    }
    event
}

fn no_query(_: &'static str) -> Result<Scalar, Error> {
    Ok(Scalar::Absent)
}

proptest! {
    #![proptest_config(generate::cases(256))]

    #[test]
    fn an_event_comes_back_but_for_what_0_3_cannot_say(event in generate::event()) {
        let through = |event: &StreamResponse| {
            let bytes = encode::event(event);
            decode::stream_response(pb::StreamResponse::decode(bytes.as_slice()).unwrap()).unwrap()
        };
        let back = through(&event);
        prop_assert_eq!(&back, &left_of(&event));
        // And what came through once passes unchanged.
        prop_assert_eq!(through(&back), back);
    }

    #[test]
    fn an_answer_to_a_send_comes_back(task in generate::task(), message in generate::message()) {
        let (StreamResponse::Task(task), StreamResponse::Message(message)) = (
            left_of(&StreamResponse::Task(task.into())),
            left_of(&StreamResponse::Message(message.into())),
        ) else {
            unreachable!("an event stays of its kind");
        };
        for answer in [Sent::Task(task.as_ref().clone()), Sent::Message(message)] {
            prop_assert_eq!(decode::sent(encode::sent(&answer)).unwrap(), answer);
        }
    }

    #[test]
    fn the_json_of_an_event_means_what_its_protobuf_does(event in generate::event()) {
        let text = String::from_utf8(json::event(&event).to_vec()).unwrap();
        let read: pb::StreamResponse = from_proto_json("a2a.v1.StreamResponse", &text);
        prop_assert_eq!(read, encode::stream_response(&event));
    }

    #[test]
    fn the_json_of_an_answer_means_what_its_protobuf_does(
        task in generate::task(), message in generate::message(), card in generate::card::card(),
    ) {
        let text = |body: &Body| String::from_utf8(json::reply(body).unwrap().to_vec()).unwrap();
        let read: pb::Task = from_proto_json("a2a.v1.Task", &text(&Body::Task(task.clone())));
        prop_assert_eq!(read, encode::task(&task));
        for sent in [Sent::Task(task), Sent::Message(message.into())] {
            let read: pb::SendMessageResponse =
                from_proto_json("a2a.v1.SendMessageResponse", &text(&Body::Sent(sent.clone())));
            prop_assert_eq!(read, encode::sent(&sent));
        }
        let mut card = card;
        for (interface, version) in card.supported_interfaces.iter_mut().zip(["1.0", "0.3", "0.3.0"]) {
            interface.protocol_version = version.to_owned();
        }
        let read: pb::AgentCard = from_proto_json("a2a.v1.AgentCard", &text(&Body::Card(Arc::new(card.clone()))));
        prop_assert_eq!(read, encode::agent_card(&card));
    }

    #[test]
    fn a_page_of_configurations_comes_back_and_its_json_means_the_same(
        configs in vec(generate::config(), 0..3), next_page_token in generate::text(),
    ) {
        let mut configs = configs;
        for config in &mut configs {
            // As they are stored: with both ids and no empty scheme; the tenant is the path's or the request's.
            config.id = config.id.take().or(Some("c".into_id()));
            config.task_id = Some("t".into_id());
            config.tenant = None;
            config.version = Version::V0_3;
            if let Some(info) = &mut config.authentication {
                info.scheme += "S";
                info.schemes = vec![info.scheme.clone()];
            }
        }
        let page = ConfigPage { configs, next_page_token };
        let pb = encode::configs(&page);
        let text = String::from_utf8(json::reply(&Body::Configs(page.clone())).unwrap().to_vec()).unwrap();
        let read: pb::ListTaskPushNotificationConfigResponse =
            from_proto_json("a2a.v1.ListTaskPushNotificationConfigResponse", &text);
        prop_assert!(read == pb, "the JSON says something else");
        prop_assert!(decode::configs(pb).unwrap() == page, "something did not come back");
    }

    #[test]
    fn a_send_is_read_from_json_as_from_protobuf(
        message in generate::message(), metadata in proptest::option::of(generate::object()),
    ) {
        let mut request = pb::SendMessageRequest {
            request: Some(encode::message(&message)),
            metadata: metadata.as_ref().map(gateway_wire::encode::object),
            ..pb::SendMessageRequest::default()
        };
        request.request.as_mut().unwrap().role = 1;
        let text = to_proto_json("a2a.v1.SendMessageRequest", &request);
        let of_json = json::request(Operation::SendMessage, &[], no_query, text.as_bytes()).unwrap();
        let of_proto = decode::request(Operation::SendMessage, &request.encode_to_vec()).unwrap();
        let (Request::SendMessage(of_json), Request::SendMessage(of_proto)) = (of_json, of_proto) else {
            panic!("they are sends");
        };
        // Compared as protobuf has them: reflection writes every number as a double.
        prop_assert_eq!(encode::message(&of_json.message), encode::message(&of_proto.message));
        let doubles = |metadata: Option<Object>| metadata.as_ref().map(gateway_wire::encode::object);
        prop_assert_eq!(doubles(of_json.metadata), doubles(of_proto.metadata));
        prop_assert_eq!(&of_json.configuration, &of_proto.configuration);
        prop_assert_eq!(of_json.configuration.version, Version::V0_3);
    }
}

/// Ids from a text, for tests that need some.
trait IntoId<T> {
    fn into_id(self) -> T;
}

impl IntoId<gateway_domain::TaskId> for &str {
    fn into_id(self) -> gateway_domain::TaskId {
        gateway_domain::TaskId::new(self)
    }
}

impl IntoId<gateway_domain::PushNotificationConfigId> for &str {
    fn into_id(self) -> gateway_domain::PushNotificationConfigId {
        gateway_domain::PushNotificationConfigId::new(self)
    }
}
