//! The commands of the demo agent: their texts, and their bounds.
//!
//! A text that has not exactly the form of a command is no command. One that has it, with a number beyond its bound,
//! is refused with a text that names the bound.

use std::time::Duration;

/// The longest pause.
const MOST_SECONDS: u64 = 3600;
/// The most chunks, or updates of a burst.
const MOST_UPDATES: u64 = 100_000;
/// The most questions.
const MOST_QUESTIONS: u64 = 100;
/// The longest text of a chunk, in bytes.
const MOST_BYTES: u64 = 1 << 20;

/// What a text tells the agent to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Command {
    /// No command: give the message back.
    Echo,
    /// Complete with one artifact that holds the text, every character of it.
    Say(String),
    /// Answer with a message, without a task.
    Direct,
    /// Work for a while, then complete.
    Work(Duration),
    /// Say nothing for a while, then complete.
    Quiet(Duration),
    /// One artifact in so many pieces, with a pause between two.
    Chunks {
        /// How many.
        count: u64,
        /// How long.
        pause: Duration,
    },
    /// So many status updates without a pause.
    Burst(u64),
    /// So many questions, each to be answered.
    Ask(u64),
    /// Wait for credentials.
    Auth,
    /// End as failed.
    Fail,
    /// Break in the middle.
    Crash,
    /// Report on after the end.
    Late,
    /// Leave the time of each update to the gateway.
    NoTime,
    /// Hold the task in Working, then send so many chunks of so many bytes.
    Bench {
        /// How long.
        hold: Duration,
        /// How many.
        chunks: u64,
        /// How long each, without its stamp.
        size: u64,
    },
}

/// Reads a command.
///
/// # Errors
/// A text that names the bound that a number is beyond.
pub(super) fn read(text: &str) -> Result<Command, String> {
    let command = recognise(text).unwrap_or(Command::Echo);
    match command.excess() {
        None => Ok(command),
        Some(excess) => Err(excess),
    }
}

fn recognise(text: &str) -> Option<Command> {
    if let Some(said) = text.strip_prefix("say ") {
        return Some(Command::Say(said.to_owned()));
    }
    let mut words = text.split_whitespace();
    // One word more than the longest form has, so that nothing goes on behind it.
    let form = [words.next(), words.next(), words.next(), words.next()];
    Some(match form {
        [Some("direct"), None, ..] => Command::Direct,
        [Some("work"), Some(time), None, _] => Command::Work(seconds(time)?),
        [Some("quiet"), Some(time), None, _] => Command::Quiet(seconds(time)?),
        [Some("chunks"), Some(count), None, _] => Command::Chunks {
            count: whole(count)?,
            pause: Duration::from_secs(1),
        },
        [Some("chunks"), Some(count), Some(pause), None] => Command::Chunks {
            count: whole(count)?,
            pause: seconds(pause)?,
        },
        [Some("burst"), Some(count), None, _] => Command::Burst(whole(count)?),
        [Some("ask"), None, ..] => Command::Ask(1),
        [Some("ask"), Some(count), None, _] => Command::Ask(whole(count)?),
        [Some("auth"), None, ..] => Command::Auth,
        [Some("fail"), None, ..] => Command::Fail,
        [Some("crash"), None, ..] => Command::Crash,
        [Some("late"), None, ..] => Command::Late,
        [Some("notime"), None, ..] => Command::NoTime,
        [Some("bench"), Some(_), ..] => bench(text)?,
        _ => return None,
    })
}

/// `bench KEY=VALUE …`; a key that is not known makes it no command.
fn bench(text: &str) -> Option<Command> {
    let (mut hold, mut chunks, mut size) = (0, 1, 0);
    for word in text.split_whitespace().skip(1) {
        let (key, value) = word.split_once('=')?;
        let slot = match key {
            "hold" => &mut hold,
            "chunks" => &mut chunks,
            "size" => &mut size,
            _ => return None,
        };
        *slot = whole(value)?;
    }
    Some(Command::Bench {
        hold: Duration::from_millis(hold),
        chunks,
        size,
    })
}

/// A number without sign or fraction; one that is too long to be counted is as good as the largest.
fn whole(word: &str) -> Option<u64> {
    let digits = !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| word.parse().unwrap_or(u64::MAX))
}

/// Seconds, with or without a fraction.
fn seconds(word: &str) -> Option<Duration> {
    let (whole_part, fraction) = word.split_once('.').unwrap_or((word, "0"));
    whole(whole_part)?;
    whole(fraction)?;
    let number = word.parse().ok()?;
    Some(Duration::try_from_secs_f64(number).unwrap_or(Duration::MAX))
}

