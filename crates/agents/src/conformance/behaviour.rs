//! What the suites of both versions expect, by the beginning of a message's id. The texts are those that they compare
//! with.
//!
//! An id comes again and again, for other tasks and within one: nothing may follow from having seen it before.

use std::time::Duration;

use gateway_domain::{
    MessageId, Part,
    lifecycle::Move::{self, Complete, Reject, RequireInput, Work},
    message,
};
use serde_json::json;

/// What a message leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Behaviour {
    /// A direct message with this text; no task.
    Answer(&'static str),
    /// A refusal, where the caller has not declared [`REQUIRED_EXTENSION`](super::REQUIRED_EXTENSION); else work.
    RequireExtension(&'static [Step]),
    /// Task work: the steps one after the other.
    Work(&'static [Step]),
}

/// One step of the work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Step {
    /// Into another state, with a text or without.
    Move(Move, Option<&'static str>),
    /// A whole artifact.
    Give(Content),
    /// The first chunk of the artifact.
    GiveFirst(Content),
    /// The last chunk of it.
    GiveLast(Content),
    /// Nothing, for so long.
    Pause(Duration),
}

/// What an artifact holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Content {
    /// A text.
    Text(&'static str),
    /// A text file, as bytes.
    File,
    /// A text file, by its address.
    FileUrl,
    /// An object with a text and a number.
    Data,
}

const BEGIN: Step = Step::Move(Work, None);
const END: Step = Step::Move(Complete, None);

/// Whatever of the suite of 1.0, whose ids all begin alike, is not in the table.
const USUAL: Behaviour = Behaviour::Work(COMPLETE);
const COMPLETE: &[Step] = &[Step::Move(Complete, Some("done"))];

/// How ids of the suite of 1.0 begin.
const OF_1_0: &str = "tck-";
/// Whatever is not of that suite: the one of 0.3 wants a task to stay open, to be worked at first and to wait then.
const OPEN: Behaviour = Behaviour::Work(&[
    BEGIN,
    Step::Pause(Duration::from_secs(3)),
    Step::Move(RequireInput, Some("what is next?")),
]);

/// By the beginning of a message's id; the longest that fits counts.
const TABLE: [(&str, Behaviour); 17] = [
    (
        "tck-complete-task",
        Behaviour::Work(&[Step::Move(Complete, Some("Hello from TCK"))]),
    ),
    (
        "tck-input-required",
        Behaviour::Work(&[Step::Move(RequireInput, Some("what is next?"))]),
    ),
    (
        "tck-message-response",
        Behaviour::Answer("Direct message response"),
    ),
    ("tck-cap-ext-004", Behaviour::RequireExtension(COMPLETE)),
    (
        "tck-reject-task",
        Behaviour::Work(&[Step::Move(Reject, Some("rejected"))]),
    ),
    (
        "tck-artifact-text",
        Behaviour::Work(&[Step::Give(Content::Text("Generated text content")), END]),
    ),
    (
        "tck-artifact-file",
        Behaviour::Work(&[Step::Give(Content::File), END]),
    ),
    (
        "tck-artifact-file-url",
        Behaviour::Work(&[Step::Give(Content::FileUrl), END]),
    ),
    (
        "tck-artifact-data",
        Behaviour::Work(&[Step::Give(Content::Data), END]),
    ),
    (
        "tck-stream-001",
        Behaviour::Work(&[BEGIN, Step::Give(Content::Text("Stream hello from TCK")), END]),
    ),
    ("tck-stream-002", Behaviour::Work(&[END])),
    (
        "tck-stream-003",
        Behaviour::Work(&[BEGIN, Step::Give(Content::Text("Stream task lifecycle")), END]),
    ),
    (
        "tck-stream-ordering-001",
        Behaviour::Work(&[BEGIN, Step::Give(Content::Text("Ordered output")), END]),
    ),
    (
        "tck-stream-artifact-text",
        Behaviour::Work(&[BEGIN, Step::Give(Content::Text("Streamed text content")), END]),
    ),
    (
        "tck-stream-artifact-file",
        Behaviour::Work(&[BEGIN, Step::Give(Content::File), END]),
    ),
    (
        "tck-stream-artifact-chunked",
        Behaviour::Work(&[
            BEGIN,
            Step::GiveFirst(Content::Text("chunk-1 ")),
            Step::GiveLast(Content::Text("chunk-2")),
            END,
        ]),
    ),
    // More than twice as long as the suite of 0.3 reads a stream before it comes back.
    (
        "test-resubscribe-message-id",
        Behaviour::Work(&[BEGIN, Step::Pause(Duration::from_secs(12)), END]),
    ),
];

/// What a message leads to.
pub(super) fn of(id: &MessageId) -> &'static Behaviour {
    const ROWS: &[(&str, Behaviour)] = &TABLE;
    let fitting = ROWS.iter().filter(|(begin, _)| id.as_str().starts_with(begin));
    let longest = fitting.max_by_key(|(begin, _)| begin.len());
    match longest {
        Some((_, behaviour)) => behaviour,
        None if id.as_str().starts_with(OF_1_0) => &USUAL,
        None => &OPEN,
    }
}

impl Content {
    pub(super) fn part(self) -> Part {
        let file = |content| Part {
            content: Some(content),
            filename: Some("output.txt".to_owned()),
            media_type: Some("text/plain".to_owned()),
            ..Part::default()
        };
        match self {
            Self::Text(text) => Part::text(text),
            Self::File => file(message::Content::Raw(b"Generated file content".as_slice().into())),
            Self::FileUrl => file(message::Content::Url("https://example.com/output.txt".to_owned())),
            Self::Data => Part {
                content: Some(message::Content::Data(json!({ "key": "value", "count": 42 }))),
                ..Part::default()
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use gateway_domain::MessageId;

    use super::{Behaviour, Content, OPEN, Step, TABLE, USUAL, of};

    #[test]
    fn the_longest_beginning_counts_and_what_follows_it_does_not() {
        for (begin, behaviour) in &TABLE {
            for after in ["", "-0a1b2c3d", "-0a1b2c3d-http_json"] {
                assert_eq!(of(&MessageId::new(format!("{begin}{after}"))), behaviour);
            }
        }
        let file = |id| match of(&MessageId::new(id)) {
            Behaviour::Work([Step::Give(content), _]) => *content,
            other => panic!("{other:?}"),
        };
        assert_eq!(file("tck-artifact-file-0a1b2c3d"), Content::File);
        assert_eq!(file("tck-artifact-file-url-0a1b2c3d"), Content::FileUrl);
    }

    #[test]
    fn any_other_id_of_the_suite_of_1_0_completes_with_a_text_and_all_others_stay_open() {
        for (id, behaviour) in [
            ("tck-send-003-0a1b2c3d", &USUAL),
            ("tck-", &USUAL),
            ("complete-task", &OPEN),
            ("test-state-message-id-1", &OPEN),
            ("", &OPEN),
        ] {
            assert_eq!(of(&MessageId::new(id)), behaviour, "{id}");
        }
    }
}
