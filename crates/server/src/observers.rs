//! Who watches calls: the metrics and the log, and whoever the assembly names besides.

use std::sync::Arc;

use gateway_pipeline::{Observer, Record, StreamEnd};

/// Two observers as one.
pub(crate) struct Both(pub(crate) Arc<dyn Observer>, pub(crate) Arc<dyn Observer>);

impl Observer for Both {
    fn answered(&self, record: &Record<'_>) {
        self.0.answered(record);
        self.1.answered(record);
    }

    fn stream_ended(&self, end: &StreamEnd<'_>) {
        self.0.stream_ended(end);
        self.1.stream_ended(end);
    }
}
