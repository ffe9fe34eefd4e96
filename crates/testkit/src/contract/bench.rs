//! The store under test with the few steps that all cases are made of. Inputs are decided by the domain's rules, as a
//! gateway decides them.

use std::{
    any::Any,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
};

use gateway_domain::{
    ContextId, Cursor, Error, Limits, LogEntry, Scope, TaskId, Tenant,
    decide::{self, NewTask, Stamp},
    lifecycle::Move,
    ports::{
        Change, CommitError, CreateError, Creation, ListQuery, Listing, LogRead, Origin, Store, StoredTask,
        TaskHead,
    },
    request::{AgentAction, TaskFilter},
};

use crate::build::{agent_message, artifact, moment, new_task, user_message};

/// A store under test. Writes go in at one door and reads come out at another, so that replicas can be told apart.
#[derive(Clone)]
pub struct Bench {
    writer: Arc<dyn Store>,
    reader: Arc<dyn Store>,
    limits: Limits,
    drawn: Arc<AtomicU32>,
    parts: usize,
    kept: Option<Arc<dyn Any + Send + Sync>>,
}

/// The context of [`new_task`].
const CONTEXT: &str = "context";

impl Bench {
    /// A store that is its own only replica.
    pub fn new(store: Arc<dyn Store>) -> Self {
        Self {
            writer: store.clone(),
            reader: store,
            limits: Limits::default(),
            drawn: Arc::default(),
            parts: 1,
            kept: None,
        }
    }

    /// Reads through another replica of the same data.
    #[must_use]
    pub fn reading_through(mut self, replica: Arc<dyn Store>) -> Self {
        self.reader = replica;
        self
    }

    /// Every tenant's tasks lie in so many parts of the store, each of which keeps its share of the tenant's bounds.
    #[must_use]
    pub fn in_parts(mut self, parts: usize) -> Self {
        self.parts = parts;
        self
    }

    /// Keeps what the store needs as long as the bench is there.
    #[must_use]
    pub fn keeping(mut self, needed: impl Any + Send + Sync) -> Self {
        self.kept = Some(Arc::new(needed));
        self
    }

    pub(super) fn writer(&self) -> &dyn Store {
        &*self.writer
    }

    pub(super) fn reader(&self) -> &dyn Store {
        &*self.reader
    }

    /// A fresh id for a task of nobody's in the context of [`new_task`]. Ids rise in each part, but no case relies on
    /// it.
    pub(super) fn task_id(&self) -> TaskId {
        self.task_id_in(None)
    }

    /// A fresh id for a task of a tenant in the context of [`new_task`].
    pub(super) fn task_id_in(&self, tenant: Option<&Tenant>) -> TaskId {
        let placed_by = CONTEXT;
        self.task_id_of(Origin { tenant, placed_by })
    }

    pub(super) fn task_id_of(&self, origin: Origin<'_>) -> TaskId {
        let fresh = TaskId::new(format!("task-{:06}", self.draw()));
        self.writer.name_task(fresh, origin)
    }

    /// A bound of a tenant that leaves so much to each part.
    pub(super) fn for_each_part(&self, bound: usize) -> usize {
        bound * self.parts
    }

    pub(super) fn stamp(&self, second: i64) -> Stamp {
        Stamp {
            now: moment(second),
            mark: self.draw(),
        }
    }

    fn draw(&self) -> u32 {
        self.drawn.fetch_add(1, Ordering::Relaxed)
    }

    // === creating ===

    pub(super) fn creation(&self, new: NewTask, second: i64) -> Creation {
        decide::create(new, &self.limits, self.stamp(second)).unwrap()
    }

    /// A creation with at most so many live tasks of the tenant in its part, itself included.
    pub(super) async fn create_within(&self, live_limit: usize, new: NewTask) -> Result<TaskId, CreateError> {
        let id = new.id.clone();
        let creation = Creation {
            live_limit: self.for_each_part(live_limit),
            ..self.creation(new, 0)
        };
        self.writer.create(creation).await.map(|_| id)
    }

    pub(super) async fn create(&self, new: NewTask, second: i64) -> TaskId {
        let id = new.id.clone();
        self.writer.create(self.creation(new, second)).await.unwrap();
        id
    }

    /// A task of nobody's, in whatever part.
    pub(super) async fn visible_task(&self, second: i64) -> TaskId {
        let message = format!("message {}", self.draw());
        let id = self.task_id_of(Origin {
            tenant: None,
            placed_by: &message,
        });
        self.create(new_task(id), second).await
    }

    pub(super) async fn hidden_task(&self, second: i64) -> TaskId {
        let new = NewTask {
            hidden: true,
            ..new_task(self.task_id())
        };
        self.create(new, second).await
    }

