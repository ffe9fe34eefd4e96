//! Tasks as they were last read here. A reader that comes back asks Redis whether the task has moved on, and where it has
//! not is spared the whole of it: most reads are of callers who look again and again.

use std::{
    collections::HashMap,
    mem,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use gateway_domain::{TaskId, ports::StoredTask};
use tokio::time::Instant;

/// Bytes of the tasks that were read lately; as many are held of those before them.
const LATELY: usize = 16 << 20;

/// How long a task is lately read. Twice as long after its last reader nothing is held of it, be it purged elsewhere.
const AGE: Duration = Duration::from_secs(30);

/// About what a task takes besides its content.
const BESIDES: usize = 2 << 10;

/// About what a part of a message or an artifact takes besides its content.
const BESIDES_OF_PART: usize = 200;

/// A task, and what its news said when it was read.
pub(crate) struct Snapshot {
    pub(crate) news: String,
    pub(crate) task: StoredTask,
    /// About how many bytes it takes.
    weight: usize,
}

impl Snapshot {
    pub(crate) fn new(news: String, task: StoredTask) -> Self {
        let said = task.task.history.iter().map(|message| message.parts.len());
        let made = task.task.artifacts.iter().map(|artifact| artifact.parts.len());
        let parts: usize = said.chain(made).sum();
        let weight = BESIDES + BESIDES_OF_PART * parts + task.head.stored_bytes();
        Self { news, task, weight }
    }
}

/// The tasks that were read, for a bounded time and a bounded number of bytes.
#[derive(Default)]
pub(crate) struct Snapshots(Mutex<Generations>);

/// Whoever is read moves to those of lately; when they are full, or old, those before them go.
struct Generations {
    lately: Generation,
    before: Generation,
    bytes: usize,
    since: Instant,
}

type Generation = HashMap<TaskId, Arc<Snapshot>>;

impl Snapshots {
    pub(crate) fn get(&self, id: &TaskId) -> Option<Arc<Snapshot>> {
        let (snapshot, _gone) = self.with(|generations| {
            if let Some(snapshot) = generations.lately.get(id) {
                return Some((snapshot.clone(), None));
            }
            let (id, snapshot) = generations.before.remove_entry(id)?;
            let gone = generations.put(id, snapshot.clone());
            Some((snapshot, gone))
        })?;
        Some(snapshot)
    }

    /// Holds a task in place of what was held of it, unless it is too large.
    pub(crate) fn put(&self, snapshot: Snapshot) {
        let (id, snapshot) = (snapshot.task.head.id.clone(), Arc::new(snapshot));
        let _gone = self.with(|generations| {
            let known = generations.forget(&id);
            let fits = snapshot.weight <= LATELY;
            (known, fits.then(|| generations.put(id, snapshot)))
        });
    }

    pub(crate) fn forget(&self, id: &TaskId) {
        let _gone = self.with(|generations| generations.forget(id));
    }

    /// Lets go of what nobody has read for long; somebody has to call this now and then.
    pub(crate) fn age(&self) {
        let _gone = self.with(|generations| (generations.since.elapsed() >= AGE).then(|| generations.turn()));
    }

    /// What goes is handed out, so that it is dropped when others may go on.
    fn with<T>(&self, touch: impl FnOnce(&mut Generations) -> T) -> T {
        touch(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Default for Generations {
    fn default() -> Self {
        Self {
            lately: Generation::new(),
            before: Generation::new(),
            bytes: 0,
            since: Instant::now(),
        }
    }
}

impl Generations {
    fn put(&mut self, id: TaskId, snapshot: Arc<Snapshot>) -> Option<Generation> {
        let full = self.bytes + snapshot.weight > LATELY;
        let gone = full.then(|| self.turn());
        self.bytes += snapshot.weight;
        self.lately.insert(id, snapshot);
        gone
    }

    fn turn(&mut self) -> Generation {
        self.bytes = 0;
        self.since = Instant::now();
        mem::replace(&mut self.before, mem::take(&mut self.lately))
    }

    fn forget(&mut self, id: &TaskId) -> [Option<Arc<Snapshot>>; 2] {
        let gone = self.lately.remove(id);
        self.bytes -= gone.as_ref().map_or(0, |gone| gone.weight);
        [gone, self.before.remove(id)]
    }
}

#[cfg(test)]
mod tests {
    use gateway_domain::{Limits, Message, MessageId, TaskSnapshot, decide, decide::Stamp};
    use gateway_testkit::build::{moment, new_task};

    use super::*;

    /// A task with so many bytes of content.
    fn snapshot(id: &str, bytes: usize) -> Snapshot {
        let new = decide::NewTask {
            message: Message {
                role: gateway_domain::Role::User,
                ..Message::agent_text(MessageId::new("m"), "x".repeat(bytes))
            },
            ..new_task(TaskId::new(id))
        };
        let stamp = Stamp {
            now: moment(0),
            mark: 0,
        };
        let creation = decide::create(new, &Limits::default(), stamp).unwrap();
        let task = TaskSnapshot::clone(&creation.task);
        let head = Arc::new(creation.head);
        Snapshot::new(format!("news of {bytes}"), StoredTask { head, task })
    }

    fn news(snapshots: &Snapshots, id: &str) -> Option<String> {
        snapshots
            .get(&TaskId::new(id))
            .map(|snapshot| snapshot.news.clone())
    }

    #[test]
    fn the_newest_snapshot_of_a_task_is_held_until_it_is_forgotten() {
        let snapshots = Snapshots::default();
        assert_eq!(news(&snapshots, "a"), None);
        snapshots.put(snapshot("a", 1));
        snapshots.put(snapshot("a", 2));
        snapshots.put(snapshot("b", 3));
        assert_eq!(news(&snapshots, "a").as_deref(), Some("news of 2"));
        snapshots.forget(&TaskId::new("a"));
        assert_eq!(news(&snapshots, "a"), None);
        assert_eq!(news(&snapshots, "b").as_deref(), Some("news of 3"));
    }

    #[test]
    fn what_is_held_is_bounded_and_what_is_read_stays() {
        let snapshots = Snapshots::default();
        let held = |snapshots: &Snapshots| {
            snapshots.with(|all| {
                let all = all.lately.values().chain(all.before.values());
                all.map(|snapshot| snapshot.weight).sum::<usize>()
            })
        };
        snapshots.put(snapshot("asked for", 1 << 20));
        for number in 0..100 {
            snapshots.put(snapshot(&number.to_string(), 1 << 20));
            assert!(news(&snapshots, "asked for").is_some());
            assert!(held(&snapshots) <= 2 * LATELY);
        }
        assert_eq!(news(&snapshots, "0"), None);
        assert!(news(&snapshots, "99").is_some());
        for number in 0..100 {
            snapshots.forget(&TaskId::new(number.to_string()));
        }
        snapshots.forget(&TaskId::new("asked for"));
        assert_eq!(
            snapshots.with(|all| (all.bytes, all.lately.len(), all.before.len())),
            (0, 0, 0)
        );
    }

    #[tokio::test(start_paused = true)]
    async fn what_nobody_reads_is_gone_after_a_while() {
        let snapshots = Snapshots::default();
        for id in ["read", "left"] {
            snapshots.put(snapshot(id, 1));
        }
        for _ in 0..4 {
            tokio::time::advance(AGE / 2).await;
            snapshots.age();
            assert!(news(&snapshots, "read").is_some());
        }
        assert_eq!(news(&snapshots, "left"), None);
    }

    #[test]
    fn a_task_that_would_fill_it_alone_is_not_held_nor_what_was_held_of_it() {
        let snapshots = Snapshots::default();
        snapshots.put(snapshot("a", 1));
        snapshots.put(snapshot("a", LATELY));
        assert_eq!(news(&snapshots, "a"), None);
    }
}
