//! The assembled gateway over real sockets: every binding answers on its port, a task is the same on all of them,
//! and a drain ends in order. What each binding does in detail is tested elsewhere.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::net::SocketAddr;

use gateway_server::{Assembly, Running, StartError, settings};
use gateway_wire::pb::v1::{
    GetTaskRequest, Message, Part, Role, SendMessageRequest, TaskState, a2a_service_client::A2aServiceClient,
    part::Content, send_message_response::Payload,
};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};
use tonic::{Request, transport::Channel};

/// Ports that the system chooses.
const FREE_PORTS: &str = r#"
    [listeners]
    client.address = "127.0.0.1:0"
    agent.address = "127.0.0.1:0"
    admin.address = "127.0.0.1:0"
"#;

async fn gateway(further: &str) -> Running {
    let settings = settings::parse(&format!("{FREE_PORTS}\n{further}")).unwrap();
    Assembly::new(settings).start().await.unwrap()
}

/// An answer over HTTP, its connection closed behind it.
struct Answer {
    status: u16,
    head: String,
    body: String,
}

impl Answer {
    fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.body))
    }
}

async fn open(address: SocketAddr, request: &str) -> TcpStream {
    let mut connection = TcpStream::connect(address).await.unwrap();
    connection.write_all(request.as_bytes()).await.unwrap();
    connection
}

async fn answer(mut connection: TcpStream) -> Answer {
    let mut text = String::new();
    connection.read_to_string(&mut text).await.unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    Answer {
        status: head.split(' ').nth(1).unwrap().parse().unwrap(),
        head: head.to_ascii_lowercase(),
        body: body.to_owned(),
    }
}

fn head(verb: &str, path: &str, length: usize) -> String {
    format!(
        "{verb} {path} HTTP/1.1\r\nhost: gateway.test\r\nconnection: close\r\na2a-version: 1.0\r\n\
         content-type: application/json\r\ncontent-length: {length}\r\n\r\n"
    )
}

async fn get(address: SocketAddr, path: &str) -> Answer {
    answer(open(address, &head("GET", path, 0)).await).await
}

fn post_text(path: &str, body: &Value) -> String {
    let body = body.to_string();
    head("POST", path, body.len()) + &body
}

async fn post(address: SocketAddr, path: &str, body: &Value) -> Answer {
    answer(open(address, &post_text(path, body)).await).await
}

fn message(text: &str) -> Value {
    json!({ "message": { "messageId": "m-1", "role": "ROLE_USER", "parts": [{ "text": text }] } })
}

fn rpc(method: &str, params: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params })
}

async fn grpc(address: SocketAddr) -> A2aServiceClient<Channel> {
    let endpoint = Channel::from_shared(format!("http://{address}")).unwrap();
    A2aServiceClient::new(endpoint.connect().await.unwrap())
}

fn versioned<T>(message: T) -> Request<T> {
    let mut request = Request::new(message);
    request
        .metadata_mut()
        .insert("a2a-version", "1.0".parse().unwrap());
    request
}

async fn send_by_grpc(address: SocketAddr, text: &str) -> gateway_wire::pb::v1::Task {
    let message = Message {
        message_id: "m-1".into(),
        role: Role::User.into(),
        parts: vec![Part {
            content: Some(Content::Text(text.into())),
            ..Part::default()
        }],
        ..Message::default()
    };
    let request = SendMessageRequest {
        message: Some(message),
        ..SendMessageRequest::default()
    };
    let reply = grpc(address)
        .await
        .send_message(versioned(request))
        .await
        .unwrap();
    match reply.into_inner().payload {
        Some(Payload::Task(task)) => task,
        other => panic!("no task: {other:?}"),
    }
}

/// The state of a task on each binding.
async fn states(address: SocketAddr, id: &str) -> [String; 3] {
    let request = GetTaskRequest {
        id: id.into(),
        ..GetTaskRequest::default()
    };
    let task = grpc(address).await.get_task(versioned(request)).await.unwrap();
    let state = TaskState::try_from(task.into_inner().status.unwrap().state).unwrap();
    let by_rpc = post(address, "/rpc", &rpc("GetTask", &json!({ "id": id })))
        .await
        .json();
    let by_rest = get(address, &format!("/tasks/{id}")).await.json();
    let text = |value: &Value| value["state"].as_str().unwrap_or_default().to_owned();
    [
        state.as_str_name().to_owned(),
        text(&by_rpc["result"]["status"]),
        text(&by_rest["status"]),
    ]
}

#[tokio::test]
async fn a_task_completes_over_each_binding_and_reads_the_same_over_the_others() {
    let running = gateway("").await;
    let client = running.addresses().client.unwrap();
    let by_rpc = post(client, "/rpc", &rpc("SendMessage", &message("say hi")))
        .await
        .json();
    let by_rest = post(client, "/message:send", &message("say hi")).await.json();
    let by_grpc = send_by_grpc(client, "say hi").await;
    for id in [
        by_rpc["result"]["task"]["id"].as_str().unwrap(),
        by_rest["task"]["id"].as_str().unwrap(),
        &by_grpc.id,
    ] {
        assert_eq!(states(client, id).await, ["TASK_STATE_COMPLETED"; 3], "{id}");
    }
    running.drain().await;
}

