//! A client as a process. It does not outlive the test.

use std::{
    io::Read,
    process::{Command, Stdio},
    sync::mpsc,
    thread,
    time::Duration,
};

/// How long a client may take. It is long, for machines that are busy.
const LIMIT: Duration = Duration::from_secs(240);

/// Runs a client to its end and hands back what it printed.
pub(crate) fn output(name: &str, command: &mut Command) -> String {
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut printed = child.stdout.take().unwrap();
    let (say, heard) = mpsc::sync_channel(1);
    // Ends with the client, which closes what is read here.
    thread::spawn(move || {
        let mut text = String::new();
        let read = printed.read_to_string(&mut text);
        let _ = say.send(read.map(|_| text));
    });
    let text = heard.recv_timeout(LIMIT).unwrap_or_else(|_| {
        let _ = child.kill();
        panic!("the {name} client did not end within {LIMIT:?}")
    });
    let (text, status) = (text.unwrap(), child.wait().unwrap());
    assert!(
        status.success(),
        "the {name} client ended with {status}, having printed:\n{text}"
    );
    text
}
