//! Protobuf of what others send: what is read is written so that it reads back the same, in protobuf and in JSON.

use std::fmt::Debug;

use gateway_domain::Error;
use gateway_wire::{decode, encode, pb::v1};
use prost::Message;
use serde::{Serialize, de::DeserializeOwned};

use crate::run::Target;

/// Any bytes, read as every kind of message.
pub const PROTOBUF: Target = Target {
    name: "protobuf",
    tokens: &[
        b"\x0a\x00",
        b"\x12\x00",
        b"\x1a\x00",
        b"\x22\x00",
        b"\x2a\x00",
        b"\x32\x00",
        b"\x0a\x01a",
        b"\x0b",
        b"\x0c",
        b"\x11\x00\x00\x00\x00\x00\x00\xf8\x7f",
        b"\x19\x00\x00\x00\x00\x00\x00\xf0\x3f",
        b"\x20\x01",
        b"\x20\x02",
        b"\xff\xff\xff\xff\x0f",
        b"\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01",
    ],
    check,
};

fn check(bytes: &[u8]) {
    reads_back(bytes, decode::message, encode::message);
    reads_back(bytes, decode::artifact, encode::artifact);
    reads_back(bytes, decode::task, encode::task);
    reads_back(bytes, decode::stream_response, encode::stream_response);
    reads_back(bytes, decode::agent_card, encode::agent_card);
    reads_back(
        bytes,
        |config: v1::TaskPushNotificationConfig| Ok(decode::config(config)),
        encode::config,
    );
}

fn reads_back<P, T>(bytes: &[u8], decode: impl Fn(P) -> Result<T, Error>, encode: impl Fn(&T) -> P)
where
    P: Message + Default,
    T: Serialize + DeserializeOwned + PartialEq + Debug,
{
    let Ok(message) = P::decode(bytes) else {
        return;
    };
    let Ok(read) = decode(message) else {
        return;
    };
    let written = encode(&read).encode_to_vec();
    let again = decode(P::decode(&written[..]).expect("what was written is a message"));
    assert_eq!(again.as_ref().ok(), Some(&read), "in protobuf");
    let written = serde_json::to_vec(&read).expect("what was read can be written");
    let again = serde_json::from_slice::<T>(&written)
        .unwrap_or_else(|error| panic!("{error} in {}", String::from_utf8_lossy(&written)));
    assert_eq!(again, read, "in JSON");
}
