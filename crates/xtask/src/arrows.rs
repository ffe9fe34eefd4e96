//! Which crate may depend on which: the table in `crates/README.md` against what cargo says.
//!
//! The table can be edited together with the code; the few rules that hold whatever it says stand in `rules`.

mod graph;
mod rules;
mod table;

use std::{fs, path::Path};

use crate::{Finding, Verdict, verdict};

/// Where the table stands.
const MAP: &str = "crates/README.md";

/// `cargo xtask arrows`
pub(crate) fn run(root: &Path, _: &[String]) -> Verdict {
    let map =
        fs::read_to_string(root.join(MAP)).map_err(|error| vec![Finding::of(MAP, error.to_string())])?;
    let rows = table::rows(&map).map_err(|finding| vec![finding])?;
    let packages = graph::packages(root).map_err(|finding| vec![finding])?;
    verdict(rules::check(&rows, &packages))
}
