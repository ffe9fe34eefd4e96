//! Running other programs: the command line is shown in what goes wrong, so that it can be repeated by hand.

use std::{
    ffi::OsStr,
    path::Path,
    process::{Command, Stdio},
};

use crate::Finding;

/// Runs a command in the root with its output going to the terminal.
pub(crate) fn run(root: &Path, command: &[&str]) -> Result<(), Finding> {
    let status = prepare(root, command)
        .status()
        .map_err(|error| absent(command, &error))?;
    if status.success() {
        Ok(())
    } else {
        Err(Finding::of(command.join(" "), format!("{status}")))
    }
}

/// Runs a command in the root and hands back what it printed; its complaints go to the terminal.
pub(crate) fn output(root: &Path, command: &[&str]) -> Result<String, Finding> {
    let output = prepare(root, command).stderr(Stdio::inherit()).output();
    let output = output.map_err(|error| absent(command, &error))?;
    if !output.status.success() {
        return Err(Finding::of(command.join(" "), format!("{}", output.status)));
    }
    String::from_utf8(output.stdout)
        .map_err(|_| Finding::of(command.join(" "), "printed something not UTF-8"))
}

/// A path as an argument of a command.
pub(crate) fn argument(path: &(impl AsRef<OsStr> + ?Sized)) -> String {
    path.as_ref().to_string_lossy().into_owned()
}

fn prepare(root: &Path, command: &[&str]) -> Command {
    let mut prepared = Command::new(command[0]);
    prepared
        .args(&command[1..])
        .current_dir(root)
        .stdin(Stdio::null());
    prepared
}

fn absent(command: &[&str], error: &std::io::Error) -> Finding {
    Finding::of(
        command.join(" "),
        format!("cannot be started ({error}); is {} installed?", command[0]),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_that_fails_is_named_with_its_exit() {
        let finding = run(Path::new("."), &["false"]).unwrap_err().to_string();
        assert!(finding.starts_with("false: exit status: 1"), "{finding}");
    }

    #[test]
    fn a_program_that_is_not_there_is_named() {
        let finding = output(Path::new("."), &["no-such-program", "x"])
            .unwrap_err()
            .to_string();
        assert!(finding.contains("is no-such-program installed?"), "{finding}");
    }

    #[test]
    fn output_is_what_was_printed() {
        assert_eq!(output(Path::new("."), &["echo", "said"]).unwrap(), "said\n");
    }
}
