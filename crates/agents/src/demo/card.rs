//! What the demo agent's card says: who it is and which commands it knows.
//!
//! Where it can be called, and what the gateway adds to it, is for the gateway to fill in.

use gateway_domain::{
    AgentCard,
    card::{AgentCapabilities, AgentSkill},
};

/// Any type is taken, and given back; plain text first, since commands are texts.
const MODES: [&str; 2] = ["text/plain", "*/*"];

/// Id, name, description and an example of each command.
const COMMANDS: [(&str, &str, &str, &str); 14] = [
    (
        "echo",
        "any other message",
        "gives the message's parts back in an artifact, with the time in microseconds in front of its first text",
        "hello",
    ),
    (
        "say",
        "say TEXT",
        "completes at once with an artifact that holds the text",
        "say hello",
    ),
    (
        "direct",
        "direct",
        "answers with a message and makes no task",
        "direct",
    ),
    (
        "work",
        "work SECONDS",
        "works for so long, then completes with an artifact",
        "work 2.5",
    ),
    (
        "quiet",
        "quiet SECONDS",
        "reports nothing for so long, then completes",
        "quiet 2",
    ),
    (
        "chunks",
        "chunks COUNT [SECONDS]",
        "streams an artifact in so many chunks, with a pause of 1 or so many seconds between two",
        "chunks 5 0.2",
    ),
    (
        "burst",
        "burst COUNT",
        "reports so many numbered status updates without a pause, then completes",
        "burst 100",
    ),
    (
        "ask",
        "ask [COUNT]",
        "requires input 1 or so many times; the last answer completes the task and comes back in its artifact",
        "ask",
    ),
    (
        "auth",
        "auth",
        "requires credentials; goes on when the agent side moves the task on, or with the next message",
        "auth",
    ),
    ("fail", "fail", "ends the task as failed", "fail"),
    ("crash", "crash", "breaks off in the middle of its work", "crash"),
    (
        "late",
        "late",
        "completes, then reports two more updates, which are refused",
        "late",
    ),
    (
        "notime",
        "notime",
        "reports status updates and leaves their time to the gateway",
        "notime",
    ),
    (
        "bench",
        "bench [hold=MILLISECONDS] [chunks=COUNT] [size=BYTES]",
        "works for so long, then streams an artifact in so many chunks of so many bytes, each with the time in microseconds in front",
        "bench hold=100 chunks=3 size=64",
    ),
];

/// The demo agent's card, with no interfaces yet.
pub fn card() -> AgentCard {
    AgentCard {
        name: "Demo agent".to_owned(),
        description:
            "Obeys the text of the first message of a task, so that every way that a task can go can be tried out. \
                      A number beyond what it takes rejects the task, naming the bound."
                .to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        capabilities: AgentCapabilities {
            streaming: Some(true),
            push_notifications: Some(false),
            ..AgentCapabilities::default()
        },
        default_input_modes: modes(),
        default_output_modes: modes(),
        skills: skills(),
        ..AgentCard::default()
    }
}

/// The commands, one skill each.
pub fn skills() -> Vec<AgentSkill> {
    COMMANDS.into_iter().map(skill).collect()
}

fn skill((id, name, description, example): (&str, &str, &str, &str)) -> AgentSkill {
    AgentSkill {
        id: id.to_owned(),
        name: name.to_owned(),
        description: description.to_owned(),
        tags: vec!["demo".to_owned()],
        examples: vec![example.to_owned()],
        ..AgentSkill::default()
    }
}

fn modes() -> Vec<String> {
    MODES.map(str::to_owned).to_vec()
}

#[cfg(test)]
mod tests {
    use super::super::command::{Command, read};
    use super::COMMANDS;

    #[test]
    fn each_command_is_listed_with_an_example_that_is_read_as_it() {
        // Whoever adds a command has to add an arm here, and so comes across the card.
        let listed = |command: &Command| match command {
            Command::Echo => "echo",
            Command::Say(_) => "say",
            Command::Direct => "direct",
            Command::Work(_) => "work",
            Command::Quiet(_) => "quiet",
            Command::Chunks { .. } => "chunks",
            Command::Burst(_) => "burst",
            Command::Ask(_) => "ask",
            Command::Auth => "auth",
            Command::Fail => "fail",
            Command::Crash => "crash",
            Command::Late => "late",
            Command::NoTime => "notime",
            Command::Bench { .. } => "bench",
        };
        for (id, _, _, example) in COMMANDS {
            assert_eq!(read(example).as_ref().map(listed), Ok(id), "{example}");
        }
    }
}
