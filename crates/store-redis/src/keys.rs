//! Every key that the store has in Redis, and where a task lies.
//!
//! A deployment has a fixed number of buckets. All keys of a bucket share one hash tag, so one script may touch them
//! together, in a cluster as well. A tenant lies in one bucket, or, if it is spread, in several; a task's id says in
//! which. [`KINDS`] is the whole list; scripts build the same keys from the same names.

use std::{collections::HashMap, fmt};

use gateway_domain::{
    ContextId, PushNotificationConfigId, PushNotificationConfigRow, Scope, Subject, TaskId, TaskState,
    Tenant, Timestamp, page::TaskPosition, ports::Origin, repeats::SendKey,
};

use crate::link::Slot;

/// A kind of key in a bucket, for the tests that hold scripts and server against the table.
#[cfg(test)]
#[derive(Debug)]
pub(crate) struct Kind {
    /// What stands after the bucket.
    pub(crate) name: &'static str,
    /// Its type, as Redis names it; a channel is no key.
    pub(crate) holds: &'static str,
    /// What it is named after, what is in it, and when it goes.
    pub(crate) says: &'static str,
}

macro_rules! kinds {
    ($($constant:ident = $name:literal $holds:literal $says:literal;)*) => {
        $(
            #[allow(dead_code, reason = "some are touched by scripts only")]
            pub(crate) const $constant: &str = $name;
        )*
        /// All of them. Those of sends expire with the newest of them; else what goes, goes with its task, in one step.
        #[cfg(test)]
        pub(crate) const KINDS: &[Kind] = &[$(Kind { name: $name, holds: $holds, says: $says }),*];
    };
}

kinds! {
    TASK = "task" "hash" "id: the task's head, and what scripts compare; goes with the task";
    CLIENT = "client" "list" "id: the client's messages in the history, each behind its revision; with the task";
    AGENT = "agent" "list" "id: the same of the agent's messages; with the task";
    PARTS = "parts" "hash" "id: chunks by the artifact's place and their own; with the task";
    LOG = "log" "stream" "id: the newest log entries, numbered by revision; bounded, with the task";
    HOOKS = "hooks" "hash" "id: push-notification configurations by their id; with the task";
    TASKS = "tasks" "zset" "every task by id; a member goes with its task";
    ROWS = "rows" "zset" "every configuration by row; a member goes with its configuration";
    LIST = "list" "zset" "scope: visible tasks in the order of lists; a member goes with its task";
    LIST_CONTEXT = "list-context" "zset" "scope, context: the same of a context";
    LIST_STATE = "list-state" "zset" "scope, state: the same in a state";
    LIST_BOTH = "list-both" "zset" "scope, state, context: the same of a context in a state";
    LIVE = "live" "hash" "live tasks of each tenant; a field goes with the last one";
    ENDED = "ended" "zset" "finished tasks by the moment of their end; a member goes with its task";
    DONE = "done" "zset" "tenant: its finished tasks, the first to leave first; a member goes with its task";
    DUE = "due" "zset" "runs and deliveries by the moment at which they are due; a member goes with the work";
    ASKS = "asks" "hash" "id: what is asked of the run, by number; goes with the run";
    ANSWERS = "answers" "hash" "id: answers to that, by number; the latest few, with the task";
    DELIVERED = "delivered" "hash" "id: grant and last cursor of each delivery, by configuration; with that";
    WORK = "work" "channel" "tells replicas of what is asked, answered and given back in the bucket";
    FENCE = "fence" "string" "counts what was written only to have all before it confirmed; stays with the bucket";
    SENT = "sent" "hash" "tenant: what is remembered of sends by sender and message, and their bytes; expires";
    SENT_UNTIL = "sent-until" "zset" "tenant: the same sends by the moment of being forgotten; expires";
    NEWS = "news" "channel" "id: tells replicas of a task's changes";
}

/// The most buckets that two hexadecimal digits can tell apart.
pub(crate) const MOST_BUCKETS: u16 = 256;

/// Digits of a moment in a place.
const MOMENT_DIGITS: usize = 13;

/// Where the id begins in a place.
pub(crate) const PLACE_ID: usize = MOMENT_DIGITS + 1;

