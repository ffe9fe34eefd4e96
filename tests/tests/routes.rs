//! HTTP+JSON's paths, verbs and bodies (§11.3, §11.6), and tenants in paths (§8.3.2).

#![allow(clippy::unwrap_used, reason = "what must not be absent fails the test")]

use gateway_domain::{Binding, Operation};
use gateway_tests::{
    client::Ask,
    gateway::Gateway,
    profile::Profile,
    raw::{Whole, headers, usual_headers},
    samples,
};
use http::Method;
use serde_json::json;

async fn new_task(gateway: &Gateway, text: &str) -> String {
    let ask = Ask::new(Operation::SendMessage, samples::message(text));
    let made = gateway.client(Binding::JsonRpc).call(&ask).await.json();
    made["task"]["id"].as_str().unwrap().to_owned()
}

async fn send(gateway: &Gateway, method: Method, path: &str) -> Whole {
    gateway.http().send(method, path, &usual_headers()[1..], "").await
}

#[tokio::test]
async fn errors_have_the_shape_of_google_rpc_status_whatever_went_wrong() {
    let gateway = Gateway::plain().await;
    let answer = gateway.http().get("/tasks/nope").await;
    assert_eq!(answer.status, 404);
    assert_eq!(answer.header("content-type"), Some("application/json"));
    let error = &answer.json()["error"];
    assert_eq!(
        (&error["code"], &error["status"]),
        (&json!(404), &json!("NOT_FOUND"))
    );
    assert_eq!(
        error["details"],
        json!([{ "@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "TASK_NOT_FOUND", "domain": "a2a-protocol.org" }])
    );

    let mut of_a2a = usual_headers();
    of_a2a[0].1 = "application/a2a+json".to_owned();
    let answer = gateway
        .http()
        .send(Method::POST, "/message:send", &of_a2a, r#"{"message":{}}"#)
        .await;
    assert_eq!(answer.status, 400);
    assert_eq!(answer.header("content-type"), Some("application/a2a+json"));
    let fields: Vec<_> = answer.json()["error"]["details"][0]["fieldViolations"]
        .as_array()
        .unwrap()
        .iter()
        .map(|violation| violation["field"].clone())
        .collect();
    for field in ["message.messageId", "message.role", "message.parts"] {
        assert!(fields.contains(&json!(field)), "{field} in {fields:?}");
    }

    let answer = gateway.http().get("/no/such/path").await;
    assert_eq!(
        (answer.status.as_u16(), &answer.json()["error"]["code"]),
        (404, &json!(404))
    );

    let task = new_task(&gateway, "say hi").await;
    let answer = send(&gateway, Method::PUT, &format!("/tasks/{task}")).await;
    assert_eq!(
        (answer.status.as_u16(), &answer.json()["error"]["code"]),
        (405, &json!(405))
    );
    assert_eq!(answer.header("allow"), Some("GET"));
}

#[tokio::test]
async fn the_accepted_type_is_the_type_of_the_answer() {
    let gateway = Gateway::plain().await;
    for accepted in ["application/a2a+json", "application/json"] {
        let mut asked = usual_headers();
        asked.push(("accept".to_owned(), accepted.to_owned()));
        let body = samples::message("say hi").to_string();
        let answer = gateway
            .http()
            .send(Method::POST, "/message:send", &asked, body)
            .await;
        assert_eq!(
            (answer.status.as_u16(), answer.header("content-type")),
            (200, Some(accepted))
        );
        let answer = gateway
            .http()
            .send(Method::GET, "/tasks/nope", &asked[1..], "")
            .await;
        assert_eq!(
            (answer.status.as_u16(), answer.header("content-type")),
            (404, Some(accepted))
        );
    }
}

#[tokio::test]
async fn a_cancel_needs_no_body_and_takes_an_empty_one_and_a_full_one() {
    let gateway = Gateway::plain().await;
    for (body, content_type) in [
        ("", None),
        ("{}", Some("application/json")),
        (r#"{"metadata":{"why":"user"}}"#, Some("application/a2a+json")),
    ] {
        let task = new_task(&gateway, "ask").await;
        let mut asked = headers(&[("a2a-version", "1.0"), ("authorization", "Bearer A")]);
        asked.extend(content_type.map(|of| ("content-type".to_owned(), of.to_owned())));
        let answer = gateway
            .http()
            .send(Method::POST, &format!("/tasks/{task}:cancel"), &asked, body)
            .await;
        assert_eq!(answer.status, 200, "{body:?}: {}", answer.json());
        assert_eq!(answer.json()["id"], task.as_str());
        assert_eq!(answer.json()["status"]["state"], "TASK_STATE_CANCELED");
    }
}

#[tokio::test]
async fn a_subscription_by_get_and_by_post_is_the_same() {
    let gateway = Gateway::plain().await;
    let task = new_task(&gateway, "ask").await;
    for (method, body) in [(Method::GET, ""), (Method::POST, ""), (Method::POST, "{}")] {
        let path = format!("/tasks/{task}:subscribe");
        let response = gateway.http().open(method, &path, &usual_headers(), body).await;
        assert_eq!(response.status(), 200);
        let mut reader = gateway_tests::client::SseReader::new(response.into_body());
        let first = reader.next().await.unwrap().unwrap();
        assert!(first.data.starts_with(r#"{"task":"#), "{}", first.data);
    }
}

#[tokio::test]
async fn the_tenant_of_the_path_and_of_the_body_must_agree_and_selects_what_is_seen() {
    let gateway = Gateway::start(Profile::named("tenants")).await;
    let http = gateway.http();
    let both =
        r#"{"tenant":"globex","message":{"messageId":"m-3","role":"ROLE_USER","parts":[{"text":"say hi"}]}}"#;
    let answer = http.post("/acme/message:send", both).await;
    assert_eq!(answer.status, 400);
    assert_eq!(answer.json()["error"]["status"], "INVALID_ARGUMENT");
    assert_eq!(
        answer.json()["error"]["details"][0]["fieldViolations"][0]["field"],
        "tenant"
    );

    let alone = r#"{"message":{"messageId":"m-3","role":"ROLE_USER","parts":[{"text":"say hi"}]}}"#;
    let answer = http.post("/acme/message:send", alone).await;
    assert_eq!(answer.status, 200);
    let task = answer.json()["task"]["id"].as_str().unwrap().to_owned();
    assert_eq!(http.get(&format!("/acme/tasks/{task}")).await.status, 200);
    assert_eq!(http.get(&format!("/globex/tasks/{task}")).await.status, 404);
    assert_eq!(http.get(&format!("/tasks/{task}")).await.status, 404);
    assert_eq!(http.get(&format!("/tasks/{task}?tenant=acme")).await.status, 200);

    let answer = http.post("/umbrella/message:send", alone).await;
    assert_eq!(answer.status, 404);
    assert_eq!(
        answer.json()["error"]["details"][0]["fieldViolations"][0]["field"],
        "tenant"
    );

    // The same over JSON-RPC, whose path may name a tenant as well.
    let rpc = |tenant: &str| {
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{{"id":"{task}"{tenant}}}}}"#)
    };
    assert_eq!(
        http.post("/acme/rpc", rpc("")).await.json()["result"]["id"],
        task.as_str()
    );
    assert_eq!(
        http.post("/rpc", rpc(r#","tenant":"acme""#)).await.json()["result"]["id"],
        task.as_str()
    );
    assert_eq!(
        http.post("/acme/rpc", rpc(r#","tenant":"globex""#)).await.json()["error"]["code"],
        -32602
    );
    assert_eq!(
        http.post("/globex/rpc", rpc("")).await.json()["error"]["code"],
        -32001
    );
}

#[tokio::test]
async fn literal_routes_win_over_tenants_and_tenants_make_no_405_of_a_404() {
    let gateway = Gateway::plain().await;
    // The task of the id `tasks`, not the list of a tenant of that name.
    let answer = gateway.http().get("/tasks/tasks").await;
    assert_eq!(answer.status, 404);
    assert_eq!(answer.json()["error"]["details"][0]["reason"], "TASK_NOT_FOUND");
    let answer = send(&gateway, Method::DELETE, "/some/other/path").await;
    assert_eq!((answer.status.as_u16(), answer.header("allow")), (404, None));
    // A tenant that is called as a path begins is served on no binding.
    let ask = Ask::new(Operation::ListTasks, json!({ "tenant": "tasks" }));
    for binding in [Binding::Grpc, Binding::JsonRpc] {
        let refusal = gateway.client(binding).call(&ask).await.refusal();
        refusal.assert(gateway_domain::ErrorKind::TenantNotServed);
    }
}

#[tokio::test]
async fn an_id_with_reserved_characters_is_reached_when_it_is_percent_encoded() {
    let gateway = Gateway::plain().await;
    for id in ["a/b", "a:cancel", "a b", "ä%2F", "tasks"] {
        let ask = Ask::new(Operation::GetTask, json!({ "id": id }));
        // Not there, but understood: the error is the domain's, and not that of a path.
        gateway
            .client(Binding::HttpJson)
            .call(&ask)
            .await
            .refusal()
            .assert(gateway_domain::ErrorKind::TaskNotFound);
    }
}