    pub(super) async fn task_in(&self, scope: Scope, context: &str, second: i64) -> TaskId {
        let id = self.task_id_of(Origin {
            tenant: scope.tenant.as_ref(),
            placed_by: context,
        });
        let new = NewTask {
            scope,
            context_id: ContextId::new(context),
            ..new_task(id)
        };
        self.create(new, second).await
    }

    // === committing ===

    /// Decides once, on the head as it stands.
    pub(super) async fn change(
        &self,
        id: &TaskId,
        decide: impl Fn(&TaskHead, &Limits) -> Result<Change, Error>,
    ) -> Change {
        decide(&*self.head(id).await, &self.limits).unwrap()
    }

    /// Decides and commits, again and again while others write in between. Answers with the head that it made.
    pub(super) async fn commit(
        &self,
        id: &TaskId,
        decide: impl Fn(&TaskHead, &Limits) -> Result<Change, Error>,
    ) -> TaskHead {
        loop {
            let change = self.change(id, &decide).await;
            let made = change.head.clone();
            match self.writer.commit(change).await {
                Ok(_) => return made,
                Err(CommitError::Conflict) => {}
                Err(other) => panic!("{other:?}"),
            }
        }
    }

    pub(super) async fn act(&self, id: &TaskId, action: AgentAction, second: i64) -> TaskHead {
        let stamp = self.stamp(second);
        self.commit(id, |head, limits| {
            decide::act(head, action.clone(), limits, stamp)
        })
        .await
    }

    pub(super) async fn step(&self, id: &TaskId, step: Move, second: i64) -> TaskHead {
        self.act(id, AgentAction::Move(step, Some(agent_message("moved"))), second)
            .await
    }

    pub(super) async fn report(&self, id: &TaskId, text: &str, second: i64) -> TaskHead {
        let report = AgentAction::ReportProgress(Some(agent_message(text)));
        self.act(id, report, second).await
    }

    pub(super) async fn append(&self, id: &TaskId, name: &str, text: &str) -> TaskHead {
        self.act(id, chunk(name, text, true), 0).await
    }

    pub(super) async fn take_message(&self, id: &TaskId, text: &str) -> TaskHead {
        let stamp = self.stamp(0);
        self.commit(id, |head, limits| {
            decide::take_message(head, user_message(text), limits, stamp)
        })
        .await
    }

    /// The change that shows a hidden task.
    pub(super) async fn showing(&self, id: &TaskId, second: i64) -> Change {
        let StoredTask { head, task } = self.read(id).await;
        decide::show(&head, Arc::new(task), self.stamp(second)).unwrap()
    }

    // === reading ===

    pub(super) async fn head(&self, id: &TaskId) -> Arc<TaskHead> {
        self.reader.head(id).await.unwrap().unwrap()
    }

    pub(super) async fn read(&self, id: &TaskId) -> StoredTask {
        self.reader.read(id).await.unwrap().unwrap()
    }

    pub(super) async fn log(&self, id: &TaskId, after: Cursor, most: usize) -> LogRead {
        self.reader.log(id, after, most).await.unwrap()
    }

    /// The whole log, which must be held.
    pub(super) async fn whole_log(&self, id: &TaskId) -> Vec<Arc<LogEntry>> {
        match self.log(id, Cursor::START, 10_000).await {
            LogRead::Entries(entries) => entries,
            lost => panic!("{lost:?}"),
        }
    }

    pub(super) async fn list(&self, query: ListQuery) -> Listing {
        self.reader.list(query).await.unwrap()
    }
}

/// An update of an artifact.
pub(super) fn chunk(name: &str, text: &str, append: bool) -> AgentAction {
    AgentAction::UpdateArtifact {
        artifact: artifact(name, text),
        append,
        last_chunk: false,
    }
}

/// The first 1,000 tasks of a scope, without history and artifacts.
pub(super) fn everything(scope: Scope) -> ListQuery {
    ListQuery {
        scope,
        filter: TaskFilter::default(),
        after: None,
        most: 1_000,
        history_length: None,
        include_artifacts: false,
    }
}

pub(super) fn ids(listing: &Listing) -> Vec<TaskId> {
    listing.tasks.iter().map(|task| task.id.clone()).collect()
}

/// Reads page after page, each after the last row of the one before, until one is empty. Fails where a page is too
/// long, or where they do not end.
pub(super) async fn join_pages<T>(most: usize, read: impl AsyncFn(Option<&T>) -> Vec<T>) -> Vec<T> {
    let mut joined = Vec::new();
    loop {
        let page = read(joined.last()).await;
        assert!(page.len() <= most, "{} rows on a page of {most}", page.len());
        if page.is_empty() {
            return joined;
        }
        joined.extend(page);
        assert!(joined.len() < 1_000, "the pages of {most} do not end");
    }
}
