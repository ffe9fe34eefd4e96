//! Words that don't belong into the repository, or only into one place of it.
//!
//! The words are put together from halves, since this file is judged as well.

use crate::Finding;

/// The one file in which ids of reported cases stand; a test refers to a case by its data, not by its number.
const CASES: &str = "tests/cases/cases.toml";

/// What is looked for, and what to do instead.
const WORDS: &[(&str, &str)] = &[
    (concat!("TO", "DO"), UNFINISHED),
    (concat!("FIX", "ME"), UNFINISHED),
    (concat!("XX", "X"), UNFINISHED),
    (concat!("to", "do!("), UNFINISHED),
    (concat!("unimple", "mented!("), UNFINISHED),
    (concat!("db", "g!("), "remove the debugging output"),
    (concat!("../sha", "red"), PLACE),
    (concat!("/wo", "rk/"), PLACE),
    (concat!("/ro", "ot/"), PLACE),
    (concat!("crates", ".io"), REGISTRY),
    (concat!("py", "pi.org"), REGISTRY),
    (concat!("npm", "js."), REGISTRY),
    (concat!("deb.", "debian"), REGISTRY),
];
const UNFINISHED: &str = "finish it, or say in prose what is not done and why";
const PLACE: &str = "names a place on somebody's machine; use a path from the repository's root";
const REGISTRY: &str = "names a package registry's host; say the package's name and version";

/// All words in one file that don't belong there.
pub(super) fn check(path: &str, text: &str) -> Vec<Finding> {
    let lines = || text.lines().enumerate().map(|(index, line)| (index + 1, line));
    let words = lines().flat_map(|(number, line)| {
        WORDS
            .iter()
            .filter(|(word, _)| stands_alone(line, word))
            .map(move |(word, advice)| Finding::at(path, number, format!("`{word}`: {advice}")))
    });
    let cases = lines()
        .filter(|(_, line)| path != CASES && has_case_id(line))
        .map(|(number, _)| {
            Finding::at(
                path,
                number,
                format!("the id of a case stands in {CASES} alone; say what the case is about"),
            )
        });
    let numbers = lines()
        .filter(|(_, line)| has_issue_number(line))
        .map(|(number, _)| {
            Finding::at(
                path,
                number,
                "a reader can't look up an issue's number; say what it was about",
            )
        });
    words.chain(cases).chain(numbers).collect()
}

/// Whether the word stands in the line with no letter or digit right before it, or right after a letter of its own.
fn stands_alone(line: &str, word: &str) -> bool {
    let ends_in_letter = word.ends_with(char::is_alphanumeric);
    line.match_indices(word).any(|(at, _)| {
        let before = line[..at].ends_with(char::is_alphanumeric);
        let after = line[at + word.len()..].starts_with(char::is_alphanumeric);
        !(before || ends_in_letter && after)
    })
}

/// `R-` and three digits.
fn has_case_id(line: &str) -> bool {
    line.match_indices("R-").any(|(at, _)| {
        let digits = line[at + 2..].chars().take_while(char::is_ascii_digit).count();
        digits == 3 && !line[..at].ends_with(char::is_alphanumeric)
    })
}

/// `(#` or `issue #` and a digit.
fn has_issue_number(line: &str) -> bool {
    let line = line.to_ascii_lowercase();
    ["(#", "issue #"].iter().any(|start| {
        line.match_indices(start)
            .any(|(at, _)| line[at + start.len()..].starts_with(|next: char| next.is_ascii_digit()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_of_the_list_is_found_in_code_and_in_prose() {
        for (word, _) in WORDS {
            for line in [
                format!("// see {word} there"),
                format!("{word}\n"),
                format!("x = \"{word}\""),
            ] {
                assert_eq!(check("a.rs", &line).len(), 1, "{line}");
            }
        }
    }

    #[test]
    fn a_word_inside_another_is_not_meant() {
        for line in [
            "METHODOLOGY, MASTODON",
            "/network/ and /tasks/{id}:work",
            "../shareddir",
            "a/root/b",
        ] {
            assert_eq!(check("a.rs", line), [], "{line}");
        }
    }

    #[test]
    fn the_line_of_a_word_is_named() {
        assert_eq!(
            check("a.md", concat!("fine\n", "FIX", "ME\n"))[0].place(),
            "a.md:2"
        );
    }

    #[test]
    fn an_id_of_a_case_stands_in_the_case_file_alone() {
        let line = concat!("# R-", "017 shows it");
        assert_eq!(check("tests/tests/cases.rs", line).len(), 1);
        assert_eq!(check(CASES, line), []);
        assert_eq!(
            check("a.md", concat!("R-", "1234 and PR-", "123 and R-", "12")),
            []
        );
    }

    #[test]
    fn an_issue_by_its_number_is_refused() {
        for line in [
            concat!("mended (", "#12)"),
            concat!("see issue ", "#7"),
            concat!("Issue ", "#7 says"),
        ] {
            assert_eq!(check("a.rs", line).len(), 1, "{line}");
        }
        assert_eq!(
            check(
                "a.rs",
                "#[derive(Debug)] and r#\"raw\"# and colour #123456 may issue 5 calls"
            ),
            []
        );
    }
}
