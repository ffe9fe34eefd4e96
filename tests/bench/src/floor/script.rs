//! What the text of a message asks the floor to send, step by step.

use std::sync::Arc;

/// An event to send, before it is written in a binding's form.
#[derive(Clone)]
pub enum Step {
    Working,
    Artifact {
        text: Arc<str>,
        append: bool,
        last: bool,
    },
    Completed,
}

/// What the message text asks for.
pub struct Script {
    pub hold_ms: u64,
    pub chunks: usize,
    body: String,
}

impl Script {
    pub fn parse(text: &str) -> Self {
        let mut script = Script {
            hold_ms: 0,
            chunks: 1,
            body: "hello".into(),
        };
        let words = text.strip_prefix("bench ").unwrap_or_default().split_whitespace();
        for (key, value) in words.filter_map(|word| word.split_once('=')) {
            let number: usize = value.parse().unwrap_or(0);
            match key {
                "hold" => script.hold_ms = (number as u64).min(60_000),
                "chunks" => script.chunks = number.clamp(1, 10_000),
                "size" => script.body = "x".repeat(number.min(1 << 20)),
                _ => {}
            }
        }
        script
    }

    /// The artifact events and the final one; the stamps are taken as the iterator runs.
    pub fn steps(self) -> impl Iterator<Item = Step> + Send + 'static {
        let Script { chunks, body, .. } = self;
        let artifacts = (0..chunks).map(move |i| Step::Artifact {
            text: format!("t={};{body}", crate::now_us()).into(),
            append: i > 0,
            last: i + 1 == chunks,
        });
        artifacts.chain([Step::Completed])
    }
}
