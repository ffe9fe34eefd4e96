//! The `kind` notation of 0.3: what goes out has the shapes of the facts, what 0.3 can say comes back as it was.

mod requests;
mod shapes;

use std::sync::Arc;

use gateway_domain::{
    AgentCard, Artifact, Content, ErrorKind, Message, Part, StreamResponse, TaskSnapshot, TaskState,
    TaskStatus, Timestamp, card::SecurityScheme, reply,
};
use gateway_wire::v0_3::kind;
use proptest::{
    prelude::*,
    strategy::ValueTree,
    test_runner::{Config, TestRunner},
};
use serde_json::{Value, json};
use shapes::Shapes;

use crate::generate;

fn came() -> Timestamp {
    Timestamp::from_millis(0).unwrap()
}

/// What 0.3 keeps of a part: texts and data have no name and no media type, and beside a value that had to be wrapped,
/// metadata without members are as good as none.
fn sayable_part(part: &Part) -> Part {
    let is_file = matches!(part.content, Some(Content::Raw(_) | Content::Url(_)));
    let wrapped = matches!(&part.content, Some(Content::Data(value)) if !value.is_object());
    Part {
        content: part.content.clone(),
        metadata: part
            .metadata
            .clone()
            .filter(|metadata| !(wrapped && metadata.is_empty())),
        filename: part.filename.clone().filter(|_| is_file),
        media_type: part.media_type.clone().filter(|_| is_file),
    }
}

fn sayable_message(message: &Message) -> Arc<Message> {
    Arc::new(Message {
        parts: message.parts.iter().map(sayable_part).collect(),
        ..message.clone()
    })
}

fn sayable_artifact(artifact: &Artifact) -> Arc<Artifact> {
    Arc::new(Artifact {
        parts: artifact.parts.iter().map(sayable_part).collect(),
        ..artifact.clone()
    })
}

fn sayable_status(status: &TaskStatus) -> TaskStatus {
    TaskStatus {
        message: status.message.as_deref().map(sayable_message),
        ..status.clone()
    }
}

fn sayable_task(task: &TaskSnapshot) -> TaskSnapshot {
    TaskSnapshot {
        status: sayable_status(&task.status),
        artifacts: task
            .artifacts
            .iter()
            .map(|artifact| sayable_artifact(artifact))
            .collect(),
        history: task
            .history
            .iter()
            .map(|message| sayable_message(message))
            .collect(),
        ..task.clone()
    }
}

/// What is left of an event after a journey through 0.3: all but the list above.
pub(crate) fn sayable(event: &StreamResponse) -> StreamResponse {
    match event {
        StreamResponse::Task(task) => StreamResponse::Task(Arc::new(sayable_task(task))),
        StreamResponse::Message(message) => StreamResponse::Message(sayable_message(message)),
        StreamResponse::StatusUpdate(event) => {
            let mut event = event.as_ref().clone();
            event.status = sayable_status(&event.status);
            StreamResponse::StatusUpdate(Arc::new(event))
        }
        StreamResponse::ArtifactUpdate(event) => {
            let mut event = event.as_ref().clone();
            event.artifact = sayable_artifact(&event.artifact);
            StreamResponse::ArtifactUpdate(Arc::new(event))
        }
    }
}

fn written(event: &StreamResponse) -> Value {
    serde_json::from_slice(&kind::event(event)).unwrap()
}

fn definition(event: &StreamResponse) -> &'static str {
    match event {
        StreamResponse::Task(_) => "Task",
        StreamResponse::Message(_) => "Message",
        StreamResponse::StatusUpdate(_) => "TaskStatusUpdateEvent",
        StreamResponse::ArtifactUpdate(_) => "TaskArtifactUpdateEvent",
    }
}

