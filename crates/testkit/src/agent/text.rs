//! Scripts as texts, for tests that reach the agent over the wire: `script NAME [SETTING]`.
//!
//! `script events [...]` takes a JSON list: `{"state": "TASK_STATE_WORKING", "text": "…"}` (or a whole `message`),
//! `{"artifact": {…}, "append": true, "lastChunk": true}`, `{"pause": SECONDS}`. A name that is not known is an error
//! for the client, so that a slip in a test's data is seen.

use std::time::Duration;

use gateway_domain::{
    Artifact, Error, ErrorKind, Message, MessageId, Role, TaskState, lifecycle::Move, request::AgentAction,
};
use serde::Deserialize;

use super::{OnCancel, Reply, Script, Step};

/// Makes a script of what stands behind its name.
type Maker = fn(&str) -> Result<Script, String>;

/// Every script by name. A number behind the name is in seconds.
const SCRIPTS: [(&str, Maker); 12] = [
    // A direct message, only after 3 seconds.
    ("direct-late", |rest| late(Script::answer(message()), rest, 3.0)),
    // Task work, taken only after 3 seconds, and done at once.
    ("accept-late", |rest| {
        late(Script::accept([Step::moves(Move::Complete)]), rest, 3.0)
    }),
    // An error, by its name.
    ("refuse", |rest| Ok(Script::answer(Reply::Refuse(error(rest)?)))),
    // The agent's own word on a context.
    ("refuse-context", |_| {
        Ok(Script::answer(Reply::Refuse(error("ContextNotAccepted")?)))
    }),
    // An answer outside the protocol.
    ("outside", |_| Ok(Script::answer(Reply::OutsideProtocol))),
    // No answer.
    ("unreachable", |_| Ok(Script::answer(Reply::Unreachable))),
    // Work for 60 seconds that cannot be stopped, …
    ("no-cancel", |rest| Ok(long(rest)?.on_cancel(OnCancel::Refuse))),
    // … or that a cancel leaves without an answer, …
    ("silent-cancel", |rest| {
        Ok(long(rest)?.on_cancel(OnCancel::Silence))
    }),
    // … or that a cancel makes end in another way.
    ("complete-on-cancel", |rest| {
        Ok(long(rest)?.on_cancel(OnCancel::End(Move::Complete)))
    }),
    ("fail-on-cancel", |rest| {
        Ok(long(rest)?.on_cancel(OnCancel::End(Move::Fail)))
    }),
    // Work that begins and breaks off.
    ("break", |_| {
        Ok(Script::accept([Step::moves(Move::Work), Step::Break]))
    }),
    // Exactly these reports.
    ("events", events),
];

/// Reads a script; nothing where the text is for the demo agent.
pub fn read(text: &str) -> Option<Result<Script, String>> {
    let call = text.strip_prefix("script ")?;
    let (name, rest) = call.split_once(char::is_whitespace).unwrap_or((call, ""));
    let known = SCRIPTS.iter().find(|(known, _)| *known == name);
    Some(match known {
        Some((_, maker)) => maker(rest.trim()).map_err(|fault| format!("script {name}: {fault}")),
        None => {
            let names: Vec<_> = SCRIPTS.iter().map(|(name, _)| *name).collect();
            Err(format!("there is no script {name:?}, only {}", names.join(", ")))
        }
    })
}

fn message() -> Reply {
    Reply::Message("a scripted answer".to_owned())
}

fn late(script: Script, seconds: &str, default: f64) -> Result<Script, String> {
    Ok(script.after([Step::Pause(pause(seconds, default)?)]))
}

fn long(seconds: &str) -> Result<Script, String> {
    let time = pause(seconds, 60.0)?;
    Ok(Script::accept([
        Step::moves(Move::Work),
        Step::Pause(time),
        Step::moves(Move::Complete),
    ]))
}

