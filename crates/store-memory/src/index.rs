//! Which visible tasks a scope has, in the order of ListTasks. A page costs its own size, and the total is at hand,
//! where at most one of context and state is asked for; other filters walk the tasks that match the rarer half.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    ops::Bound,
};

use gateway_domain::{
    ContextId, Scope, TaskId, TaskState, Timestamp,
    page::TaskPosition,
    ports::{ListQuery, TaskHead},
    request::TaskFilter,
};

/// Oldest first; lists walk it from its end.
type Places = BTreeSet<TaskPosition>;

/// A scope that has no visible task is not here.
#[derive(Debug, Default)]
pub(crate) struct Index(HashMap<Scope, ScopeIndex>);

#[derive(Debug, Default)]
struct ScopeIndex {
    all: Places,
    by_context: HashMap<ContextId, Places>,
    /// Eight at most: not worth a hash.
    by_state: BTreeMap<TaskState, Places>,
}

/// Where the tasks of a page are, and how many match on all pages.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Page {
    pub(crate) ids: Vec<TaskId>,
    pub(crate) more: bool,
    pub(crate) total: usize,
}

impl Index {
    pub(crate) fn page(&self, query: &ListQuery) -> Page {
        self.0
            .get(&query.scope)
            .map(|scope| scope.page(&query.filter, query.after.as_ref(), query.most))
            .unwrap_or_default()
    }

    /// Gives a task its place, if clients see it.
    pub(crate) fn insert(&mut self, head: &TaskHead) {
        if !head.hidden {
            self.0.entry(head.scope.clone()).or_default().insert(head);
        }
    }

    /// Takes a task out of the place that it was given with this head.
    pub(crate) fn remove(&mut self, head: &TaskHead) {
        let Some(scope) = self.0.get_mut(&head.scope).filter(|_| !head.hidden) else {
            return;
        };
        scope.remove(head);
        if scope.all.is_empty() {
            self.0.remove(&head.scope);
        }
    }

    /// Moves a task from the place that one head gave it to that of its next head.
    pub(crate) fn replace(&mut self, before: &TaskHead, after: &TaskHead) {
        if before.hidden || after.hidden {
            self.remove(before);
            self.insert(after);
        } else if let Some(scope) = self.0.get_mut(&after.scope) {
            scope.replace(before, after);
        }
    }

    #[cfg(test)]
    pub(crate) fn scopes(&self) -> usize {
        self.0.len()
    }
}

impl ScopeIndex {
    fn insert(&mut self, head: &TaskHead) {
        let place = place(head);
        self.by_context
            .entry(head.context_id.clone())
            .or_default()
            .insert(place.clone());
        self.by_state
            .entry(head.status.state)
            .or_default()
            .insert(place.clone());
        self.all.insert(place);
    }

    fn remove(&mut self, head: &TaskHead) {
        let place = place(head);
        self.all.remove(&place);
        if let Some(context) = self.by_context.get_mut(&head.context_id) {
            context.remove(&place);
            if context.is_empty() {
                self.by_context.remove(&head.context_id);
            }
        }
        if let Some(state) = self.by_state.get_mut(&head.status.state) {
            state.remove(&place);
        }
    }

    /// Scope and context of a task never change, and a short task does all its steps within a millisecond or two.
    fn replace(&mut self, before: &TaskHead, after: &TaskHead) {
        let (old, new) = (place(before), place(after));
        let moved = old != new;
        if moved {
            self.all.remove(&old);
            self.all.insert(new.clone());
            if let Some(context) = self.by_context.get_mut(&after.context_id) {
                context.remove(&old);
                context.insert(new.clone());
            }
        }
        if moved || before.status.state != after.status.state {
            if let Some(state) = self.by_state.get_mut(&before.status.state) {
                state.remove(&old);
            }
            self.by_state.entry(after.status.state).or_default().insert(new);
        }
    }

    fn page(&self, filter: &TaskFilter, after: Option<&TaskPosition>, most: usize) -> Page {
        let (walked, tested) = self.choose(filter);
        let from = filter.status_timestamp_after.map(first_at);
        let matching = |before: Option<&TaskPosition>| {
            range(walked, from.as_ref(), before)
                .rev()
                .filter(move |place| tested.is_none_or(|tested| tested.contains(place)))
        };
        let total = match (tested, &from) {
            (None, None) => walked.len(),
            _ => matching(None).count(),
        };
        let mut rest = matching(after);
        Page {
            ids: rest.by_ref().take(most).map(|place| place.id.clone()).collect(),
            more: rest.next().is_some(),
            total,
        }
    }

    /// The places to walk, and those that a place must be among as well: of two sets the smaller one is walked.
    fn choose(&self, filter: &TaskFilter) -> (&Places, Option<&Places>) {
        static NONE: Places = Places::new();
        let context = filter
            .context_id
            .as_ref()
            .map(|id| self.by_context.get(id).unwrap_or(&NONE));
        let state = filter
            .status
            .map(|state| self.by_state.get(&state).unwrap_or(&NONE));
        match (context, state) {
            (None, None) => (&self.all, None),
            (Some(only), None) | (None, Some(only)) => (only, None),
            (Some(one), Some(other)) if one.len() > other.len() => (other, Some(one)),
            (Some(one), Some(other)) => (one, Some(other)),
        }
    }
}

/// A task's place in lists, and in the order of leaving once it is finished.
pub(crate) fn place(head: &TaskHead) -> TaskPosition {
    TaskPosition {
        timestamp: head.status.timestamp,
        id: head.id.clone(),
    }
}

/// Before every place of this moment, and after every earlier one: no id sorts before the empty one.
fn first_at(timestamp: Timestamp) -> TaskPosition {
    TaskPosition {
        timestamp,
        id: TaskId::default(),
    }
}

fn range<'a>(
    places: &'a Places,
    from: Option<&TaskPosition>,
    before: Option<&TaskPosition>,
) -> impl DoubleEndedIterator<Item = &'a TaskPosition> + use<'a> {
    // A range that ends before it begins would panic.
    let empty = matches!((from, before), (Some(from), Some(before)) if from > before);
    let bounds = (
        from.map_or(Bound::Unbounded, Bound::Included),
        before.map_or(Bound::Unbounded, Bound::Excluded),
    );
    (!empty).then(|| places.range(bounds)).into_iter().flatten()
}
