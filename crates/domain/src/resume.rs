//! The resume extension: every event of a stream says where it stands, and a stream can go on from there.
//!
//! It is the gateway's own, whatever the agent behind it knows. Without it a stream begins with the task (§3.1.6), and
//! a cursor that comes along is not looked at.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::{Cursor, Error, StreamResponse, card::AgentExtension, json::Object};

/// Declared by the card, activated by the caller, and the key of what events carry in their metadata.
pub const URI: &str = "urn:a2a-gateway:resume:v1";

/// Member of what an event carries: its cursor.
const CURSOR: &str = "cursor";
/// Member of what a task carries that a stream starts over with: why it does.
const STARTED_OVER: &str = "startedOver";

/// How a card declares it. Nobody has to use it.
pub fn extension() -> AgentExtension {
    AgentExtension {
        uri: URI.to_owned(),
        description:
            "Each event of a stream carries its cursor in its metadata, and SubscribeToTask goes on after \
                      the one that Last-Event-ID names."
                .to_owned(),
        required: false,
        params: None,
    }
}

/// A cursor as a caller sent it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SentCursor {
    /// Where it stood: the name of a header, of metadata or of a query parameter.
    pub field: &'static str,
    /// The text.
    pub text: String,
}

impl SentCursor {
    /// Reads it.
    ///
    /// # Errors
    /// InvalidParams naming the field.
    pub fn read(&self) -> Result<Cursor, Error> {
        let broken = |_| Error::invalid(self.field, "must be the cursor of an event, such as 12-00abcdef");
        self.text.parse().map_err(broken)
    }
}

/// Why a stream starts over with the task as it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StartedOver {
    /// The log no longer holds what followed the cursor.
    CursorTooOld,
    /// What was shown up to the cursor was lost since, or never happened: the task has gone another way.
    OtherTimeline,
}

impl StartedOver {
    /// The name, as events and metrics tell it.
    pub fn name(self) -> &'static str {
        match self {
            Self::CursorTooOld => "cursor-too-old",
            Self::OtherTimeline => "other-timeline",
        }
    }
}

/// The event with its cursor in its metadata, and why it starts the stream over, if it does. A direct message has no
/// place in a log, and stays as it is.
pub(crate) fn with_cursor(
    event: &StreamResponse,
    cursor: Cursor,
    started_over: Option<StartedOver>,
) -> StreamResponse {
    let mut mark = json!({ CURSOR: cursor.to_string() });
    if let Some(why) = started_over {
        mark[STARTED_OVER] = why.name().into();
    }
    let mut event = event.clone();
    match &mut event {
        StreamResponse::Task(task) => put(&mut Arc::make_mut(task).metadata, mark),
        StreamResponse::StatusUpdate(update) => put(&mut Arc::make_mut(update).metadata, mark),
        StreamResponse::ArtifactUpdate(update) => put(&mut Arc::make_mut(update).metadata, mark),
        StreamResponse::Message(_) => {}
    }
    event
}

fn put(metadata: &mut Option<Object>, mark: Value) {
    metadata.get_or_insert_default().insert(URI.to_owned(), mark);
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{SentCursor, StartedOver, URI, with_cursor};
    use crate::{Cursor, ErrorKind, Message, MessageId, StreamResponse};

    const CURSOR: Cursor = Cursor {
        revision: 12,
        mark: 0xab_cdef,
    };

    #[test]
    fn every_event_of_a_task_carries_its_cursor_beside_its_own_metadata() {
        let status = json!({ "state": "TASK_STATE_WORKING", "timestamp": "2026-01-31T09:05:07.250Z" });
        let task = json!({ "id": "t", "contextId": "c", "status": status, "metadata": { "own": 1 } });
        let update = json!({ "taskId": "t", "contextId": "c", "status": status, "metadata": { "own": 1 } });
        let chunk = json!({
            "taskId": "t", "contextId": "c", "artifact": { "artifactId": "a", "parts": [] }, "metadata": { "own": 1 },
        });
        for (name, content) in [
            ("task", task),
            ("statusUpdate", update),
            ("artifactUpdate", chunk),
        ] {
            let event: StreamResponse = serde_json::from_value(json!({ name: content })).unwrap();
            let carried = |started_over| {
                let marked = with_cursor(&event, CURSOR, started_over);
                serde_json::to_value(marked).unwrap()[name]["metadata"].clone()
            };
            assert_eq!(
                carried(None),
                json!({ "own": 1, URI: { "cursor": "12-00abcdef" } })
            );
            let told = json!({ "cursor": "12-00abcdef", "startedOver": "other-timeline" });
            assert_eq!(carried(Some(StartedOver::OtherTimeline))[URI], told);
        }
    }

    #[test]
    fn a_direct_message_carries_nothing() {
        let message = StreamResponse::Message(Message::agent_text(MessageId::new("m"), "hello").into());
        assert_eq!(with_cursor(&message, CURSOR, None), message);
    }

    #[test]
    fn a_broken_cursor_is_refused_by_the_name_of_its_place() {
        let sent = |text: &str| SentCursor {
            field: "last-event-id",
            text: text.to_owned(),
        };
        assert_eq!(sent("12-00abcdef").read().unwrap(), CURSOR);
        let error = sent("12").read().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidParams);
        assert_eq!(error.violations()[0].field, "last-event-id");
    }
}
