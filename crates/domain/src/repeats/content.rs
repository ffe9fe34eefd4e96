//! What a message says, in a few bytes. The same whatever binding it came over; it has no secret and proves nothing.

use std::{fmt, str::FromStr};

use serde_json::{Number, Value};
use sha2::{Digest, Sha256};

use crate::{Content, Message, Part, json::Object};

/// Bytes of a digest: enough for messages that one sender gave the same id.
const BYTES: usize = 16;

/// The digest of everything in a message but its id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ContentDigest([u8; BYTES]);

impl ContentDigest {
    /// Digests a message as its sender sent it.
    pub fn of(message: &Message) -> Self {
        let mut feed = Feed(Sha256::new());
        feed.message(message);
        let whole = feed.0.finalize();
        let mut digest = [0; BYTES];
        digest.copy_from_slice(&whole[..BYTES]);
        Self(digest)
    }
}

impl fmt::Display for ContentDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// The text was no digest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotADigest;

impl FromStr for ContentDigest {
    type Err = NotADigest;

    fn from_str(text: &str) -> Result<Self, NotADigest> {
        let bytes = text.as_bytes();
        if bytes.len() != 2 * BYTES {
            return Err(NotADigest);
        }
        let mut digest = [0; BYTES];
        for (byte, pair) in digest.iter_mut().zip(bytes.chunks_exact(2)) {
            let pair = std::str::from_utf8(pair).map_err(|_| NotADigest)?;
            *byte = u8::from_str_radix(pair, 16).map_err(|_| NotADigest)?;
        }
        Ok(Self(digest))
    }
}

/// Feeds values so that no two different ones give the same bytes: kinds are marked, lengths stand before contents.
struct Feed(Sha256);

impl Feed {
    fn message(&mut self, message: &Message) {
        // Named one by one, so that a new field cannot be forgotten here.
        let Message {
            message_id: _,
            context_id,
            task_id,
            role,
            parts,
            metadata,
            extensions,
            reference_task_ids,
        } = message;
        self.optional(context_id.as_ref().map(|id| id.as_str()));
        self.optional(task_id.as_ref().map(|id| id.as_str()));
        self.text(role.name());
        self.count(parts.len());
        parts.iter().for_each(|part| self.part(part));
        self.object(metadata.as_ref());
        self.count(extensions.len());
        extensions.iter().for_each(|uri| self.text(uri));
        self.count(reference_task_ids.len());
        reference_task_ids.iter().for_each(|id| self.text(id.as_str()));
    }

    fn part(&mut self, part: &Part) {
        let Part {
            content,
            metadata,
            filename,
            media_type,
        } = part;
        match content {
            None => self.mark(b'0'),
            Some(Content::Text(text)) => self.marked(b't', text.as_bytes()),
            Some(Content::Raw(bytes)) => self.marked(b'r', bytes),
            Some(Content::Url(url)) => self.marked(b'u', url.as_bytes()),
            Some(Content::Data(value)) => {
                self.mark(b'd');
                self.value(value);
            }
        }
        self.object(metadata.as_ref());
        self.optional(filename.as_deref());
        self.optional(media_type.as_deref());
    }

    fn value(&mut self, value: &Value) {
        match value {
            Value::Null => self.mark(b'z'),
            Value::Bool(flag) => self.mark(if *flag { b'y' } else { b'n' }),
            Value::Number(number) => self.number(number),
            Value::String(text) => self.marked(b's', text.as_bytes()),
            Value::Array(items) => {
                self.mark(b'a');
                self.count(items.len());
                items.iter().for_each(|item| self.value(item));
            }
            Value::Object(object) => self.object(Some(object)),
        }
    }

    /// Members in the order of their names, whatever order they came in.
    fn object(&mut self, object: Option<&Object>) {
        let Some(object) = object else {
            return self.mark(b'0');
        };
        let mut members: Vec<_> = object.iter().collect();
        members.sort_by_key(|(name, _)| *name);
        self.mark(b'o');
        self.count(members.len());
        for (name, value) in members {
            self.text(name);
            self.value(value);
        }
    }

