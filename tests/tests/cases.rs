//! The table of reported faults, `cases/cases.toml`: complete, and every test that it names exists.

#![allow(clippy::unwrap_used, reason = "what must not be absent fails the test")]

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use gateway_domain::Binding;
use gateway_tests::{scenario, sweep::Check};
use serde::Deserialize;

/// What the table holds: the cases that concern what is built. Ranges, both ends included.
const EXPECTED: [(u32, u32); 12] = [
    (1, 31),
    (33, 48),
    (50, 70),
    (72, 84),
    (85, 85),
    (87, 87),
    (90, 92),
    (94, 95),
    (97, 97),
    (102, 102),
    (104, 105),
    (107, 111),
];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    case: Vec<Case>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    id: String,
    title: String,
    tests: Vec<String>,
    #[serde(default)]
    bindings: Vec<String>,
    #[serde(default)]
    due: Vec<Due>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Due {
    what: String,
    with: String,
}

fn table() -> Vec<Case> {
    let path = here().join("cases/cases.toml");
    toml::from_str::<Table>(&fs::read_to_string(path).unwrap())
        .unwrap()
        .case
}

fn here() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn the_table_holds_every_case_once_and_in_order() {
    let expected = EXPECTED.iter().flat_map(|(first, last)| *first..=*last);
    let expected: Vec<_> = expected.map(|number| format!("R-{number:03}")).collect();
    let held: Vec<_> = table().into_iter().map(|case| case.id).collect();
    assert_eq!(held, expected);
}

#[test]
fn every_case_has_a_title_and_a_test_and_says_what_is_due() {
    let bindings = Binding::ALL.map(Binding::name);
    for case in table() {
        let id = &case.id;
        assert!(
            !case.title.is_empty() && !case.title.ends_with('.'),
            "{id}: a title without a full stop"
        );
        assert!(!case.tests.is_empty(), "{id}: no test");
        assert!(
            case.bindings.iter().all(|name| bindings.contains(&&**name)),
            "{id}: no such binding"
        );
        assert!(
            case.due
                .iter()
                .all(|due| !due.what.is_empty() && !due.with.is_empty()),
            "{id}: due without words"
        );
    }
}

#[test]
fn every_test_that_a_case_names_exists() {
    let existing = existing();
    let named = table().into_iter().flat_map(|case| case.tests);
    let missing: Vec<_> = named.filter(|name| !existing.contains(name)).collect();
    assert!(missing.is_empty(), "no such tests: {missing:#?}");
}

/// Scenarios, sweeps, and functions behind a test attribute, here and with the crates.
fn existing() -> BTreeSet<String> {
    let scenarios = scenario::all().into_iter().map(|scenario| scenario.name);
    let sweeps = Check::ALL.map(Check::test_name);
    let folders = ["tests", "../crates"].map(|folder| sources(&here().join(folder)));
    let functions = folders.into_iter().flatten().flat_map(|path| {
        let text = fs::read_to_string(path).unwrap();
        test_functions(&text)
    });
    scenarios.chain(sweeps).chain(functions).collect()
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    found
}

fn test_functions(text: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut marked = false;
    for line in text.lines().map(str::trim) {
        let function = line.trim_start_matches("async ").strip_prefix("fn ");
        match function.and_then(|rest| rest.split_once('(')) {
            Some((name, _)) if marked => names.push(name.to_owned()),
            _ => {}
        }
        marked = line.starts_with("#[test") || line.starts_with("#[tokio::test");
    }
    names
}

#[test]
fn only_functions_behind_a_test_attribute_count_as_tests() {
    let text = "#[test]\nfn one() {}\nfn two() {}\n#[tokio::test(flavor = \"x\")]\nasync fn three() {}\n";
    assert_eq!(test_functions(text), ["one", "three"]);
}

#[test]
fn what_is_due_waits_for_something_that_is_yet_to_come() {
    let mut waiting: BTreeMap<String, usize> = BTreeMap::new();
    for due in table().into_iter().flat_map(|case| case.due) {
        *waiting.entry(due.with).or_default() += 1;
    }
    let known = ["Redis", "a foreign agent", "a network of its own"];
    let unknown: Vec<_> = waiting
        .keys()
        .filter(|with| !known.contains(&with.as_str()))
        .collect();
    assert!(unknown.is_empty(), "{unknown:?} is none of {known:?}");
}
