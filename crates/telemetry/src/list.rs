//! Every metric, once: name, unit, help and labels. A label that says nothing is empty.

/// One metric.
#[derive(Debug, PartialEq, Eq)]
pub struct Metric {
    /// The name, without what the exposition adds for unit and kind.
    pub name: &'static str,
    /// The unit, as UCUM writes it; empty for plain numbers.
    pub unit: &'static str,
    /// What it tells.
    pub help: &'static str,
    /// The labels. The values of each are bounded.
    pub labels: &'static [&'static str],
    /// How it behaves.
    pub kind: Kind,
}

/// How a metric behaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Only rises.
    Counter,
    /// Rises and falls.
    Gauge,
    /// Counts values by size.
    Histogram,
}

/// Every metric.
pub const METRICS: &[&Metric] = &[
    &CALLS,
    &CALL_DURATION,
    &STREAMS,
    &STREAM_ENDS,
    &STREAM_EVENTS,
    &STREAMS_RESUMED,
    &LIVE_TASKS,
    &FINISHED_TASKS,
    &RETIRED_TASKS,
    &SET_BACK_TASKS,
    &DROPPED_REPORTS,
    &LEASES,
    &LEASES_TAKEN,
    &LEASES_LOST,
    &RUNS_GIVEN_UP,
    &WEBHOOKS,
    &WEBHOOKS_RETRYING,
    &WEBHOOK_CALLS,
    &WEBHOOK_DEAD_LETTERS,
    &WEBHOOK_GAPS,
    &BUILD,
];

/// Calls by how they ended.
pub const CALLS: Metric = Metric {
    name: "a2a_gateway_calls",
    unit: "",
    help: "Calls answered, by how they ended; a stream counts when it begins.",
    labels: &["binding", "operation", "version", "tenant", "outcome", "error"],
    kind: Kind::Counter,
};

/// Calls by how long they took.
pub const CALL_DURATION: Metric = Metric {
    name: "a2a_gateway_call_duration",
    unit: "s",
    help: "From the arrival of a call's envelope to its answer, for a stream to its first event.",
    labels: &["binding", "operation"],
    kind: Kind::Histogram,
};

/// Streams open now.
pub const STREAMS: Metric = Metric {
    name: "a2a_gateway_streams",
    unit: "",
    help: "Streams that are open.",
    labels: &["binding"],
    kind: Kind::Gauge,
};

/// Streams by how they ended.
pub const STREAM_ENDS: Metric = Metric {
    name: "a2a_gateway_stream_ends",
    unit: "",
    help: "Streams that ended: with the error that cut them, or none where the task ended or the reader left.",
    labels: &["binding", "error"],
    kind: Kind::Counter,
};

/// Events that went out in streams.
pub const STREAM_EVENTS: Metric = Metric {
    name: "a2a_gateway_stream_events",
    unit: "",
    help: "Events that went out in streams that have ended.",
    labels: &["binding"],
    kind: Kind::Counter,
};

/// Streams that went on after a cursor, and those that started over.
pub const STREAMS_RESUMED: Metric = Metric {
    name: "a2a_gateway_streams_resumed",
    unit: "",
    help: "Streams that went on after a cursor, or started over with the task: since the cursor was too old, or since \
           events that were shown were lost in the store, which may happen in the middle of a stream as well.",
    labels: &["result"],
    kind: Kind::Counter,
};

/// Tasks that are not finished.
pub const LIVE_TASKS: Metric = Metric {
    name: "a2a_gateway_live_tasks",
    unit: "",
    help: "Tasks that are not finished.",
    labels: &[],
    kind: Kind::Gauge,
};

/// Tasks that are finished and still kept.
pub const FINISHED_TASKS: Metric = Metric {
    name: "a2a_gateway_finished_tasks",
    unit: "",
    help: "Finished tasks that are still kept.",
    labels: &[],
    kind: Kind::Gauge,
};

/// Tasks that were removed to make room or for their age.
pub const RETIRED_TASKS: Metric = Metric {
    name: "a2a_gateway_retired_tasks",
    unit: "",
    help: "Finished tasks that were removed: too many of their tenant, too many bytes in all, or too old.",
    labels: &["reason"],
    kind: Kind::Counter,
};