proptest! {
    #![proptest_config(generate::cases(256))]

    #[test]
    fn an_event_comes_back_but_for_what_0_3_cannot_say(event in generate::event()) {
        let back = kind::read_event(&kind::event(&event), came()).unwrap();
        prop_assert_eq!(&back, &sayable(&event));
        // And what came through once passes unchanged.
        prop_assert_eq!(kind::read_event(&kind::event(&back), came()).unwrap(), back);
    }

    #[test]
    fn an_answer_to_a_send_comes_back(task in generate::task(), message in generate::message()) {
        let through = |sent| {
            let text = kind::result(&reply::Body::Sent(sent)).unwrap();
            kind::read_answer(&text, came()).unwrap()
        };
        let back = through(reply::Sent::Task(task.clone()));
        prop_assert_eq!(back, reply::Sent::Task(sayable_task(&task)));
        let back = through(reply::Sent::Message(Arc::new(message.clone())));
        prop_assert_eq!(back, reply::Sent::Message(sayable_message(&message)));
    }
}

/// The definitions of which every member has to be seen.
const EVENTS: [&str; 11] = [
    "Task",
    "TaskStatus",
    "Message",
    "Artifact",
    "TextPart",
    "FilePart",
    "FileWithBytes",
    "FileWithUri",
    "DataPart",
    "TaskStatusUpdateEvent",
    "TaskArtifactUpdateEvent",
];

#[test]
fn every_event_has_the_shape_of_the_facts_and_no_member_of_theirs_is_left_out() {
    let mut shapes = Shapes::load();
    let mut states = std::collections::BTreeSet::new();
    let mut runner = TestRunner::new_with_rng(Config::default(), fixed());
    for _ in 0..2_000 {
        let event = generate::event().new_tree(&mut runner).unwrap().current();
        let json = written(&event);
        shapes.check(definition(&event), &json).unwrap();
        states.extend(json["status"]["state"].as_str().map(str::to_owned));
    }
    assert_eq!(shapes.unseen(&EVENTS), Vec::<String>::new());
    // All that the facts have, but for `unknown`.
    assert_eq!(states.len(), TaskState::ALL.len());
    assert!(!states.contains("unknown"));
}

fn fixed() -> proptest::test_runner::TestRng {
    proptest::test_runner::TestRng::deterministic_rng(proptest::test_runner::RngAlgorithm::ChaCha)
}

#[test]
fn a_status_update_is_final_where_a_stream_of_0_3_ends() {
    for state in TaskState::ALL {
        let event = json!({
            "kind": "status-update", "taskId": "t", "contextId": "c",
            "status": { "state": "working", "timestamp": "2026-01-31T09:05:07.250Z" },
        });
        let event = kind::read_event(event.to_string().as_bytes(), came()).unwrap();
        let StreamResponse::StatusUpdate(event) = event else {
            panic!("{event:?}")
        };
        let mut event = event.as_ref().clone();
        event.status.state = *state;
        let json = written(&StreamResponse::StatusUpdate(Arc::new(event)));
        let ends = matches!(
            state,
            TaskState::Completed
                | TaskState::Failed
                | TaskState::Canceled
                | TaskState::Rejected
                | TaskState::InputRequired
        );
        assert_eq!(json["final"], ends, "{state:?}");
    }
}

#[test]
fn another_servers_events_are_read_with_what_0_3_lets_it_leave_out() {
    let read = |json: Value| kind::read_event(json.to_string().as_bytes(), came());
    let task =
        read(json!({ "kind": "task", "id": "t", "contextId": "c", "status": { "state": "submitted" } }));
    let StreamResponse::Task(task) = task.unwrap() else {
        panic!("no task")
    };
    assert_eq!((task.status.timestamp, task.history.len()), (came(), 0));
    for (json, field) in [
        (json!({ "id": "t" }), "kind"),
        (json!({ "kind": "tsak", "id": "t" }), "kind"),
        (
            json!({ "kind": "task", "id": "t", "contextId": "c", "status": { "state": "unknown" } }),
            "status.state",
        ),
        (json!({ "kind": "task", "id": "t", "contextId": "c" }), "params"),
    ] {
        let error = read(json.clone()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidParams);
        assert_eq!(error.violations()[0].field, field, "{json}");
    }
}

