//! What is asked of a run and what comes of it, as records.

use std::{borrow::Cow, time::Duration};

use gateway_domain::{
    Error, ErrorKind, Message, Operation, Outcome,
    error::{Violation, metadata},
    json::Object,
    ports::{AskedOffer, CancelAnswer, RunAnswer, RunAsk, StoreError},
};
use serde::{Deserialize, Serialize};

use super::{read, write};

#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
enum AskRecord {
    Offer(OfferRecord),
    Cancel { metadata: Option<Object> },
}

#[derive(Debug, Serialize, Deserialize)]
struct OfferRecord {
    message: usize,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    metadata: Option<Object>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    modes: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    extensions: Vec<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    follow_up: bool,
}

/// Writes what is asked.
pub(crate) fn write_ask(ask: &RunAsk) -> Vec<u8> {
    match ask {
        RunAsk::Offer(offer) => write_offer(offer),
        RunAsk::Cancel(metadata) => write(&AskRecord::Cancel {
            metadata: metadata.clone(),
        }),
    }
}

/// Writes what is kept of an offer.
pub(crate) fn write_offer(offer: &AskedOffer) -> Vec<u8> {
    write(&AskRecord::Offer(OfferRecord {
        message: offer.message,
        metadata: offer.metadata.clone(),
        modes: offer.accepted_output_modes.clone(),
        extensions: offer.extensions.clone(),
        follow_up: offer.follow_up,
    }))
}

