//! How the program ends while clients look on: what balancers, watchers and open streams are told, and in which order.

#![allow(clippy::unwrap_used, reason = "what must not be absent fails the test")]

use bytes::Bytes;
use gateway_domain::{ErrorKind, Operation};
use gateway_tests::{
    client::{Ask, Driver, Grpc, JsonRpc, Rest},
    process::Process,
    raw::Http,
    samples,
};
use http::Request;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper_util::{
    client::legacy::Client,
    rt::{TokioExecutor, TokioTimer},
};

fn anonymous(operation: Operation, params: serde_json::Value) -> Ask {
    Ask {
        caller: None,
        ..Ask::new(operation, params)
    }
}

#[tokio::test]
async fn open_streams_of_every_binding_end_without_a_terminal_event_and_say_to_come_back() {
    let mut process = Process::start(&[]);
    let clients: [Box<dyn Driver>; 3] = [
        Box::new(JsonRpc::new(Http::new(process.client))),
        Box::new(Rest::new(Http::new(process.client))),
        Box::new(Grpc::new(process.client)),
    ];
    let mut streams = Vec::new();
    for client in &clients {
        let ask = anonymous(Operation::SendStreamingMessage, samples::message("work 600"));
        let mut stream = client.call(&ask).await.stream();
        stream.event().await;
        streams.push(stream);
    }
    process.signal("TERM");
    for mut stream in streams {
        let refusal = loop {
            match stream.next().await {
                Some(Ok(event)) => {
                    let state = event.json.pointer("/statusUpdate/status/state");
                    let running = state.is_none_or(|state| state == "TASK_STATE_WORKING");
                    assert!(running, "{}", event.json);
                }
                Some(Err(refusal)) => break refusal,
                None => panic!("the stream ended as if the task had"),
            }
        };
        refusal.assert(ErrorKind::Unavailable);
        assert!(stream.next().await.is_none());
    }
    assert_eq!(process.ended().await.code(), Some(0), "{}", process.said());
}

/// The statuses of a watched health service, as gRPC frames them: SERVING is 1, NOT_SERVING 2.
struct Watch(Incoming);

impl Watch {
    async fn open(process: &Process) -> Self {
        let mut builder = Client::builder(TokioExecutor::new());
        builder.http2_only(true).timer(TokioTimer::new());
        let client = builder.build_http::<Full<Bytes>>();
        let request = Request::post(format!("http://{}/grpc.health.v1.Health/Watch", process.client))
            .header("content-type", "application/grpc")
            .header("te", "trailers")
            .body(Full::new(Bytes::from_static(&[0; 5])))
            .unwrap();
        Self(client.request(request).await.unwrap().into_body())
    }

    /// The next status; nothing where the watch has ended.
    async fn next(&mut self) -> Option<u8> {
        loop {
            let frame = self.0.frame().await?.ok()?;
            if let Ok(data) = frame.into_data() {
                return data.last().copied();
            }
        }
    }
}

#[tokio::test]
async fn whoever_watches_the_health_is_told_first_and_does_not_hold_up_the_end() {
    let mut process = Process::start(&[]);
    let mut watch = Watch::open(&process).await;
    assert_eq!(watch.next().await, Some(1));
    process.signal("TERM");
    assert_eq!(watch.next().await, Some(2));
    assert_eq!(watch.next().await, None);
    assert_eq!(process.ended().await.code(), Some(0), "{}", process.said());
}
