//! What a call leaves behind: counts in the exposition, and lines in the log.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use gateway_domain::{
    Binding, Error, ErrorKind, Operation, Outcome, TaskId, Tenant, Version, principal::Actor,
};
use gateway_pipeline::{Observer, Record, StreamEnd};

use super::CallObserver;
use crate::{
    METRICS, Metrics,
    list::{
        BUILD, DROPPED_REPORTS, FINISHED_TASKS, Kind, LEASES, LEASES_LOST, LEASES_TAKEN, LIVE_TASKS,
        RETIRED_TASKS, RUNS_GIVEN_UP, SET_BACK_TASKS, STREAMS_RESUMED, WEBHOOK_CALLS, WEBHOOK_DEAD_LETTERS,
        WEBHOOK_GAPS, WEBHOOKS, WEBHOOKS_RETRYING,
    },
    logs::{Format, tests::logged},
};

fn observer(tenants: &[Tenant]) -> (CallObserver, Arc<Metrics>) {
    let metrics = Arc::new(Metrics::new(tenants).unwrap());
    (CallObserver::new(metrics.clone(), 2), metrics)
}

fn record<'a>(tenant: Option<&'a Tenant>, task: Option<&'a TaskId>, error: Option<&'a Error>) -> Record<'a> {
    Record {
        binding: Binding::HttpJson,
        actor: Actor::Client,
        operation: Some(Operation::SendStreamingMessage),
        version: Some(Version::V1_0),
        tenant,
        task,
        request_id: "call-1",
        outcome: error.is_none().then_some(Outcome::TaskCreated),
        error,
        elapsed: Duration::from_millis(3),
    }
}

fn end(error: Option<&Error>) -> StreamEnd<'_> {
    StreamEnd {
        binding: Binding::HttpJson,
        operation: Some(Operation::SendStreamingMessage),
        request_id: "call-1",
        events: 4,
        error,
    }
}

#[test]
fn the_exposition_holds_the_metrics_of_the_list_and_no_others() {
    let (observer, metrics) = observer(&[]);
    observer.answered(&record(None, None, None));
    observer.stream_ended(&end(None));
    metrics.watch(&LIVE_TASKS, || vec![("", 5)]);
    metrics.watch(&FINISHED_TASKS, || vec![("", 6)]);
    metrics.watch(&RETIRED_TASKS, || vec![("age", 7)]);
    metrics.watch(&DROPPED_REPORTS, || vec![("", 8)]);
    for plain in [
        &LEASES,
        &LEASES_TAKEN,
        &LEASES_LOST,
        &RUNS_GIVEN_UP,
        &SET_BACK_TASKS,
        &WEBHOOKS,
        &WEBHOOKS_RETRYING,
        &WEBHOOK_GAPS,
    ] {
        metrics.watch(plain, || vec![("", 9)]);
    }
    metrics.watch(&STREAMS_RESUMED, || vec![("continued", 9)]);
    metrics.watch(&WEBHOOK_CALLS, || vec![("delivered", 10)]);
    metrics.watch(&WEBHOOK_DEAD_LETTERS, || vec![("refused", 11)]);
    metrics.watch(&BUILD, || vec![("1.2.3", 1)]);
    let text = metrics.render().unwrap();

    for metric in METRICS {
        let name = metric.exposed_name();
        let kind = match metric.kind {
            Kind::Counter => "counter",
            Kind::Gauge => "gauge",
            Kind::Histogram => "histogram",
        };
        assert!(
            text.contains(&format!("# HELP {name} {}\n", metric.help)),
            "{name} in\n{text}"
        );
        assert!(
            text.contains(&format!("# TYPE {name} {kind}\n")),
            "{name} in\n{text}"
        );
        let line = text
            .lines()
            .find(|line| !line.starts_with('#') && line.starts_with(&name))
            .unwrap();
        for label in metric.labels {
            assert!(line.contains(&format!("{label}=\"")), "{line}");
        }
    }
    let exposed: BTreeSet<_> = text
        .lines()
        .filter_map(|line| line.strip_prefix("# TYPE ")?.split(' ').next())
        .collect();
    assert_eq!(exposed.len(), METRICS.len(), "{exposed:?}");
    assert!(text.contains("a2a_gateway_live_tasks 5\n"), "{text}");
    assert!(
        text.contains("a2a_gateway_build{version=\"1.2.3\"} 1\n"),
        "{text}"
    );
}

