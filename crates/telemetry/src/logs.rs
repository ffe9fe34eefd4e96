//! Where log lines go: to standard error, as text for people or as JSON for machines.

use std::io::{self, IsTerminal};

use tracing::Subscriber;
use tracing_subscriber::{
    EnvFilter, fmt, fmt::MakeWriter, layer::SubscriberExt, registry, util::SubscriberInitExt,
};

/// The form of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// For people.
    Text,
    /// One JSON object a line.
    Json,
}

/// Writes the log of this process to standard error from now on.
///
/// # Errors
/// Says what is wrong with the level, or that the process has a log already.
pub fn install(format: Format, level: &str) -> Result<(), String> {
    let colours = io::stderr().is_terminal();
    let installed = subscriber(format, level, colours, io::stderr)?.try_init();
    installed.map_err(|error| error.to_string())
}

/// Says what is wrong with a level.
///
/// # Errors
/// The text, if something is.
pub fn check_level(level: &str) -> Result<(), String> {
    filter(level).map(drop)
}

fn filter(level: &str) -> Result<EnvFilter, String> {
    EnvFilter::builder().parse(level).map_err(|error| {
        format!("must be a level such as \"info\" or levels such as \"info,gateway_edge=debug\", not {level:?}: {error}")
    })
}

/// The same with another place to write to.
fn subscriber<W>(
    format: Format,
    level: &str,
    colours: bool,
    writer: W,
) -> Result<Box<dyn Subscriber + Send + Sync>, String>
where
    W: for<'w> MakeWriter<'w> + Send + Sync + 'static,
{
    let registry = registry().with(filter(level)?);
    let lines = fmt::layer().with_writer(writer).with_ansi(colours);
    Ok(match format {
        Format::Text => Box::new(registry.with(lines)),
        Format::Json => Box::new(registry.with(lines.json().flatten_event(true))),
    })
}

#[cfg(test)]
pub(crate) mod tests {
    use std::{
        io::Write,
        sync::{Arc, Mutex},
    };

    use super::{Format, check_level, subscriber};

    /// A log that a test reads.
    #[derive(Clone, Default)]
    pub(crate) struct Captured(Arc<Mutex<Vec<u8>>>);

    impl Write for Captured {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    /// What is logged meanwhile.
    pub(crate) fn logged(format: Format, level: &str, act: impl FnOnce()) -> String {
        let captured = Captured::default();
        let writer = captured.clone();
        let subscriber = subscriber(format, level, false, move || writer.clone()).unwrap();
        tracing::subscriber::with_default(subscriber, act);
        let bytes = captured.0.lock().unwrap();
        String::from_utf8(bytes.clone()).unwrap()
    }

    #[test]
    fn a_line_is_text_or_one_json_object() {
        let act = || tracing::info!(task = "t\n1", "something happened");
        let text = logged(Format::Text, "info", act);
        assert!(
            text.contains("something happened") && text.contains("t\\n1"),
            "{text}"
        );
        let json = logged(Format::Json, "info", act);
        assert_eq!(json.lines().count(), 1);
        assert!(
            json.starts_with('{') && json.contains(r#""task":"t\n1""#),
            "{json}"
        );
    }

    #[test]
    fn what_is_no_level_is_refused_with_an_example() {
        for level in ["info", "debug,gateway_edge=trace", "off"] {
            assert_eq!(check_level(level), Ok(()), "{level}");
        }
        for level in ["loud!!=1=2", "info,gateway=loud"] {
            assert!(
                check_level(level).unwrap_err().contains("gateway_edge=debug"),
                "{level}"
            );
        }
    }
}