    /// One binding writes 1 as an integer and another as a double: they are the same where a double holds it exactly.
    fn number(&mut self, number: &Number) {
        const EXACT: u64 = 1 << 53;
        let exact = match (number.as_i64(), number.as_u64()) {
            (Some(integer), _) => integer.unsigned_abs() <= EXACT,
            (None, Some(integer)) => integer <= EXACT,
            (None, None) => true,
        };
        match number.as_f64().filter(|_| exact) {
            Some(double) => self.marked(b'f', &double.to_bits().to_be_bytes()),
            None => self.marked(b'i', number.to_string().as_bytes()),
        }
    }

    fn optional(&mut self, text: Option<&str>) {
        match text {
            None => self.mark(b'0'),
            Some(text) => self.marked(b's', text.as_bytes()),
        }
    }

    fn text(&mut self, text: &str) {
        self.marked(b's', text.as_bytes());
    }

    fn marked(&mut self, mark: u8, bytes: &[u8]) {
        self.mark(mark);
        self.count(bytes.len());
        self.0.update(bytes);
    }

    fn count(&mut self, count: usize) {
        self.0.update((count as u64).to_be_bytes());
    }

    fn mark(&mut self, mark: u8) {
        self.0.update([mark]);
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use serde_json::json;

    use super::ContentDigest;
    use crate::{Content, ContextId, Message, MessageId, Part, Role, TaskId};

    fn said(content: Content) -> Message {
        let part = Part {
            content: Some(content),
            ..Part::default()
        };
        Message {
            role: Role::User,
            parts: vec![part],
            ..Message::agent_text(MessageId::new("m"), "")
        }
    }

    #[test]
    fn messages_that_differ_in_anything_but_their_id_have_digests_of_their_own() {
        let base = said(Content::Text("a".into()));
        let change = |alter: &dyn Fn(&mut Message)| {
            let mut message = base.clone();
            alter(&mut message);
            ContentDigest::of(&message)
        };
        let object = |value: serde_json::Value| value.as_object().cloned();
        let digests = [
            ContentDigest::of(&base),
            change(&|message| message.context_id = Some(ContextId::new("a"))),
            change(&|message| message.task_id = Some(TaskId::new("a"))),
            change(&|message| message.role = Role::Agent),
            change(&|message| message.parts.push(Part::text(""))),
            change(&|message| message.parts[0].content = Some(Content::Url("a".into()))),
            change(&|message| message.parts[0].content = Some(Content::Raw(Bytes::from_static(b"a")))),
            change(&|message| message.parts[0].content = Some(Content::Data(json!("a")))),
            change(&|message| message.parts[0].filename = Some("a".into())),
            change(&|message| message.parts[0].media_type = Some("a".into())),
            change(&|message| message.parts[0].metadata = object(json!({"a": 1}))),
            change(&|message| message.metadata = object(json!({"a": 1}))),
            change(&|message| message.metadata = object(json!({"a": [1]}))),
            change(&|message| message.metadata = object(json!({}))),
            change(&|message| message.extensions = vec!["a".into()]),
            change(&|message| message.reference_task_ids = vec![TaskId::new("a")]),
        ];
        for (at, digest) in digests.iter().enumerate() {
            assert_eq!(digests.iter().position(|other| other == digest), Some(at));
        }
        assert_eq!(
            change(&|message| message.message_id = MessageId::new("another")),
            digests[0]
        );
    }

    #[test]
    fn a_number_is_the_same_in_every_notation_and_large_ones_stay_apart() {
        let of = |value| ContentDigest::of(&said(Content::Data(value)));
        assert_eq!(
            of(json!({"b": 1, "a": [0, -5]})),
            of(json!({"a": [0.0, -5.0], "b": 1.0}))
        );
        assert_ne!(
            of(json!(9_007_199_254_740_993_u64)),
            of(json!(9_007_199_254_740_992_u64))
        );
        assert_ne!(of(json!(1)), of(json!("1")));
        assert_ne!(of(json!([[], 1])), of(json!([[1]])));
    }

    #[test]
    fn a_digest_reads_back_and_other_texts_do_not() {
        let digest = ContentDigest::of(&said(Content::Text("a".into())));
        assert_eq!(digest.to_string().parse(), Ok(digest));
        for text in ["", "00", &"g".repeat(32), &"0".repeat(33), &"é".repeat(16)] {
            assert!(text.parse::<ContentDigest>().is_err(), "{text}");
        }
    }
}
