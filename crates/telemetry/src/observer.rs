//! Watches calls: counts each, and logs each at debug, refusals and failures sampled at higher levels.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use gateway_domain::{Binding, Error, ErrorKind, Operation, Outcome, TaskId, Tenant, Version};
use gateway_pipeline::{Observer, Record, StreamEnd};
use tracing::{Level, level_filters::LevelFilter};

use crate::{Metrics, sampler::Sampler};

/// What the pipeline tells of calls, to the metrics and to the log.
pub struct CallObserver {
    metrics: Arc<Metrics>,
    refusals: Sampler,
    // Apart from refusals, so that a caller who is refused all the time cannot hide what fails.
    failures: Sampler,
}

impl CallObserver {
    /// At most so many lines a second about refusals, and as many about failures.
    pub fn new(metrics: Arc<Metrics>, lines_per_second: u32) -> Self {
        Self {
            metrics,
            refusals: Sampler::new(lines_per_second),
            failures: Sampler::new(lines_per_second),
        }
    }

    /// Logs an answer or the end of a stream at the level that its error deserves, or at debug without one.
    fn log(&self, event: &Event<'_>) {
        let Some(error) = event.error else {
            return line(Level::DEBUG, event, None);
        };
        let (sampler, level) = match error.kind() {
            ErrorKind::Internal => (&self.failures, Level::ERROR),
            ErrorKind::Unavailable | ErrorKind::InvalidAgentResponse => (&self.failures, Level::WARN),
            _ => (&self.refusals, Level::INFO),
        };
        if level > LevelFilter::current() {
            return;
        }
        match sampler.admit(Instant::now()) {
            Some(left_out) => line(level, event, Some(left_out).filter(|count| *count > 0)),
            None => line(Level::DEBUG, event, None),
        }
    }
}

impl Observer for CallObserver {
    fn answered(&self, record: &Record<'_>) {
        self.metrics.count(record);
        self.log(&Event {
            what: "answered",
            request_id: record.request_id,
            binding: record.binding,
            operation: record.operation,
            version: record.version,
            tenant: record.tenant,
            task: record.task,
            outcome: record.outcome,
            error: record.error,
            elapsed: Some(record.elapsed),
            events: None,
        });
    }

    fn stream_ended(&self, end: &StreamEnd<'_>) {
        self.metrics.count_end(end);
        self.log(&Event {
            what: "stream ended",
            request_id: end.request_id,
            binding: end.binding,
            operation: end.operation,
            version: None,
            tenant: None,
            task: None,
            outcome: None,
            error: end.error,
            elapsed: None,
            events: Some(end.events),
        });
    }
}

/// What a line may say.
struct Event<'a> {
    what: &'static str,
    request_id: &'a str,
    binding: Binding,
    operation: Option<Operation>,
    version: Option<Version>,
    tenant: Option<&'a Tenant>,
    task: Option<&'a TaskId>,
    outcome: Option<Outcome>,
    error: Option<&'a Error>,
    elapsed: Option<Duration>,
    events: Option<u64>,
}

/// One line. A level must be known where a line is written, hence the macro.
fn line(level: Level, event: &Event<'_>, left_out: Option<u64>) {
    macro_rules! at {
        ($level:ident) => {
            tracing::event!(
                Level::$level,
                request_id = event.request_id,
                binding = event.binding.name(),
                operation = event.operation.map(Operation::name),
                version = event.version.map(Version::name),
                tenant = event.tenant.map(Tenant::as_str),
                task = event.task.map(TaskId::as_str),
                outcome = event.outcome.map(Outcome::name),
                error = event.error.map(|error| error.kind().name()),
                reason = event.error.map(Error::message),
                cause = event.error.and_then(Error::cause),
                elapsed_us = event
                    .elapsed
                    .map(|elapsed| u64::try_from(elapsed.as_micros()).unwrap_or(u64::MAX)),
                events = event.events,
                left_out,
                "{}",
                event.what
            )
        };
    }
    if level == Level::ERROR {
        at!(ERROR);
    } else if level == Level::WARN {
        at!(WARN);
    } else if level == Level::INFO {
        at!(INFO);
    } else {
        at!(DEBUG);
    }
}

#[cfg(test)]
mod tests;
