//! Installs the official SDKs into `.tools`, so that the tests can call the gateway with them.
//!
//! The versions are pinned by the files in `tests/sdk`. What is there already is not installed again.

use std::{fs, io, os::unix::fs::symlink, path::Path};

use crate::{Finding, Verdict, process, tools, verdict};

/// Virtual environment of the Python SDK, and of the Node.js that runs the JavaScript SDK.
const VENV: &str = ".tools/sdk-venv";
/// Virtual environment of the last Python SDK of protocol 0.3: both go by one name, and would not fit into one.
const VENV_0_3: &str = ".tools/sdk-venv-0.3";
/// Folders of the JavaScript SDK and of its last one of protocol 0.3, with where their clients are.
const MODULES: [(&str, &str); 2] = [
    (".tools/sdk-js", "tests/sdk/js"),
    (".tools/sdk-js-0.3", "tests/sdk/js-0.3"),
];
/// Target folder of the client that the Rust SDK is built into.
const TARGET: &str = ".tools/sdk-rust";

/// `cargo xtask sdk`
pub(crate) fn run(root: &Path, _: &[String]) -> Verdict {
    // JavaScript comes after Python, which brings Node.js.
    let javascript = || {
        let mut each = MODULES.into_iter();
        each.try_for_each(|(modules, client)| javascript(root, modules, client))
    };
    let ended = [python(root).and_then(|()| javascript()), rust(root)];
    verdict(ended.into_iter().filter_map(Result::err).collect())
}

fn python(root: &Path) -> Result<(), Finding> {
    install(root, VENV, "tests/sdk/python/requirements.txt")?;
    install(root, VENV_0_3, "tests/sdk/python-0.3/requirements.txt")
}

/// Installs exactly what a file of requirements names into a virtual environment, which remembers that file.
pub(crate) fn install(root: &Path, venv: &str, wanted: &str) -> Result<(), Finding> {
    let installed = root.join(venv).join("requirements.txt");
    if same(&root.join(wanted), &installed) {
        return Ok(());
    }
    println!("installing what {wanted} has into {venv}");
    tools::pip(root, venv, &["install", "--no-deps", "--requirement", wanted])?;
    copy(&root.join(wanted), &installed)
}

fn javascript(root: &Path, modules: &str, client: &str) -> Result<(), Finding> {
    let wanted = root.join(client).join("package-lock.json");
    // npm writes this file of its own when it is done, but not as a copy of the lock file.
    let folder = root.join(modules);
    let installed = folder.join("installed.json");
    if same(&wanted, &installed) {
        return Ok(());
    }
    println!("installing the JavaScript SDK, as {client}/package-lock.json has it, into {modules}");
    fs::create_dir_all(&folder).map_err(|error| fault(&folder, &error))?;
    for file in ["package.json", "package-lock.json"] {
        copy(&root.join(client).join(file), &folder.join(file))?;
    }
    // Modules are looked for beside the client, so it has to be there as well.
    let link = folder.join("client.js");
    if !link.is_symlink() {
        let target = Path::new("../..").join(client).join("client.js");
        symlink(target, &link).map_err(|error| fault(&link, &error))?;
    }
    let npm = root.join(VENV).join("bin/npm");
    process::run(
        root,
        &[
            &process::argument(&npm),
            "ci",
            "--prefix",
            modules,
            "--ignore-scripts",
            "--no-audit",
            "--no-fund",
            "--loglevel=error",
        ],
    )?;
    copy(&wanted, &installed)
}

fn rust(root: &Path) -> Result<(), Finding> {
    const MANIFEST: &str = "tests/sdk/rust/Cargo.toml";
    if !root.join(TARGET).exists() {
        println!("building the Rust SDK, as {MANIFEST} has it, into {TARGET}");
    }
    process::run(
        root,
        &[
            "cargo",
            "build",
            "--locked",
            "--quiet",
            "--manifest-path",
            MANIFEST,
            "--target-dir",
            TARGET,
        ],
    )
}

/// Whether what is installed is what is wanted; each is told by the file that pins it.
fn same(wanted: &Path, installed: &Path) -> bool {
    matches!((fs::read(wanted), fs::read(installed)), (Ok(wanted), Ok(installed)) if wanted == installed)
}

fn copy(from: &Path, to: &Path) -> Result<(), Finding> {
    fs::copy(from, to).map(drop).map_err(|error| fault(from, &error))
}

fn fault(path: &Path, error: &io::Error) -> Finding {
    Finding::of(path.display().to_string(), error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_installed_is_known_by_the_file_that_pins_it() {
        let folder = tempfile::tempdir().unwrap();
        let (wanted, installed) = (folder.path().join("wanted"), folder.path().join("installed"));
        assert!(!same(&wanted, &installed), "nothing is wanted, nothing is there");
        fs::write(&wanted, "a==1").unwrap();
        assert!(!same(&wanted, &installed), "nothing is there");
        copy(&wanted, &installed).unwrap();
        assert!(same(&wanted, &installed));
        fs::write(&wanted, "a==2").unwrap();
        assert!(!same(&wanted, &installed), "another version is wanted");
    }
}
