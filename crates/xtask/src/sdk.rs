//! Installs the official SDKs into `.tools`, so that the tests can call the gateway with them.
//!
//! The versions are pinned by the files in `tests/sdk`. What is there already is not installed again.

use std::{fs, io, os::unix::fs::symlink, path::Path};

use crate::{Finding, Verdict, process, tools, verdict};

/// Virtual environment of the Python SDK, and of the Node.js that runs the JavaScript SDK.
const VENV: &str = ".tools/sdk-venv";
/// Folder of the JavaScript SDK.
const MODULES: &str = ".tools/sdk-js";
/// Target folder of the client that the Rust SDK is built into.
const TARGET: &str = ".tools/sdk-rust";

/// `cargo xtask sdk`
pub(crate) fn run(root: &Path, _: &[String]) -> Verdict {
    // JavaScript comes after Python, which brings Node.js.
    let ended = [python(root).and_then(|()| javascript(root)), rust(root)];
    verdict(ended.into_iter().filter_map(Result::err).collect())
}

fn python(root: &Path) -> Result<(), Finding> {
    install(root, VENV, "tests/sdk/python/requirements.txt")
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

fn javascript(root: &Path) -> Result<(), Finding> {
    const WANTED: &str = "tests/sdk/js/package-lock.json";
    // npm writes this file of its own when it is done, but not as a copy of the lock file.
    let installed = root.join(MODULES).join("installed.json");
    if same(&root.join(WANTED), &installed) {
        return Ok(());
    }
    println!("installing the JavaScript SDK, as {WANTED} has it, into {MODULES}");
    let folder = root.join(MODULES);
    fs::create_dir_all(&folder).map_err(|error| fault(&folder, &error))?;
    for file in ["package.json", "package-lock.json"] {
        copy(&root.join("tests/sdk/js").join(file), &folder.join(file))?;
    }
    // Modules are looked for beside the client, so it has to be there as well.
    let client = folder.join("client.js");
    if !client.is_symlink() {
        symlink("../../tests/sdk/js/client.js", &client).map_err(|error| fault(&client, &error))?;
    }
    let npm = root.join(VENV).join("bin/npm");
    process::run(
        root,
        &[
            &process::argument(&npm),
            "ci",
            "--prefix",
            MODULES,
            "--ignore-scripts",
            "--no-audit",
            "--no-fund",
            "--loglevel=error",
        ],
    )?;
    copy(&root.join(WANTED), &installed)
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
