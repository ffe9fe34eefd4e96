//! What no compiler looks at. Every rule is a pure function of a file's path and text.
//!
//! It reads lines, not meaning: a rule that needs to understand Rust belongs into clippy's settings.

mod layout;
mod links;
mod logs;
mod tokens;
mod words;

use std::{collections::BTreeMap, fs, path::Path};

use crate::{Finding, Verdict, process, verdict};

/// Written by others, or made to be wrong: nobody edits these by hand, so no rule is put to them.
const FOREIGN: &[&str] = &["LICENSE", "proto/google/", "tests/fuzz/corpus/"];
/// Written by cargo, for every workspace; no rule is put to these either.
const LOCK: &str = "Cargo.lock";

/// The text files of the repository by their path from the root, with `/` between folders.
type Tree = BTreeMap<String, String>;

/// `cargo xtask tidy`
pub(crate) fn run(root: &Path, _: &[String]) -> Verdict {
    let tree = tree(root).map_err(|finding| vec![finding])?;
    verdict(judge(&tree))
}

/// Everything that the rules have to say against a tree.
fn judge(tree: &Tree) -> Vec<Finding> {
    let ours = tree.iter().filter(|(path, _)| !is_foreign(path));
    ours.flat_map(|(path, text)| {
        [
            layout::check(path, text),
            words::check(path, text),
            logs::check(path, text),
            links::check(path, text, tree),
        ]
    })
    .flatten()
    .collect()
}

fn is_foreign(path: &str) -> bool {
    path.ends_with(LOCK) || FOREIGN.iter().any(|foreign| path.starts_with(foreign))
}

/// Reads all files that git tracks or would track. What is not text is known by its path alone.
fn tree(root: &Path) -> Result<Tree, Finding> {
    let listing = [
        "git",
        "ls-files",
        "-z",
        "--cached",
        "--others",
        "--exclude-standard",
    ];
    let paths = process::output(root, &listing)?;
    let mut tree = Tree::new();
    for path in paths
        .split_terminator('\0')
        .filter(|path| root.join(path).is_file())
    {
        let bytes = fs::read(root.join(path)).map_err(|error| Finding::of(path, error.to_string()))?;
        tree.insert(path.to_owned(), String::from_utf8(bytes).unwrap_or_default());
    }
    Ok(tree)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(path: &str, text: &str) -> usize {
        judge(&Tree::from([(path.to_owned(), text.to_owned())])).len()
    }

    #[test]
    fn a_clean_file_passes_all_rules() {
        assert_eq!(judged("crates/domain/src/lib.rs", "//! The tasks domain.\n"), 0);
    }

    #[test]
    fn each_group_of_rules_is_put_to_a_file() {
        assert_eq!(judged("a.rs", "//! Some words here.\nfn f() {} \n"), 1, "layout");
        assert_eq!(judged("a.md", concat!("FIX", "ME later\n")), 1, "words");
        assert_eq!(
            judged("a.rs", "//! Some words here.\nfn f() { info!(\"Done.\"); }\n"),
            1,
            "logs"
        );
        assert_eq!(judged("a.md", "[there](nowhere.md)\n"), 1, "links");
    }

    #[test]
    fn files_of_others_are_left_alone() {
        for path in ["proto/google/api/http.proto", "tests/sdk/rust/Cargo.lock"] {
            assert_eq!(judged(path, "text with a blank at its end \n"), 0, "{path}");
        }
    }
}
