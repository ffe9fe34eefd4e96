//! Reads the settings of this program: a file, the environment, and what only the assembled program can judge.

use std::{ffi::OsString, path::Path};

use gateway_config::{Faults, Settings, VARIABLE_PREFIX};

use crate::paths::reserved;

/// Reads and checks everything.
///
/// # Errors
/// Everything that is wrong, each with its place.
pub fn load(file: Option<&Path>) -> Result<Settings, Faults> {
    let settings = gateway_config::load(file, variables(std::env::vars_os()), &reserved())?;
    gateway_telemetry::logs::check_level(&settings.logging.level)
        .map_err(|fault| Faults::one("logging.level", fault))?;
    Ok(settings)
}

/// The settings from the text of a file alone, without the environment.
///
/// # Errors
/// As [`load`].
pub fn parse(text: &str) -> Result<Settings, Faults> {
    gateway_config::read(Some(("settings", text)), [], &reserved())
}

/// The variables that are meant for us. What is no text is read with replacement signs.
fn variables(all: impl Iterator<Item = (OsString, OsString)>) -> Vec<(String, String)> {
    let ours = all.filter_map(|(name, value)| Some((name.into_string().ok()?, value)));
    ours.filter(|(name, _)| name.starts_with(VARIABLE_PREFIX))
        .map(|(name, value)| (name, value.to_string_lossy().into_owned()))
        .collect()
}
