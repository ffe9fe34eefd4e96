//! Tasks as they were last read here. A reader that comes back asks Redis whether the task has moved on, and where it has
//! not is spared the whole of it: most reads are of callers who look again and again.

use std::{
    collections::HashMap,
    mem,
    sync::{Arc, Mutex, PoisonError},
};

use gateway_domain::{TaskId, ports::StoredTask};

/// Bytes of the tasks that were read lately; as many are held of those before them.
const LATELY: usize = 16 << 20;

/// About what a task takes besides its content.
const BESIDES: usize = 2 << 10;

/// A task, and what its news said when it was read.
pub(crate) struct Snapshot {
    pub(crate) news: String,
    pub(crate) task: StoredTask,
}

impl Snapshot {
    fn weight(&self) -> usize {
        BESIDES + self.task.head.stored_bytes()
    }
}

/// The tasks that were read, a bounded number of bytes.
#[derive(Default)]
pub(crate) struct Snapshots(Mutex<Generations>);

/// Whoever is read moves to those of lately; when they are full, those before them go.
#[derive(Default)]
struct Generations {
    lately: HashMap<TaskId, Arc<Snapshot>>,
    before: HashMap<TaskId, Arc<Snapshot>>,
    bytes: usize,
}

impl Snapshots {
    pub(crate) fn get(&self, id: &TaskId) -> Option<Arc<Snapshot>> {
        self.with(|generations| {
            if let Some(snapshot) = generations.lately.get(id) {
                return Some(snapshot.clone());
            }
            let (id, snapshot) = generations.before.remove_entry(id)?;
            generations.put(id, snapshot.clone());
            Some(snapshot)
        })
    }

    /// Holds a task in place of what was held of it, unless it is too large.
    pub(crate) fn put(&self, snapshot: Snapshot) {
        let id = snapshot.task.head.id.clone();
        self.with(|generations| {
            generations.forget(&id);
            if snapshot.weight() <= LATELY {
                generations.put(id, Arc::new(snapshot));
            }
        });
    }

    pub(crate) fn forget(&self, id: &TaskId) {
        self.with(|generations| generations.forget(id));
    }

    fn with<T>(&self, touch: impl FnOnce(&mut Generations) -> T) -> T {
        touch(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Generations {
    fn put(&mut self, id: TaskId, snapshot: Arc<Snapshot>) {
        if self.bytes + snapshot.weight() > LATELY {
            self.before = mem::take(&mut self.lately);
            self.bytes = 0;
        }
        self.bytes += snapshot.weight();
        self.lately.insert(id, snapshot);
    }

    fn forget(&mut self, id: &TaskId) {
        self.before.remove(id);
        if let Some(gone) = self.lately.remove(id) {
            self.bytes -= gone.weight();
        }
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
        Snapshot {
            news: format!("news of {bytes}"),
            task: StoredTask {
                head: Arc::new(creation.head),
                task,
            },
        }
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
                all.map(|snapshot| snapshot.weight()).sum::<usize>()
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

    #[test]
    fn a_task_that_would_fill_it_alone_is_not_held_nor_what_was_held_of_it() {
        let snapshots = Snapshots::default();
        snapshots.put(snapshot("a", 1));
        snapshots.put(snapshot("a", LATELY));
        assert_eq!(news(&snapshots, "a"), None);
    }
}