/// Reads what is asked.
pub(crate) fn read_ask(stored: &[u8]) -> Result<RunAsk, StoreError> {
    Ok(match read("what is asked of a run", stored)? {
        AskRecord::Cancel { metadata } => RunAsk::Cancel(metadata),
        AskRecord::Offer(record) => RunAsk::Offer(AskedOffer {
            message: record.message,
            metadata: record.metadata,
            accepted_output_modes: record.modes,
            extensions: record.extensions,
            follow_up: record.follow_up,
        }),
    })
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
enum AnswerRecord<'a> {
    Taken,
    Message { message: Cow<'a, Message> },
    Failed(FailureRecord),
    Agreed,
    Refused,
    NoRun,
}

/// An error as it goes out. Its cause stays where it happened.
#[derive(Debug, Serialize, Deserialize)]
struct FailureRecord {
    error: String,
    text: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    violations: Vec<(String, String)>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    facts: Vec<(String, String)>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    retry_millis: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    outcome: Option<String>,
}

/// Writes an answer.
pub(crate) fn write_answer(answer: &RunAnswer) -> Vec<u8> {
    write(&match answer {
        RunAnswer::Taken => AnswerRecord::Taken,
        RunAnswer::Message(message) => AnswerRecord::Message {
            message: Cow::Borrowed(&**message),
        },
        RunAnswer::Failed(error) => AnswerRecord::Failed(failure(error)),
        RunAnswer::Cancel(CancelAnswer::Agreed) => AnswerRecord::Agreed,
        RunAnswer::Cancel(CancelAnswer::Refused) => AnswerRecord::Refused,
        RunAnswer::Cancel(CancelAnswer::NoRun) => AnswerRecord::NoRun,
    })
}

/// Reads an answer.
pub(crate) fn read_answer(stored: &[u8]) -> Result<RunAnswer, StoreError> {
    Ok(match read("the answer to what was asked of a run", stored)? {
        AnswerRecord::Taken => RunAnswer::Taken,
        AnswerRecord::Message { message } => RunAnswer::Message(std::sync::Arc::new(message.into_owned())),
        AnswerRecord::Failed(record) => RunAnswer::Failed(error(record)),
        AnswerRecord::Agreed => RunAnswer::Cancel(CancelAnswer::Agreed),
        AnswerRecord::Refused => RunAnswer::Cancel(CancelAnswer::Refused),
        AnswerRecord::NoRun => RunAnswer::Cancel(CancelAnswer::NoRun),
    })
}

fn failure(error: &Error) -> FailureRecord {
    let pair = |violation: &Violation| (violation.field.to_string(), violation.description.to_string());
    FailureRecord {
        error: error.kind().name().to_owned(),
        text: error.message().to_owned(),
        violations: error.violations().iter().map(pair).collect(),
        facts: error
            .facts()
            .iter()
            .map(|(key, value)| ((*key).to_owned(), value.clone()))
            .collect(),
        retry_millis: error
            .retry_delay()
            .and_then(|delay| u64::try_from(delay.as_millis()).ok()),
        outcome: error.decided_outcome().map(|outcome| outcome.name().to_owned()),
    }
}

/// A meaning that only a later release knows is told as a failure inside.
fn error(record: FailureRecord) -> Error {
    let kind = ErrorKind::ALL.iter().find(|kind| kind.name() == record.error);
    let Some(kind) = kind else {
        return Error::internal(format_args!(
            "the agent's run failed with {}, which this release does not know",
            record.error
        ));
    };
    let violations = record
        .violations
        .into_iter()
        .map(|(field, description)| Violation {
            field: field.into(),
            description: description.into(),
        });
    let mut error = Error::new(*kind, record.text).with_violations(violations.collect());
    for (key, value) in record.facts {
        if let Some(key) = metadata::ALL.iter().find(|known| **known == key) {
            error = error.with_metadata(key, value);
        }
    }
    if let Some(millis) = record.retry_millis {
        error = error.retry_after(Duration::from_millis(millis));
    }
    let outcomes = Outcome::of(Operation::SendStreamingMessage);
    match outcomes
        .iter()
        .find(|outcome| Some(outcome.name()) == record.outcome.as_deref())
    {
        Some(outcome) => error.outcome(*outcome),
        None => error,
    }
}

#[cfg(test)]
mod tests {
    use gateway_domain::MessageId;

    use super::*;

    #[test]
    fn what_is_asked_reads_back_as_it_was() {
        let metadata: Object = serde_json::from_str(r#"{"a": [1, {"b": null}]}"#).unwrap();
        for ask in [
            RunAsk::Cancel(None),
            RunAsk::Cancel(Some(metadata.clone())),
            RunAsk::Offer(AskedOffer {
                message: 3,
                metadata: Some(metadata),
                accepted_output_modes: vec!["text/plain".to_owned()],
                extensions: vec!["urn:x".to_owned()],
                follow_up: true,
            }),
        ] {
            assert_eq!(read_ask(&write_ask(&ask)).unwrap(), ask);
        }
    }

    #[test]
    fn what_the_first_release_asked_is_read() {
        let offer = read_ask(br#"1{"kind":"offer","message":1}"#).unwrap();
        assert!(matches!(
            offer,
            RunAsk::Offer(AskedOffer {
                message: 1,
                follow_up: false,
                ..
            })
        ));
        let cancel = read_ask(br#"1{"kind":"cancel","metadata":null}"#).unwrap();
        assert_eq!(cancel, RunAsk::Cancel(None));
    }

    #[test]
    fn an_answer_reads_back_with_everything_that_goes_out_and_without_its_cause() {
        let refusal = Error::invalid("message.parts", "must not be so many")
            .with_metadata(metadata::REQUIRED_EXTENSIONS, "urn:x")
            .retry_after(Duration::from_secs(2))
            .outcome(Outcome::ContentTypeNotSupported)
            .because("a secret of the agent's");
        let RunAnswer::Failed(read) =
            read_answer(&write_answer(&RunAnswer::Failed(refusal.clone()))).unwrap()
        else {
            panic!("it failed");
        };
        assert_eq!((read.kind(), read.message()), (refusal.kind(), refusal.message()));
        assert_eq!(
            (read.violations(), read.facts()),
            (refusal.violations(), refusal.facts())
        );
        assert_eq!(read.retry_delay(), refusal.retry_delay());
        assert_eq!(read.decided_outcome(), refusal.decided_outcome());
        assert_eq!(read.cause(), None);

        let message = std::sync::Arc::new(Message::agent_text(MessageId::new("m"), "hello"));
        let said = read_answer(&write_answer(&RunAnswer::Message(message.clone()))).unwrap();
        assert!(matches!(said, RunAnswer::Message(read) if read == message));
        for answer in [CancelAnswer::Agreed, CancelAnswer::Refused, CancelAnswer::NoRun] {
            let read = read_answer(&write_answer(&RunAnswer::Cancel(answer))).unwrap();
            assert!(matches!(read, RunAnswer::Cancel(read) if read == answer));
        }
    }

    #[test]
    fn an_error_of_a_later_release_is_a_failure_inside() {
        let later = br#"1{"kind":"failed","error":"Tired","text":"come tomorrow"}"#;
        let RunAnswer::Failed(read) = read_answer(later).unwrap() else {
            panic!("it failed");
        };
        assert_eq!(read.kind(), ErrorKind::Internal);
    }
}
