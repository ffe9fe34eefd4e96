//! ProtoJSON of what others send: what is read is written so that it reads back the same.

use std::fmt::Debug;

use gateway_domain::{
    AgentCard, Artifact, Message, Operation, StreamResponse, TaskPushNotificationConfig, TaskSnapshot,
    request,
};
use serde::{Serialize, de::DeserializeOwned};

use crate::run::Target;

/// Any text, read as every kind of message.
pub const MESSAGE: Target = Target {
    name: "message",
    tokens: &[
        b"\"parts\":[",
        b"{\"text\":\"x\"}",
        b"{\"data\":",
        b"{\"raw\":\"AA==\"}",
        b"\"metadata\":{",
        b"\"role\":1",
        b"\"role\":\"ROLE_AGENT\"",
        b"\"message_id\":",
        b"\"messageId\":",
        b"\"status\":{",
        b"\"state\":",
        b"null",
        b"\"timestamp\":\"2026-01-31T09:05:07.250Z\"",
        b"[[[[[[[[",
        b"{\"a\":",
        b"\\ud800",
        b"\\u0000",
        b"-_-_",
    ],
    check,
};

fn check(text: &[u8]) {
    reads_back::<Message>(text);
    reads_back::<Artifact>(text);
    reads_back::<TaskSnapshot>(text);
    reads_back::<TaskPushNotificationConfig>(text);
    reads_back::<StreamResponse>(text);
    reads_back::<AgentCard>(text);
    for operation in Operation::all() {
        if let Err(error) = request::from_json(operation, text) {
            assert!(!error.message().is_empty());
        }
    }
}

fn reads_back<T: DeserializeOwned + Serialize + PartialEq + Debug>(text: &[u8]) {
    let Ok(read) = request::read_json::<T>(text) else {
        return;
    };
    let written = serde_json::to_vec(&read).expect("what was read can be written");
    let again = serde_json::from_slice::<T>(&written)
        .unwrap_or_else(|error| panic!("{error} in {}", String::from_utf8_lossy(&written)));
    assert_eq!(again, read, "{}", String::from_utf8_lossy(&written));
}