/// Hexadecimal digits and the hyphen behind them, at the front of a task's id.
const MARK_BYTES: usize = 3;

/// One of a deployment's buckets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Bucket(u16);

impl Bucket {
    /// Reads what stands between the braces.
    pub(crate) fn read(tag: &str) -> Option<Self> {
        let lower = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        let fits = tag.len() == MARK_BYTES - 1 && tag.bytes().all(lower);
        fits.then(|| u16::from_str_radix(tag, 16).ok().map(Self))?
    }

    /// The part of a cluster that it lies in.
    pub(crate) fn slot(self) -> Slot {
        Slot::of(&self.to_string())
    }
}

/// What stands between the braces.
impl fmt::Display for Bucket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:02x}", self.0)
    }
}

/// How a deployment's keys are laid out. All replicas must agree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Layout {
    pub(crate) prefix: String,
    pub(crate) buckets: u16,
    /// Over how many buckets a tenant is spread that lies in more than one.
    pub(crate) spread: Spread,
}

/// Tenants, or the callers without one, by the number of their buckets.
pub(crate) type Spread = HashMap<Option<Tenant>, u16>;

impl Layout {
    /// The bucket that a task's id names; nothing for an id that no task of this deployment can have.
    pub(crate) fn bucket(&self, id: &TaskId) -> Option<Bucket> {
        let (digits, rest) = id.as_str().split_at_checked(MARK_BYTES - 1)?;
        let bucket = Bucket::read(digits)?;
        (rest.starts_with('-') && bucket.0 < self.buckets).then_some(bucket)
    }

    /// The buckets of a tenant, the one where it lay before it was spread first.
    pub(crate) fn buckets_of(&self, tenant: Option<&Tenant>) -> impl Iterator<Item = Bucket> + use<> {
        let first = self.first_bucket_of(tenant);
        let buckets = self.buckets;
        (0..self.parts_of(tenant)).map(move |part| Bucket((first.0 + part) % buckets))
    }

    /// In which of its tenant's buckets a fresh task is to lie.
    pub(crate) fn bucket_for(&self, origin: Origin<'_>) -> Bucket {
        let first = self.first_bucket_of(origin.tenant);
        let part = hash(origin.placed_by, self.parts_of(origin.tenant));
        Bucket((first.0 + part) % self.buckets)
    }

    /// Where a send is remembered: with its task.
    pub(crate) fn bucket_of_send(&self, key: &SendKey) -> Bucket {
        let named = key.task.as_ref().and_then(|task| self.bucket(task));
        let tenant = key.scope.tenant.as_ref();
        let of_tenant = named.filter(|named| self.buckets_of(tenant).any(|bucket| bucket == *named));
        of_tenant.unwrap_or_else(|| self.bucket_for(key.origin()))
    }

    /// What each of a tenant's buckets may hold where the tenant may hold so much: at least one of what it may hold.
    pub(crate) fn share(&self, tenant: Option<&Tenant>, bound: usize) -> usize {
        let least = bound.min(1);
        (bound / usize::from(self.parts_of(tenant))).max(least)
    }

    fn first_bucket_of(&self, tenant: Option<&Tenant>) -> Bucket {
        Bucket(hash(&optional(tenant.map(Tenant::as_str)), self.buckets))
    }

    fn parts_of(&self, tenant: Option<&Tenant>) -> u16 {
        if self.spread.is_empty() {
            return 1;
        }
        self.spread.get(&tenant.cloned()).copied().unwrap_or(1)
    }

    /// Writes the bucket into a fresh id.
    pub(crate) fn mark(&self, fresh: &TaskId, origin: Origin<'_>) -> TaskId {
        TaskId::new(format!("{}-{fresh}", self.bucket_for(origin)))
    }

    /// What comes before every id of a bucket, and after those of the buckets before it.
    pub(crate) fn beginning(&self, bucket: Bucket) -> TaskId {
        TaskId::new(format!("{:02x}-", bucket.0))
    }

    /// Every bucket, in the order of the ids in them.
    pub(crate) fn all(&self) -> impl Iterator<Item = Bucket> + use<> {
        (0..self.buckets).map(Bucket)
    }

