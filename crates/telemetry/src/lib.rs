//! What operators see of the gateway: one list of metrics, and the log. Both watch calls through the pipeline's
//! observer; neither changes what is answered.

pub mod list;
pub mod logs;
mod metrics;
mod observer;
mod sampler;

pub use list::{METRICS, Metric};
pub use metrics::Metrics;
pub use observer::CallObserver;

/// The media type in which [`Metrics::render`] writes.
pub const MEDIA_TYPE: &str = prometheus::TEXT_FORMAT;
