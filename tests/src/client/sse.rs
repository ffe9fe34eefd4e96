//! Reads an event stream as a careful client does, and stricter: what the gateway writes has one form only.

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::Incoming;

/// Reads events from a response's body.
pub struct SseReader {
    body: Incoming,
    held: Vec<u8>,
    comments: usize,
    /// Every byte so far, for tests of the framing.
    pub seen: Vec<u8>,
}

/// One event of an event stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SseEvent {
    /// The `id:` line.
    pub id: Option<String>,
    /// The `data:` lines, joined.
    pub data: String,
}

impl SseReader {
    /// Reads from the first byte.
    pub fn new(body: Incoming) -> Self {
        Self {
            body,
            held: Vec::new(),
            comments: 0,
            seen: Vec::new(),
        }
    }

    /// Comments seen between events so far.
    pub fn comments(&self) -> usize {
        self.comments
    }

    /// The next event; nothing at an orderly end.
    ///
    /// # Errors
    /// A text where the connection broke, or broke off within an event.
    pub async fn next(&mut self) -> Result<Option<SseEvent>, String> {
        loop {
            while let Some(block) = self.block() {
                if block.lines().all(|line| line.starts_with(':')) {
                    self.comments += 1;
                    continue;
                }
                return Ok(Some(parse(&block)));
            }
            match self.chunk().await? {
                Some(chunk) => self.held.extend_from_slice(&chunk),
                None if self.held.is_empty() => return Ok(None),
                None => return Err(format!("the stream ended within {:?}", self.held)),
            }
        }
    }

    /// Waits until a comment was read; fails when an event comes first.
    pub async fn next_comment(&mut self) {
        let before = self.comments;
        while self.comments == before {
            match self.block() {
                Some(block) if block.lines().all(|line| line.starts_with(':')) => self.comments += 1,
                Some(block) => panic!("an event instead of a comment: {block}"),
                None => match self.chunk().await.unwrap() {
                    Some(chunk) => self.held.extend_from_slice(&chunk),
                    None => panic!("the stream ended instead of a comment"),
                },
            }
        }
    }

    async fn chunk(&mut self) -> Result<Option<Bytes>, String> {
        while let Some(frame) = self.body.frame().await {
            let frame = frame.map_err(|error| format!("the connection broke: {error:?}"))?;
            if let Ok(data) = frame.into_data() {
                self.seen.extend_from_slice(&data);
                return Ok(Some(data));
            }
        }
        Ok(None)
    }

    /// The lines up to the next blank one.
    fn block(&mut self) -> Option<String> {
        let end = self.held.windows(2).position(|pair| pair == b"\n\n")?;
        let block: Vec<u8> = self.held.drain(..end + 2).collect();
        Some(String::from_utf8(block[..end].to_vec()).expect("an event stream is UTF-8"))
    }
}

/// An optional `id:` line, then exactly one `data:` line: the only form that the gateway writes.
fn parse(block: &str) -> SseEvent {
    assert!(!block.contains('\r'), "a raw carriage return in {block:?}");
    let mut lines = block.split('\n');
    let mut line = lines.next().unwrap();
    let id = line.strip_prefix("id: ").map(str::to_owned);
    if id.is_some() {
        line = lines.next().expect("data follows an id");
    }
    let data = line
        .strip_prefix("data: ")
        .unwrap_or_else(|| panic!("no data line in {block:?}"))
        .to_owned();
    assert_eq!(lines.next(), None, "more than one data line in {block:?}");
    SseEvent { id, data }
}
