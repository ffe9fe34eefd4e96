//! The rules: manifests keep to the table, the table keeps to the layers, and some libraries have their keepers.

use super::{
    MAP,
    graph::{Crate, Dependency},
    table::{Layer, Row},
};
use crate::Finding;

/// They put the gateway together, or what a test takes for it: they may name any crate.
const ASSEMBLERS: &[&str] = &["server", "testkit", "tests", "fuzz"];

/// Whatever is tested may use it.
const TEST_SUPPORT: &str = "testkit";

/// The one crate of the bindings' layer that bindings share.
const LISTENER: &str = "edge";

/// Families of libraries (the name itself and all names that go on behind a hyphen) and the crates that keep
/// them to themselves, in tests as well.
const KEEPERS: &[(&str, &[&str])] = &[
    ("axum", &["edge", "jsonrpc", "rest", "server", "fuzz"]),
    (
        "http",
        &[
            "edge", "grpc", "jsonrpc", "rest", "agents", "push", "server", "testkit", "tests", "fuzz",
        ],
    ),
    ("hyper", &["edge", "agents", "push", "server", "testkit", "tests"]),
    ("jsonrpsee", &["jsonrpc", "testkit", "tests"]),
    ("prost", &["wire", "grpc", "agents", "testkit", "tests", "fuzz"]),
    ("redis", &["store-redis"]),
    ("tonic", &["wire", "grpc", "agents", "server", "testkit", "tests"]),
];

/// All that stands against the table and against the manifests.
pub(super) fn check(rows: &[Row], crates: &[Crate]) -> Vec<Finding> {
    let mut findings: Vec<Finding> = rows.iter().flat_map(|row| judge_row(row, rows, crates)).collect();
    findings.extend(crates.iter().flat_map(|package| judge_crate(package, rows)));
    findings
}

fn judge_row(row: &Row, rows: &[Row], crates: &[Crate]) -> Vec<Finding> {
    let mut faults = Vec::new();
    if !crates.iter().any(|package| package.name == row.name) {
        faults.push(format!(
            "`{}` is no crate of the workspace; remove its row",
            row.name
        ));
    }
    for name in &row.may {
        faults.extend(match rows.iter().find(|row| row.name == *name) {
            None => Some(format!("`{}` may depend on `{name}`, which has no row", row.name)),
            Some(to) => refused(row, to).map(|why| format!("`{}` → `{name}`: {why}", row.name)),
        });
    }
    faults
        .into_iter()
        .map(|fault| Finding::at(MAP, row.line, fault))
        .collect()
}

fn judge_crate(package: &Crate, rows: &[Row]) -> Vec<Finding> {
    let mut faults = Vec::new();
    if package.folder != package.name {
        faults.push(format!(
            "lies in the folder {}; the folder has the crate's name",
            package.folder
        ));
    }
    match rows.iter().find(|row| row.name == package.name) {
        None => faults.push(format!(
            "has no row in {MAP}; say there what it knows and may depend on"
        )),
        Some(row) => faults.extend(
            package
                .dependencies
                .iter()
                .filter_map(|dependency| unlisted(row, dependency)),
        ),
    }
    faults.extend(
        package
            .dependencies
            .iter()
            .filter_map(|dependency| kept(&package.name, dependency)),
    );
    faults
        .into_iter()
        .map(|fault| Finding::of(format!("crate {}", package.name), fault))
        .collect()
}

/// Says so if a crate of the workspace is depended on and the table doesn't have it.
fn unlisted(row: &Row, dependency: &Dependency) -> Option<String> {
    let name = &dependency.name;
    let support = dependency.for_tests && name == TEST_SUPPORT;
    let fine = !dependency.of_workspace || support || row.may.contains(name);
    (!fine).then(|| format!("depends on `{name}`, which its row in {MAP} doesn't allow"))
}

/// Says so if a library belongs to other crates.
fn kept(crate_name: &str, dependency: &Dependency) -> Option<String> {
    let of = |family: &str| {
        dependency
            .name
            .strip_prefix(family)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
    };
    let (family, keepers) = KEEPERS
        .iter()
        .find(|(family, _)| !dependency.of_workspace && of(family))?;
    let fine = keepers.contains(&crate_name);
    (!fine).then(|| {
        format!(
            "depends on `{}`; `{family}` is for {} alone",
            dependency.name,
            keepers.join(", ")
        )
    })
}

