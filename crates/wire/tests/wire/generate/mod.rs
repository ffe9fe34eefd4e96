//! Generated values of the domain: everything that validation lets through, small.
//!
//! Numbers are those that every notation writes the same way: integers up to 2^53 and short binary fractions.

use std::{collections::BTreeMap, sync::Arc};

use gateway_domain::{
    Artifact, ArtifactId, AuthenticationInfo, Content, ContextId, Message, MessageId, Part,
    PushNotificationConfigId, PushNotificationConfigRow, Role, StreamResponse, TaskId,
    TaskPushNotificationConfig, TaskSnapshot, TaskState, TaskStatus, Tenant, Timestamp, Version,
    event::{TaskArtifactUpdateEvent, TaskStatusUpdateEvent},
    json::Object,
    reply::{ConfigRow, ConfigState, TaskRow},
};
use proptest::{collection::vec, option, prelude::*};
use serde_json::{Number, Value};

pub(crate) mod card;

/// So many cases; what failed is printed, and becomes a test by hand.
pub(crate) fn cases(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

pub(crate) fn text() -> impl Strategy<Value = String> {
    ".{0,6}"
}

pub(crate) fn non_empty() -> impl Strategy<Value = String> {
    "\\PC{1,6}"
}

fn id() -> impl Strategy<Value = String> {
    "[a-zA-Z0-9:/-]{1,12}"
}

fn number() -> impl Strategy<Value = Number> {
    let integer = (-(1_i64 << 53)..=(1 << 53)).prop_map(Number::from);
    // Odd eighths, so that the number is never whole.
    let fraction = (-100_000_i32..100_000).prop_map(|n| f64::from(2 * n + 1) / 8.0);
    prop_oneof![
        integer,
        fraction.prop_map(|n| Number::from_f64(n).expect("finite"))
    ]
}

pub(crate) fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        number().prop_map(Value::Number),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            vec((text(), inner), 0..4).prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

pub(crate) fn object() -> impl Strategy<Value = Object> {
    vec((text(), value()), 0..3).prop_map(|members| members.into_iter().collect())
}

fn content() -> impl Strategy<Value = Content> {
    prop_oneof![
        text().prop_map(Content::Text),
        vec(any::<u8>(), 0..20).prop_map(|bytes| Content::Raw(bytes.into())),
        text().prop_map(Content::Url),
        value().prop_map(Content::Data),
    ]
}

fn part() -> impl Strategy<Value = Part> {
    (
        content(),
        option::of(object()),
        option::of(non_empty()),
        option::of(non_empty()),
    )
        .prop_map(|(content, metadata, filename, media_type)| Part {
            content: Some(content),
            metadata,
            filename,
            media_type,
        })
}

pub(crate) fn message() -> impl Strategy<Value = Message> {
    let ids = (id(), option::of(id()), option::of(id()), vec(id(), 0..3));
    let role = prop_oneof![Just(Role::User), Just(Role::Agent)];
    (
        ids,
        role,
        vec(part(), 1..4),
        option::of(object()),
        vec(text(), 0..3),
    )
        .prop_map(
            |((message_id, context_id, task_id, reference_task_ids), role, parts, metadata, extensions)| {
                Message {
                    message_id: MessageId::new(message_id),
                    context_id: context_id.map(ContextId::new),
                    task_id: task_id.map(TaskId::new),
                    role,
                    parts,
                    metadata,
                    extensions,
                    reference_task_ids: reference_task_ids.into_iter().map(TaskId::new).collect(),
                }
            },
        )
}

pub(crate) fn artifact() -> impl Strategy<Value = Artifact> {
    let texts = (option::of(non_empty()), option::of(non_empty()));
    (
        id(),
        texts,
        vec(part(), 0..4),
        option::of(object()),
        vec(text(), 0..3),
    )
        .prop_map(
            |(artifact_id, (name, description), parts, metadata, extensions)| Artifact {
                artifact_id: ArtifactId::new(artifact_id),
                name,
                description,
                parts,
                metadata,
                extensions,
            },
        )
}

fn timestamp() -> impl Strategy<Value = Timestamp> {
    (-62_135_596_800_000_i64..253_402_300_800_000)
        .prop_map(|millis| Timestamp::from_millis(millis).expect("in range"))
}

pub(crate) fn status() -> impl Strategy<Value = TaskStatus> {
    (
        proptest::sample::select(TaskState::ALL),
        option::of(message()),
        timestamp(),
    )
        .prop_map(|(state, message, timestamp)| TaskStatus {
            state,
            message: message.map(Arc::new),
            timestamp,
        })
}

pub(crate) fn task() -> impl Strategy<Value = TaskSnapshot> {
    (
        id(),
        id(),
        status(),
        vec(artifact(), 0..3),
        vec(message(), 0..3),
        option::of(object()),
    )
        .prop_map(
            |(id, context_id, status, artifacts, history, metadata)| TaskSnapshot {
                id: TaskId::new(id),
                context_id: ContextId::new(context_id),
                status,
                artifacts: artifacts.into_iter().map(Arc::new).collect(),
                history: history.into_iter().map(Arc::new).collect(),
                metadata,
            },
        )
}

pub(crate) fn event() -> impl Strategy<Value = StreamResponse> {
    prop_oneof![
        task().prop_map(|task| StreamResponse::Task(Arc::new(task))),
        message().prop_map(|message| StreamResponse::Message(Arc::new(message))),
        (id(), id(), status(), option::of(object())).prop_map(|(task_id, context_id, status, metadata)| {
            let (task_id, context_id) = (TaskId::new(task_id), ContextId::new(context_id));
            StreamResponse::StatusUpdate(Arc::new(TaskStatusUpdateEvent {
                task_id,
                context_id,
                status,
                metadata,
            }))
        }),
        (
            id(),
            id(),
            artifact(),
            any::<(bool, bool)>(),
            option::of(object())
        )
            .prop_map(
                |(task_id, context_id, artifact, (append, last_chunk), metadata)| {
                    StreamResponse::ArtifactUpdate(Arc::new(TaskArtifactUpdateEvent {
                        task_id: TaskId::new(task_id),
                        context_id: ContextId::new(context_id),
                        artifact: Arc::new(artifact),
                        append,
                        last_chunk,
                        metadata,
                    }))
                }
            ),
    ]
}

pub(crate) fn config() -> impl Strategy<Value = TaskPushNotificationConfig> {
    let authentication =
        (text(), option::of(non_empty())).prop_map(|(scheme, credentials)| AuthenticationInfo {
            scheme,
            credentials,
            schemes: Vec::new(),
        });
    let ids = (option::of(id()), option::of(id()), option::of(id()));
    (ids, text(), option::of(non_empty()), option::of(authentication)).prop_map(
        |((tenant, id, task_id), url, token, authentication)| TaskPushNotificationConfig {
            tenant: tenant.map(Tenant::new),
            id: id.map(PushNotificationConfigId::new),
            task_id: task_id.map(TaskId::new),
            url,
            token,
            authentication,
            version: Version::V1_0,
        },
    )
}

pub(crate) fn task_row() -> impl Strategy<Value = TaskRow> {
    (task(), option::of(id())).prop_map(|(task, tenant)| TaskRow {
        id: task.id,
        context_id: task.context_id,
        tenant: tenant.map(Tenant::new),
        state: task.status.state,
        status_message: task.status.message,
        status_timestamp: task.status.timestamp,
        artifacts: task.artifacts,
        history: task.history,
        metadata: task.metadata,
    })
}

pub(crate) fn config_row() -> impl Strategy<Value = ConfigRow> {
    (config(), id(), id(), id()).prop_map(|(config, row, config_id, task_id)| ConfigRow {
        row: PushNotificationConfigRow::new(row),
        config_id: PushNotificationConfigId::new(config_id),
        state: ConfigState::Active,
        task_id: TaskId::new(task_id),
        tenant: config.tenant,
        url: config.url,
        token: config.token,
        authentication: config.authentication,
    })
}

pub(crate) fn texts() -> impl Strategy<Value = Vec<String>> {
    vec(text(), 0..3)
}

pub(crate) fn scopes() -> impl Strategy<Value = BTreeMap<String, String>> {
    proptest::collection::btree_map(text(), text(), 0..3)
}
