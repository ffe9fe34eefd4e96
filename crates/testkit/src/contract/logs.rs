//! Reading a log on from any revision, and what is no longer held.

use gateway_domain::{
    Cursor, Entry, LogEntry, Revision, StreamResponse, TaskId, lifecycle::Move, ports::LogRead,
};

use super::{Bench, SHORT_LOG, bench::join_pages};

async fn cursors(bench: &Bench, id: &TaskId, after: Cursor, most: usize) -> Option<Vec<Cursor>> {
    match bench.log(id, after, most).await {
        LogRead::Entries(entries) => Some(entries.iter().map(|entry| entry.cursor).collect()),
        LogRead::Gone => None,
        LogRead::Diverged => panic!("{after} is a place of this log"),
    }
}

/// The same number of a log, with another entry.
fn elsewhere(place: Cursor) -> Cursor {
    Cursor {
        mark: !place.mark,
        ..place
    }
}

/// A task with so many entries, and where each stands.
async fn long_task(bench: &Bench, entries: usize) -> (TaskId, Vec<Cursor>) {
    let id = bench.visible_task(0).await;
    let mut places = vec![bench.head(&id).await.cursor];
    for chunk in 1..entries {
        places.push(bench.append(&id, "a", &format!("chunk {chunk}")).await.cursor);
    }
    (id, places)
}

pub async fn a_log_is_read_in_pages_without_gap_or_repeat(bench: &Bench) {
    let (id, places) = long_task(bench, 25).await;
    for most in [1, 2, 7, 24, 25, 26] {
        let read = join_pages(most, async |last: Option<&Cursor>| {
            let after = last.copied().unwrap_or(Cursor::START);
            cursors(bench, &id, after, most).await.unwrap()
        })
        .await;
        assert_eq!(read, places, "{most} a page");
    }
}

pub async fn a_reader_that_has_all_gets_nothing(bench: &Bench) {
    let (id, places) = long_task(bench, 2).await;
    assert_eq!(cursors(bench, &id, places[1], 10).await, Some(Vec::new()));
    let asked_for_nothing = cursors(bench, &id, Cursor::START, 0).await;
    assert_eq!(asked_for_nothing, Some(Vec::new()));
}

pub async fn each_entry_follows_the_one_before_and_no_other(bench: &Bench) {
    let (id, places) = long_task(bench, 5).await;
    let entries = bench.whole_log(&id).await;
    assert!(entries[0].follows(Cursor::START));
    for (entry, before) in entries[1..].iter().zip(&places) {
        assert!(entry.follows(*before));
        assert!(!entry.follows(elsewhere(*before)));
        assert!(!entry.follows(entry.cursor));
    }
}

pub async fn a_place_that_is_none_of_the_log_is_told_apart(bench: &Bench) {
    let (id, places) = long_task(bench, 5).await;
    let beyond = |revision| Cursor { revision, mark: 1 };
    let none_of_it = [
        elsewhere(Cursor::START),
        elsewhere(places[0]),
        elsewhere(places[3]),
        elsewhere(places[4]),
        beyond(6),
        beyond(1_000),
        beyond(Revision::MAX),
    ];
    // Twice: the first reader may leave behind what the next one finds.
    for place in none_of_it.into_iter().chain(none_of_it) {
        let read = bench.log(&id, place, 10).await;
        assert!(matches!(read, LogRead::Diverged), "{place}: {read:?}");
        assert_eq!(cursors(bench, &id, places[0], 1).await, Some(vec![places[1]]));
    }
}

pub async fn the_log_of_a_task_that_is_not_there_is_gone(bench: &Bench) {
    let nobodys = TaskId::new("nobody's");
    for place in [Cursor::START, elsewhere(Cursor::START)] {
        assert!(matches!(bench.log(&nobodys, place, 10).await, LogRead::Gone));
    }
}

pub async fn entries_keep_their_cursors_and_what_goes_out(bench: &Bench) {
    let id = bench.visible_task(0).await;
    let taken = bench.take_message(&id, "more").await;
    let appended = bench.append(&id, "a", "text").await;
    let moved = bench.step(&id, Move::Work, 1).await;
    let entries = bench.whole_log(&id).await;
    let cursors: Vec<_> = entries.iter().skip(1).map(|entry| entry.cursor).collect();
    assert_eq!(cursors, [taken.cursor, appended.cursor, moved.cursor]);
    let outward = |entry: &LogEntry| entry.outward.as_ref().map(|event| event.event().clone());
    assert!(matches!(outward(&entries[0]), Some(StreamResponse::Task(task)) if task.id == id));
    assert_eq!(outward(&entries[1]), None, "a client's message is no event");
    assert!(matches!(
        outward(&entries[2]),
        Some(StreamResponse::ArtifactUpdate(event)) if event.artifact.artifact_id.as_str() == "a" && event.append
    ));
    assert!(matches!(
        outward(&entries[3]),
        Some(StreamResponse::StatusUpdate(event)) if event.status == moved.status
    ));
    assert!(matches!(&entries[1].entry, Entry::MessageTaken(message) if message.task_id == Some(id)));
}

pub async fn entries_beyond_the_bound_are_gone_and_the_newest_are_held(bench: &Bench) {
    let (id, places) = long_task(bench, 3 * SHORT_LOG).await;
    for gone in [Cursor::START, places[0], places[SHORT_LOG - 1]] {
        assert_eq!(cursors(bench, &id, gone, 100).await, None, "after {gone}");
    }
    for after in 2 * SHORT_LOG - 1..3 * SHORT_LOG {
        let held = cursors(bench, &id, places[after], 100).await;
        assert_eq!(held, Some(places[after + 1..].to_vec()), "after {after}");
    }
}

/// The entry that a reader has may just have left the log: its next one still says whether it was there.
pub async fn the_oldest_entry_held_tells_what_it_follows(bench: &Bench) {
    let (id, places) = long_task(bench, 3 * SHORT_LOG).await;
    let mut oldest = None;
    for place in places {
        if cursors(bench, &id, place, 1).await.is_some() {
            oldest = oldest.or(Some(place));
        }
    }
    let read = bench.log(&id, elsewhere(oldest.unwrap()), 1).await;
    assert!(matches!(read, LogRead::Diverged), "{read:?}");
}

pub async fn a_task_stays_whole_when_its_log_is_cut(bench: &Bench) {
    let id = bench.visible_task(0).await;
    let chunks = 3 * SHORT_LOG;
    for chunk in 0..chunks {
        bench.append(&id, "a", &format!("chunk {chunk}")).await;
    }
    let stored = bench.read(&id).await;
    assert_eq!(stored.task.artifacts[0].parts.len(), chunks);
    assert_eq!(stored.task.history.len(), 1);
}
