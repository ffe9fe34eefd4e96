//! Events on the wire, read by a reader that shares nothing with the writer.

use std::{collections::BTreeMap, time::Duration};

use bytes::Bytes;
use futures::{FutureExt, Stream, StreamExt, stream};
use gateway_domain::Cursor;
use http::{StatusCode, header};
use http_body_util::BodyExt;
use proptest::prelude::{Just, Strategy, any, prop, prop_assert_eq, prop_oneof, proptest};
use serde_json::Value;
use tokio::{runtime::Builder, sync::mpsc, time::Instant};

use super::{Frame, response};
use crate::Settings;

fn frame(data: impl Into<Bytes>) -> Frame {
    Frame {
        id: None,
        data: data.into(),
    }
}

fn cursor(text: &str) -> Cursor {
    text.parse().unwrap()
}

async fn text_of(frames: impl Stream<Item = Frame> + Send + 'static) -> String {
    let body = response(frames, &Settings::default()).into_body();
    String::from_utf8(body.collect().await.unwrap().to_bytes().to_vec()).unwrap()
}

/// A reader written from the text of the HTML standard, §9.2.6: events as pairs of last event id and data.
fn read(text: &str) -> Vec<(String, String)> {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let (mut events, mut id, mut data) = (Vec::new(), String::new(), None::<String>);
    for line in text.split('\n') {
        if line.is_empty() {
            events.extend(data.take().map(|data| (id.clone(), data)));
            continue;
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "data" => data = Some(data.map_or(value.to_owned(), |data| format!("{data}\n{value}"))),
            "id" => id = value.to_owned(),
            _ => {}
        }
    }
    events
}

#[tokio::test]
async fn an_answer_says_that_it_is_neither_to_be_kept_nor_repacked() {
    let response = response(stream::empty(), &Settings::default());
    assert_eq!(response.status(), StatusCode::OK);
    assert_eq!(response.headers()[header::CONTENT_TYPE], "text/event-stream");
    assert_eq!(
        response.headers()[header::CACHE_CONTROL],
        "no-cache, no-transform"
    );
    assert_eq!(response.headers()["x-accel-buffering"], "no");
}

#[tokio::test]
async fn an_event_is_its_id_and_one_line_of_data() {
    let id = cursor("7-00c0ffee");
    let events = [
        Frame {
            id: Some(id),
            data: "{}".into(),
        },
        frame("[1]"),
    ];
    let text = text_of(stream::iter(events)).await;
    assert_eq!(text, format!("id: {id}\ndata: {{}}\n\ndata: [1]\n\n"));
}

#[tokio::test]
async fn raw_newlines_become_lines_of_the_same_event() {
    let text = text_of(stream::iter([frame("a\nb\r\nc\rd\n")])).await;
    assert_eq!(read(&text), [(String::new(), "a\nb\nc\nd\n".to_owned())]);
}

#[tokio::test]
async fn events_that_are_ready_together_travel_together_up_to_a_bound() {
    let events = (0..1_000).map(|_| frame("x".repeat(1_000)));
    let mut body = response(stream::iter(events), &Settings::default()).into_body();
    let (mut pieces, mut bytes) = (0, 0);
    while let Some(piece) = body.frame().await {
        let length = piece.unwrap().into_data().unwrap().len();
        assert!(length < 20_000, "a piece of {length} bytes");
        pieces += 1;
        bytes += length;
    }
    assert_eq!(bytes, 1_000 * 1_008);
    assert!(pieces < 100, "{pieces} pieces");
}

#[tokio::test]
async fn a_large_document_is_passed_on_without_a_copy() {
    let document = Bytes::from("x".repeat(1 << 20));
    let mut body = response(stream::iter([frame(document.clone())]), &Settings::default()).into_body();
    let mut pieces = Vec::new();
    while let Some(piece) = body.frame().await {
        pieces.push(piece.unwrap().into_data().unwrap());
    }
    assert!(pieces.iter().any(|piece| piece.as_ptr() == document.as_ptr()));
    assert_eq!(pieces.concat().len(), document.len() + "data: \n\n".len());
}

#[tokio::test(start_paused = true)]
async fn an_event_does_not_wait_for_the_next_one() {
    let (send, receive) = mpsc::channel(8);
    let mut body = response(frames(receive), &Settings::default()).into_body();
    assert!(body.frame().now_or_never().is_none());
    send.send(frame("1")).await.unwrap();
    let piece = body.frame().now_or_never().unwrap().unwrap().unwrap();
    assert_eq!(piece.into_data().unwrap(), "data: 1\n\n");
}

#[tokio::test(start_paused = true)]
async fn comments_come_only_after_silence_and_stop_at_the_end() {
    let (send, receive) = mpsc::channel(8);
    let settings = Settings {
        keep_alive: Duration::from_secs(15),
        ..Settings::default()
    };
    let body = response(frames(receive), &settings).into_body();
    let began = Instant::now();
    let reading = tokio::spawn(async move {
        let (mut body, mut seen) = (body, Vec::new());
        while let Some(piece) = body.frame().await {
            let piece = piece.unwrap().into_data().unwrap();
            seen.push((
                began.elapsed().as_secs(),
                String::from_utf8(piece.to_vec()).unwrap(),
            ));
        }
        seen
    });
    for wait in [10, 10, 40] {
        tokio::time::sleep(Duration::from_secs(wait)).await;
        send.send(frame("x")).await.unwrap();
    }
    drop(send);
    let (event, comment) = ("data: x\n\n", ": ping\n\n");
    let expected = [
        (10, event),
        (20, event),
        (35, comment),
        (50, comment),
        (60, event),
    ];
    let seen = reading.await.unwrap();
    assert!(
        seen.iter().map(|(at, piece)| (*at, piece.as_str())).eq(expected),
        "{seen:?}"
    );
}

#[tokio::test]
async fn an_idle_stream_costs_little() {
    let size = size_of_val(&super::Events::new(stream::pending(), Duration::ZERO));
    assert!(size <= 320, "{size} bytes");
}

fn frames(mut receive: mpsc::Receiver<Frame>) -> impl Stream<Item = Frame> {
    stream::poll_fn(move |cx| receive.poll_recv(cx))
}

/// Texts made of what the format could stumble over.
fn awkward() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("\n".to_owned()),
        Just("\r".to_owned()),
        Just("\r\n\r\n".to_owned()),
        Just("data: ".to_owned()),
        Just("\nid: 1\nevent: x\n\n".to_owned()),
        Just(": ping\n\n".to_owned()),
        Just("\u{2028}\u{2029}\u{feff}\u{85}\0".to_owned()),
        any::<String>(),
    ];
    prop::collection::vec(piece, 0..6).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn documents_come_back_byte_for_byte(
        texts in prop::collection::vec((awkward(), awkward(), 0usize..20_000), 0..8),
    ) {
        let documents: Vec<Bytes> = texts
            .into_iter()
            .map(|(key, text, filler)| {
                let map = BTreeMap::from([(key, Value::from(text)), ("x".repeat(filler), Value::Null)]);
                Bytes::from(serde_json::to_vec(&map).unwrap())
            })
            .collect();
        let sent = documents.clone();
        let runtime = Builder::new_current_thread().enable_time().build().unwrap();
        let text = runtime.block_on(text_of(stream::iter(sent).map(frame)));
        prop_assert_eq!(text.matches("\n\n").count(), documents.len());
        let read: Vec<Bytes> = read(&text).into_iter().map(|(_, data)| data.into()).collect();
        prop_assert_eq!(read, documents);
    }
}
