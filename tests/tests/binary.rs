//! The program as operators run it: started from the environment, called over every binding, checked, stopped, killed.

#![allow(clippy::unwrap_used, reason = "what must not be absent fails the test")]

use gateway_domain::Operation;
use gateway_tests::{
    client::{Ask, Driver, Grpc, JsonRpc, Rest, SseReader},
    process::{self, Process},
    raw::{Http, usual_headers},
    samples,
};
use http::Method;
use serde_json::json;

fn clients(process: &Process) -> [Box<dyn Driver>; 3] {
    [
        Box::new(JsonRpc::new(Http::new(process.client))),
        Box::new(Rest::new(Http::new(process.client))),
        Box::new(Grpc::new(process.client)),
    ]
}

#[tokio::test]
async fn a_task_made_over_each_binding_completes_and_is_read_over_the_others() {
    let process = Process::start(&[]);
    let clients = clients(&process);
    for making in &clients {
        let mut ask = Ask::new(Operation::SendMessage, samples::message("say hello"));
        // Out of the box nobody has to say who they are.
        ask.caller = None;
        let made = making.call(&ask).await.json();
        assert_eq!(made["task"]["status"]["state"], "TASK_STATE_COMPLETED");
        for reading in &clients {
            let mut ask = Ask::new(Operation::GetTask, json!({ "id": made["task"]["id"] }));
            ask.caller = None;
            assert_eq!(reading.call(&ask).await.json(), made["task"]);
        }
    }
    let ready = Http::new(process.admin).get("/readyz").await;
    assert_eq!(ready.status, 200);
}

#[tokio::test]
async fn the_card_lists_addresses_that_can_be_called_as_they_stand() {
    let process = Process::start(&[]);
    let card = Http::new(process.client)
        .get("/.well-known/agent-card.json")
        .await
        .json();
    let interfaces = card["supportedInterfaces"].as_array().unwrap().clone();
    let offered: Vec<_> = interfaces
        .iter()
        .map(|interface| (&interface["protocolBinding"], &interface["protocolVersion"]))
        .collect();
    for binding in gateway_domain::Binding::ALL {
        for version in ["1.0", "0.3"] {
            assert!(
                offered.contains(&(&json!(binding.name()), &json!(version))),
                "{offered:?}"
            );
        }
    }
    for interface in &interfaces {
        let url = interface["url"].as_str().unwrap();
        assert!(url.contains(&process.client.to_string()), "{url}");
    }
}

#[tokio::test]
async fn a_signal_drains_and_the_last_event_of_an_open_stream_says_to_come_back() {
    let mut process = Process::start(&[]);
    let body = samples::at_once("quiet 600").to_string();
    let http = Http::new(process.client);
    let response = http
        .open(Method::POST, "/message:stream", &usual_headers(), body)
        .await;
    let mut reader = SseReader::new(response.into_body());
    reader.next().await.unwrap().expect("the task");
    process.signal("TERM");
    let last = reader.next().await.unwrap().expect("a word before the end");
    let error: serde_json::Value = serde_json::from_str(&last.data).unwrap();
    assert_eq!(error["error"]["status"], "UNAVAILABLE");
    assert!(
        error.pointer("/error/details/0/metadata/cursor").is_some(),
        "{error}"
    );
    assert_eq!(reader.next().await.unwrap(), None);
    assert_eq!(process.ended().await.code(), Some(0), "{}", process.said());
}

#[tokio::test]
async fn a_call_that_waits_when_the_signal_comes_is_still_answered() {
    let mut process = Process::start(&[]);
    let client = JsonRpc::new(Http::new(process.client));
    let mut ask = Ask::new(Operation::SendMessage, samples::message("work 1"));
    ask.params["message"]["contextId"] = json!("waiting");
    ask.caller = None;
    let waiting = tokio::spawn(async move { client.call(&ask).await });
    let client = Rest::new(Http::new(process.client));
    let mut list = Ask::new(Operation::ListTasks, json!({ "contextId": "waiting" }));
    list.caller = None;
    while client.call(&list).await.json()["totalSize"] != 1 {
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    process.signal("TERM");
    let made = waiting.await.unwrap().json();
    assert_eq!(made["task"]["status"]["state"], "TASK_STATE_COMPLETED");
    assert_eq!(process.ended().await.code(), Some(0), "{}", process.said());
}

#[tokio::test]
async fn a_second_signal_ends_the_program_without_waiting_for_the_calls_under_way() {
    let mut process = Process::start(&[("CONNECTIONS__DRAIN", "60 s")]);
    let client = JsonRpc::new(Http::new(process.client));
    let mut ask = Ask::new(Operation::SendMessage, samples::message("work 600"));
    ask.caller = None;
    let waiting = tokio::spawn(async move { client.call(&ask).await });
    let client = Rest::new(Http::new(process.client));
    let mut list = Ask::new(Operation::ListTasks, json!({ "status": "TASK_STATE_WORKING" }));
    list.caller = None;
    while client.call(&list).await.json()["totalSize"] != 1 {
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    process.signal("TERM");
    while !process.said().contains("draining") {
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    process.signal("TERM");
    assert_eq!(process.ended().await.code(), Some(1), "{}", process.said());
    waiting.abort();
}

#[tokio::test]
async fn a_killed_program_breaks_its_streams_so_that_clients_see_no_end_of_a_task() {
    let process = Process::start(&[]);
    let body = samples::at_once("quiet 600").to_string();
    let http = Http::new(process.client);
    let response = http
        .open(Method::POST, "/message:stream", &usual_headers(), body)
        .await;
    let mut reader = SseReader::new(response.into_body());
    reader.next().await.unwrap().expect("the task");
    process.signal("KILL");
    reader.next().await.expect_err("a break is no orderly end");
}

#[test]
fn a_port_that_is_taken_is_told_with_the_name_of_its_setting() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let output = process::output(
        &["run"],
        &[
            ("LISTENERS__CLIENT__ADDRESS", &address),
            ("LISTENERS__AGENT__ADDRESS", "off"),
            ("LISTENERS__ADMIN__ADDRESS", "off"),
        ],
    );
    assert!(!output.status.success());
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        said.contains(&address) && said.contains("listeners.client.address"),
        "{said}"
    );
}

#[test]
fn the_sample_passes_the_check_and_a_slip_is_named_with_exit_code_2() {
    let sample = process::output(&["sample-config"], &[]);
    assert!(sample.status.success());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("gateway.toml");
    let check = |text: &[u8]| {
        std::fs::write(&path, text).unwrap();
        process::output(&["check", "--config", path.to_str().unwrap()], &[])
    };
    let good = check(&sample.stdout);
    assert!(good.status.success(), "{}", String::from_utf8_lossy(&good.stderr));
    let bad = check(b"[limits]\nparts_per_mesage = 3\n");
    assert_eq!(bad.status.code(), Some(2));
    let said = String::from_utf8_lossy(&bad.stderr);
    assert!(
        said.contains("limits.parts_per_mesage") && said.contains("parts_per_message"),
        "{said}"
    );
}

#[test]
fn a_tenant_with_a_reserved_name_is_refused_by_the_check() {
    let output = process::output(&["check"], &[("TENANTS__NAMES", r#"["acme", "tasks"]"#)]);
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("tasks"), "{said}");
}
