//! Bounds on what comes in, from outside: bodies, headers, nesting, large content, and memory after much of it.

#![allow(clippy::unwrap_used, reason = "what must not be absent fails the test")]

use gateway_domain::{Binding, ErrorKind, Operation, json::MAX_DEPTH};
use gateway_tests::{
    client::{Ask, Driver, JsonRpc},
    gateway::Gateway,
    process::Process,
    profile::Profile,
    raw::{self, Http, usual_headers},
    samples,
};
use http::Method;
use serde_json::{Value, json};

/// The bound on bodies that these tests set.
const BODY: usize = 64 << 10;

async fn small_bodies() -> Gateway {
    let profile = Profile::plain()
        .set("connections.body", r#""64 KiB""#)
        .set("connections.body_timeout", r#""1 s""#);
    Gateway::start(profile).await
}

/// A send of exactly so many bytes.
fn send_of(bytes: usize) -> String {
    let empty = samples::message("").to_string().len();
    samples::message(&"x".repeat(bytes - empty)).to_string()
}

#[tokio::test]
async fn a_body_at_the_bound_is_served_and_one_byte_more_is_refused_on_every_binding() {
    let gateway = small_bodies().await;
    let http = gateway.http();
    assert_eq!(http.post("/message:send", send_of(BODY)).await.status, 200);
    let refused = http.post("/message:send", send_of(BODY + 1)).await;
    assert_eq!(
        (refused.status.as_u16(), &refused.json()["error"]["code"]),
        (413, &json!(413))
    );
    let refused = http.post("/rpc", send_of(BODY + 1)).await;
    assert_eq!(
        (refused.status.as_u16(), &refused.json()["error"]["code"]),
        (413, &json!(-32600))
    );
    let ask = Ask::new(Operation::SendMessage, samples::message(&"x".repeat(BODY)));
    let grpc = gateway.client(Binding::Grpc);
    grpc.call(&ask).await.refusal().assert(ErrorKind::PayloadTooLarge);
    // The same connection goes on.
    let ask = Ask::new(Operation::SendMessage, samples::message("say hi"));
    grpc.call(&ask).await.reply();
}

#[tokio::test]
async fn a_body_without_a_length_is_refused_once_it_is_too_long() {
    let gateway = small_bodies().await;
    for path in ["/message:send", "/rpc"] {
        let head = format!(
            "POST {path} HTTP/1.1\r\nhost: gateway\r\na2a-version: 1.0\r\nauthorization: Bearer A\r\n\
             content-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n"
        );
        let chunk = format!("{:x}\r\n{}\r\n", 4096, "x".repeat(4096));
        let request = format!("{head}{}", chunk.repeat(BODY / 4096 + 1));
        let answer = raw::bytes(gateway.address(), request.as_bytes()).await;
        assert!(answer.starts_with("HTTP/1.1 413 "), "{path}: {answer}");
    }
}

#[tokio::test]
async fn a_compressed_body_is_refused_and_never_unpacked() {
    let gateway = Gateway::plain().await;
    for path in ["/message:send", "/rpc"] {
        let mut asked = usual_headers();
        asked.push(("content-encoding".to_owned(), "gzip".to_owned()));
        let answer = gateway
            .http()
            .send(Method::POST, path, &asked, &b"\x1f\x8b\x08"[..])
            .await;
        assert_eq!(answer.status, 415, "{path}");
    }
}

#[tokio::test]
async fn a_body_that_does_not_come_is_not_waited_for() {
    let gateway = small_bodies().await;
    let request = "POST /message:send HTTP/1.1\r\nhost: gateway\r\na2a-version: 1.0\r\nauthorization: Bearer A\r\n\
                   content-type: application/json\r\ncontent-length: 100\r\n\r\n{";
    let answer = raw::bytes(gateway.address(), request.as_bytes()).await;
    assert!(answer.starts_with("HTTP/1.1 504 "), "{answer}");
}

#[tokio::test]
async fn a_header_that_is_too_long_is_refused_as_such() {
    let gateway = Gateway::plain().await;
    for path in ["/message:send", "/rpc", "/tasks"] {
        let mut asked = usual_headers();
        asked.push(("x-long".to_owned(), "x".repeat(20_000)));
        let answer = gateway.http().send(Method::POST, path, &asked, "{}").await;
        assert_eq!(answer.status, 431, "{path}");
    }
}

fn nested(levels: usize) -> Value {
    (0..levels).fold(json!(1), |inner, _| json!([inner]))
}

fn send_with(data: Option<usize>, metadata: Option<usize>) -> Value {
    let mut params = samples::message("say hi");
    if let Some(levels) = data {
        params["message"]["parts"] = json!([{ "text": "say hi" }, { "data": nested(levels) }]);
    }
    if let Some(levels) = metadata {
        params["message"]["metadata"] = json!({ "k": nested(levels - 1) });
    }
    params
}

#[tokio::test]
async fn data_nests_as_deep_over_one_binding_as_over_another_and_no_deeper() {
    let gateway = Gateway::plain().await;
    for client in gateway.clients() {
        for params in [send_with(Some(MAX_DEPTH), None), send_with(None, Some(MAX_DEPTH))] {
            let made = client
                .call(&Ask::new(Operation::SendMessage, params))
                .await
                .json();
            for reader in gateway.clients() {
                let ask = Ask::new(Operation::GetTask, json!({ "id": made["task"]["id"] }));
                assert_eq!(reader.call(&ask).await.json()["history"], made["task"]["history"]);
            }
        }
        for params in [
            send_with(Some(MAX_DEPTH + 1), None),
            send_with(None, Some(MAX_DEPTH + 1)),
        ] {
            let refusal = client
                .call(&Ask::new(Operation::SendMessage, params))
                .await
                .refusal();
            refusal.assert(ErrorKind::InvalidParams);
        }
    }
}

#[tokio::test]
async fn an_agents_data_nests_no_deeper_than_a_clients() {
    let gateway = Gateway::plain().await;
    let made = gateway
        .client(Binding::JsonRpc)
        .call(&Ask::new(Operation::SendMessage, samples::message("ask")))
        .await;
    let task = made.json()["task"]["id"].as_str().unwrap().to_owned();
    for binding in Binding::ALL {
        let mut params = samples::valid(Operation::UpdateArtifact, &task);
        params["artifact"]["parts"] = json!([{ "data": nested(MAX_DEPTH) }]);
        let agent = gateway.agent(binding);
        agent
            .call(&Ask::new(Operation::UpdateArtifact, params.clone()))
            .await
            .reply();
        params["artifact"]["parts"] = json!([{ "data": nested(MAX_DEPTH + 1) }]);
        let refusal = agent
            .call(&Ask::new(Operation::UpdateArtifact, params))
            .await
            .refusal();
        refusal.assert(ErrorKind::InvalidParams);
    }
}

#[tokio::test]
async fn nesting_of_any_depth_is_answered_and_the_gateway_goes_on() {
    let gateway = Gateway::plain().await;
    for levels in [64, 100, 127, 128, 129, 100_000] {
        let nest = format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        for part in [
            format!(r#"{{"data":{nest}}}"#),
            format!(r#"{{"text":"x","metadata":{{"k":{nest}}}}}"#),
        ] {
            let params = format!(r#"{{"message":{{"messageId":"m","role":"ROLE_USER","parts":[{part}]}}}}"#);
            let answer = gateway.http().post("/message:send", params.clone()).await;
            assert_eq!(answer.status, 400, "{levels}");
            let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{params}}}"#);
            let code = gateway.http().post("/rpc", body).await.json()["error"]["code"].as_i64();
            assert!(matches!(code, Some(-32700 | -32602)), "{levels}: {code:?}");
        }
    }
    let ask = Ask::new(Operation::SendMessage, samples::message("say hi"));
    gateway.client(Binding::JsonRpc).call(&ask).await.reply();
}

#[tokio::test]
async fn five_mebibytes_that_were_stored_over_one_binding_are_read_over_every_other() {
    let gateway = Gateway::plain().await;
    let grpc = gateway.client(Binding::Grpc);
    // Base64 makes a third more of it.
    let raw = "AAAA".repeat((5 << 20) / 3);
    let mut send = samples::message("ask");
    send["message"]["parts"] = json!([{ "text": "ask" }, { "raw": raw }]);
    let made = grpc.call(&Ask::new(Operation::SendMessage, send)).await.json();
    let task = made["task"]["id"].as_str().unwrap();
    let mut update = samples::valid(Operation::UpdateArtifact, task);
    update["artifact"]["parts"] = json!([{ "raw": raw }]);
    let agent = gateway.agent(Binding::HttpJson);
    agent
        .call(&Ask::new(Operation::UpdateArtifact, update))
        .await
        .reply();
    for client in gateway.clients() {
        let read = client
            .call(&Ask::new(Operation::GetTask, json!({ "id": task })))
            .await
            .json();
        assert_eq!(read["artifacts"][0]["parts"][0]["raw"], raw);
        assert_eq!(read["history"][0]["parts"][1]["raw"], raw);
        let list = json!({ "includeArtifacts": true });
        let list = client.call(&Ask::new(Operation::ListTasks, list)).await.json();
        assert_eq!(list["tasks"][0]["artifacts"][0]["parts"][0]["raw"], raw);
    }
    let mut too_large = samples::message("ask");
    too_large["message"]["parts"] = json!([{ "raw": "AAAA".repeat(4 << 20) }]);
    let refusal = grpc
        .call(&Ask::new(Operation::SendMessage, too_large))
        .await
        .refusal();
    refusal.assert(ErrorKind::PayloadTooLarge);
    grpc.call(&Ask::new(Operation::GetTask, json!({ "id": task })))
        .await
        .reply();
}

/// Rounds of tasks, each with a stream to its end, a stream that is left, and a subscription to nothing.
async fn rounds(process: &Process, count: usize) {
    let http = Http::new(process.client);
    let client = JsonRpc::new(http.clone());
    for _ in 0..count {
        let anonymous = |operation, params| Ask {
            caller: None,
            ..Ask::new(operation, params)
        };
        let stream = anonymous(Operation::SendStreamingMessage, samples::message("say hi"));
        client.call(&stream).await.stream().rest().await;
        let mut left = client.call(&stream).await.stream();
        left.event().await;
        drop(left);
        let nothing = anonymous(Operation::SubscribeToTask, json!({ "id": "nothing" }));
        client.call(&nothing).await.refusal();
    }
}

/// Kibibytes that a process has in memory.
fn resident(process: &Process) -> usize {
    let status = std::fs::read_to_string(format!("/proc/{}/status", process.id())).unwrap();
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))
        .unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

#[tokio::test]
async fn what_tasks_and_streams_took_is_free_again_once_finished_tasks_are_bounded() {
    let process = Process::start(&[("STORE__FINISHED_PER_TENANT", "100")]);
    rounds(&process, 300).await;
    let warm = resident(&process);
    rounds(&process, 1_200).await;
    let after = resident(&process);
    // A task of these takes some kilobytes: 2,400 that were kept would be seen.
    assert!(after < warm + 4 * 1024, "{warm} KiB became {after} KiB");
}