#[tokio::test]
async fn a_binding_with_a_port_of_its_own_is_served_there_alone() {
    let running = gateway(
        "jsonrpc.address = \"127.0.0.1:0\"\njsonrpc.assumed_version = \"1.0\"\ngrpc.address = \"127.0.0.1:0\"",
    )
    .await;
    let addresses = *running.addresses();
    let [client, jsonrpc, grpc_alone] =
        [addresses.client, addresses.jsonrpc, addresses.grpc].map(Option::unwrap);
    let list = rpc("ListTasks", &json!({}));
    assert_eq!(post(client, "/rpc", &list).await.status, 404);
    assert_eq!(get(client, "/tasks").await.status, 200);
    assert_eq!(
        post(jsonrpc, "/rpc", &list).await.json()["result"]["totalSize"],
        0
    );
    assert_eq!(get(jsonrpc, "/tasks").await.status, 404);
    assert_eq!(send_by_grpc(grpc_alone, "say hi").await.artifacts.len(), 1);
    // What is no HTTP/2 cannot be gRPC.
    assert_eq!(get(grpc_alone, "/tasks").await.status, 505);

    let without_version = post_text("/rpc", &list).replace("a2a-version: 1.0\r\n", "");
    let assumed = answer(open(jsonrpc, &without_version).await).await.json();
    assert_eq!(assumed["result"]["totalSize"], 1);
}

#[tokio::test]
async fn the_card_names_what_listens_whatever_host_is_asked_for() {
    let running = gateway("[public_urls]\nrest = \"https://a2a.example.com/base\"").await;
    let client = running.addresses().client.unwrap();
    let answer = get(client, "/.well-known/agent-card.json").await;
    for header in [
        "etag: \"",
        "last-modified: ",
        "cache-control: public, max-age=300",
        "x-request-id: ",
    ] {
        assert!(answer.head.contains(header), "{header} in {}", answer.head);
    }
    let card = answer.json();
    let interfaces = card["supportedInterfaces"].as_array().unwrap().iter();
    let named: Vec<_> = interfaces
        .map(|interface| {
            ["protocolVersion", "protocolBinding", "url"].map(|member| interface[member].as_str().unwrap())
        })
        .collect();
    let [rpc_url, grpc_url] = [format!("http://{client}/rpc"), client.to_string()];
    let expected = ["1.0", "0.3"].map(|version| {
        [
            [version, "JSONRPC", &*rpc_url],
            [version, "GRPC", &*grpc_url],
            [version, "HTTP+JSON", "https://a2a.example.com/base"],
        ]
    });
    assert_eq!(named, expected.concat());
}

#[tokio::test]
async fn an_agent_moves_a_task_on_from_its_own_port_and_a_client_cannot() {
    let running = gateway("").await;
    let [client, agent] = [running.addresses().client, running.addresses().agent].map(Option::unwrap);
    let sent = post(client, "/message:send", &message("auth")).await.json();
    assert_eq!(sent["task"]["status"]["state"], "TASK_STATE_AUTH_REQUIRED");
    let path = format!("/tasks/{}:complete", sent["task"]["id"].as_str().unwrap());
    assert_eq!(post(client, &path, &json!({})).await.status, 404);
    assert_eq!(post(agent, &path, &json!({})).await.status, 200);
    let id = sent["task"]["id"].as_str().unwrap();
    assert_eq!(states(client, id).await, ["TASK_STATE_COMPLETED"; 3]);
}

#[tokio::test]
async fn operators_see_calls_in_the_metrics() {
    let running = gateway("[tenants]\nnames = [\"acme\"]").await;
    let [client, admin] = [running.addresses().client, running.addresses().admin].map(Option::unwrap);
    assert_eq!(get(client, "/acme/tasks").await.status, 200);
    assert_eq!(get(client, "/globex/tasks").await.status, 404);
    let metrics = get(admin, "/metrics").await;
    assert!(
        metrics.head.contains("content-type: text/plain; version=0.0.4"),
        "{}",
        metrics.head
    );
    for labels in [
        "error=\"\",operation=\"ListTasks\",outcome=\"listed\",tenant=\"acme\"",
        "error=\"TenantNotServed\",operation=\"ListTasks\"",
    ] {
        assert!(metrics.body.contains(labels), "{labels} in\n{}", metrics.body);
    }
    assert_eq!(get(admin, "/livez").await.status, 200);
    assert_eq!(get(admin, "/readyz").await.status, 200);
    assert_eq!(get(admin, "/").await.status, 404);
    assert_eq!(post(admin, "/livez", &json!({})).await.status, 405);
}