impl Command {
    /// What is beyond its bound, and the bound.
    fn excess(&self) -> Option<String> {
        match *self {
            Self::Work(time) | Self::Quiet(time) => pause(time),
            Self::Chunks { count, pause: time } => updates(count).or_else(|| pause(time)),
            Self::Burst(count) => updates(count),
            Self::Ask(count) => number("questions", count, 1, MOST_QUESTIONS),
            Self::Bench { hold, chunks, size } => pause(hold)
                .or_else(|| updates(chunks))
                .or_else(|| number("bytes", size, 0, MOST_BYTES)),
            _ => None,
        }
    }
}

fn pause(time: Duration) -> Option<String> {
    let most = Duration::from_secs(MOST_SECONDS);
    (time > most).then(|| format!("the agent waits at most {MOST_SECONDS} seconds"))
}

fn updates(count: u64) -> Option<String> {
    number("updates", count, 1, MOST_UPDATES)
}

fn number(of: &str, count: u64, least: u64, most: u64) -> Option<String> {
    (!(least..=most).contains(&count)).then(|| format!("the agent takes {least} to {most} {of}, not {count}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chunks(count: u64, pause: f64) -> Command {
        Command::Chunks {
            count,
            pause: Duration::from_secs_f64(pause),
        }
    }

    fn bench(hold: u64, chunks: u64, size: u64) -> Command {
        Command::Bench {
            hold: Duration::from_millis(hold),
            chunks,
            size,
        }
    }

    #[test]
    fn a_text_in_the_form_of_a_command_is_one() {
        for (text, command) in [
            ("say hi", Command::Say("hi".into())),
            ("direct", Command::Direct),
            ("work 5", Command::Work(Duration::from_secs(5))),
            ("work 0.25", Command::Work(Duration::from_millis(250))),
            ("  work   5\n", Command::Work(Duration::from_secs(5))),
            ("quiet 90", Command::Quiet(Duration::from_secs(90))),
            ("chunks 3", chunks(3, 1.0)),
            ("chunks 3 0", chunks(3, 0.0)),
            ("chunks 3 0.5", chunks(3, 0.5)),
            ("burst 500", Command::Burst(500)),
            ("ask", Command::Ask(1)),
            ("ask 3", Command::Ask(3)),
            ("auth", Command::Auth),
            ("fail", Command::Fail),
            ("crash", Command::Crash),
            ("late", Command::Late),
            ("notime", Command::NoTime),
            ("bench hold=40 chunks=3 size=7", bench(40, 3, 7)),
            ("bench size=7", bench(0, 1, 7)),
        ] {
            assert_eq!(read(text), Ok(command), "{text:?}");
        }
    }

    #[test]
    fn any_other_text_is_echoed() {
        for text in [
            "",
            "hello",
            "say",
            "Say hi",
            "work",
            "work hard",
            "work 5 more",
            "work -1",
            "work 1e3",
            "work .5",
            "work inf",
            "work NaN",
            "chunks 1.5",
            "chunks 3 1 1",
            "burst x",
            "ask me something",
            "direct me to the station",
            "bench",
            "bench press",
            "bench hold=4 colour=red",
            "bench hold=soon",
        ] {
            assert_eq!(read(text), Ok(Command::Echo), "{text:?}");
        }
    }

    #[test]
    fn say_keeps_every_character() {
        let said = " line1\nline2\r\ndata: x\n\nevent: y\u{2028}end ";
        assert_eq!(read(&format!("say {said}")), Ok(Command::Say(said.into())));
    }

    #[test]
    fn a_number_at_its_bound_is_taken_and_one_beyond_is_refused_naming_it() {
        for (at, beyond, bound) in [
            ("work 3600", "work 3600.001", "3600"),
            ("quiet 3600", "quiet 99999999999999999999999999", "3600"),
            ("chunks 100000", "chunks 100001", "100000"),
            ("chunks 1 3600", "chunks 1 3601", "3600"),
            ("chunks 1", "chunks 0", "1 to"),
            ("burst 100000", "burst 99999999999999999999999999", "100000"),
            ("ask 100", "ask 101", "100"),
            ("bench hold=3600000", "bench hold=3600001", "3600"),
            ("bench chunks=100000", "bench chunks=100001", "100000"),
            ("bench size=1048576", "bench size=1048577", "1048576"),
        ] {
            assert!(read(at).is_ok(), "{at}");
            let refusal = read(beyond).unwrap_err();
            assert!(refusal.contains(bound), "{beyond}: {refusal}");
        }
    }
}
