//! The log of one task: its newest entries, bounded in number and bytes. What is dropped is gone; nobody is waited for.

use std::{collections::VecDeque, sync::Arc};

use gateway_domain::{Cursor, LogEntry, ports::LogRead};

use crate::Settings;

#[derive(Debug)]
pub(crate) struct Log {
    /// Without a gap, oldest first; never empty.
    entries: VecDeque<Arc<LogEntry>>,
    bytes: usize,
    most_entries: usize,
    most_bytes: usize,
}

impl Log {
    pub(crate) fn new(first: Arc<LogEntry>, settings: &Settings) -> Self {
        Self {
            bytes: first.entry.weight(),
            entries: VecDeque::from([first]),
            most_entries: settings.log_entries,
            most_bytes: settings.log_bytes,
        }
    }

    pub(crate) fn push(&mut self, entry: Arc<LogEntry>) {
        self.bytes += entry.entry.weight();
        self.entries.push_back(entry);
        while self.entries.len() > 1
            && (self.entries.len() > self.most_entries || self.bytes > self.most_bytes)
        {
            let oldest = self.entries.pop_front();
            self.bytes -= oldest.map_or(0, |oldest| oldest.entry.weight());
        }
    }

    pub(crate) fn read(&self, after: Cursor, most: usize) -> LogRead {
        let place_of = |entry: Option<&Arc<LogEntry>>| entry.map_or(Cursor::START, |entry| entry.cursor);
        let newest = place_of(self.entries.back());
        if after == newest {
            return LogRead::Entries(Vec::new());
        }
        if after.revision >= newest.revision {
            return LogRead::Diverged;
        }
        let oldest = place_of(self.entries.front());
        let Some(passed) = (after.revision + 1).checked_sub(oldest.revision) else {
            return LogRead::Gone;
        };
        let passed = usize::try_from(passed).unwrap_or(usize::MAX);
        let mut following = self.entries.iter().skip(passed).peekable();
        if following.peek().is_none_or(|next| !next.follows(after)) {
            return LogRead::Diverged;
        }
        LogRead::Entries(following.take(most).cloned().collect())
    }

    /// Bytes of the entries, roughly.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }
}
