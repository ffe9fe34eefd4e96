//! Builders of valid values with the least that has to be said. A test changes what it is about and leaves the rest.

use std::time::Duration;

use gateway_domain::{
    Artifact, ArtifactId, AuthenticationInfo, ContextId, Message, MessageId, Part, PushNotificationConfigId,
    PushNotificationConfigRow, ReplicaId, Role, Scope, Subject, TaskId, TaskPushNotificationConfig, Tenant,
    Timestamp, Version,
    decide::NewTask,
    ports::{AskedOffer, RunPut, Terms},
    push::StoredConfig,
};

/// 2026-01-31T09:00:00Z
const BEGINNING: i64 = 1_769_850_000;

/// So many seconds after a moment that all tests share.
pub fn moment(second: i64) -> Timestamp {
    Timestamp::from_seconds_nanos(BEGINNING + second, 0).expect("tests stay within the years of protobuf")
}

/// A client's message with one text part; its id is the text.
pub fn user_message(text: &str) -> Message {
    Message {
        role: Role::User,
        ..agent_message(text)
    }
}

/// An agent's message with one text part; its id is the text.
pub fn agent_message(text: &str) -> Message {
    Message::agent_text(MessageId::new(text), text)
}

/// An artifact, or a chunk of one, with one text part.
pub fn artifact(id: &str, text: &str) -> Artifact {
    Artifact {
        artifact_id: ArtifactId::new(id),
        name: None,
        description: None,
        parts: vec![Part::text(text)],
        metadata: None,
        extensions: Vec::new(),
    }
}

/// What a caller sees.
pub fn scope(tenant: Option<&str>, owner: Option<&str>) -> Scope {
    Scope {
        tenant: tenant.map(Tenant::new),
        owner: owner.map(Subject::new),
    }
}

/// A visible task of nobody in particular in the context `context`, begun with the message `begin`.
pub fn new_task(id: TaskId) -> NewTask {
    NewTask {
        id,
        context_id: ContextId::new("context"),
        scope: Scope::default(),
        message: user_message("begin"),
        hidden: false,
        config: None,
    }
}

/// A configuration with every field, in a row that is named after task and id.
pub fn config(task: &TaskId, id: &str) -> StoredConfig {
    StoredConfig {
        row: PushNotificationConfigRow::new(format!("row of {task} {id}")),
        config: TaskPushNotificationConfig {
            tenant: None,
            id: Some(PushNotificationConfigId::new(id)),
            task_id: Some(task.clone()),
            url: format!("https://receiver.example/{id}"),
            token: Some(format!("token of {id}")),
            authentication: Some(AuthenticationInfo {
                scheme: "Bearer".to_owned(),
                credentials: Some(format!("credentials of {id}")),
                schemes: Vec::new(),
            }),
            version: Version::V1_0,
        },
    }
}

/// How long the leases of [`terms`] last, in seconds.
pub const LEASE: i64 = 10;

/// What a replica takes work on at a second.
pub fn terms(replica: &str, second: i64) -> Terms {
    Terms {
        replica: ReplicaId::new(replica),
        now: moment(second),
        lease: Duration::from_secs(LEASE.unsigned_abs()),
    }
}

/// The offer of a task's message, by its number; the first begins the task.
pub fn offer(message: usize) -> AskedOffer {
    AskedOffer {
        message,
        metadata: None,
        accepted_output_modes: vec!["text/plain".to_owned()],
        extensions: Vec::new(),
        follow_up: message > 1,
    }
}

/// The same for a run that a replica would hold from a second on.
pub fn run(message: usize, replica: &str, second: i64) -> Box<RunPut> {
    Box::new(RunPut {
        offer: offer(message),
        terms: terms(replica, second),
    })
}
