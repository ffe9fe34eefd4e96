//! Licences, banned crates and sources of all dependencies, as `deny.toml` wants them.
//!
//! Known vulnerabilities are not looked up: their database is a repository of its own that a build can't count on.

use std::path::Path;

use crate::{Verdict, process, tools};

/// `cargo xtask deny`
pub(crate) fn run(root: &Path, _: &[String]) -> Verdict {
    let program = tools::cargo_deny(root).map_err(|finding| vec![finding])?;
    let program = process::argument(&program);
    process::run(
        root,
        &[
            &program,
            "--log-level",
            "warn",
            "check",
            "licenses",
            "bans",
            "sources",
        ],
    )
    .map_err(|finding| vec![finding])
}