    /// What all keys of a bucket begin with. Scripts are given this one as their key.
    pub(crate) fn stem(&self, bucket: Bucket) -> String {
        format!("{}:{{{bucket}}}", self.prefix)
    }

    /// A key of a bucket.
    pub(crate) fn key(&self, bucket: Bucket, kind: &str, of: &str) -> String {
        if of.is_empty() {
            format!("{}:{kind}", self.stem(bucket))
        } else {
            format!("{}:{kind}:{of}", self.stem(bucket))
        }
    }

    /// What the replicas of a deployment have agreed on; the one key outside of all buckets.
    pub(crate) fn deployment(&self) -> String {
        format!("{}:deployment", self.prefix)
    }

    /// The list of a bucket in which exactly its tasks of a scope stand that a filter selects, whatever their time.
    pub(crate) fn list(
        &self,
        bucket: Bucket,
        scope: &Scope,
        context: Option<&ContextId>,
        state: Option<TaskState>,
    ) -> String {
        let of = scope_part(scope);
        let context = context.map(context_part);
        let (kind, of) = match (context, state) {
            (None, None) => (LIST, of),
            (Some(context), None) => (LIST_CONTEXT, format!("{of}:{context}")),
            (None, Some(state)) => (LIST_STATE, format!("{of}:{}", state.number())),
            (Some(context), Some(state)) => (LIST_BOTH, format!("{of}:{}:{context}", state.number())),
        };
        self.key(bucket, kind, &of)
    }
}

/// One of so many numbers, the same for a text in every release: FNV-1a.
fn hash(text: &str, numbers: u16) -> u16 {
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    u16::try_from(hash % u64::from(numbers)).unwrap_or_default()
}

/// A text that may hold anything, as a part of a key: its length keeps it apart from what follows.
fn part(text: &str) -> String {
    format!("{}={text}", text.len())
}

fn optional(text: Option<&str>) -> String {
    text.map_or_else(|| "-".to_owned(), part)
}

/// A tenant in keys and fields.
pub(crate) fn tenant_part(tenant: Option<&Tenant>) -> String {
    optional(tenant.map(Tenant::as_str))
}

/// A scope in keys.
pub(crate) fn scope_part(scope: &Scope) -> String {
    let owner = optional(scope.owner.as_ref().map(Subject::as_str));
    format!("{}:{owner}", tenant_part(scope.tenant.as_ref()))
}

/// A send in fields: its sender and its message.
pub(crate) fn send_part(key: &SendKey) -> String {
    let owner = optional(key.scope.owner.as_ref().map(Subject::as_str));
    format!("{owner}:{}", key.message)
}

/// A context in keys.
pub(crate) fn context_part(context: &ContextId) -> String {
    part(context.as_str())
}

/// A moment as the front of a place: texts sort as the moments do.
pub(crate) fn moment(timestamp: Timestamp) -> String {
    // No moment lies before the year 1.
    const YEAR_1: i64 = 62_135_596_800_000;
    format!("{:0MOMENT_DIGITS$x}", timestamp.millis() + YEAR_1)
}

/// A task's place in lists: members sort as positions do.
pub(crate) fn place(position: &TaskPosition) -> String {
    format!("{}:{}", moment(position.timestamp), position.id)
}

/// The context of its part.
pub(crate) fn of_context_part(part: &str) -> ContextId {
    ContextId::new(part.split_once('=').map_or("", |(_, context)| context))
}

/// A text that sorts behind every configuration of a row, and before those of the rows that follow. Behind the row
/// stands a zero byte, which no id holds.
pub(crate) fn after_row(row: &str) -> String {
    format!("{row}\u{1}")
}

