//! The gateway's settings: one documented set of types, read from a TOML file and the environment, checked as a
//! whole, and shown as a commented sample. How a setting is carried out is not known here.

mod check;
mod fault;
mod resolved;
mod sample;
mod schema;
mod source;
mod text;
pub mod typed;

use std::{fs, path::Path};

use serde_json::{Map, Value};

pub use fault::{Fault, Faults};
pub use resolved::{Card, ClientListener, Listeners, PublicUrls, Settings};
pub use sample::sample;
pub use source::VARIABLE_PREFIX;
pub use text::{Address, Period, Range, Secret, Size};
pub use typed::Typed;

use source::Given;

/// What only the assembled program knows of settings.
#[derive(Debug, Clone, Copy)]
pub struct Outside<'a> {
    /// Names that no tenant can have, since paths begin with them.
    pub reserved: &'a [&'a str],
    /// Says what is wrong with a log level, as the rest of a sentence.
    pub check_level: fn(&str) -> Result<(), String>,
}

/// Reads the settings: the file, if there is one, and above it the variables.
///
/// # Errors
/// Everything that is wrong with them, each with its place.
pub fn load(
    file: Option<&Path>,
    variables: impl IntoIterator<Item = (String, String)>,
    outside: &Outside<'_>,
) -> Result<Settings, Faults> {
    let text = file.map(|path| {
        let name = path.display().to_string();
        let text = fs::read_to_string(path);
        text.map(|text| (name.clone(), text))
            .map_err(|error| Fault::of(String::new(), format!("{name} cannot be read: {error}")))
    });
    let text = text.transpose()?;
    let named = text.as_ref().map(|(name, text)| (name.as_str(), text.as_str()));
    read(named, variables, outside)
}

/// The same from the text of a file, which has a name for faults.
///
/// # Errors
/// As [`load`].
pub fn read(
    file: Option<(&str, &str)>,
    variables: impl IntoIterator<Item = (String, String)>,
    outside: &Outside<'_>,
) -> Result<Settings, Faults> {
    let mut given = Given::default();
    if let Some((name, text)) = file {
        given.add_file(name, text)?;
    }
    for (name, raw) in variables {
        given.add_variable(&name, &raw);
    }
    let typed = typed(&given).map_err(Faults::in_order)?;
    Settings::resolve(typed, outside).map_err(|mut faults| {
        for fault in &mut faults.0 {
            fault.origin = given.origin(&fault.path).cloned();
        }
        faults.in_order()
    })
}

fn typed(given: &Given) -> Result<Typed, Faults> {
    let mut settings = to_value(&Typed::default());
    lay_over(&mut settings, &given.values);
    check::check(&settings, given)?;
    // The check knows all that the types demand, so this is a fault of the check's.
    serde_json::from_value(settings).map_err(|error| Fault::of("", error.to_string()).into())
}

fn to_value(typed: &Typed) -> Value {
    serde_json::to_value(typed).expect("settings are plain data")
}

/// Puts values over others, table by table; a list replaces a list.
fn lay_over(under: &mut Value, over: &Map<String, Value>) {
    for (key, value) in over {
        match (under.get_mut(key), value) {
            (Some(below @ Value::Object(_)), Value::Object(above)) => lay_over(below, above),
            (Some(below), _) => *below = value.clone(),
            (None, _) => {
                if let Value::Object(under) = under {
                    under.insert(key.clone(), value.clone());
                }
            }
        }
    }
}