/// Tasks that the store lost changes of.
pub const SET_BACK_TASKS: Metric = Metric {
    name: "a2a_gateway_set_back_tasks",
    unit: "",
    help: "Tasks that were followed here and that the store set back: a failover lost changes that had been told of.",
    labels: &[],
    kind: Kind::Counter,
};

/// What agents reported too late.
pub const DROPPED_REPORTS: Metric = Metric {
    name: "a2a_gateway_dropped_agent_reports",
    unit: "",
    help: "Reports of agents that came after the end of their task and were dropped.",
    labels: &[],
    kind: Kind::Counter,
};

/// What this replica holds.
pub const LEASES: Metric = Metric {
    name: "a2a_gateway_leases",
    unit: "",
    help: "Agent's runs and webhooks that this replica holds, so that no other has them. Nothing without replicas.",
    labels: &[],
    kind: Kind::Gauge,
};

/// What this replica took over.
pub const LEASES_TAKEN: Metric = Metric {
    name: "a2a_gateway_leases_taken",
    unit: "",
    help: "Runs and webhooks that this replica took over from one that left, was killed or was cut off.",
    labels: &[],
    kind: Kind::Counter,
};

/// What this replica lost.
pub const LEASES_LOST: Metric = Metric {
    name: "a2a_gateway_leases_lost",
    unit: "",
    help: "Runs and webhooks that were stopped here: the store was not reached in time, or their end came elsewhere.",
    labels: &[],
    kind: Kind::Counter,
};

/// Runs that may have ended their replicas.
pub const RUNS_GIVEN_UP: Metric = Metric {
    name: "a2a_gateway_runs_given_up",
    unit: "",
    help: "Runs whose task was failed here since too many replicas were lost with them.",
    labels: &[],
    kind: Kind::Counter,
};

/// Webhooks that are delivered to.
pub const WEBHOOKS: Metric = Metric {
    name: "a2a_gateway_webhooks",
    unit: "",
    help: "Webhooks of unfinished tasks, or with events that have not arrived yet.",
    labels: &[],
    kind: Kind::Gauge,
};

/// Those of them that failed last.
pub const WEBHOOKS_RETRYING: Metric = Metric {
    name: "a2a_gateway_webhooks_retrying",
    unit: "",
    help: "Webhooks whose last call failed and that wait for the next.",
    labels: &[],
    kind: Kind::Gauge,
};

/// Calls to webhooks by how they ended.
pub const WEBHOOK_CALLS: Metric = Metric {
    name: "a2a_gateway_webhook_calls",
    unit: "",
    help: "Calls to webhooks, by how they ended.",
    labels: &["result"],
    kind: Kind::Counter,
};

/// Events that did not arrive.
pub const WEBHOOK_DEAD_LETTERS: Metric = Metric {
    name: "a2a_gateway_webhook_dead_letters",
    unit: "",
    help: "Events that a webhook never took, by the reason for which they were given up.",
    labels: &["reason"],
    kind: Kind::Counter,
};

/// Events that were replaced by the task as it stands.
pub const WEBHOOK_GAPS: Metric = Metric {
    name: "a2a_gateway_webhook_gaps",
    unit: "",
    help: "How often a webhook got the task as it stands in place of events that were no longer held.",
    labels: &[],
    kind: Kind::Counter,
};

/// Which build runs.
pub const BUILD: Metric = Metric {
    name: "a2a_gateway_build",
    unit: "",
    help: "Always 1; the label tells which version runs.",
    labels: &["version"],
    kind: Kind::Gauge,
};

impl Metric {
    /// The name in the exposition.
    pub fn exposed_name(&self) -> String {
        let unit = match self.unit {
            "s" => "_seconds",
            _ => "",
        };
        let kind = match self.kind {
            Kind::Counter => "_total",
            Kind::Gauge | Kind::Histogram => "",
        };
        format!("{}{unit}{kind}", self.name)
    }
}
