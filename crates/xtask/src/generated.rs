//! Files in the repository that a command writes: the check runs the command and compares.

use std::{fs, path::Path};

use crate::{Finding, Verdict, process, verdict};

/// A file and the command whose standard output it is.
struct Generated {
    path: &'static str,
    command: &'static [&'static str],
}

const GENERATED: &[Generated] = &[
    Generated {
        path: "deploy/a2a-gateway.sample.toml",
        command: &gateway("sample-config"),
    },
    Generated {
        path: "deploy/openapi.json",
        command: &gateway("openapi"),
    },
];

/// A command of the program itself.
const fn gateway(command: &'static str) -> [&'static str; 9] {
    [
        "cargo",
        "run",
        "-q",
        "-p",
        "gateway-server",
        "--bin",
        "a2a-gateway",
        "--",
        command,
    ]
}

/// `cargo xtask generated [--write]`
pub(crate) fn run(root: &Path, arguments: &[String]) -> Verdict {
    let settle = if arguments.iter().any(|argument| argument == "--write") {
        write
    } else {
        compare
    };
    verdict(
        GENERATED
            .iter()
            .filter_map(|file| settle(root, file).err())
            .collect(),
    )
}

fn compare(root: &Path, file: &Generated) -> Result<(), Finding> {
    let wanted = process::output(root, file.command)?;
    let found = fs::read_to_string(root.join(file.path)).unwrap_or_default();
    match first_difference(&wanted, &found) {
        None => Ok(()),
        Some(line) => Err(Finding::at(
            file.path,
            line,
            format!(
                "differs from the output of `{}`; run `cargo xtask generated --write`",
                file.command.join(" ")
            ),
        )),
    }
}

fn write(root: &Path, file: &Generated) -> Result<(), Finding> {
    let wanted = process::output(root, file.command)?;
    fs::write(root.join(file.path), wanted).map_err(|error| Finding::of(file.path, error.to_string()))
}

/// The first line in which two texts differ, counted from 1.
fn first_difference(wanted: &str, found: &str) -> Option<usize> {
    if wanted == found {
        return None;
    }
    let same = wanted
        .split('\n')
        .zip(found.split('\n'))
        .take_while(|(left, right)| left == right)
        .count();
    Some(same + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ECHO: Generated = Generated {
        path: "made.txt",
        command: &["echo", "as it should be"],
    };

    #[test]
    fn a_file_equal_to_the_output_is_fine() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("made.txt"), "as it should be\n").unwrap();
        assert_eq!(compare(folder.path(), &ECHO), Ok(()));
    }

    #[test]
    fn a_stale_or_missing_file_is_refused_and_write_mends_it() {
        let folder = tempfile::tempdir().unwrap();
        assert!(compare(folder.path(), &ECHO).is_err());
        fs::write(folder.path().join("made.txt"), "as it was\n").unwrap();
        assert_eq!(compare(folder.path(), &ECHO).unwrap_err().place(), "made.txt:1");
        write(folder.path(), &ECHO).unwrap();
        assert_eq!(compare(folder.path(), &ECHO), Ok(()));
    }

    #[test]
    fn a_command_that_fails_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let broken = Generated {
            path: "made.txt",
            command: &["false"],
        };
        assert!(compare(folder.path(), &broken).is_err());
    }

    #[test]
    fn the_first_different_line_is_found() {
        assert_eq!(first_difference("a\nb\n", "a\nc\n"), Some(2));
        assert_eq!(first_difference("a\nb\n", "a\n"), Some(2));
        assert_eq!(first_difference("a\n", "a\n"), None);
    }
}
