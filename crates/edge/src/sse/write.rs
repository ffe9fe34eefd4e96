//! Writing events into pieces. An event is never torn by anything but its own length.

use std::{collections::VecDeque, fmt::Write};

use bytes::{BufMut, Bytes, BytesMut};

use super::Frame;

/// Small events are collected until a piece has so many bytes.
const PIECE: usize = 16 << 10;

/// Larger documents are not copied: they go out as a piece of their own, shared with all other readers.
const SHARED: usize = 8 << 10;

/// Turns events into pieces.
#[derive(Debug, Default)]
pub(super) struct Writer {
    full: VecDeque<Bytes>,
    open: BytesMut,
}

impl Writer {
    /// Whether another event may be written before pieces are taken.
    pub(super) fn has_room(&self) -> bool {
        self.full.is_empty() && self.open.len() < PIECE
    }

    /// Whether there is nothing to take.
    pub(super) fn is_empty(&self) -> bool {
        self.full.is_empty() && self.open.is_empty()
    }

    /// The next piece.
    pub(super) fn take(&mut self) -> Option<Bytes> {
        let open = || (!self.open.is_empty()).then(|| std::mem::take(&mut self.open).freeze());
        self.full.pop_front().or_else(open)
    }

    /// Writes an event.
    pub(super) fn event(&mut self, frame: Frame) {
        if let Some(id) = frame.id {
            // Writing into memory that grows cannot fail.
            let _ = writeln!(self.open, "id: {id}");
        }
        if is_one_line(&frame.data) {
            self.line(frame.data);
        } else {
            lines(&frame.data).for_each(|line| self.line(line));
        }
        self.open.put_u8(b'\n');
    }

    fn line(&mut self, line: Bytes) {
        self.open.put_slice(b"data: ");
        if line.len() < SHARED {
            self.open.put_slice(&line);
        } else {
            self.full.push_back(std::mem::take(&mut self.open).freeze());
            self.full.push_back(line);
        }
        self.open.put_u8(b'\n');
    }
}

/// Whether a document is one line, as all JSON of ours. Every byte is looked at, so that many are at a time: each reader
/// of an event pays for this.
fn is_one_line(data: &[u8]) -> bool {
    !data
        .iter()
        .fold(false, |found, byte| found | matches!(byte, b'\n' | b'\r'))
}

/// The lines of a document: one, unless it holds what the format takes for a line's end.
fn lines(data: &Bytes) -> impl Iterator<Item = Bytes> {
    let mut rest = Some(data.clone());
    std::iter::from_fn(move || {
        let mut line = rest.take()?;
        if let Some(end) = line.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
            let mut tail = line.split_off(end);
            let ending = if tail.starts_with(b"\r\n") { 2 } else { 1 };
            rest = Some(tail.split_off(ending));
        }
        Some(line)
    })
}
