//! What tasks, log entries and configurations look like in Redis: a byte for the format, then JSON. The head is
//! apart from the content, and a log entry's content apart from the rest, so that scripts can move content they
//! never read.
//!
//! Fields may be added within a format: readers pass over what they don't know. Anything else is a new format, which
//! a release must read before another one writes it.

pub(crate) mod work;

use gateway_domain::{
    ArtifactId, ContextId, Cursor, Entry, LogEntry, PushNotificationConfigRow, Revision, Scope, TaskId,
    TaskPushNotificationConfig, TaskState, TaskStatus, Timestamp, Version,
    event::{Keep, TaskArtifactUpdateEvent, TaskStatusUpdateEvent},
    json::Object,
    ports::{ArtifactHead, Pulse, StoreError, TaskHead},
    push::StoredConfig,
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use std::sync::Arc;

/// The format that is written, and the only one so far.
const FORMAT: u8 = b'1';

/// Writes a value in the format of today.
pub(crate) fn write<T: Serialize>(value: &T) -> Vec<u8> {
    let mut bytes = vec![FORMAT];
    serde_json::to_writer(&mut bytes, value).expect("values of the domain are plain data");
    bytes
}

/// Reads a value.
///
/// # Errors
/// A format or a content that this release does not know; `what` is for the operator.
pub(crate) fn read<T: DeserializeOwned>(what: &str, bytes: &[u8]) -> Result<T, StoreError> {
    match bytes.split_first() {
        Some((&FORMAT, json)) => {
            let read = serde_json::from_slice(json);
            // The fault without the content, which is a client's.
            read.map_err(|error| {
                let place = (error.line(), error.column());
                StoreError::new(format_args!("the record of {what} is broken at {place:?}"))
            })
        }
        Some((other, _)) => {
            let (other, own) = (char::from(*other), char::from(FORMAT));
            let text = format_args!("the record of {what} has format {other:?}; this release reads {own:?}");
            Err(StoreError::new(text))
        }
        None => Err(StoreError::new(format_args!("the record of {what} is empty"))),
    }
}

/// The head without the status message.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct HeadRecord {
    id: TaskId,
    context: ContextId,
    scope: Scope,
    hidden: bool,
    state: TaskState,
    timestamp: Timestamp,
    revision: Revision,
    mark: u32,
    status_revision: Revision,
    client_messages: usize,
    agent_messages: usize,
    client_bytes: usize,
    agent_bytes: usize,
    artifacts: Vec<ArtifactRecord>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct ArtifactRecord {
    id: ArtifactId,
    closed: bool,
    weight: usize,
}

/// Writes a head; its status message is a record of its own.
pub(crate) fn write_head(head: &TaskHead) -> Vec<u8> {
    write(&HeadRecord {
        id: head.id.clone(),
        context: head.context_id.clone(),
        scope: head.scope.clone(),
        hidden: head.hidden,
        state: head.status.state,
        timestamp: head.status.timestamp,
        revision: head.cursor.revision,
        mark: head.cursor.mark,
        status_revision: head.status_revision,
        client_messages: head.client_messages,
        agent_messages: head.agent_messages,
        client_bytes: head.client_bytes,
        agent_bytes: head.agent_bytes,
        artifacts: head.artifacts.iter().map(artifact_record).collect(),
    })
}

fn artifact_record(artifact: &ArtifactHead) -> ArtifactRecord {
    ArtifactRecord {
        id: artifact.id.clone(),
        closed: artifact.closed,
        weight: artifact.weight,
    }
}

/// Reads a head with its status message.
pub(crate) fn read_head(head: &[u8], said: &[u8]) -> Result<TaskHead, StoreError> {
    let record: HeadRecord = read("a task's head", head)?;
    let artifacts = record.artifacts.into_iter().map(|artifact| ArtifactHead {
        id: artifact.id,
        closed: artifact.closed,
        weight: artifact.weight,
    });
    Ok(TaskHead {
        id: record.id,
        context_id: record.context,
        scope: record.scope,
        hidden: record.hidden,
        status: TaskStatus {
            state: record.state,
            message: read_content("a status message", said)?,
            timestamp: record.timestamp,
        },
        cursor: Cursor {
            revision: record.revision,
            mark: record.mark,
        },
        status_revision: record.status_revision,
        client_messages: record.client_messages,
        agent_messages: record.agent_messages,
        client_bytes: record.client_bytes,
        agent_bytes: record.agent_bytes,
        artifacts: Arc::new(artifacts.collect()),
    })
}

/// Content that may not be there.
pub(crate) fn write_content<T: Serialize>(content: Option<&T>) -> Vec<u8> {
    content.map(write).unwrap_or_default()
}

/// The same read.
pub(crate) fn read_content<T: DeserializeOwned>(what: &str, bytes: &[u8]) -> Result<Option<T>, StoreError> {
    (!bytes.is_empty()).then(|| read(what, bytes)).transpose()
}

/// A log entry without its content.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct EntryRecord {
    mark: u32,
    /// Of the entry before; 0 where a release did not write it, so that its readers start over.
    #[serde(default)]
    previous: u32,
    #[serde(flatten)]
    kind: KindRecord,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
enum KindRecord {
    Created {
        hidden: bool,
    },
    Shown,
    MessageTaken,
    StatusUpdated {
        state: TaskState,
        timestamp: Timestamp,
        displaced: KeepRecord,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        metadata: Option<Object>,
    },
    ArtifactUpdated {
        append: bool,
        last_chunk: bool,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        metadata: Option<Object>,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum KeepRecord {
    Append,
    AppendForOldest,
    Drop,
}

/// How scripts call what becomes of a status message.
pub(crate) fn keep_name(keep: Keep) -> &'static str {
    match keep {
        Keep::Append => "append",
        Keep::AppendForOldestAgentMessage => "append-for-oldest",
        Keep::Drop => "drop",
    }
}

/// Writes a log entry in two parts: what it is, and its content.
pub(crate) fn write_entry(entry: &LogEntry) -> (Vec<u8>, Vec<u8>) {
    let (kind, content) = match &entry.entry {
        Entry::Created { task, hidden } => (KindRecord::Created { hidden: *hidden }, write(task)),
        Entry::Shown(task) => (KindRecord::Shown, write(task)),
        Entry::MessageTaken(message) => (KindRecord::MessageTaken, write(message)),
        Entry::StatusUpdated { event, displaced } => {
            let kind = KindRecord::StatusUpdated {
                state: event.status.state,
                timestamp: event.status.timestamp,
                displaced: match displaced {
                    Keep::Append => KeepRecord::Append,
                    Keep::AppendForOldestAgentMessage => KeepRecord::AppendForOldest,
                    Keep::Drop => KeepRecord::Drop,
                },
                metadata: event.metadata.clone(),
            };
            (kind, write_content(event.status.message.as_ref()))
        }
        Entry::ArtifactUpdated(event) => {
            let kind = KindRecord::ArtifactUpdated {
                append: event.append,
                last_chunk: event.last_chunk,
                metadata: event.metadata.clone(),
            };
            (kind, write(&event.artifact))
        }
    };
    let record = EntryRecord {
        mark: entry.cursor.mark,
        previous: entry.previous,
        kind,
    };
    (write(&record), content)
}

/// The mark in the first part of a log entry; nothing where there is no such entry.
pub(crate) fn mark_of(meta: &[u8]) -> Option<u32> {
    let record: EntryRecord = read("a log entry", meta).ok()?;
    Some(record.mark)
}

/// Reads a log entry of a task.
pub(crate) fn read_entry(
    task: &TaskId,
    context: &ContextId,
    revision: Revision,
    meta: &[u8],
    content: &[u8],
) -> Result<LogEntry, StoreError> {
    const WHAT: &str = "a log entry";
    let EntryRecord { mark, previous, kind } = read(WHAT, meta)?;
    let entry = match kind {
        KindRecord::Created { hidden } => Entry::Created {
            task: read(WHAT, content)?,
            hidden,
        },
        KindRecord::Shown => Entry::Shown(read(WHAT, content)?),
        KindRecord::MessageTaken => Entry::MessageTaken(read(WHAT, content)?),
        KindRecord::StatusUpdated {
            state,
            timestamp,
            displaced,
            metadata,
        } => Entry::StatusUpdated {
            event: Arc::new(TaskStatusUpdateEvent {
                task_id: task.clone(),
                context_id: context.clone(),
                status: TaskStatus {
                    state,
                    message: read_content(WHAT, content)?,
                    timestamp,
                },
                metadata,
            }),
            displaced: match displaced {
                KeepRecord::Append => Keep::Append,
                KeepRecord::AppendForOldest => Keep::AppendForOldestAgentMessage,
                KeepRecord::Drop => Keep::Drop,
            },
        },
        KindRecord::ArtifactUpdated {
            append,
            last_chunk,
            metadata,
        } => Entry::ArtifactUpdated(Arc::new(TaskArtifactUpdateEvent {
            task_id: task.clone(),
            context_id: context.clone(),
            artifact: read(WHAT, content)?,
            append,
            last_chunk,
            metadata,
        })),
    };
    Ok(LogEntry::new(Cursor { revision, mark }, previous, entry))
}

/// A configuration with what only 0.3 says of it.
#[derive(Serialize)]
struct ConfigRecord<'a> {
    #[serde(flatten)]
    config: &'a TaskPushNotificationConfig,
    #[serde(flatten)]
    registered: RegisteredRecord,
}

/// How a configuration was registered; by 1.0 unless it says something else.
#[derive(Serialize, Deserialize)]
struct RegisteredRecord {
    /// The version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    registered_in: Option<String>,
    /// All schemes that were named.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    schemes: Vec<String>,
}

fn registered(config: &TaskPushNotificationConfig) -> RegisteredRecord {
    let authentication = config.authentication.as_ref();
    RegisteredRecord {
        registered_in: (config.version != Version::V1_0).then(|| config.version.name().to_owned()),
        schemes: authentication
            .map(|info| info.schemes.clone())
            .unwrap_or_default(),
    }
}

/// Writes a configuration behind its row and a zero byte, which no id holds.
pub(crate) fn write_config(config: &StoredConfig) -> Vec<u8> {
    let mut bytes = config.row.as_str().as_bytes().to_vec();
    bytes.push(0);
    bytes.extend(write(&ConfigRecord {
        config: &config.config,
        registered: registered(&config.config),
    }));
    bytes
}

/// Reads a configuration.
pub(crate) fn read_config(stored: &[u8]) -> Result<StoredConfig, StoreError> {
    let broken = || StoreError::new("the record of a configuration has no row");
    let end = stored.iter().position(|byte| *byte == 0).ok_or_else(broken)?;
    let row = std::str::from_utf8(&stored[..end]).map_err(|_| broken())?;
    const WHAT: &str = "a configuration";
    let mut config: TaskPushNotificationConfig = read(WHAT, &stored[end + 1..])?;
    let registered: RegisteredRecord = read(WHAT, &stored[end + 1..])?;
    let version = registered.registered_in.as_deref().and_then(Version::parse);
    config.version = version.unwrap_or_default();
    if let Some(authentication) = &mut config.authentication {
        authentication.schemes = registered.schemes;
    }
    Ok(StoredConfig {
        row: PushNotificationConfigRow::new(row),
        config,
    })
}

/// The news of a task, as they are published and kept beside its head.
pub(crate) fn write_pulse(pulse: &Pulse) -> String {
    let (cursor, hidden) = (pulse.cursor, u8::from(pulse.hidden));
    format!(
        "{cursor} {} {} {hidden}",
        pulse.status_revision,
        pulse.state.number()
    )
}

/// Reads the news of a task; nothing where they are another release's, which are then looked up.
pub(crate) fn read_pulse(text: &str) -> Option<Pulse> {
    let mut parts = text.split(' ');
    let mut next = || parts.next();
    Some(Pulse {
        cursor: next()?.parse().ok()?,
        status_revision: next()?.parse().ok()?,
        state: TaskState::from_number(next()?.parse().ok()?)?,
        hidden: next()? == "1",
    })
}

#[cfg(test)]
mod tests {
    use gateway_domain::{
        Limits, Message, decide,
        decide::Stamp,
        lifecycle::Move,
        ports::{Change, Creation},
        request::AgentAction,
    };
    use gateway_testkit::build::{agent_message, artifact, config, moment, new_task, scope, user_message};

    use super::*;

    /// A log that holds every kind of entry, and the head after it.
    fn story() -> (TaskHead, Vec<Arc<LogEntry>>) {
        let mut new = new_task(TaskId::new("00-task"));
        new.hidden = true;
        new.scope = scope(Some("acme"), Some("ada"));
        let limits = Limits::default();
        let mut mark = 0;
        let mut stamp = || {
            mark += 0x1111_1111;
            Stamp {
                now: moment(i64::from(mark & 7)),
                mark,
            }
        };
        let Creation {
            head, entry, task, ..
        } = decide::create(new, &limits, stamp()).unwrap();
        let created = head;
        let (mut head, mut log) = (created.clone(), vec![entry]);
        let mut take = |change: Change| {
            log.push(change.entry);
            head = change.head;
            head.clone()
        };
        let chunk = |append, last_chunk| AgentAction::UpdateArtifact {
            artifact: artifact("a", "text"),
            append,
            last_chunk,
        };
        let shown = take(decide::show(&created, task, stamp()).unwrap());
        let working = AgentAction::Move(Move::Work, Some(agent_message("at it")));
        let at = take(decide::act(&shown, working, &limits, stamp()).unwrap());
        let at = take(decide::act(&at, chunk(false, false), &limits, stamp()).unwrap());
        let at = take(decide::act(&at, chunk(true, true), &limits, stamp()).unwrap());
        let asking = AgentAction::Move(Move::RequireInput, Some(agent_message("which?")));
        let at = take(decide::act(&at, asking, &limits, stamp()).unwrap());
        let at = take(decide::take_message(&at, user_message("that one"), &limits, stamp()).unwrap());
        take(decide::act(&at, AgentAction::Move(Move::Complete, None), &limits, stamp()).unwrap());
        (head, log)
    }

    #[test]
    fn heads_and_entries_of_every_kind_read_back_as_they_were() {
        let (head, log) = story();
        let said = write_content(head.status.message.as_ref());
        assert_eq!(read_head(&write_head(&head), &said).unwrap(), head);
        assert_eq!(log.len(), 8);
        for entry in log {
            let (meta, content) = write_entry(&entry);
            let (task, context) = (&head.id, &head.context_id);
            let read = read_entry(task, context, entry.cursor.revision, &meta, &content).unwrap();
            let parts = |entry: &LogEntry| (entry.cursor, entry.previous, entry.entry.clone());
            assert_eq!(parts(&read), parts(&entry));
        }
    }

    /// Records as this format's first release wrote them. Later releases must go on reading them.
    const HEAD: &str = concat!(
        r#"1{"id":"00-task","context":"context","scope":{"tenant":"acme","owner":"ada"},"hidden":false,"#,
        r#""state":"TASK_STATE_WORKING","timestamp":"2026-01-31T09:00:00.000Z","revision":3,"mark":7,"#,
        r#""status_revision":3,"client_messages":1,"agent_messages":0,"client_bytes":70,"agent_bytes":0,"#,
        r#""artifacts":[{"id":"a","closed":true,"weight":100}]}"#
    );
    const MESSAGE: &str = r#"1{"messageId":"m","role":"ROLE_AGENT","parts":[{"text":"at it"}]}"#;
    const STATUS: &str = concat!(
        r#"1{"mark":7,"kind":"status-updated","state":"TASK_STATE_WORKING","#,
        r#""timestamp":"2026-01-31T09:00:00.000Z","displaced":"append-for-oldest"}"#
    );
    const CONFIG: &str = concat!(
        "row\0",
        r#"1{"id":"hook","taskId":"00-task","url":"https://receiver.example/","token":"t"}"#
    );

    #[test]
    fn records_of_the_first_release_are_read() {
        let head = read_head(HEAD.as_bytes(), MESSAGE.as_bytes()).unwrap();
        assert_eq!(
            (head.cursor.to_string().as_str(), head.scope),
            ("3-00000007", scope(Some("acme"), Some("ada")))
        );
        assert_eq!(
            (head.status.timestamp, head.status.state),
            (moment(0), TaskState::Working)
        );
        assert_eq!(head.status.message.unwrap().first_text(), Some("at it"));
        assert_eq!((head.artifacts[0].closed, head.artifacts[0].weight), (true, 100));
        let entry = read_entry(
            &head.id,
            &head.context_id,
            3,
            STATUS.as_bytes(),
            MESSAGE.as_bytes(),
        )
        .unwrap();
        let Entry::StatusUpdated { event, displaced } = entry.entry else {
            panic!("it tells of a status");
        };
        assert_eq!(
            (displaced, event.status.state),
            (Keep::AppendForOldestAgentMessage, TaskState::Working)
        );
        let config = read_config(CONFIG.as_bytes()).unwrap();
        assert_eq!(
            (config.row.as_str(), config.config.token.as_deref()),
            ("row", Some("t"))
        );
    }

    #[test]
    fn a_record_is_written_as_the_first_release_did() {
        let message: Message = read("a message", MESSAGE.as_bytes()).unwrap();
        assert_eq!(write(&message), MESSAGE.as_bytes());
        let head = read_head(HEAD.as_bytes(), b"").unwrap();
        assert_eq!(String::from_utf8(write_head(&head)).unwrap(), HEAD);
        let config = read_config(CONFIG.as_bytes()).unwrap();
        assert_eq!(String::from_utf8(write_config(&config)).unwrap(), CONFIG);
    }

    #[test]
    fn a_configuration_keeps_the_version_it_was_registered_in_and_all_schemes_it_named() {
        let mut stored = config(&TaskId::new("00-task"), "hook");
        assert_eq!(read_config(&write_config(&stored)).unwrap(), stored);
        stored.config.version = Version::V0_3;
        stored.config.authentication.as_mut().unwrap().schemes = vec!["Digest".into(), "Bearer".into()];
        assert_eq!(read_config(&write_config(&stored)).unwrap(), stored);
    }

    #[test]
    fn another_format_and_a_broken_record_say_so_without_their_content() {
        let fault = |bytes: &[u8]| read::<Message>("a message", bytes).unwrap_err().cause;
        assert!(fault(b"2{}").contains("has format '2'"));
        assert!(fault(b"").contains("is empty"));
        let broken = fault(br#"1{"messageId":"secret","role":7000}"#);
        assert!(
            broken.contains("broken") && !broken.contains("secret"),
            "{broken}"
        );
    }

    #[test]
    fn news_read_back_and_other_texts_are_no_news() {
        let (head, _) = story();
        let pulse = head.pulse();
        assert_eq!(read_pulse(&write_pulse(&pulse)), Some(pulse));
        for text in ["", "1-00000000", "1-00000000 1 99 0", "1-00000000 1 1"] {
            assert_eq!(read_pulse(text), None, "{text}");
        }
    }
}
