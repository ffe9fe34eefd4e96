//! A small parser for Server-Sent Events: it yields the joined `data` lines of each event.

/// Accumulates response bytes and cuts them into events.
#[derive(Default)]
pub struct SseBuffer {
    bytes: Vec<u8>,
    read: usize,
}

impl SseBuffer {
    pub fn push(&mut self, chunk: &[u8]) {
        if self.read > 0 {
            self.bytes.drain(..self.read);
            self.read = 0;
        }
        self.bytes.extend_from_slice(chunk);
    }

    /// The data of the next complete event; comments and events without data are skipped.
    pub fn next_event(&mut self) -> Option<Vec<u8>> {
        let mut data: Option<Vec<u8>> = None;
        let mut at = self.read;
        loop {
            let end = at + self.bytes[at..].iter().position(|&b| b == b'\n')?;
            let line = self.bytes[at..end]
                .strip_suffix(b"\r")
                .unwrap_or(&self.bytes[at..end]);
            if line.is_empty() {
                self.read = end + 1;
                if data.is_some() {
                    return data;
                }
            } else if let Some(value) = line.strip_prefix(b"data:") {
                let value = value.strip_prefix(b" ").unwrap_or(value);
                match &mut data {
                    Some(data) => {
                        data.push(b'\n');
                        data.extend_from_slice(value);
                    }
                    None => data = Some(value.to_vec()),
                }
            }
            at = end + 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits_events_across_chunks_and_line_endings() {
        let mut sse = SseBuffer::default();
        sse.push(b": ping\n\nid: 1\ndata: {\"a\"");
        assert_eq!(sse.next_event(), None);
        sse.push(b":1}\r\n\r\ndata:x\ndata: y\n\n");
        assert_eq!(sse.next_event().as_deref(), Some(&b"{\"a\":1}"[..]));
        assert_eq!(sse.next_event().as_deref(), Some(&b"x\ny"[..]));
        assert_eq!(sse.next_event(), None);
    }
}
