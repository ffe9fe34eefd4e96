//! How a file is laid out: its head, its length, its blanks.

use crate::Finding;

/// A file of Rust that is longer has a second subject in it.
const MAX_LINES: usize = 600;

/// A single word is a placeholder.
const MIN_HEAD_WORDS: usize = 2;

/// All faults of layout in one file.
pub(super) fn check(path: &str, text: &str) -> Vec<Finding> {
    let mut findings = blanks(path, text);
    if path.ends_with(".rs") {
        findings.extend(head(path, text));
        findings.extend(length(path, text));
    }
    findings
}

fn head(path: &str, text: &str) -> Option<Finding> {
    let first = text.lines().next().and_then(|line| line.strip_prefix("//!"));
    let words = first.map_or(0, |line| line.split_whitespace().count());
    let fault = match first {
        None => "begin with `//!`: one to five lines on what this module is and what it doesn't promise",
        Some(_) if words < MIN_HEAD_WORDS => "its `//!` head says nothing yet; say what this module is",
        Some(_) => return None,
    };
    Some(Finding::at(path, 1, fault))
}

fn length(path: &str, text: &str) -> Option<Finding> {
    let lines = text.lines().count();
    let fault = || {
        format!("has {lines} lines, more than {MAX_LINES}; move its second subject into a file of its own")
    };
    (lines > MAX_LINES).then(|| Finding::of(path, fault()))
}

fn blanks(path: &str, text: &str) -> Vec<Finding> {
    let trailing = |line: &str| line.ends_with([' ', '\t', '\r']);
    let lines = text.split('\n').enumerate().filter(|(_, line)| trailing(line));
    let mut findings: Vec<_> = lines
        .map(|(index, _)| Finding::at(path, index + 1, "ends with blanks; remove them"))
        .collect();
    if !text.is_empty() && !text.ends_with('\n') {
        findings.push(Finding::at(
            path,
            text.lines().count(),
            "end the last line with a line break",
        ));
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "//! What this is.\n";

    #[test]
    fn a_module_with_a_head_passes() {
        assert_eq!(check("a.rs", HEAD), []);
    }

    #[test]
    fn a_module_without_a_head_is_refused() {
        for text in [
            "use std::fmt;\n",
            "",
            "// An ordinary comment, not a head.\n",
            "\n//! A head too late.\n",
        ] {
            assert_eq!(check("a.rs", text).len(), 1, "{text:?}");
        }
    }

    #[test]
    fn a_head_that_says_nothing_is_refused() {
        assert_eq!(check("a.rs", "//! Stub.\n").len(), 1);
    }

    #[test]
    fn a_file_of_600_lines_passes_and_one_of_601_is_refused() {
        let lines = |count: usize| format!("{HEAD}{}", "//\n".repeat(count - 1));
        assert_eq!(check("a.rs", &lines(600)), []);
        assert_eq!(check("a.rs", &lines(601)).len(), 1);
        assert_eq!(check("a.json", &lines(601)), []);
    }

    #[test]
    fn blanks_at_the_end_of_a_line_are_refused_with_their_line() {
        for line in ["x \n", "x\t\n", "x\r\n"] {
            assert_eq!(check("a.md", &format!("x\n{line}"))[0].place(), "a.md:2");
        }
    }

    #[test]
    fn a_last_line_without_a_line_break_is_refused() {
        assert_eq!(check("a.toml", "a = 1\nb = 2")[0].place(), "a.toml:2");
        assert_eq!(check("a.toml", "a = 1\n"), []);
    }
}
