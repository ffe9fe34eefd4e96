//! Reading and validating requests, as every binding does it.

use serde_json::{Value, json};

use super::{Request, from_json};
use crate::{Content, Error, ErrorKind, Operation, Role};

fn read(operation: Operation, params: &Value) -> Result<Request, Error> {
    from_json(operation, params.to_string().as_bytes())
}

fn send(message: Value) -> Result<Request, Error> {
    read(Operation::SendMessage, &json!({ "message": message }))
}

fn fields(result: Result<Request, Error>) -> Vec<String> {
    let error = result.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidParams, "{error}");
    error
        .violations()
        .iter()
        .map(|violation| violation.field.to_string())
        .collect()
}

fn parts(parts: Value) -> Result<Request, Error> {
    send(json!({ "messageId": "m", "role": "ROLE_USER", "parts": parts }))
}

#[test]
fn every_missing_field_is_named_at_once() {
    assert_eq!(
        fields(send(json!({}))),
        ["message.messageId", "message.parts", "message.role"]
    );
    assert_eq!(fields(read(Operation::SendMessage, &json!({}))), ["message"]);
    assert_eq!(fields(read(Operation::GetTask, &json!({ "id": "" }))), ["id"]);
    assert_eq!(
        fields(read(Operation::UpdateArtifact, &json!({}))),
        ["id", "append", "lastChunk", "artifact"]
    );
}

#[test]
fn bad_numbers_and_enums_of_a_list_are_named_together() {
    let request = json!({ "pageSize": 0, "historyLength": -5, "status": "TASK_STATE_RUNNING" });
    assert_eq!(
        fields(read(Operation::ListTasks, &request)),
        ["pageSize", "status", "historyLength"]
    );
    for size in [json!(0), json!(-1), json!(101), json!(150)] {
        assert_eq!(
            fields(read(Operation::ListTasks, &json!({ "pageSize": size }))),
            ["pageSize"]
        );
    }
}

#[test]
fn history_length_is_a_count_in_every_notation_of_a_number() {
    for bad in [
        json!(-1),
        json!(-2_147_483_648_i64),
        json!(2_147_483_648_i64),
        json!(1.5),
        json!("abc"),
        json!([]),
    ] {
        let request = json!({ "id": "t", "historyLength": bad });
        assert_eq!(
            fields(read(Operation::GetTask, &request)),
            ["historyLength"],
            "{request}"
        );
    }
    for (good, expected) in [
        (json!(2_147_483_647), Some(2_147_483_647)),
        (json!("3"), Some(3)),
        (json!(1e1), Some(10)),
        (json!(null), None),
    ] {
        let request = read(Operation::GetTask, &json!({ "id": "t", "historyLength": good })).unwrap();
        let Request::GetTask(request) = request else {
            panic!("{request:?}")
        };
        assert_eq!(request.history_length, expected);
    }
}

#[test]
fn snake_case_enum_numbers_and_numbers_as_text_are_read() {
    let request = json!({
        "message": { "message_id": "m", "role": 1, "parts": [{ "text": "hi", "media_type": "text/plain" }] },
        "configuration": { "return_immediately": false, "history_length": "2" }
    });
    let Request::SendMessage(request) = read(Operation::SendMessage, &request).unwrap() else {
        panic!()
    };
    assert_eq!(request.message.message_id.as_str(), "m");
    assert_eq!(request.message.role, Role::User);
    assert_eq!(request.configuration.history_length, Some(2));
    for role in [
        json!("user"),
        json!("ROLE_user"),
        json!(99),
        json!("ROLE_ROBOT"),
        json!("ROLE_AGENT"),
    ] {
        let message = json!({ "messageId": "m", "role": role, "parts": [{ "text": "hi" }] });
        assert_eq!(fields(send(message)), ["message.role"], "{role}");
    }
}

#[test]
fn unknown_members_are_ignored_at_every_level_and_wrong_types_are_not() {
    let request = json!({
        "newField": { "a": [1] },
        "message": { "messageId": "m", "role": "ROLE_USER", "kind": "message",
                     "parts": [{ "text": "hi", "unknownFieldXyz": 1 }] }
    });
    assert!(read(Operation::SendMessage, &request).is_ok());
    assert_eq!(fields(send(json!("text"))), ["message"]);
    assert_eq!(
        fields(send(json!(["m", null, null, "ROLE_USER", [{ "text": "hi" }]]))),
        ["message"]
    );
    assert_eq!(fields(read(Operation::GetTask, &json!(["", "t"]))), ["params"]);
    assert_eq!(fields(read(Operation::GetTask, &json!("t"))), ["params"]);
}

#[test]
fn a_part_holds_exactly_one_content() {
    assert_eq!(fields(parts(json!([{}]))), ["message.parts[0]"]);
    assert_eq!(
        fields(parts(json!([{ "mediaType": "application/json" }]))),
        ["message.parts[0]"]
    );
    assert_eq!(fields(parts(json!([]))), ["message.parts"]);
    assert_eq!(
        fields(parts(
            json!([{ "text": "a" }, { "text": "a", "url": "https://a.example" }])
        )),
        ["message.parts[1]"]
    );
    assert_eq!(
        fields(parts(json!([{ "text": "a", "raw": "YQ==" }]))),
        ["message.parts[0]"]
    );
    let Request::SendMessage(request) =
        parts(json!([{ "text": "" }, { "data": {} }, { "raw": "" }, { "data": null }])).unwrap()
    else {
        panic!()
    };
    let contents: Vec<_> = request
        .message
        .parts
        .into_iter()
        .map(|part| part.content.unwrap())
        .collect();
    let raw = Content::Raw(bytes::Bytes::new());
    assert_eq!(
        contents,
        [
            Content::Text(String::new()),
            Content::Data(json!({})),
            raw,
            Content::Data(Value::Null)
        ]
    );
}

