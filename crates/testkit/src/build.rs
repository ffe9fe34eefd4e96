//! Builders of valid values with the least that has to be said. A test changes what it is about and leaves the rest.

use gateway_domain::{
    Artifact, ArtifactId, AuthenticationInfo, ContextId, Message, MessageId, Part, PushNotificationConfigId,
    PushNotificationConfigRow, Role, Scope, Subject, TaskId, TaskPushNotificationConfig, Tenant, Timestamp,
    Version, decide::NewTask, push::StoredConfig,
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
