//! The agent at a desk that writes down what it is told.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use async_trait::async_trait;
use gateway_domain::{
    ContextId, Error, ErrorKind, Message, MessageId, PushNotificationConfigId, PushNotificationConfigRow,
    Role, TaskId, TaskSnapshot, TaskState,
    ports::{Agent, AgentFault, Answer, Desk, Ids, Offer},
    request::AgentAction,
};
use serde_json::json;

use super::{Conformance, REQUIRED_EXTENSION};

/// Fresh enough for messages; nothing else is asked for.
struct FixedIds;

impl Ids for FixedIds {
    fn task_id(&self) -> TaskId {
        TaskId::new("t")
    }
    fn context_id(&self) -> ContextId {
        ContextId::new("c")
    }
    fn message_id(&self) -> MessageId {
        MessageId::new("m")
    }
    fn config_id(&self) -> PushNotificationConfigId {
        PushNotificationConfigId::new("p")
    }
    fn config_row(&self) -> PushNotificationConfigRow {
        PushNotificationConfigRow::new("r")
    }
    fn mark(&self) -> u32 {
        0
    }
}

/// Takes every action.
#[derive(Default)]
struct Paper(Mutex<Vec<String>>);

#[async_trait]
impl Desk for Paper {
    async fn act(&self, action: AgentAction) -> Result<(), Error> {
        let line = match action {
            AgentAction::Move(step, message) => {
                let text = message.as_ref().and_then(Message::first_text).unwrap_or_default();
                format!("{} {text}", step.target().name())
            }
            AgentAction::ReportProgress(_) => "progress".to_owned(),
            AgentAction::UpdateArtifact {
                artifact,
                append,
                last_chunk,
            } => {
                let parts = serde_json::to_string(&artifact.parts).unwrap();
                format!("{parts} append={append} last={last_chunk}")
            }
        };
        self.0.lock().unwrap().push(line);
        Ok(())
    }

    async fn task(&self) -> Result<TaskSnapshot, Error> {
        Err(Error::task_not_found())
    }
}

fn offer(id: &str, extensions: &[&str]) -> Offer {
    let task = json!({
        "id": "t",
        "contextId": "c",
        "status": { "state": TaskState::Submitted.name(), "timestamp": "2026-01-31T09:05:07.250Z" },
    });
    let mut message = Message::agent_text(MessageId::new(id), "Hello");
    message.role = Role::User;
    Offer {
        task: serde_json::from_value(task).unwrap(),
        message: Arc::new(message),
        metadata: None,
        accepted_output_modes: Vec::new(),
        extensions: extensions.iter().map(|uri| (*uri).to_owned()).collect(),
        follow_up: false,
        attempt: 1,
    }
}

async fn written(offer: Offer) -> Vec<String> {
    let (agent, paper) = (Conformance::new(Arc::new(FixedIds)), Arc::new(Paper::default()));
    let answer = agent.offer(offer, paper.clone()).await;
    assert!(matches!(answer, Ok(Answer::Accepted)), "{answer:?}");
    agent.drain(Duration::from_secs(60)).await;
    let lines = paper.0.lock().unwrap();
    lines.clone()
}

#[tokio::test(start_paused = true)]
async fn a_message_is_answered_by_the_steps_of_its_id() {
    let file = r#""filename":"output.txt","mediaType":"text/plain"}] append=false last=true"#;
    for (id, steps) in [
        (
            "tck-complete-task-0a1b2c3d",
            &["TASK_STATE_COMPLETED Hello from TCK"][..],
        ),
        (
            "tck-input-required-0a1b2c3d",
            &["TASK_STATE_INPUT_REQUIRED what is next?"],
        ),
        ("tck-reject-task-0a1b2c3d", &["TASK_STATE_REJECTED rejected"]),
        (
            "tck-artifact-file-0a1b2c3d",
            &[
                &format!(r#"[{{"raw":"R2VuZXJhdGVkIGZpbGUgY29udGVudA==",{file}"#),
                "TASK_STATE_COMPLETED ",
            ],
        ),
        (
            "tck-artifact-file-url-0a1b2c3d",
            &[
                &format!(r#"[{{"url":"https://example.com/output.txt",{file}"#),
                "TASK_STATE_COMPLETED ",
            ],
        ),
        (
            "tck-artifact-data-0a1b2c3d",
            &[
                r#"[{"data":{"count":42,"key":"value"}}] append=false last=true"#,
                "TASK_STATE_COMPLETED ",
            ],
        ),
        (
            "tck-stream-artifact-chunked-0a1b2c3d",
            &[
                "TASK_STATE_WORKING ",
                r#"[{"text":"chunk-1 "}] append=false last=false"#,
                r#"[{"text":"chunk-2"}] append=true last=true"#,
                "TASK_STATE_COMPLETED ",
            ],
        ),
        (
            "test-resubscribe-message-id-1",
            &["TASK_STATE_WORKING ", "TASK_STATE_COMPLETED "],
        ),
        ("tck-anything", &["TASK_STATE_COMPLETED done"]),
        (
            "anything",
            &["TASK_STATE_WORKING ", "TASK_STATE_INPUT_REQUIRED what is next?"],
        ),
    ] {
        assert_eq!(written(offer(id, &[])).await, steps, "{id}");
    }
}

#[tokio::test]
async fn a_direct_message_comes_without_a_run() {
    let (agent, paper) = (Conformance::new(Arc::new(FixedIds)), Arc::new(Paper::default()));
    let answer = agent
        .offer(offer("tck-message-response-0a1b2c3d", &[]), paper.clone())
        .await;
    let Ok(Answer::Message(message)) = answer else {
        panic!("{answer:?}");
    };
    assert_eq!(message.first_text(), Some("Direct message response"));
    assert_eq!(message.role, Role::Agent);
    assert!(paper.0.lock().unwrap().is_empty());
}

#[tokio::test]
async fn one_message_needs_an_extension_that_is_required_of_no_other() {
    let (agent, paper) = (Conformance::new(Arc::new(FixedIds)), Arc::new(Paper::default()));
    assert!(agent.enforces_extension(REQUIRED_EXTENSION) && !agent.enforces_extension("urn:other"));
    let answer = agent
        .offer(offer("tck-cap-ext-004-0a1b2c3d", &["urn:other"]), paper)
        .await;
    let Err(AgentFault::Refused(error)) = answer else {
        panic!("{answer:?}");
    };
    assert_eq!(error.kind(), ErrorKind::ExtensionSupportRequired);
    assert_eq!(error.facts()["requiredExtensions"], REQUIRED_EXTENSION);
    let declared = offer("tck-cap-ext-004-0a1b2c3d", &[REQUIRED_EXTENSION]);
    assert_eq!(written(declared).await, ["TASK_STATE_COMPLETED done"]);
}

#[tokio::test]
async fn an_offer_after_the_drain_is_not_taken() {
    let (agent, paper) = (Conformance::new(Arc::new(FixedIds)), Arc::new(Paper::default()));
    agent.drain(Duration::ZERO).await;
    let answer = agent.offer(offer("anything", &[]), paper).await;
    assert!(matches!(answer, Err(AgentFault::Unreachable(_))), "{answer:?}");
}
