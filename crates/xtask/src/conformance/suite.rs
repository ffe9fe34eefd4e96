//! The suite itself: where it lies, its virtual environment, and a run of it.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use super::{Profile, report::Report};
use crate::{Finding, gateway::Gateway, process};

/// Which state of the suite the expectations are about.
const CHECKOUT: &str =
    "branch 1.0-dev of a2aproject/a2a-tck at commit 357c4a87afa2818731590647cccbea31c31733a2";

/// A checkout of the suite with what it needs to run.
pub(super) struct Suite {
    checkout: PathBuf,
    python: PathBuf,
}

impl Suite {
    /// Finds the checkout in `v10` of a folder, and makes `venv10` beside it where that is missing.
    pub(super) fn at(root: &Path, folder: &str) -> Result<Self, Finding> {
        // As seen from where the command was called, not from the root.
        let folder = fs::canonicalize(folder).map_err(|error| Finding::of(folder, error.to_string()))?;
        let (checkout, venv) = (folder.join("v10"), folder.join("venv10"));
        if !checkout.join("tests/compatibility").is_dir() {
            let text = format!("does not hold the suite; put {CHECKOUT} there");
            return Err(Finding::of(checkout.display().to_string(), text));
        }
        let python = venv.join("bin/python");
        if !python.exists() {
            let (venv, pip) = (process::argument(&venv), process::argument(&venv.join("bin/pip")));
            println!("installing the suite into {venv}");
            process::run(root, &["python3", "-m", "venv", &venv])?;
            process::run(
                root,
                &[
                    &pip,
                    "install",
                    "--quiet",
                    "--editable",
                    &process::argument(&checkout),
                ],
            )?;
        }
        Ok(Self { checkout, python })
    }

    /// Runs it against a gateway. Its own words go to `suite.log`.
    pub(super) fn run(&self, profile: &Profile, out: &Path, gateway: &Gateway) -> Result<Report, Finding> {
        let fault = |text: String| Finding::of(profile.name, text);
        let log = fs::File::create(out.join("suite.log")).map_err(|error| fault(error.to_string()))?;
        let complaints = log.try_clone().map_err(|error| fault(error.to_string()))?;
        let junit = out.join("junit.xml");
        // One of an earlier run must not be taken for this one's.
        drop(fs::remove_file(&junit));
        let deselected = profile.deselected.iter().flat_map(|test| ["--deselect", test]);
        // It ends otherwise than well when a test fails, which the report tells better.
        Command::new(&self.python)
            .args([
                "-m",
                "pytest",
                "tests/compatibility",
                "-q",
                "--tb=short",
                "-p",
                "no:cacheprovider",
            ])
            .args(["--sut-host", &gateway.url(), "--compatibility-report"])
            .arg(out.join("compatibility"))
            .arg(format!("--junitxml={}", junit.display()))
            .args(deselected)
            .current_dir(&self.checkout)
            .stdin(Stdio::null())
            .stdout(log)
            .stderr(complaints)
            .status()
            .map_err(|error| fault(format!("the suite cannot be started: {error}")))?;
        let xml = fs::read_to_string(&junit)
            .map_err(|error| fault(format!("the suite left no report ({error}); suite.log says why")))?;
        Report::read(&xml).ok_or_else(|| fault(format!("{} is no report of pytest", junit.display())))
    }
}