#[test]
fn a_call_is_counted_under_its_labels() {
    let (observer, metrics) = observer(&[Tenant::new("acme")]);
    let refused = Error::task_not_found();
    observer.answered(&record(Some(&Tenant::new("acme")), None, None));
    observer.answered(&record(Some(&Tenant::new("made-up-1")), None, Some(&refused)));
    observer.answered(&record(Some(&Tenant::new("made-up-2")), None, Some(&refused)));
    let text = metrics.render().unwrap();
    for line in [
        "a2a_gateway_calls_total{binding=\"HTTP+JSON\",error=\"\",operation=\"SendStreamingMessage\",\
         outcome=\"task-created\",tenant=\"acme\",version=\"1.0\"} 1\n",
        "a2a_gateway_calls_total{binding=\"HTTP+JSON\",error=\"TaskNotFound\",\
         operation=\"SendStreamingMessage\",outcome=\"\",tenant=\"other\",version=\"1.0\"} 2\n",
        "a2a_gateway_call_duration_seconds_count{binding=\"HTTP+JSON\",operation=\"SendStreamingMessage\"} 3\n",
    ] {
        assert!(text.contains(line), "{line} in\n{text}");
    }
}

#[test]
fn streams_are_counted_while_they_are_open_and_by_how_they_end() {
    let (observer, metrics) = observer(&[]);
    let cut = Error::unavailable("drained");
    for error in [None, None, None, Some(&cut)] {
        observer.answered(&record(None, None, error));
    }
    observer.stream_ended(&end(None));
    observer.stream_ended(&end(Some(&cut)));
    let text = metrics.render().unwrap();
    for line in [
        "a2a_gateway_streams{binding=\"HTTP+JSON\"} 1\n",
        "a2a_gateway_stream_events_total{binding=\"HTTP+JSON\"} 8\n",
        "a2a_gateway_stream_ends_total{binding=\"HTTP+JSON\",error=\"\"} 1\n",
        "a2a_gateway_stream_ends_total{binding=\"HTTP+JSON\",error=\"Unavailable\"} 1\n",
    ] {
        assert!(text.contains(line), "{line} in\n{text}");
    }
}

#[test]
fn a_call_is_one_line_at_debug_and_none_at_info() {
    let (observer, _) = observer(&[]);
    let (tenant, task) = (Tenant::new("acme"), TaskId::new("t-1"));
    let act = || observer.answered(&record(Some(&tenant), Some(&task), None));
    assert_eq!(logged(Format::Json, "info", act), "");
    let line = logged(Format::Json, "debug", act);
    assert_eq!(line.lines().count(), 1, "{line}");
    for field in [
        r#""request_id":"call-1""#,
        r#""binding":"HTTP+JSON""#,
        r#""operation":"SendStreamingMessage""#,
        r#""tenant":"acme""#,
        r#""task":"t-1""#,
        r#""outcome":"task-created""#,
        r#""elapsed_us":3000"#,
    ] {
        assert!(line.contains(field), "{field} in {line}");
    }
}

#[test]
fn refusals_are_sampled_at_info_and_the_next_line_says_how_many_were_left_out() {
    let (observer, _) = observer(&[]);
    let refused = Error::task_not_found();
    let lines = logged(Format::Json, "info", || {
        for _ in 0..5 {
            observer.answered(&record(None, None, Some(&refused)));
        }
    });
    assert_eq!(lines.lines().count(), 2, "{lines}");
    assert!(lines.contains(r#""reason":"task not found""#), "{lines}");
}

#[test]
fn a_failure_is_logged_with_its_cause_though_refusals_are_left_out() {
    let (observer, _) = observer(&[]);
    let refused = Error::new(ErrorKind::InvalidParams, "no");
    let lines = logged(Format::Json, "info", || {
        for _ in 0..9 {
            observer.answered(&record(None, None, Some(&refused)));
        }
        observer.answered(&record(None, None, Some(&Error::internal("node b refused"))));
        observer.stream_ended(&end(Some(&Error::unavailable("node c is gone"))));
    });
    let with = |level, cause| {
        let level = format!("\"level\":\"{level}\"");
        lines
            .lines()
            .any(|line| line.contains(&level) && line.contains(cause))
    };
    assert!(with("ERROR", "node b refused"), "{lines}");
    assert!(with("WARN", "node c is gone"), "{lines}");
}