async fn read_until(connection: &mut TcpStream, wanted: &str) {
    let mut text = String::new();
    while !text.contains(wanted) {
        let mut bytes = [0; 1024];
        let read = connection.read(&mut bytes).await.unwrap();
        assert!(read > 0, "ended without {wanted:?}: {text}");
        text.push_str(std::str::from_utf8(&bytes[..read]).unwrap());
    }
}

#[tokio::test]
async fn a_drain_ends_streams_with_an_error_and_lets_what_runs_finish() {
    let running = gateway("").await;
    let [client, admin] = [running.addresses().client, running.addresses().admin].map(Option::unwrap);
    let mut stream = open(client, &post_text("/message:stream", &message("work 600"))).await;
    read_until(&mut stream, "TASK_STATE_WORKING").await;
    // A request that is under way: the binding waits for its body.
    let body = message("say late").to_string();
    let expecting = head("POST", "/message:send", body.len())
        .replace("connection: close", "connection: close\r\nexpect: 100-continue");
    let mut late = open(client, &expecting).await;
    read_until(&mut late, "100 Continue\r\n\r\n").await;

    let draining = tokio::spawn(running.drain());
    while get(admin, "/readyz").await.status != 503 {
        tokio::task::yield_now().await;
    }
    let mut end = String::new();
    stream.read_to_string(&mut end).await.unwrap();
    assert!(end.contains("UNAVAILABLE") && end.contains("cursor"), "{end}");
    assert!(!draining.is_finished());
    assert_eq!(get(admin, "/livez").await.status, 200);

    late.write_all(body.as_bytes()).await.unwrap();
    assert_eq!(answer(late).await.status, 200);
    draining.await.unwrap();
    assert!(TcpStream::connect(client).await.is_err());
    assert!(TcpStream::connect(admin).await.is_err());
}

#[tokio::test]
async fn a_port_that_is_taken_stops_the_start_and_is_named_with_its_setting() {
    let taken = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = taken.local_addr().unwrap();
    let settings = settings::parse(&format!("{FREE_PORTS}\nrest.address = \"{address}\"")).unwrap();
    let Err(error) = Assembly::new(settings).start().await else {
        panic!("it started");
    };
    assert!(
        matches!(
            error,
            StartError::Listen {
                setting: "listeners.rest.address",
                ..
            }
        ),
        "{error}"
    );
    assert!(error.to_string().contains(&address.to_string()), "{error}");
}

/// Takes one call as a receiver of webhooks: what was sent, once it was answered.
async fn take_call(receiver: &tokio::net::TcpListener) -> String {
    let (mut connection, _) = receiver.accept().await.unwrap();
    let mut text = String::new();
    while !text.ends_with('}') {
        let mut bytes = [0; 4096];
        let read = connection.read(&mut bytes).await.unwrap();
        assert!(read > 0, "ended early: {text}");
        text.push_str(std::str::from_utf8(&bytes[..read]).unwrap());
    }
    // As old servers answer: the connection is of no further use.
    connection.write_all(b"HTTP/1.0 200 OK\r\n\r\n").await.unwrap();
    text
}

#[tokio::test]
async fn a_webhook_is_called_where_the_operator_allows_its_address_and_refused_where_not() {
    let receiver = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let mut send = message("say hi");
    send["configuration"]["taskPushNotificationConfig"] = json!({
        "url": format!("http://localhost:{}/hook", receiver.local_addr().unwrap().port()),
        "token": "opaque",
    });

    let guarded = gateway("").await;
    let client = guarded.addresses().client.unwrap();
    let refused = post(client, "/message:send", &send).await;
    assert_eq!(refused.status, 400);
    let field = "configuration.taskPushNotificationConfig.url";
    assert!(refused.body.contains(field), "{}", refused.body);
    assert_eq!(
        get(client, "/tasks").await.json()["totalSize"],
        0,
        "nothing was begun"
    );
    guarded.drain().await;

    let open = gateway("[push]\nallowed_ranges = [\"127.0.0.0/8\", \"::1/128\"]").await;
    let [client, admin] = [open.addresses().client, open.addresses().admin].map(Option::unwrap);
    assert_eq!(post(client, "/message:send", &send).await.status, 200);
    let mut calls = Vec::new();
    while !calls
        .last()
        .is_some_and(|call: &String| call.contains("TASK_STATE_COMPLETED"))
    {
        calls.push(take_call(&receiver).await);
    }
    assert!(
        calls[0].contains("{\"task\":"),
        "the task is the first event: {}",
        calls[0]
    );
    assert!(
        calls
            .iter()
            .all(|call| call.starts_with("POST /hook HTTP/1.1\r\n"))
    );
    assert!(
        calls
            .iter()
            .all(|call| call.contains("x-a2a-notification-token: opaque\r\n"))
    );
    let metrics = get(admin, "/metrics").await.body;
    assert!(
        metrics.contains("a2a_gateway_webhook_calls_total{result=\"delivered\"}"),
        "{metrics}"
    );
    open.drain().await;
}
