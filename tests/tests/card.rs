//! The agent card as clients and caches get it: its headers, and the addresses that it shows.

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
use serde_json::{Value, json};

const PATH: &str = "/.well-known/agent-card.json";
/// Where the card of 0.3 once was.
const PATH_OF_OLD: &str = "/.well-known/agent.json";

async fn card(gateway: &Gateway, method: Method, of: &[(&str, &str)]) -> Whole {
    gateway.http().send(method, PATH, &headers(of), "").await
}

/// Addresses that do not change with the ports of a test.
fn published() -> Profile {
    Profile::plain()
        .set("public_urls.jsonrpc", r#""https://gw.example.com/rpc""#)
        .set("public_urls.rest", r#""https://gw.example.com""#)
        .set("public_urls.grpc", r#""gw.example.com:443""#)
}

/// Version, binding and address of each interface.
fn interfaces(card: &Whole) -> Vec<[String; 3]> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let listed = card.json()["supportedInterfaces"].as_array().unwrap().clone();
    listed
        .iter()
        .map(|interface| ["protocolVersion", "protocolBinding", "url"].map(|member| text(&interface[member])))
        .collect()
}

#[tokio::test]
async fn a_card_is_read_once_and_then_confirmed_by_its_tag_or_its_date() {
    let gateway = Gateway::start(published()).await;
    let whole = card(&gateway, Method::GET, &[]).await;
    assert_eq!(whole.status, 200);
    assert!(whole.header("cache-control").unwrap().contains("max-age="));
    let (tag, date) = (
        whole.header("etag").unwrap(),
        whole.header("last-modified").unwrap(),
    );
    for held in [("if-none-match", tag), ("if-modified-since", date)] {
        let confirmed = card(&gateway, Method::GET, &[held]).await;
        assert_eq!(
            (confirmed.status.as_u16(), confirmed.body.len()),
            (304, 0),
            "{held:?}"
        );
        assert_eq!(confirmed.header("etag"), Some(tag));
    }
    let changed = card(&gateway, Method::GET, &[("if-none-match", "\"other\"")]).await;
    assert_eq!((changed.status.as_u16(), &changed.body), (200, &whole.body));
    let head = card(&gateway, Method::HEAD, &[]).await;
    assert_eq!(
        (head.status.as_u16(), head.body.len(), head.header("etag")),
        (200, 0, Some(tag))
    );
}

#[tokio::test]
async fn the_tag_is_the_same_on_every_replica_and_changes_with_the_card_alone() {
    let (one, other) = (
        Gateway::start(published()).await,
        Gateway::start(published()).await,
    );
    let changed = Gateway::start(published().set("card.description", r#""Another one.""#)).await;
    let (one, other) = (
        card(&one, Method::GET, &[]).await,
        card(&other, Method::GET, &[]).await,
    );
    let changed = card(&changed, Method::GET, &[]).await;
    assert_eq!(
        (&one.body, one.header("etag")),
        (&other.body, other.header("etag"))
    );
    assert_ne!(one.header("etag"), changed.header("etag"));
}

#[tokio::test]
async fn a_card_shows_the_published_addresses_whatever_host_a_request_names() {
    let gateway = Gateway::start(published()).await;
    let plain = card(&gateway, Method::GET, &[]).await;
    let expected = ["1.0", "0.3"].map(|version| {
        [
            [version, "JSONRPC", "https://gw.example.com/rpc"],
            [version, "GRPC", "gw.example.com:443"],
            [version, "HTTP+JSON", "https://gw.example.com"],
        ]
    });
    assert_eq!(interfaces(&plain), expected.concat());
    // The fields of 0.3 stand in the same document.
    let json = plain.json();
    assert_eq!(
        (
            &json["url"],
            &json["preferredTransport"],
            &json["protocolVersion"]
        ),
        (
            &json!("https://gw.example.com/rpc"),
            &json!("JSONRPC"),
            &json!("0.3.0")
        )
    );
    for forged in [
        &[("host", "evil.example.com")][..],
        &[
            ("host", "gw.internal:8080"),
            ("x-forwarded-host", "evil.example.com"),
            ("x-forwarded-proto", "https"),
        ],
        &[("forwarded", "host=evil.example.com;proto=https")],
    ] {
        let answer = card(&gateway, Method::GET, forged).await;
        assert_eq!(
            (answer.status.as_u16(), &answer.body),
            (200, &plain.body),
            "{forged:?}"
        );
        assert_eq!(answer.header("etag"), plain.header("etag"));
    }
}

#[tokio::test]
async fn every_interface_works_when_it_is_called_as_it_is_listed() {
    let gateway = Gateway::plain().await;
    let listed = interfaces(&card(&gateway, Method::GET, &[]).await);
    let origin = format!("http://{}", gateway.address());
    assert_eq!(listed.len(), 2 * Binding::ALL.len());
    for [version, binding, url] in listed {
        match (version.as_str(), binding.as_str()) {
            ("0.3", binding) => works_in_0_3(&gateway, binding, url.strip_prefix(&origin)).await,
            (_, "GRPC") => {
                // The client of this binding connects to just this address.
                assert_eq!(url, gateway.address().to_string());
                let ask = Ask::new(Operation::SendMessage, samples::message("say hi"));
                let task = gateway.client(Binding::Grpc).call(&ask).await.json();
                assert_eq!(task["task"]["status"]["state"], "TASK_STATE_COMPLETED");
            }
            (_, "JSONRPC") => {
                let params = samples::message("say hi");
                let body = json!({"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": params});
                let path = url.strip_prefix(&origin).unwrap();
                let answer = gateway.http().post(path, body.to_string()).await.json();
                assert_eq!(
                    answer["result"]["task"]["status"]["state"],
                    "TASK_STATE_COMPLETED"
                );
            }
            _ => {
                let path = format!("{}/message:send", url.strip_prefix(&origin).unwrap());
                let body = samples::message("say hi").to_string();
                let answer = gateway
                    .http()
                    .send(Method::POST, &path, &usual_headers(), body)
                    .await
                    .json();
                assert_eq!(answer["task"]["status"]["state"], "TASK_STATE_COMPLETED");
            }
        }
    }
}

/// Calls an interface of 0.3 as a client of that version does: without saying it.
async fn works_in_0_3(gateway: &Gateway, binding: &str, path: Option<&str>) {
    let json = headers(&[
        ("content-type", "application/json"),
        ("authorization", "Bearer A"),
    ]);
    let post = async |path: &str, body: Value| {
        let answer = gateway
            .http()
            .send(Method::POST, path, &json, body.to_string())
            .await;
        answer.json()
    };
    match binding {
        // Its clients are those of the scenarios.
        "GRPC" => assert_eq!(path, None),
        "JSONRPC" => {
            let message = json!({
                "kind": "message", "messageId": "m-0.3", "role": "user", "parts": [{ "kind": "text", "text": "say hi" }],
            });
            let body = json!({
                "jsonrpc": "2.0", "id": 1, "method": "message/send", "params": { "message": message },
            });
            let task = post(path.unwrap(), body).await["result"].clone();
            assert_eq!(
                (&task["kind"], &task["status"]["state"]),
                (&json!("task"), &json!("completed"))
            );
        }
        _ => {
            let message = json!({
                "messageId": "m-0.3", "role": "ROLE_USER", "content": [{ "text": "say hi" }],
            });
            let body = json!({ "message": message });
            let answer = post(&format!("{}/v1/message:send", path.unwrap()), body).await;
            assert_eq!(answer["task"]["status"]["state"], "TASK_STATE_COMPLETED");
        }
    }
}

#[tokio::test]
async fn the_older_path_has_the_card_of_0_3_alone_whatever_the_form_of_the_usual_one() {
    let both = Gateway::start(published()).await;
    let plain = Gateway::start(published().set("card.form", r#""1.0""#)).await;
    let read = async |gateway: &Gateway, path| {
        let answer = gateway.http().send(Method::GET, path, &[], "").await;
        assert_eq!(answer.status, 200, "{path}");
        answer.json()
    };
    let [old, usual, alone] = [
        read(&both, PATH_OF_OLD).await,
        read(&both, PATH).await,
        read(&plain, PATH).await,
    ];
    assert_eq!(read(&plain, PATH_OF_OLD).await, old);
    assert_eq!(old["protocolVersion"], "0.3.0");
    for of_0_3 in [
        "url",
        "preferredTransport",
        "additionalInterfaces",
        "protocolVersion",
    ] {
        assert_eq!(usual[of_0_3], old[of_0_3]);
        assert_eq!(alone[of_0_3], json!(null));
    }
    assert_eq!(old["supportedInterfaces"], json!(null));
    assert_eq!(usual["supportedInterfaces"], alone["supportedInterfaces"]);
}

#[tokio::test]
async fn where_0_3_is_not_served_no_card_speaks_of_it() {
    let gateway = Gateway::start(published().set("listeners.client.versions", r#"["1.0"]"#)).await;
    let usual = card(&gateway, Method::GET, &[]).await;
    assert!(interfaces(&usual).iter().all(|[version, ..]| version == "1.0"));
    assert_eq!(usual.json()["protocolVersion"], json!(null));
    let version = headers(&[("a2a-version", "1.0"), ("authorization", "Bearer A")]);
    let old = gateway.http().send(Method::GET, PATH_OF_OLD, &version, "").await;
    assert_eq!(old.status, 404);
}