/// Row, task and id of a configuration by its member among the rows.
pub(crate) fn of_row_member(
    member: &str,
) -> Option<(PushNotificationConfigRow, TaskId, PushNotificationConfigId)> {
    let mut parts = member.splitn(3, '\0');
    Some((
        PushNotificationConfigRow::new(parts.next()?),
        TaskId::new(parts.next()?),
        PushNotificationConfigId::new(parts.next()?),
    ))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use gateway_domain::MessageId;

    use super::*;

    fn layout(buckets: u16) -> Layout {
        Layout {
            prefix: "a2a".to_owned(),
            buckets,
            spread: Spread::new(),
        }
    }

    fn of(tenant: Option<&Tenant>) -> Origin<'_> {
        Origin {
            tenant,
            placed_by: "m",
        }
    }

    fn bucket_of(layout: &Layout, tenant: Option<&Tenant>) -> Bucket {
        let buckets: Vec<_> = layout.buckets_of(tenant).collect();
        assert_eq!(buckets.len(), 1);
        buckets[0]
    }

    fn tenant(text: &str) -> Tenant {
        Tenant::new(text)
    }

    #[test]
    fn an_id_says_the_bucket_of_its_tenant() {
        for buckets in [1, 2, 64, MOST_BUCKETS] {
            let layout = layout(buckets);
            for name in ["", "acme", "globex", "{x}", "ü"] {
                let tenant = (!name.is_empty()).then(|| tenant(name));
                let id = layout.mark(&TaskId::new("fresh"), of(tenant.as_ref()));
                assert_eq!(
                    layout.bucket(&id),
                    Some(bucket_of(&layout, tenant.as_ref())),
                    "{id}"
                );
            }
        }
    }

    #[test]
    fn an_id_that_names_no_bucket_of_the_deployment_lies_nowhere() {
        for id in [
            "", "-", "0", "00", "40-x", "0g-x", "0A-x", "+1-x", "00x", "ü-x", "task-1", "~",
        ] {
            assert_eq!(layout(64).bucket(&TaskId::new(id)), None, "{id}");
        }
        assert!(layout(64).bucket(&TaskId::new("3f-x")).is_some());
        assert_eq!(
            Bucket::read("3f").map(|bucket| bucket.to_string()).as_deref(),
            Some("3f")
        );
        assert_eq!(["", "3", "03f", "3F"].map(Bucket::read), [None; 4]);
    }

    #[test]
    fn the_bucket_of_a_tenant_never_changes() {
        // A release that moves one of these loses tasks of every deployment.
        let layout = layout(64);
        let buckets = [None, Some("acme"), Some("globex")].map(|name| {
            let tenant = name.map(tenant);
            layout.mark(&TaskId::new("x"), of(tenant.as_ref())).to_string()
        });
        assert_eq!(buckets, ["18-x", "3c-x", "1b-x"]);
    }

    #[test]
    fn tenants_lie_in_all_buckets() {
        let layout = layout(64);
        let used: HashSet<_> = (0..1_000)
            .map(|number| bucket_of(&layout, Some(&tenant(&format!("tenant {number}")))).0)
            .collect();
        assert_eq!(used.len(), 64);
    }

    /// Tenant acme over six of eight buckets, round their end.
    fn spread() -> Layout {
        Layout {
            spread: Spread::from([(Some(tenant("acme")), 6)]),
            ..layout(8)
        }
    }

    #[test]
    fn a_spread_tenant_keeps_its_bucket_and_has_those_that_follow() {
        let acme = tenant("acme");
        let own = bucket_of(&layout(8), Some(&acme));
        let buckets: Vec<_> = spread().buckets_of(Some(&acme)).map(|bucket| bucket.0).collect();
        let follow: Vec<_> = (0..6).map(|part| (own.0 + part) % 8).collect();
        assert_eq!(buckets, follow);
        assert!(buckets.contains(&7) && buckets.contains(&0), "{buckets:?}");
        bucket_of(&spread(), None);
        bucket_of(&spread(), Some(&tenant("globex")));
    }

    #[test]
    fn the_part_of_a_context_never_changes() {
        // A release that moves one of these forgets sends, and parts the tasks of a context.
        let acme = tenant("acme");
        let parts = ["", "talk", "00000000-0000-4000-8000-000000000001", "ü"].map(|placed_by| {
            let tenant = Some(&acme);
            spread().bucket_for(Origin { tenant, placed_by }).to_string()
        });
        assert_eq!(parts, ["01", "05", "04", "04"]);
    }

    #[test]
    fn a_spread_tenants_tasks_lie_in_all_of_its_buckets_and_in_no_other() {
        let (layout, acme) = (spread(), tenant("acme"));
        let used: HashSet<_> = (0..1_000)
            .map(|number| {
                let placed_by = format!("context {number}");
                layout.bucket_for(Origin {
                    tenant: Some(&acme),
                    placed_by: &placed_by,
                })
            })
            .collect();
        assert_eq!(used, layout.buckets_of(Some(&acme)).collect());
    }

    #[test]
    fn a_send_is_looked_for_where_its_task_lies_or_will_lie() {
        let (layout, acme) = (spread(), tenant("acme"));
        let key = |context: Option<&str>, task: Option<&TaskId>| SendKey {
            scope: Scope {
                tenant: Some(acme.clone()),
                owner: None,
            },
            message: MessageId::new("m"),
            task: task.cloned(),
            context: context.map(ContextId::new),
        };
        for context in [None, Some("talk"), Some("another")] {
            let first = key(context, None);
            let task = layout.mark(&TaskId::new("x"), first.origin());
            assert_eq!(Some(layout.bucket_of_send(&first)), layout.bucket(&task));
            let next = key(None, Some(&task));
            assert_eq!(Some(layout.bucket_of_send(&next)), layout.bucket(&task));
        }
        // A task of somebody else's tells nothing.
        let outside = layout
            .all()
            .find(|bucket| !layout.buckets_of(Some(&acme)).any(|own| own == *bucket));
        let foreign = TaskId::new(format!("{}-x", outside.unwrap()));
        let first = key(None, None);
        assert_eq!(
            layout.bucket_of_send(&key(None, Some(&foreign))),
            layout.bucket_of_send(&first)
        );
    }

    #[test]
    fn each_bucket_of_a_tenant_has_its_share_and_at_least_one() {
        let (layout, acme) = (spread(), tenant("acme"));
        let shares = [0, 1, 6, 13, 6_000].map(|bound| layout.share(Some(&acme), bound));
        assert_eq!(shares, [0, 1, 1, 2, 1_000]);
        assert_eq!([0, 1, 13].map(|bound| layout.share(None, bound)), [0, 1, 13]);
    }

    #[test]
    fn whatever_a_name_holds_no_two_scopes_and_contexts_share_a_list() {
        let names = [
            None,
            Some("-"),
            Some("a"),
            Some("a:1=b"),
            Some("1=a"),
            Some("}{"),
            Some(":"),
        ];
        let layout = layout(1);
        let mut keys = HashSet::new();
        let mut made = 0;
        for (tenant, owner) in names.iter().flat_map(|tenant| names.map(|owner| (tenant, owner))) {
            let scope = Scope {
                tenant: tenant.map(Tenant::new),
                owner: owner.map(Subject::new),
            };
            for context in [None, Some("a"), Some("2:1=a"), Some("b")] {
                for state in [None, Some(TaskState::Working), Some(TaskState::Submitted)] {
                    let context = context.map(ContextId::new);
                    let key = layout.list(Bucket(0), &scope, context.as_ref(), state);
                    assert!(
                        key.starts_with("a2a:{00}:"),
                        "the first braces are the bucket's: {key}"
                    );
                    keys.insert(key);
                    made += 1;
                }
            }
        }
        assert_eq!(keys.len(), made);
    }

    #[test]
    fn places_sort_as_positions_do() {
        let position = |millis, id: &str| TaskPosition {
            timestamp: Timestamp::from_millis(millis).unwrap(),
            id: TaskId::new(id),
        };
        let positions = [
            position(-62_135_596_800_000, "z"),
            position(-1, "a"),
            position(0, "a"),
            position(0, "aa"),
            position(0, "b"),
            position(1_769_850_000_000, "a"),
            position(253_402_300_799_999, "a"),
        ];
        assert!(positions.is_sorted());
        assert!(positions.iter().map(place).is_sorted());
        assert!(
            positions
                .iter()
                .all(|at| place(at)[PLACE_ID..] == *at.id.as_str())
        );
    }

    #[test]
    fn every_kind_is_documented_and_named_once() {
        let names: HashSet<_> = KINDS.iter().map(|kind| kind.name).collect();
        assert_eq!(names.len(), KINDS.len());
        assert!(KINDS.iter().all(|kind| !kind.says.is_empty()));
    }
}
