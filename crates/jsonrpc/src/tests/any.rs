//! Whatever is posted, the answer is one well-formed response object.

use gateway_domain::{Error, reply};
use proptest::{
    collection::{btree_map, vec},
    prelude::{Just, Strategy, any, prop, prop_oneof, proptest},
};
use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};

use super::{Fake, Object, task};

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_time().build().unwrap()
}

/// The response object to a body; every reply of the gateway is a task.
fn answer(runtime: &Runtime, body: &[u8]) -> Object {
    let fake = Fake::replying(|request| {
        request.as_ref().map_err(Error::clone)?;
        Ok(super::found(reply::Body::Task(task())))
    });
    runtime.block_on(fake.post(body)).object()
}

fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,8}".prop_map(Value::from),
        Just(json!("2.0")),
        Just(json!("GetTask")),
    ];
    leaf.prop_recursive(4, 32, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            btree_map("[a-z]{0,4}|id|message|parts|historyLength", inner, 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// Objects that are nearly requests.
fn nearly_requests() -> impl Strategy<Value = Value> {
    let member =
        |right: Value| prop_oneof![4 => Just(Some(right)), 1 => Just(None), 1 => values().prop_map(Some)];
    let method = prop::sample::select(vec![
        "GetTask",
        "SendMessage",
        "ListTasks",
        "SubscribeToTask",
        "x",
    ]);
    let method = prop_oneof![4 => method.prop_map(|name| Some(json!(name))), 1 => values().prop_map(Some)];
    (
        member(json!("2.0")),
        prop::option::of(values()),
        method,
        prop::option::of(values()),
    )
        .prop_map(|(jsonrpc, id, method, params)| {
            let members = [
                ("jsonrpc", jsonrpc),
                ("id", id),
                ("method", method),
                ("params", params),
            ];
            let present = members
                .into_iter()
                .filter_map(|(name, value)| Some((name.to_owned(), value?)));
            Value::Object(present.collect())
        })
}

proptest! {
    #[test]
    fn any_bytes_are_answered(body in vec(any::<u8>(), 0..64)) {
        answer(&runtime(), &body);
    }

    #[test]
    fn any_json_is_answered(value in values()) {
        answer(&runtime(), value.to_string().as_bytes());
    }

    #[test]
    fn anything_like_a_request_is_answered_with_its_id(value in nearly_requests()) {
        let object = answer(&runtime(), value.to_string().as_bytes());
        match value.get("id") {
            Some(id @ (Value::Null | Value::Number(_) | Value::String(_))) => assert_eq!(object.id, id.to_string()),
            _ => assert_eq!((&*object.id, object.code()), ("null", Some(-32600))),
        }
    }

    #[test]
    fn a_request_cut_short_is_a_parse_error(cut in 0_usize..63) {
        let body = r#"{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"T"}}"#;
        assert_eq!(answer(&runtime(), &body.as_bytes()[..cut]).code(), Some(-32700));
    }

    #[test]
    fn any_text_comes_back_as_id(id in ".{0,64}") {
        let id = json!(id).to_string();
        let body = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"GetTask","params":{{"id":"T"}}}}"#);
        let object = answer(&runtime(), body.as_bytes());
        assert_eq!((object.id, object.outcome.is_ok()), (id, true));
    }
}
