//! The packages of the workspace and what their manifests name, as cargo reports it.

use std::path::Path;

use cargo_metadata::{DependencyKind, MetadataCommand, Package};

use crate::Finding;

/// What the name of a package carries and the name of its folder doesn't.
const PREFIX: &str = "gateway-";

/// One package of the workspace, under its short name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Crate {
    /// The package's name without the common prefix.
    pub(super) name: String,
    /// The name of the folder with its manifest.
    pub(super) folder: String,
    pub(super) dependencies: Vec<Dependency>,
}

/// One line of a manifest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Dependency {
    /// A short name if it is of the workspace, else the package's name.
    pub(super) name: String,
    pub(super) of_workspace: bool,
    pub(super) for_tests: bool,
}

/// All packages of the workspace. Only manifests are read: nothing is resolved or downloaded.
pub(super) fn packages(root: &Path) -> Result<Vec<Crate>, Finding> {
    let metadata = MetadataCommand::new().current_dir(root).no_deps().exec();
    let metadata = metadata.map_err(|error| Finding::of("cargo metadata", error.to_string()))?;
    Ok(metadata.packages.iter().map(package).collect())
}

fn package(package: &Package) -> Crate {
    let folder = package
        .manifest_path
        .parent()
        .and_then(|folder| folder.file_name());
    let dependencies = package.dependencies.iter().map(|dependency| Dependency {
        name: short(&dependency.name),
        of_workspace: dependency.path.is_some(),
        for_tests: dependency.kind == DependencyKind::Development,
    });
    Crate {
        name: short(package.name.as_str()),
        folder: folder.unwrap_or_default().to_owned(),
        dependencies: dependencies.collect(),
    }
}

fn short(name: &str) -> String {
    name.strip_prefix(PREFIX).unwrap_or(name).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_package_is_seen_with_its_dependencies() {
        let packages = packages(Path::new(env!("CARGO_MANIFEST_DIR"))).unwrap();
        let own = packages.iter().find(|package| package.name == "xtask").unwrap();
        assert_eq!(own.folder, "xtask");
        let seen = |name: &str, for_tests| {
            own.dependencies.contains(&Dependency {
                name: name.to_owned(),
                of_workspace: false,
                for_tests,
            })
        };
        assert!(seen("cargo_metadata", false) && seen("tempfile", true));
    }

    #[test]
    fn the_common_prefix_is_left_out() {
        assert_eq!(
            (short("gateway-store-memory"), short("tower")),
            ("store-memory".to_owned(), "tower".to_owned())
        );
    }
}