#[test]
fn both_base64_alphabets_are_read_and_the_standard_one_is_written() {
    for text in ["-_8=", "-_8", "+/8=", "+/8"] {
        let Request::SendMessage(request) = parts(json!([{ "raw": text }])).unwrap() else {
            panic!()
        };
        assert_eq!(
            serde_json::to_value(&request.message.parts[0]).unwrap(),
            json!({ "raw": "+/8=" }),
            "{text}"
        );
    }
    for text in ["+/8=\n", "a", "****"] {
        assert_eq!(
            fields(parts(json!([{ "raw": text }]))),
            ["message.parts[0].raw"],
            "{text}"
        );
    }
}

#[test]
fn numbers_in_data_come_back_as_they_were() {
    let data = json!({ "revision": 1, "ratio": 1.5, "big": 1e21, "list": [0, 1], "exact": 9_007_199_254_740_993_u64 });
    let Request::SendMessage(request) = parts(json!([{ "data": data }])).unwrap() else {
        panic!()
    };
    assert_eq!(
        serde_json::to_value(&request.message.parts[0]).unwrap(),
        json!({ "data": data })
    );
    assert!(
        serde_json::to_string(&request.message.parts[0])
            .unwrap()
            .contains("\"revision\":1}")
    );
}

#[test]
fn a_member_named_twice_is_refused_at_every_level() {
    for text in [
        r#"{"id":"a","id":"b"}"#,
        r#"{"id":"a","historyLength":1,"history_length":2}"#,
    ] {
        assert!(from_json(Operation::GetTask, text.as_bytes()).is_err(), "{text}");
    }
    for parts in [
        r#"[{"text":"a","text":"b"}]"#,
        r#"[{"data":{"a":1,"a":2}}]"#,
        r#"[{"text":"a","mediaType":"b","media_type":"c"}]"#,
    ] {
        let text = format!(r#"{{"message":{{"messageId":"m","role":"ROLE_USER","parts":{parts}}}}}"#);
        assert!(
            from_json(Operation::SendMessage, text.as_bytes()).is_err(),
            "{text}"
        );
    }
    let text = r#"{"message":{"messageId":"m","role":"ROLE_USER","taskId":"a","task_id":"b","parts":[{"text":"a"}]}}"#;
    assert!(from_json(Operation::SendMessage, text.as_bytes()).is_err());
}

#[test]
fn free_values_nest_32_deep_and_no_deeper() {
    let nested = |levels| (0..levels).fold(json!(1), |inner, _| json!([inner]));
    assert!(parts(json!([{ "data": nested(32) }])).is_ok());
    assert_eq!(
        fields(parts(json!([{ "data": nested(33) }]))),
        ["message.parts[0].data"]
    );
    let metadata = |levels| {
        json!({ "message": { "messageId": "m", "role": "ROLE_USER", "parts": [{ "text": "a" }] },
                                    "metadata": { "a": nested(levels) } })
    };
    assert!(read(Operation::SendMessage, &metadata(31)).is_ok());
    assert_eq!(fields(read(Operation::SendMessage, &metadata(32))), ["metadata"]);
    let error = parts(json!([{ "data": nested(70) }])).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ParseError);
}

#[test]
fn what_is_no_json_is_a_parse_error_and_shows_no_inward_name() {
    for text in [
        &b"{"[..],
        b"",
        b"not json",
        b"\xff\xfe",
        br#"{"id":"\ud800"}"#,
        b"{\"id\":01}",
        b"{} x",
        b"NaN",
    ] {
        let error = from_json(Operation::GetTask, text).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ParseError, "{text:?}");
    }
    for operation in Operation::all() {
        for text in [
            "[]",
            "1",
            "\"x\"",
            r#"{"message":1,"id":{},"artifact":[],"taskId":7,"config":0}"#,
        ] {
            let Err(error) = from_json(operation, text.as_bytes()) else {
                continue;
            };
            assert!(!error.message().contains("struct"), "{error}");
            assert!(!error.message().contains("line 1"), "{error}");
        }
    }
}

#[test]
fn ids_are_bounded_and_hold_no_control_characters() {
    for id in ["a".repeat(257), "a\u{0}".to_owned(), "a\n".to_owned()] {
        assert_eq!(fields(read(Operation::GetTask, &json!({ "id": id }))), ["id"]);
        assert_eq!(
            fields(read(Operation::GetTask, &json!({ "id": "t", "tenant": id }))),
            ["tenant"]
        );
    }
    assert!(read(Operation::GetTask, &json!({ "id": "ü".repeat(128) })).is_ok());
}

#[test]
fn control_characters_in_a_webhook_are_named_field_by_field() {
    let config = json!({ "taskId": "t", "url": "https://a.example/\n", "token": "x\r\ny",
                         "authentication": { "scheme": "Bearer\r\n", "credentials": "a\nb" } });
    assert_eq!(
        fields(read(Operation::CreateTaskPushNotificationConfig, &config)),
        [
            "url",
            "token",
            "authentication.scheme",
            "authentication.credentials"
        ]
    );
}
