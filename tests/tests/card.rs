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

fn interfaces(card: &Whole) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let listed = card.json()["supportedInterfaces"].as_array().unwrap().clone();
    listed
        .iter()
        .map(|interface| (text(&interface["protocolBinding"]), text(&interface["url"])))
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
    let expected = [
        ("JSONRPC", "https://gw.example.com/rpc"),
        ("GRPC", "gw.example.com:443"),
        ("HTTP+JSON", "https://gw.example.com"),
    ];
    assert_eq!(
        interfaces(&plain),
        expected.map(|(binding, url)| (binding.to_owned(), url.to_owned()))
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
    assert_eq!(listed.len(), Binding::ALL.len());
    for (binding, url) in listed {
        match binding.as_str() {
            "GRPC" => {
                // The client of this binding connects to just this address.
                assert_eq!(url, gateway.address().to_string());
                let ask = Ask::new(Operation::SendMessage, samples::message("say hi"));
                let task = gateway.client(Binding::Grpc).call(&ask).await.json();
                assert_eq!(task["task"]["status"]["state"], "TASK_STATE_COMPLETED");
            }
            "JSONRPC" => {
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