/// Why no table may allow this arrow, if so.
fn refused(from: &Row, to: &Row) -> Option<&'static str> {
    if ASSEMBLERS.contains(&from.name.as_str()) {
        return None;
    }
    match (from.layer, to.layer) {
        _ if from.name == "domain" => Some("the domain depends on no crate of the workspace"),
        (_, Layer::Core) => None,
        (Layer::Core, _) => Some("the core knows the core alone"),
        (Layer::Wire, _) => Some("the wire knows the core alone"),
        (_, Layer::Wire) => None,
        (_, Layer::Adapter) => Some("only what assembles the gateway names an adapter"),
        (Layer::Binding, Layer::Binding) if to.name == LISTENER && from.name != LISTENER => None,
        (_, Layer::Binding) => Some("bindings are not known to each other, nor to adapters and settings"),
        (Layer::Frame, Layer::Frame) => None,
        (_, Layer::Frame) => Some("the frame is known to the frame alone"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &str, layer: Layer, may: &[&str]) -> Row {
        Row {
            name: name.to_owned(),
            layer,
            may: may.iter().map(|&name| name.to_owned()).collect(),
            line: 1,
        }
    }

    fn package(name: &str, dependencies: Vec<Dependency>) -> Crate {
        Crate {
            name: name.to_owned(),
            folder: name.to_owned(),
            dependencies,
        }
    }

    fn inner(name: &str, for_tests: bool) -> Dependency {
        Dependency {
            name: name.to_owned(),
            of_workspace: true,
            for_tests,
        }
    }

    fn outer(name: &str, for_tests: bool) -> Dependency {
        Dependency {
            name: name.to_owned(),
            of_workspace: false,
            for_tests,
        }
    }

    /// A small workspace that keeps all rules.
    fn sound() -> (Vec<Row>, Vec<Crate>) {
        let rows = vec![
            row("domain", Layer::Core, &[]),
            row("pipeline", Layer::Core, &["domain"]),
            row("wire", Layer::Wire, &["domain"]),
            row("edge", Layer::Binding, &["domain"]),
            row("rest", Layer::Binding, &["domain", "pipeline", "wire", "edge"]),
            row("grpc", Layer::Binding, &["domain", "wire"]),
            row("agents", Layer::Adapter, &["domain", "wire"]),
            row("store-memory", Layer::Adapter, &["domain"]),
            row("config", Layer::Frame, &["domain"]),
            row(
                "server",
                Layer::Frame,
                &["rest", "agents", "store-memory", "config"],
            ),
            row("testkit", Layer::Frame, &["domain", "store-memory"]),
        ];
        let crates = rows
            .iter()
            .map(|row| package(&row.name, row.may.iter().map(|name| inner(name, false)).collect()));
        let crates = crates.collect();
        (rows, crates)
    }

    /// What is found when one crate of the sound workspace has one more line in its manifest.
    fn with_dependency(name: &str, dependency: Dependency) -> Vec<Finding> {
        let (rows, mut crates) = sound();
        crates
            .iter_mut()
            .find(|package| package.name == name)
            .unwrap()
            .dependencies
            .push(dependency);
        check(&rows, &crates)
    }

    /// What is found when the table allows one more arrow, and the manifest doesn't use it.
    fn with_arrow(from: &str, to: &str) -> Vec<Finding> {
        let (mut rows, crates) = sound();
        rows.iter_mut()
            .find(|row| row.name == from)
            .unwrap()
            .may
            .insert(to.to_owned());
        check(&rows, &crates)
    }

    #[test]
    fn a_workspace_that_keeps_the_rules_passes() {
        let (rows, crates) = sound();
        assert_eq!(check(&rows, &crates), []);
    }

    #[test]
    fn a_dependency_that_the_table_does_not_have_is_refused_in_tests_as_well() {
        for for_tests in [false, true] {
            let findings = with_dependency("rest", inner("grpc", for_tests));
            assert_eq!(
                findings.iter().map(Finding::place).collect::<Vec<_>>(),
                ["crate rest"]
            );
        }
    }

    #[test]
    fn testkit_is_for_tests_of_any_crate_and_for_nothing_else() {
        assert_eq!(with_dependency("domain", inner("testkit", true)), []);
        assert_eq!(with_dependency("domain", inner("testkit", false)).len(), 1);
    }

    #[test]
    fn no_table_may_turn_an_arrow_round() {
        for (from, to) in [
            ("domain", "pipeline"),
            ("pipeline", "wire"),
            ("wire", "edge"),
            ("rest", "grpc"),
            ("edge", "rest"),
            ("grpc", "agents"),
            ("agents", "edge"),
            ("agents", "store-memory"),
            ("rest", "config"),
            ("config", "store-memory"),
            ("config", "edge"),
        ] {
            assert_eq!(with_arrow(from, to).len(), 1, "{from} → {to}");
        }
        assert_eq!(with_arrow("server", "grpc"), []);
    }

    #[test]
    fn a_library_is_for_its_keepers_alone() {
        for (name, library) in [
            ("server", "redis"),
            ("store-memory", "redis"),
            ("rest", "tonic"),
            ("pipeline", "tonic-types"),
            ("grpc", "axum"),
            ("domain", "http-body-util"),
            ("store-memory", "hyper"),
            ("rest", "prost-types"),
        ] {
            for for_tests in [false, true] {
                assert_eq!(
                    with_dependency(name, outer(library, for_tests)).len(),
                    1,
                    "{name} → {library}"
                );
            }
        }
        for (name, library) in [("rest", "axum"), ("grpc", "tonic-health"), ("domain", "httparse")] {
            assert_eq!(
                with_dependency(name, outer(library, false)),
                [],
                "{name} → {library}"
            );
        }
    }

    #[test]
    fn every_crate_has_a_row_and_every_row_a_crate() {
        let (mut rows, mut crates) = sound();
        rows.retain(|row| row.name != "store-memory" && row.name != "pipeline");
        assert!(
            check(&rows, &crates)
                .iter()
                .any(|finding| finding.place() == "crate pipeline")
        );
        let (rows, _) = sound();
        crates.retain(|package| package.name != "grpc");
        assert_eq!(
            check(&rows, &crates)
                .iter()
                .map(Finding::place)
                .collect::<Vec<_>>(),
            ["crates/README.md:1"]
        );
    }

    #[test]
    fn a_row_that_allows_a_crate_without_a_row_is_refused() {
        assert_eq!(with_arrow("server", "pub-sub").len(), 1);
    }

    #[test]
    fn a_folder_with_another_name_than_its_crate_is_refused() {
        let (rows, mut crates) = sound();
        crates[0].folder = "gateway-domain".to_owned();
        assert_eq!(check(&rows, &crates).len(), 1);
    }
}
