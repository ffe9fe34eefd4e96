//! Reading a log on from any revision, and what is no longer held.

use gateway_domain::{Entry, LogEntry, Revision, StreamResponse, TaskId, lifecycle::Move, ports::LogRead};

use super::{Bench, SHORT_LOG, bench::join_pages};

async fn revisions(bench: &Bench, id: &TaskId, after: Revision, most: usize) -> Option<Vec<Revision>> {
    match bench.log(id, after, most).await {
        LogRead::Entries(entries) => Some(entries.iter().map(|entry| entry.cursor.revision).collect()),
        LogRead::Gone => None,
    }
}

pub async fn a_log_is_read_in_pages_without_gap_or_repeat(bench: &Bench) {
    let id = bench.visible_task(0).await;
    for chunk in 0..24 {
        bench.append(&id, "a", &format!("chunk {chunk}")).await;
    }
    for most in [1, 2, 7, 24, 25, 26] {
        let read = join_pages(most, async |last: Option<&Revision>| {
            revisions(bench, &id, last.copied().unwrap_or(0), most)
                .await
                .unwrap()
        })
        .await;
        assert!(read.iter().copied().eq(1..=25), "{most} a page: {read:?}");
    }
}

pub async fn a_reader_that_has_all_gets_nothing(bench: &Bench) {
    let id = bench.visible_task(0).await;
    bench.append(&id, "a", "text").await;
    for after in [2, 3, Revision::MAX] {
        assert_eq!(
            revisions(bench, &id, after, 10).await,
            Some(Vec::new()),
            "after {after}"
        );
    }
    assert_eq!(
        revisions(bench, &id, 0, 0).await,
        Some(Vec::new()),
        "nobody asked for more"
    );
}

pub async fn the_log_of_a_task_that_is_not_there_is_gone(bench: &Bench) {
    assert_eq!(revisions(bench, &TaskId::new("nobody's"), 0, 10).await, None);
}

pub async fn entries_keep_their_cursors_and_what_goes_out(bench: &Bench) {
    let id = bench.visible_task(0).await;
    let taken = bench.take_message(&id, "more").await;
    let appended = bench.append(&id, "a", "text").await;
    let moved = bench.step(&id, Move::Work, 1).await;
    let LogRead::Entries(entries) = bench.log(&id, 0, 10).await else {
        panic!("the log is held");
    };
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
    let id = bench.visible_task(0).await;
    let kept = Revision::try_from(SHORT_LOG).unwrap();
    let newest = 3 * kept;
    for chunk in 1..newest {
        bench.append(&id, "a", &format!("chunk {chunk}")).await;
    }
    for after in [0, 1, kept] {
        assert_eq!(revisions(bench, &id, after, 100).await, None, "after {after}");
    }
    for after in newest - kept..=newest {
        let held = revisions(bench, &id, after, 100).await;
        assert_eq!(held, Some((after + 1..=newest).collect()), "after {after}");
    }
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
