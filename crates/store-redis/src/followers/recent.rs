//! The newest entries of a followed task, decoded and shared, so that each is encoded once for all its readers.

use std::{collections::VecDeque, sync::Arc};

use gateway_domain::{Cursor, LogEntry, Revision};

/// Entries that are kept of a task.
const MOST_ENTRIES: usize = 256;
/// Bytes of them, roughly. The newest is kept however large it is.
const MOST_BYTES: usize = 1 << 20;

/// A run of entries without a gap.
#[derive(Debug, Default)]
pub(crate) struct Recent {
    entries: VecDeque<Arc<LogEntry>>,
    bytes: usize,
}

impl Recent {
    /// The entries after a place, at most so many; nothing where they are not here up to `newest`, or the place is of
    /// another timeline.
    pub(crate) fn read(&self, after: Cursor, newest: Revision, most: usize) -> Option<Vec<Arc<LogEntry>>> {
        let (first, last) = (self.entries.front()?, self.entries.back()?);
        if last.cursor.revision < newest || after.revision >= last.cursor.revision {
            return None;
        }
        let skipped = (after.revision + 1).checked_sub(first.cursor.revision)?;
        let mut following = self
            .entries
            .iter()
            .skip(usize::try_from(skipped).ok()?)
            .peekable();
        following.peek().filter(|next| next.follows(after))?;
        Some(following.take(most).cloned().collect())
    }

    /// Whether a reader that has all up to a revision reads at the end of what is here.
    pub(crate) fn ends_at_or_before(&self, after: Revision) -> bool {
        self.entries
            .back()
            .is_none_or(|last| last.cursor.revision <= after)
    }

    /// Takes in what follows. What does not follow takes the place of everything: it comes from another timeline,
    /// or from a reader who is further on.
    pub(crate) fn extend(&mut self, read: &[Arc<LogEntry>]) {
        let Some(first) = read.first() else {
            return;
        };
        let follows = self.entries.back().is_some_and(|last| first.follows(last.cursor));
        if !follows {
            self.entries.clear();
            self.bytes = 0;
        }
        for entry in read {
            self.bytes += entry.entry.weight();
            self.entries.push_back(entry.clone());
        }
        while self.entries.len() > 1 && (self.entries.len() > MOST_ENTRIES || self.bytes > MOST_BYTES) {
            let oldest = self.entries.pop_front();
            self.bytes -= oldest.map_or(0, |oldest| oldest.entry.weight());
        }
    }
}

#[cfg(test)]
mod tests {
    use gateway_domain::{Entry, Message, MessageId};

    use super::*;

    /// Where every entry of these tests has the same mark.
    fn place(revision: Revision) -> Cursor {
        Cursor { revision, mark: 0 }
    }

    fn entry(revision: Revision, bytes: usize) -> Arc<LogEntry> {
        let message = Message::agent_text(MessageId::new("m"), "x".repeat(bytes));
        let (cursor, previous) = (place(revision), 0);
        Arc::new(LogEntry::new(
            cursor,
            previous,
            Entry::MessageTaken(Arc::new(message)),
        ))
    }

    fn entries(revisions: impl IntoIterator<Item = Revision>) -> Vec<Arc<LogEntry>> {
        revisions.into_iter().map(|revision| entry(revision, 1)).collect()
    }

    fn revisions(recent: &Recent, after: Revision, newest: Revision, most: usize) -> Option<Vec<Revision>> {
        let read = recent.read(place(after), newest, most)?;
        Some(read.iter().map(|entry| entry.cursor.revision).collect())
    }

    #[test]
    fn what_is_here_up_to_the_newest_is_read_and_nothing_else() {
        let mut recent = Recent::default();
        assert_eq!(revisions(&recent, 0, 0, 10), None);
        recent.extend(&entries(3..=5));
        recent.extend(&entries([6]));
        assert_eq!(revisions(&recent, 2, 6, 10), Some(vec![3, 4, 5, 6]));
        assert_eq!(revisions(&recent, 3, 6, 2), Some(vec![4, 5]));
        assert_eq!(revisions(&recent, 1, 6, 10), None, "an older one is not here");
        assert_eq!(revisions(&recent, 6, 6, 10), None, "nothing follows here");
        assert_eq!(revisions(&recent, 3, 7, 10), None, "a newer one is not here yet");
        assert!(recent.ends_at_or_before(6) && !recent.ends_at_or_before(5));
    }

    #[test]
    fn a_place_of_another_timeline_is_not_here() {
        let mut recent = Recent::default();
        recent.extend(&entries(3..=5));
        let elsewhere = Cursor { revision: 3, mark: 9 };
        assert!(recent.read(place(3), 5, 10).is_some());
        assert!(recent.read(elsewhere, 5, 10).is_none());
    }

    #[test]
    fn what_does_not_follow_takes_the_place_of_what_was_here() {
        let mut recent = Recent::default();
        recent.extend(&entries(1..=5));
        recent.extend(&entries(4..=6));
        assert_eq!(revisions(&recent, 0, 6, 10), None);
        assert_eq!(revisions(&recent, 3, 6, 10), Some(vec![4, 5, 6]));
        recent.extend(&[]);
        assert_eq!(revisions(&recent, 3, 6, 10), Some(vec![4, 5, 6]));
    }

    #[test]
    fn the_oldest_leave_over_the_bounds_but_never_the_newest() {
        let mut recent = Recent::default();
        recent.extend(&entries(1..=300));
        assert_eq!(recent.entries.len(), MOST_ENTRIES);
        recent.extend(&[entry(301, 2 * MOST_BYTES)]);
        assert_eq!(revisions(&recent, 300, 301, 10), Some(vec![301]));
        assert_eq!(recent.entries.len(), 1);
        recent.extend(&[entry(302, 1)]);
        assert_eq!(
            (recent.entries.len(), recent.bytes),
            (1, entry(302, 1).entry.weight())
        );
    }
}
