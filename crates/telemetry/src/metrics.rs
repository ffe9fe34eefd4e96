//! Carries out the list: instruments of OpenTelemetry, read in the text format of Prometheus.

use std::collections::HashMap;

use gateway_domain::Tenant;
use gateway_pipeline::{Record, StreamEnd};
use opentelemetry::{
    KeyValue, StringValue, Value,
    metrics::{Counter, Histogram, Meter, MeterProvider, UpDownCounter},
};
use opentelemetry_sdk::metrics::{Instrument, SdkMeterProvider, Stream};
use prometheus::{Registry, TextEncoder};

use crate::list::{CALL_DURATION, CALLS, Kind, Metric, STREAM_ENDS, STREAM_EVENTS, STREAMS};

/// Upper ends of the histogram's buckets, in seconds: a loopback call takes less than the first.
const BUCKETS: [f64; 14] = [
    0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0, 30.0,
];

/// Combinations of labels of one metric. A call ends in one of some 15 ways for each of 21 operations on 3
/// bindings; what named tenants add to that is bounded here, beyond it a combination counts as "other".
const MOST_SERIES: usize = 20_000;

/// The same of every metric without tenants.
const MOST_OTHER_SERIES: usize = 500;

/// A tenant that the operator did not name.
const OTHER: &str = "other";

/// Every metric.
pub struct Metrics {
    registry: Registry,
    meter: Meter,
    calls: Counter<u64>,
    durations: Histogram<f64>,
    streams: UpDownCounter<i64>,
    stream_ends: Counter<u64>,
    stream_events: Counter<u64>,
    tenants: HashMap<Tenant, StringValue>,
    /// Instruments report as long as it lives.
    _provider: SdkMeterProvider,
}

impl Metrics {
    /// Tells the named tenants apart and counts all others together.
    ///
    /// # Errors
    /// Says what is wrong with the list; a test makes sure that nothing is.
    pub fn new<'t>(tenants: impl IntoIterator<Item = &'t Tenant>) -> Result<Self, String> {
        let registry = Registry::new();
        let exporter = opentelemetry_prometheus::exporter()
            .with_registry(registry.clone())
            .without_target_info()
            .scope_info_enabled(false)
            .build()
            .map_err(|error| error.to_string())?;
        // Room for all is made at once, so that few metrics should have much of it.
        let bound = |instrument: &Instrument| {
            let most = if instrument.name() == CALLS.name {
                MOST_SERIES
            } else {
                MOST_OTHER_SERIES
            };
            Stream::builder().with_cardinality_limit(most).build().ok()
        };
        let provider = SdkMeterProvider::builder()
            .with_reader(exporter)
            .with_view(bound)
            .build();
        let meter = provider.meter("a2a-gateway");
        Ok(Self {
            registry,
            calls: counter(&meter, &CALLS),
            durations: meter
                .f64_histogram(CALL_DURATION.name)
                .with_unit(CALL_DURATION.unit)
                .with_description(CALL_DURATION.help)
                .with_boundaries(BUCKETS.to_vec())
                .build(),
            streams: meter
                .i64_up_down_counter(STREAMS.name)
                .with_description(STREAMS.help)
                .build(),
            stream_ends: counter(&meter, &STREAM_ENDS),
            stream_events: counter(&meter, &STREAM_EVENTS),
            tenants: tenants
                .into_iter()
                .map(|tenant| (tenant.clone(), label(tenant)))
                .collect(),
            meter,
            _provider: provider,
        })
    }

    /// All metrics as Prometheus reads them.
    ///
    /// # Errors
    /// Says what could not be written.
    pub fn render(&self) -> Result<String, String> {
        let encoded = TextEncoder::new().encode_to_string(&self.registry.gather());
        encoded.map_err(|error| error.to_string())
    }

    /// Has a counter or gauge read whenever metrics are: a number for each value of its label, or one for the empty
    /// value where it has no label. The values must be bounded.
    pub fn watch<R>(&self, metric: &'static Metric, read: R)
    where
        R: Fn() -> Vec<(&'static str, u64)> + Send + Sync + 'static,
    {
        let observe = move |observer: &dyn opentelemetry::metrics::AsyncInstrument<u64>| {
            for (value, number) in read() {
                match metric.labels.first() {
                    Some(label) => observer.observe(number, &[KeyValue::new(*label, value)]),
                    None => observer.observe(number, &[]),
                }
            }
        };
        match metric.kind {
            Kind::Counter => {
                let counter = self.meter.u64_observable_counter(metric.name);
                counter
                    .with_description(metric.help)
                    .with_callback(observe)
                    .build();
            }
            Kind::Gauge | Kind::Histogram => {
                let gauge = self.meter.u64_observable_gauge(metric.name);
                gauge.with_description(metric.help).with_callback(observe).build();
            }
        }
    }

    /// Counts a call. Labels are borrowed or shared texts: nothing is allocated.
    pub(crate) fn count(&self, record: &Record<'_>) {
        let [binding, operation, version, tenant, outcome, error] = CALLS.labels else {
            return;
        };
        let names = [
            record.binding.name(),
            record.operation.map_or("", |operation| operation.name()),
        ];
        self.calls.add(
            1,
            &[
                KeyValue::new(*binding, names[0]),
                KeyValue::new(*operation, names[1]),
                KeyValue::new(*version, record.version.map_or("", |version| version.name())),
                KeyValue::new(*tenant, self.tenant(record.tenant)),
                KeyValue::new(*outcome, record.outcome.map_or("", |outcome| outcome.name())),
                KeyValue::new(*error, record.error.map_or("", |error| error.kind().name())),
            ],
        );
        let labels = [
            KeyValue::new(CALL_DURATION.labels[0], names[0]),
            KeyValue::new(CALL_DURATION.labels[1], names[1]),
        ];
        self.durations.record(record.elapsed.as_secs_f64(), &labels);
        let streams = record.operation.is_some_and(|operation| operation.is_streaming());
        if streams && record.error.is_none() {
            self.streams.add(1, &[KeyValue::new(STREAMS.labels[0], names[0])]);
        }
    }

    /// Counts the end of a stream that [`count`](Self::count) has seen begin.
    pub(crate) fn count_end(&self, end: &StreamEnd<'_>) {
        let binding = end.binding.name();
        self.streams.add(-1, &[KeyValue::new(STREAMS.labels[0], binding)]);
        self.stream_events
            .add(end.events, &[KeyValue::new(STREAM_EVENTS.labels[0], binding)]);
        let error = end.error.map_or("", |error| error.kind().name());
        let labels = [
            KeyValue::new(STREAM_ENDS.labels[0], binding),
            KeyValue::new(STREAM_ENDS.labels[1], error),
        ];
        self.stream_ends.add(1, &labels);
    }

    fn tenant(&self, tenant: Option<&Tenant>) -> Value {
        match tenant {
            None => "".into(),
            Some(tenant) => self
                .tenants
                .get(tenant)
                .cloned()
                .map_or(OTHER.into(), Value::String),
        }
    }
}

fn counter(meter: &Meter, metric: &'static Metric) -> Counter<u64> {
    meter
        .u64_counter(metric.name)
        .with_description(metric.help)
        .build()
}

fn label(tenant: &Tenant) -> StringValue {
    std::sync::Arc::<str>::from(tenant.as_str()).into()
}