/// Cards as they are offered: with locations that the facts know, and with interfaces of both versions.
fn offered() -> impl Strategy<Value = AgentCard> {
    (generate::card::card(), 0..3_usize).prop_map(|(mut card, location)| {
        for scheme in card.security_schemes.values_mut() {
            if let SecurityScheme::ApiKey(key) = scheme {
                key.location = ["query", "header", "cookie"][location].to_owned();
            }
        }
        for (interface, version) in card.supported_interfaces.iter_mut().zip(["0.3", "1.0", "0.3.0"]) {
            interface.protocol_version = version.to_owned();
        }
        card
    })
}

#[test]
fn every_card_has_the_shape_of_the_facts_and_no_member_of_theirs_is_left_out() {
    let mut shapes = Shapes::load();
    let mut runner = TestRunner::new_with_rng(Config::default(), fixed());
    for _ in 0..500 {
        let card = offered().new_tree(&mut runner).unwrap().current();
        let json = serde_json::to_value(kind::Card::of(&card)).unwrap();
        shapes.check("AgentCard", &json).unwrap();
        let text = kind::result(&reply::Body::Card(Arc::new(card))).unwrap();
        assert_eq!(serde_json::from_slice::<Value>(&text).unwrap(), json);
    }
    let never_sent = ["AgentCapabilities.stateTransitionHistory"];
    let definitions = [
        "AgentCard",
        "AgentInterface",
        "AgentProvider",
        "AgentCapabilities",
        "AgentExtension",
        "AgentSkill",
        "AgentCardSignature",
        "APIKeySecurityScheme",
        "HTTPAuthSecurityScheme",
        "OAuth2SecurityScheme",
        "OpenIdConnectSecurityScheme",
        "MutualTLSSecurityScheme",
        "OAuthFlows",
        "AuthorizationCodeOAuthFlow",
        "ClientCredentialsOAuthFlow",
        "ImplicitOAuthFlow",
        "PasswordOAuthFlow",
    ];
    assert_eq!(shapes.unseen(&definitions), never_sent);
}

#[test]
fn a_card_names_the_interfaces_of_0_3_alone_the_first_in_front() {
    let interface = |url: &str, binding: &str, version: &str| gateway_domain::card::AgentInterface {
        url: url.to_owned(),
        protocol_binding: binding.to_owned(),
        tenant: None,
        protocol_version: version.to_owned(),
    };
    let card = AgentCard {
        supported_interfaces: vec![
            interface("http://a/rpc", "JSONRPC", "1.0"),
            interface("http://b/rpc", "JSONRPC", "0.3"),
            interface("http://b", "HTTP+JSON", "0.3.0"),
        ],
        ..AgentCard::default()
    };
    let json = serde_json::to_value(kind::Card::of(&card)).unwrap();
    assert_eq!(
        (&json["url"], &json["preferredTransport"]),
        (&json!("http://b/rpc"), &json!("JSONRPC"))
    );
    let both = json!([
        { "url": "http://b/rpc", "transport": "JSONRPC" },
        { "url": "http://b", "transport": "HTTP+JSON" },
    ]);
    assert_eq!(
        (&json["additionalInterfaces"], &json["protocolVersion"]),
        (&both, &json!("0.3.0"))
    );
}

#[test]
fn a_webhook_is_told_the_task_itself() {
    let mut runner = TestRunner::new_with_rng(Config::default(), fixed());
    let task = generate::task().new_tree(&mut runner).unwrap().current();
    let event = StreamResponse::Task(Arc::new(task.clone()));
    assert_eq!(kind::task(&task), kind::event(&event));
    assert_eq!(written(&event)["kind"], "task");
}
