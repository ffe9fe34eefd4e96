//! The sample of all settings from outside: it says the defaults, and can be uncommented as it is.

use std::collections::BTreeSet;

use gateway_config::{Outside, Typed, read, sample};

const OUTSIDE: Outside<'static> = Outside {
    reserved: &[],
    check_level: |_| Ok(()),
};

#[test]
fn the_sample_parses_to_exactly_the_defaults() {
    let table: toml::Table = sample().parse().unwrap();
    let mut defaults = toml::Table::try_from(Typed::default()).unwrap();
    // A table without a setting of its own is a line in the sample and nothing in the defaults.
    assert_eq!(with_empty_tables(table, &mut defaults), defaults);
    assert!(read(Some(("sample", &sample())), Vec::new(), &OUTSIDE).is_ok());
}

/// Gives both sides the tables that have nothing in them.
fn with_empty_tables(sample: toml::Table, defaults: &mut toml::Table) -> toml::Table {
    for (key, value) in &sample {
        if value.as_table().is_some_and(toml::Table::is_empty) {
            defaults.entry(key).or_insert_with(|| toml::Table::new().into());
        }
    }
    sample
}

#[test]
fn every_setting_stands_in_the_sample_and_can_be_uncommented() {
    let sample = sample();
    let uncomment = |line: &str| {
        let commented = line.strip_prefix('#').filter(|rest| !rest.starts_with(' '));
        commented.unwrap_or(line).to_owned()
    };
    let whole = sample.lines().map(uncomment).collect::<Vec<_>>().join("\n");
    // All but secrets and their files, which exclude each other, can be given together.
    let files = [
        "page_key_file",
        "redis_password_file",
        "redis_sentinel_password_file",
    ];
    let whole = files.iter().fold(whole, |whole, file| {
        whole.replace(&format!("{file} ="), &format!("#{file} ="))
    });
    // A Redis that has everything that can be said of one.
    let whole = whole
        .replace("url = \"redis://", "url = \"rediss://")
        .replace("mode = \"standalone\"", "mode = \"sentinel\"");
    let extended = read(Some(("sample", &whole)), Vec::new(), &OUTSIDE).unwrap();
    assert!(extended.page_key.is_some());

    let given: toml::Table = whole.parse().unwrap();
    let mut mentioned = BTreeSet::new();
    paths("", &toml::Value::Table(given), &mut mentioned);
    mentioned.extend(files.map(|file| format!("secrets.{file}")));
    let mut wanted = BTreeSet::new();
    let defaults = serde_json::to_value(Typed::default()).unwrap();
    keys("", &defaults, &mut wanted);
    let inner = [
        "card.skills.tags",
        "card.skills.output_modes",
        "card.extensions.params",
        "card.provider.url",
    ];
    wanted.extend(inner.map(String::from));
    assert!(
        wanted.is_subset(&mentioned),
        "missing: {:?}",
        wanted.difference(&mentioned)
    );
}

fn keys(at: &str, value: &serde_json::Value, into: &mut BTreeSet<String>) {
    for (key, value) in value.as_object().into_iter().flatten() {
        let below = if at.is_empty() {
            key.clone()
        } else {
            format!("{at}.{key}")
        };
        keys(&below, value, into);
        into.insert(below);
    }
}

fn paths(at: &str, value: &toml::Value, into: &mut BTreeSet<String>) {
    match value {
        toml::Value::Table(table) => {
            for (key, value) in table {
                let below = if at.is_empty() {
                    key.clone()
                } else {
                    format!("{at}.{key}")
                };
                paths(&below, value, into);
                into.insert(below);
            }
        }
        toml::Value::Array(items) => items.iter().for_each(|item| paths(at, item, into)),
        _ => {}
    }
}
