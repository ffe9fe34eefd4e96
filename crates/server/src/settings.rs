//! Reads the settings of this program: a file, the environment, and what only the assembled program can judge.

use std::{ffi::OsString, path::Path};

use gateway_config::{Faults, Outside, Settings, VARIABLE_PREFIX};

use crate::paths::reserved;

/// Reads and checks everything.
///
/// # Errors
/// Everything that is wrong, each with its place.
pub fn load(file: Option<&Path>) -> Result<Settings, Faults> {
    judged(|outside| gateway_config::load(file, variables(std::env::vars_os()), outside))
}

/// The settings from the text of a file alone, without the environment.
///
/// # Errors
/// As [`load`].
pub fn parse(text: &str) -> Result<Settings, Faults> {
    judged(|outside| gateway_config::read(Some(("settings", text)), [], outside))
}

fn judged<T>(read: impl FnOnce(&Outside<'_>) -> T) -> T {
    read(&Outside {
        reserved: &reserved(),
        check_level: gateway_telemetry::logs::check_level,
    })
}

/// The variables that are meant for us. What is no text is read with replacement signs.
fn variables(all: impl Iterator<Item = (OsString, OsString)>) -> Vec<(String, String)> {
    let ours = all.filter_map(|(name, value)| Some((name.into_string().ok()?, value)));
    ours.filter(|(name, _)| name.starts_with(VARIABLE_PREFIX))
        .map(|(name, value)| (name, value.to_string_lossy().into_owned()))
        .collect()
}
