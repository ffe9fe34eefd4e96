//! Whatever is sent, the answer is a reply or an error in the form of §11.6, and nothing panics.

use axum::body::Body;
use gateway_domain::principal::Actor;
use gateway_wire::operations::{TABLE, Verb};
use proptest::prelude::*;
use serde_json::Value;

use super::{Fake, Refusal, request, text};

fn verb() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("GET".to_owned()),
        Just("POST".to_owned()),
        Just("DELETE".to_owned()),
        "[A-Z]{1,8}",
    ]
}

/// What a URI takes: pieces of our paths among what a hostile caller would write.
fn path() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("/tasks".to_owned()),
        Just("/pushNotificationConfigs".to_owned()),
        Just("/message:send".to_owned()),
        Just("/allTasks".to_owned()),
        Just(":cancel".to_owned()),
        Just(":work".to_owned()),
        Just("%".to_owned()),
        Just("%2F".to_owned()),
        Just("%FF".to_owned()),
        Just("/".to_owned()),
        "[!$&-;=@-Z_a-z~]{0,6}",
    ];
    proptest::collection::vec(piece, 0..6).prop_map(|pieces| format!("/{}", pieces.concat()))
}

fn query() -> impl Strategy<Value = String> {
    let name = prop_oneof![
        Just("historyLength"),
        Just("page_size"),
        Just("pageToken"),
        Just("status"),
        Just("tenant"),
        Just("id"),
        Just("A2A-Version"),
        Just("%"),
    ];
    let parameter = (name, "[!$%+-;A-Z_a-z~]{0,8}").prop_map(|(name, value)| format!("{name}={value}"));
    proptest::collection::vec(parameter, 0..4).prop_map(|parameters| parameters.join("&"))
}

fn body() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        Just(Vec::new()),
        Just(b"{}".to_vec()),
        proptest::collection::vec(any::<u8>(), 0..40),
        r#"\{"(id|taskId|url|message|append|metadata)":("T1"|7|null|\{\}|\[\]|true)\}"#
            .prop_map(String::into_bytes),
    ]
}

fn actor() -> impl Strategy<Value = Actor> {
    prop_oneof![Just(Actor::Client), Just(Actor::Agent)]
}

fn run(test: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap();
    runtime.block_on(test);
}

async fn check_any(actor: Actor, verb: &str, target: &str, body: Vec<u8>) {
    // Not every text is a URI; what is none never gets past the HTTP parser.
    let Ok(request) = request(verb, target).body(Body::from(body)) else {
        return;
    };
    let response = Fake::deleting().for_actor(actor).send(request).await;
    if response.status() == 200 {
        assert_eq!(text(response).await, "{}");
        return;
    }
    let refusal = Refusal::read(response).await;
    assert!(
        matches!(refusal.status, 400 | 404 | 405),
        "{verb} {target}: {}",
        refusal.error
    );
    assert!(
        refusal.error["message"]
            .as_str()
            .is_some_and(|message| !message.is_empty())
    );
    assert!(
        refusal.error["details"]
            .as_array()
            .is_some_and(|details| { details.iter().all(|detail| detail["@type"].is_string()) })
    );
    assert_eq!(refusal.status == 405, refusal.headers.contains_key("allow"));
}

proptest! {
    #[test]
    fn any_request_is_answered_in_form(
        actor in actor(), verb in verb(), path in path(), query in query(), body in body(),
    ) {
        run(check_any(actor, &verb, &format!("{path}?{query}"), body));
    }

    #[test]
    fn any_body_at_any_route_is_answered_in_form(row in 0..TABLE.len(), body in body(), query in query()) {
        let row = TABLE[row];
        for route in row.routes {
            let path = route.path.replace("{id=*}", "T1").replace("{task_id=*}", "T1");
            let target = format!("{path}?{query}");
            run(check_any(row.operation.actor(), route.verb.name(), &target, body.clone()));
        }
    }

    #[test]
    fn an_id_of_any_text_comes_through_the_path(id in "\\PC{1,40}") {
        let encoded: String = id.bytes().map(|byte| format!("%{byte:02X}")).collect();
        for row in TABLE.iter().filter(|row| row.operation.requires_extensions()) {
            let routes = row.routes.iter().filter(|route| route.verb != Verb::Post && route.path.contains('{'));
            for route in routes {
                let target = route.path.replace("{id=*}", &encoded).replace("{task_id=*}", &encoded);
                run(async {
                    let request = request(route.verb.name(), &target).body(Body::empty()).unwrap();
                    let seen = Fake::deleting().reach(request).await;
                    assert_eq!(seen.request.task_id().unwrap().as_str(), id);
                });
            }
        }
    }
}

/// A body that is JSON is read as such: what comes through is what was sent.
#[test]
fn a_large_body_comes_through_whole() {
    let metadata: Value = (0..1000).map(|n| (format!("k{n}"), Value::from(n))).collect();
    let body = serde_json::to_vec(&serde_json::json!({ "metadata": metadata })).unwrap();
    run(async {
        let request = request("POST", "/tasks/T1:cancel")
            .body(Body::from(body))
            .unwrap();
        let gateway_domain::Request::CancelTask(params) = Fake::deleting().reach(request).await.request
        else {
            panic!("another operation")
        };
        assert_eq!(params.metadata.map(Value::Object), Some(metadata));
    });
}