fn pause(seconds: &str, default: f64) -> Result<Duration, String> {
    let seconds = if seconds.is_empty() {
        Ok(default)
    } else {
        seconds.parse()
    };
    seconds
        .ok()
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        .ok_or_else(|| "a number of seconds is wanted".to_owned())
}

fn error(name: &str) -> Result<Error, String> {
    let kind = ErrorKind::ALL.iter().find(|kind| kind.name() == name);
    kind.map(|kind| Error::new(*kind, "refused by the script"))
        .ok_or_else(|| format!("there is no error {name:?}"))
}

fn events(list: &str) -> Result<Script, String> {
    let reports: Vec<Report> = serde_json::from_str(list).map_err(|error| error.to_string())?;
    let steps = reports
        .into_iter()
        .enumerate()
        .map(|(index, report)| report.step(index));
    Ok(Script::accept(steps.collect::<Result<Vec<_>, _>>()?))
}

/// One report as test data writes it.
#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
struct Report {
    state: Option<TaskState>,
    message: Option<Message>,
    text: Option<String>,
    artifact: Option<Artifact>,
    append: bool,
    last_chunk: bool,
    pause: Option<f64>,
}

impl Report {
    fn step(self, index: usize) -> Result<Step, String> {
        let id = MessageId::new(format!("event-{}", index + 1));
        let text = self.text.map(|text| Message::agent_text(id.clone(), text));
        let message = self.message.map(|message| completed(message, id)).or(text);
        match (self.state, self.artifact, self.pause) {
            (Some(state), None, None) => Ok(Step::Act(match Move::to(state) {
                Some(step) => AgentAction::Move(step, message),
                None => AgentAction::ReportProgress(message),
            })),
            (None, Some(artifact), None) => Ok(Step::Act(AgentAction::UpdateArtifact {
                artifact,
                append: self.append,
                last_chunk: self.last_chunk,
            })),
            (None, None, Some(seconds)) => Duration::try_from_secs_f64(seconds)
                .map(Step::Pause)
                .map_err(|error| error.to_string()),
            _ => Err(format!(
                "report {index} must have one of state, artifact and pause"
            )),
        }
    }
}

/// Test data may leave out what is the same in every message.
fn completed(mut message: Message, id: MessageId) -> Message {
    message.role = Role::Agent;
    if message.message_id.as_str().is_empty() {
        message.message_id = id;
    }
    message
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_script_can_be_called_by_its_name() {
        for (name, _) in SCRIPTS {
            let setting = match name {
                "refuse" => " ContentTypeNotSupported",
                "events" => " []",
                _ => "",
            };
            assert!(
                read(&format!("script {name}{setting}")).unwrap().is_ok(),
                "{name}"
            );
        }
    }

    #[test]
    fn reports_are_done_exactly_as_they_are_written() {
        let text = r#"script events [
            {"state": "TASK_STATE_WORKING", "text": "on it"},
            {"artifact": {"artifactId": "a", "parts": [{"text": "one"}]}, "append": true, "lastChunk": true},
            {"pause": 0.5},
            {"state": "TASK_STATE_COMPLETED"}
        ]"#;
        let run = read(text).unwrap().unwrap().run;
        let on_it = Message::agent_text(MessageId::new("event-1"), "on it");
        assert_eq!(
            run,
            [
                Step::Act(AgentAction::Move(Move::Work, Some(on_it))),
                Step::chunk("a", "one", true, true),
                Step::Pause(Duration::from_millis(500)),
                Step::moves(Move::Complete),
            ]
        );
    }

    #[test]
    fn a_slip_in_a_script_is_told() {
        for text in [
            "script nothing",
            "script refuse Nothing",
            "script direct-late soon",
            "script events",
            "script events {}",
            r#"script events [{"colour": "red"}]"#,
            r#"script events [{"state": "TASK_STATE_WORKING", "pause": 1}]"#,
            r#"script events [{}]"#,
        ] {
            assert!(read(text).unwrap().is_err(), "{text}");
        }
        assert!(read("say script").is_none());
    }
}
